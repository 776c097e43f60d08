// A match that is being played, as a card: its board moves, its clocks run, and its end is shown.

import { element, fill, say } from "../core/element.js";
import { clock, many, playerName, sentence, variantName } from "../core/wording.js";
import { isOver } from "./live_matches.js";
import { MatchCard, colorMark, labels, pairing, points, resultOf } from "./match_card.js";

const CAUSES = {
  fault: "paused by a fault", outage: "paused: a model is away", setup: "paused: something is to be set up",
  budget: "paused: its budget is spent", evaluation: "paused with its evaluation",
};

/** The card of a live match. */
export class LiveCard extends MatchCard {
  constructor(match) {
    super(match, "live");
    this.seats = { white: this.#seat(match, "white"), black: this.#seat(match, "black") };
    this.result = element("div", { class: "card-result", hidden: true });
    this.status = element("span", {});
    const below = this.orientation;
    const above = below === "white" ? "black" : "white";
    fill(
      this.root,
      this.link,
      this.seats[above].row,
      element("div", { class: "card-frame" }, this.place, this.result),
      this.seats[below].row,
      this.notes,
    );
    fill(this.notes, this.status, labels(match));
    this.show(match);
  }

  show(match) {
    super.show(match);
    const over = isOver(match);
    this.root.classList.toggle("over", over);
    for (const [color, { row, points: shown }] of Object.entries(this.seats)) {
      row.classList.toggle("to-move", match.status === "running" && match.turn === color);
      say(shown, points(match, color));
    }
    this.#showResult(match, over);
    this.#showStatus(match, over);
    this.link.setAttribute("aria-label", this.#name(match));
    this.tick();
  }

  /** Show the clocks as they stand now, with this browser's clock so far ahead of the service's. */
  tick(skew = this.skew ?? 0) {
    this.skew = skew;
    const { match } = this;
    for (const [color, { time }] of Object.entries(this.seats)) {
      say(time, match.clocks && !isOver(match) ? clock(left(match, color, skew)) : "");
    }
  }

  #seat(match, color) {
    const time = element("span", { class: "card-clock" });
    const result = element("strong", { class: "card-points" });
    const name = playerName(match[color]);
    const row = element(
      "div",
      { class: "card-seat" },
      colorMark(color),
      element("span", { class: "card-name", title: name }, name),
      this.own.includes(color) && element("span", { class: "chip" }, "you"),
      result,
      time,
    );
    return { row, time, points: result };
  }

  #showResult(match, over) {
    this.result.hidden = !over;
    if (!over) return;
    fill(this.result, element("strong", {}, resultOf(match)), element("span", {}, sentence(match.detail)));
  }

  #showStatus(match, over) {
    const [text, kind] = this.#state(match, over);
    this.status.className = kind;
    say(this.status, text);
  }

  #state(match, over) {
    if (over) return [`over after ${many(match.ply_count, "ply", "plies")}`, "quiet small"];
    if (match.status === "created") return ["waiting to begin", "chip"];
    if (match.status === "paused") return [CAUSES[match.pause_cause] ?? "paused", "chip warn"];
    if (this.own.includes(match.turn)) return ["your move", "chip your-move"];
    return [`ply ${match.ply_count}`, "quiet small"];
  }

  #name(match) {
    const variant = match.variant === "standard" ? "" : `, ${variantName(match.variant)}`;
    const [state] = this.#state(match, isOver(match));
    const end = isOver(match) ? `${resultOf(match)}, ${match.detail}` : state;
    return `${pairing(match)}${variant}: ${end}`;
  }
}

/** Return what is left on a clock: that of the side to move runs. */
function left(match, color, skew) {
  const stood = match.clocks[`${color}_ms`];
  if (match.turn !== color) return stood;
  const since = match.status === "running" && match.turn_started_at ? Date.parse(match.turn_started_at) : null;
  const running = since === null ? 0 : Math.max(0, Date.now() - skew - since);
  return stood - match.spent_ms - running;
}
