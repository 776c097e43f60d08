// A card with a match on it: its board, drawn only while somebody could see it, and a link over all of it.

import { board } from "../board/board.js";
import { element, fill } from "../core/element.js";
import { seats } from "../core/kept.js";
import { capital, playerName, resultText, variantName } from "../core/wording.js";

/** What live and finished cards share. Whoever makes one calls `show` with the match, and again. */
export class MatchCard {
  #board = null;
  #isNear = false;

  constructor(match, kind) {
    this.id = match.id;
    /** The colours of the seats that this browser holds. */
    this.own = Object.keys(seats.of(match.id));
    this.orientation = this.own.length === 1 ? this.own[0] : "white";
    this.link = element("a", { class: "card-link", href: `/matches/${match.id}` });
    this.place = element("div", { class: `card-board ${match.variant}`, "aria-hidden": "true" });
    this.notes = element("p", { class: "card-notes" });
    this.root = element("li", { class: `match-card ${kind}`, dataset: { match: match.id } });
  }

  /** Show a match as it is now. */
  show(match) {
    this.match = match;
    if (this.#isNear) this.#draw();
  }

  /** Whether the card is so near to what is seen that its board is worth drawing. */
  get isNear() {
    return this.#isNear;
  }

  set isNear(isNear) {
    if (isNear === this.#isNear) return;
    this.#isNear = isNear;
    if (isNear) {
      this.#draw();
    } else {
      this.#board = null;
      fill(this.place); // 200 boards have 40,000 parts
    }
  }

  #draw() {
    const { fen, variant, last_move: lastMove, check } = this.match;
    const isNew = this.#board === null;
    if (isNew) {
      this.#board = board({ class: "small-board" });
      this.#board.orientation = this.orientation;
      fill(this.place, this.#board);
    }
    const shown = this.#board.shown;
    const uci = lastMove?.uci ?? null;
    const isSame = shown && shown.fen === fen && shown.lastMove === uci && shown.isCheck === check;
    if (!isSame) this.#board.show({ fen, variant, lastMove: uci, isCheck: check }, { isStill: isNew });
  }
}

/** Return the mark of a colour, with its word for those who do not see it. */
export function colorMark(color) {
  return [
    element("span", { class: `color-mark ${color}`, "aria-hidden": "true" }),
    element("span", { class: "visually-hidden" }, `${capital(color)}: `),
  ];
}

/** Return what a side got: 1, ½, 0, or nothing if there is no result. */
export function points(match, color) {
  if (!match.outcome) return "";
  if (match.outcome.winner === null) return "½";
  return match.outcome.winner === color ? "1" : "0";
}

/** Return chips with the variant, if it is not chess, and the tags of a match. */
export function labels(match) {
  return [
    match.variant !== "standard" && element("span", { class: "chip" }, variantName(match.variant)),
    ...match.tags.map((tag) => element("span", { class: "chip tag" }, tag)),
  ];
}

/** Return who plays, as a sentence begins. */
export function pairing(match) {
  return `${playerName(match.white)} against ${playerName(match.black)}`;
}

/** Return the result of a match that is over, as people print it. */
export function resultOf(match) {
  return match.status === "aborted" ? "aborted" : resultText(match.result);
}
