// What most people leave as it is: where the game starts, analysis, bounds, referees, tags.

import { element } from "../core/element.js";
import { field, group, numberInput, selection, tick } from "./form_field.js";

const FEEDBACK = [["why", "that it is illegal, and why"], ["illegal", "that it is illegal"], ["none", "nothing"]];
const THEN = [
  ["forfeit", "it loses the match"],
  ["candidate", "its best legal candidate is played"],
  ["random", "a random move is played"],
];
const DEFAULTS = {
  "illegal_moves.retries": "3",
  "adjudication.resign.centipawns": "900",
  "adjudication.resign.moves": "4",
  "adjudication.draw.centipawns": "10",
  "adjudication.draw.moves": "8",
  "adjudication.draw.after_move": "40",
};

/** The part of the form that is closed to begin with. */
export class AdvancedFields {
  constructor(canAnalyse) {
    this.fen = element("input", { maxlength: 200, autocomplete: "off", spellcheck: "false", class: "mono" });
    this.analysis = tick("analysis", "Let Stockfish analyse each ply", { isChecked: canAnalyse, hint: " " });
    this.hasStockfish = canAnalyse;
    const tags = element("input", { autocomplete: "off", placeholder: "smoke, friday" });
    const any = (least, most) => numberInput(least, most, { placeholder: "any" });
    const fenHint = "Where the game starts, instead of an opening. The board beside shows it.";
    const seedHint = "Makes dice repeatable. In Chess960 it draws the start.";
    this.root = element(
      "details",
      { class: "panel form-part" },
      element("summary", {}, element("h2", {}, "Advanced")),
      element(
        "div",
        { class: "stack details-content" },
        field("initial_fen", "Initial position (FEN)", this.fen, fenHint),
        this.analysis,
        element(
          "div",
          { class: "field-row" },
          field("max_plies", "Most plies", any(1, 2000), "After so many it is a draw; opening and all."),
          field("seed", "Seed", any(0, Number.MAX_SAFE_INTEGER), seedHint),
        ),
        this.#budget(),
        this.#illegalMoves(),
        this.#adjudication(),
        field("tags", "Tags", tags, "Words to find the match by, with commas between."),
      ),
    );
  }

  /** Say what analysis does in a variant, and ask for scores where a referee goes by them. */
  renew(values) {
    const box = this.analysis.querySelector("input");
    const canAnalyse = this.canAnalyse(values.variant);
    box.disabled = !canAnalyse;
    this.analysis.querySelector(".hint").textContent = canAnalyse
      ? "It costs the players no time, and the page of the match shows its graph."
      : this.hasStockfish ? "No UCI engine knows King's Cooking." : "Stockfish is not installed.";
    for (const kind of ["resign", "draw"]) this.scores[kind].hidden = !values[`adjudication.${kind}`];
  }

  canAnalyse(variant) {
    return this.hasStockfish && variant !== "kings-cooking";
  }

  /** Open it if something in it is not as it was to begin with. */
  openIfChanged() {
    const isChanged = (control) =>
      control.type === "checkbox" ? control.checked !== control.defaultChecked
        : control.localName === "select" ? control.selectedIndex !== 0
          : control.value !== control.defaultValue;
    if ([...this.root.querySelectorAll("input, select")].some(isChanged)) this.root.open = true;
  }

  #budget() {
    return group(
      "budget", "Budget", "What the model calls of both sides together may cost; the match pauses when it is spent.",
      element(
        "div",
        { class: "field-row" },
        field("budget.usd", "US dollars", numberInput(0, 1_000_000, { isWhole: false, placeholder: "no bound" })),
        field("budget.tokens", "Tokens", numberInput(0, 1e12, { placeholder: "no bound" })),
        field("budget.calls", "Calls", numberInput(0, 1e9, { placeholder: "no bound" })),
      ),
    );
  }

  #illegalMoves() {
    const retries = defaulted("illegal_moves.retries", 0, 20);
    return group(
      "illegal_moves", "Illegal moves", "When a player that is no human proposes a move that is not legal.",
      element(
        "div",
        { class: "field-row" },
        field("illegal_moves.retries", "It may try again", retries, "How often, each turn."),
        field("illegal_moves.feedback", "It is told", selection(FEEDBACK)),
        field("illegal_moves.then", "After the last attempt", selection(THEN)),
      ),
    );
  }

  #adjudication() {
    const number = (name, label, least, most) => field(name, label, defaulted(name, least, most));
    this.scores = {
      resign: element("div", { class: "field-row", hidden: true },
        number("adjudication.resign.centipawns", "Centipawns behind", 1, 100_000),
        number("adjudication.resign.moves", "For so many moves", 1, 1000)),
      draw: element("div", { class: "field-row", hidden: true },
        number("adjudication.draw.centipawns", "Centipawns from zero", 0, 100_000),
        number("adjudication.draw.moves", "For so many moves", 1, 1000),
        number("adjudication.draw.after_move", "After move", 0, 1000)),
    };
    return group(
      "adjudication", "Adjudication", "A referee ends the match by the scores of its plies, so it needs analysis.",
      tick("adjudication.resign", "A side that is far behind loses"), this.scores.resign,
      tick("adjudication.draw", "A long level game is a draw"), this.scores.draw,
    );
  }
}

function defaulted(name, least, most) {
  const input = numberInput(least, most);
  input.defaultValue = DEFAULTS[name];
  return input;
}
