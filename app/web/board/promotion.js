// Choosing what a pawn becomes.

import { element } from "../core/element.js";
import { SIDE, pieceIcon } from "./piece.js";
import { endsOf, pieceName } from "./placement.js";

const ORDER = "qnrb";

/** Let somebody choose among moves of one pawn to one square; return the move, or null. */
export function choosePromotion(board, square, moves) {
  return new Promise((resolve) => {
    const isWhite = square[1] === "8";
    const before = document.activeElement;
    const listening = new AbortController();
    const close = (move) => {
      listening.abort();
      dialog.remove();
      before?.focus?.({ preventScroll: true });
      resolve(move);
    };
    const letterOf = (move) => {
      const { promotion } = endsOf(move.uci);
      return isWhite ? promotion.toUpperCase() : promotion;
    };
    const sorted = [...moves].sort((one, other) => ORDER.indexOf(letterOf(one).toLowerCase()) - ORDER.indexOf(letterOf(other).toLowerCase()));
    const buttons = sorted.map((move) =>
      element(
        "button",
        { type: "button", "aria-label": `Promote to ${pieceName(letterOf(move)).split(" ")[1]}`, onclick: () => close(move) },
        pieceIcon(letterOf(move), { isHidden: true }),
      ),
    );
    const dialog = element(
      "div",
      {
        class: "promotion", role: "dialog", "aria-label": "Promote to",
        onkeydown: (event) => {
          event.stopPropagation();
          const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          const at = buttons.indexOf(document.activeElement);
          if (event.key === "Escape") close(null);
          else if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
          else return;
          event.preventDefault();
        },
        onfocusout: (event) => {
          if (event.relatedTarget && !dialog.contains(event.relatedTarget)) close(null);
        },
      },
      buttons,
    );
    const { width, height } = board.geometry;
    const [x, y] = board.geometry.corner(square);
    dialog.style.left = `${(100 * x) / width}%`;
    dialog.style.width = `${(100 * SIDE) / width}%`;
    if (y < height / 2) dialog.style.top = `${(100 * y) / height}%`;
    else {
      dialog.style.bottom = `${(100 * (height - y - SIDE)) / height}%`;
      dialog.classList.add("upwards");
    }
    document.addEventListener("pointerdown", (event) => dialog.contains(event.target) || close(null), {
      capture: true, // which is past for the press that has led here
      signal: listening.signal,
    });
    document.addEventListener("keydown", (event) => event.key === "Escape" && close(null), { signal: listening.signal });
    board.append(dialog);
    buttons[0].focus({ preventScroll: true });
  });
}
