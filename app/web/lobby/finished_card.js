// A match that is over, as a card: its last position, the result, how it ended, and when.

import { element, fill, say } from "../core/element.js";
import { ago, many, moment, playerName, sentence } from "../core/wording.js";
import { MatchCard, colorMark, labels, pairing, points, resultOf } from "./match_card.js";

/** The card of a finished match. */
export class FinishedCard extends MatchCard {
  constructor(match) {
    super(match, "finished");
    const aborted = match.status === "aborted" && element("span", { class: "chip warn" }, "aborted");
    const detail = sentence(match.detail);
    this.when = element("time", { datetime: match.ended_at ?? "", title: moment(match.ended_at) });
    fill(this.notes, this.when, ` · ${many(match.ply_count, "ply", "plies")}`, labels(match));
    fill(
      this.root,
      this.link,
      this.place,
      element(
        "div",
        { class: "card-text" },
        this.#seat(match, "white"),
        this.#seat(match, "black"),
        element("p", { class: "card-detail" }, aborted, " ", detail),
        this.notes,
      ),
    );
    this.link.setAttribute("aria-label", `${pairing(match)}: ${resultOf(match)}. ${detail}`);
    this.show(match);
    this.tick();
  }

  /** Say again how long ago it was. */
  tick() {
    say(this.when, this.match.ended_at ? ago(this.match.ended_at) : "");
  }

  #seat(match, color) {
    const isWinner = match.outcome?.winner === color;
    const name = playerName(match[color]);
    return element(
      "div",
      { class: `card-seat${isWinner ? " winner" : ""}` },
      colorMark(color),
      element("span", { class: "card-name", title: name }, name),
      this.own.includes(color) && element("span", { class: "chip" }, "you"),
      element("strong", { class: "card-points" }, points(match, color)),
    );
  }
}
