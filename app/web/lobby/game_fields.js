// What is played, and how: variant, time control and opening.

import { element, say } from "../core/element.js";
import { variantName } from "../core/wording.js";
import { choices, field, group } from "./form_field.js";
import { findOpening } from "./match_request.js";

const VARIANTS = [
  ["standard", "The game that everybody knows."],
  ["chess960", "Chess from one of 960 starts, drawn by lot."],
  ["kings-cooking", "Three by three squares: bring your pieces into the other king's kitchen."],
];
const TIME_CONTROLS = [
  ["", "None"],
  ["60", "1+0"],
  ["180+2", "3+2"],
  ["300+3", "5+3"],
  ["600+5", "10+5"],
  ["900+10", "15+10"],
  ["1800", "30+0"],
  ["10s", "10 s a move"],
  ["own", "Your own"],
];
const TIME_HINT =
  "Minutes for each side, and seconds that each move adds. Whoever runs out of time loses. " +
  "Without a time control everybody may think as long as they like.";
const OWN_TIME_HINT =
  "In seconds: 300+3 adds 3 s a move; 40/5400+30:1800 is 90 min for 40 moves with 30 s a move, then 30 min; " +
  "10s is for each move; 300d3 delays the clock, 300b3 gives back what a move took.";
const OWN_MOVES_HINT = "From the start of the game, in any notation, with spaces between.";
const UNKNOWN = "Choose one by its name, or type an ECO code such as C65.";

/** The part of the form about the game. */
export class GameFields {
  constructor(openings) {
    this.openings = openings;
    const variants = VARIANTS.map(([name, about]) => [name, variantName(name), about]);
    this.root = element(
      "section",
      { class: "panel stack form-part", "aria-labelledby": "game-title" },
      element("h2", { id: "game-title" }, "Game"),
      group("variant", "Variant", null, choices("variant", variants)),
      this.#timeControl(),
      this.#opening(),
    );
  }

  /** Show the controls that the values ask for. */
  renew(values) {
    this.ownTime.hidden = values.time_control !== "own";
    const isStandard = values.variant === "standard";
    const known = this.root.querySelector("[name=opening][value=known]");
    known.disabled = !isStandard;
    known.closest("label").title = isStandard ? "" : "They are openings of standard chess.";
    this.known.hidden = values.opening !== "known";
    this.own.hidden = values.opening !== "own";
    const found = findOpening(this.openings, values.opening_known);
    say(this.line, found ? `${found.eco}: ${found.moves}` : UNKNOWN);
  }

  #timeControl() {
    const own = element("input", { maxlength: 100, autocomplete: "off", spellcheck: "false", placeholder: "300+3" });
    this.ownTime = part("time_control", "own", "Your own time control", own, OWN_TIME_HINT);
    return group("time_control", "Time control", TIME_HINT, choices("time_control", TIME_CONTROLS), this.ownTime);
  }

  #opening() {
    const list = element(
      "datalist",
      { id: "known-openings" },
      this.openings.map(({ name, eco, moves }) => element("option", { value: name }, `${eco}  ${moves}`)),
    );
    const known = element("input", { list: "known-openings", autocomplete: "off", placeholder: "Ruy Lopez: Closed" });
    const own = element("input", {
      maxlength: 1000, autocomplete: "off", spellcheck: "false", placeholder: "e4 e5 Nf3",
    });
    this.known = part("opening", "known", "Known opening", known, " ");
    this.line = this.known.querySelector(".hint");
    this.own = part("opening", "own", "Your own moves", own, OWN_MOVES_HINT);
    return group(
      "opening", "Opening", "Moves that are played before anybody decides.",
      choices("opening", [["", "None"], ["known", "A known one"], ["own", "Your own moves"]]),
      this.known, this.own, list,
    );
  }
}

/** Return one of several controls that fill a field: what is wrong with it is said at the field. */
function part(whole, kind, label, control, hint) {
  const made = field(`${whole}_${kind}`, label, control, hint);
  delete made.dataset.field;
  made.querySelector(".wrong").remove();
  control.setAttribute("aria-describedby", `match-${whole}_${kind}-hint match-${whole}-wrong`);
  return made;
}
