// Drawings of the pieces, from the same outlines as `board.svg`.

import { svg } from "../core/element.js";
import { OUTLINES } from "./outlines.js";
import { colorOf, pieceName } from "./placement.js";

/** The side of a square in the units of the outlines. */
export const SIDE = 45;

const drawn = new Map();

/** Return a new drawing of a piece by its letter in FEN, for an SVG. */
export function drawPiece(letter) {
  if (!drawn.has(letter)) {
    const { outline, lines } = OUTLINES[letter.toLowerCase()];
    drawn.set(
      letter,
      svg(
        "g",
        { class: `piece ${colorOf(letter)}` },
        svg("path", { class: "outline", d: outline }),
        lines && svg("path", { class: "lines", d: lines }),
      ),
    );
  }
  return drawn.get(letter).cloneNode(true);
}

/** Return a piece as a picture of its own, for lists and buttons. */
export function pieceIcon(letter, { isHidden = false } = {}) {
  const named = isHidden ? { "aria-hidden": "true" } : { role: "img", "aria-label": pieceName(letter) };
  return svg("svg", { class: "piece-icon", viewBox: `0 0 ${SIDE} ${SIDE}`, ...named }, drawPiece(letter));
}
