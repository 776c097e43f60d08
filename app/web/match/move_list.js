// The moves of a match, to be read and leafed through.

import { element } from "../core/element.js";
import { score } from "../core/wording.js";

/** So many moves of both sides fill the list. */
const FULL = 12;

/** The list; `go(ply)` is called when somebody picks a move. */
export class MoveList {
  #buttons = []; // by ply, from 0
  #shown = []; // the ply of each button
  #current = null;

  constructor(go) {
    this.go = go;
    this.list = element("ol", { class: "moves" });
    this.root = element("div", { class: "moves-frame", role: "region", "aria-label": "Moves", tabindex: "0" }, this.list);
    this.empty = element("p", { class: "quiet small moves-empty" }, "No move has been played yet.");
  }

  /** Show the plies of a match, and which of them the board shows. Only what is new is drawn. */
  show(log, ply) {
    const first = firstNumber(log.startFen);
    let kept = 0;
    while (kept < this.#shown.length && kept < log.plies.length && this.#shown[kept] === log.plies[kept]) kept++;
    this.#cut(kept);
    for (let index = kept; index < log.plies.length; index++) this.#add(log.plies[index], index, first);
    if (log.plies.length) this.empty.remove();
    else this.root.append(this.empty);
    this.root.classList.toggle("full", this.list.childElementCount >= FULL);
    this.#mark(ply);
  }

  #cut(length) {
    for (const button of this.#buttons.splice(length)) {
      const item = button.parentNode;
      button.remove();
      if (!item.querySelector("button")) item.remove();
    }
    this.#shown.length = length;
  }

  #add(ply, index, first) {
    const refused = ply.rejected?.length ?? 0;
    const button = element(
      "button",
      { type: "button", class: "move", onclick: () => this.go(index + 1) },
      ply.san ?? ply.uci,
      refused > 0 && element("sup", { class: "refused-count", title: `${refused} refused before` }, "✗", element("span", { class: "visually-hidden" }, ` ${refused} refused`)),
      ply.evaluation && element("span", { class: "move-score" }, score(ply.evaluation)),
    );
    const half = index + (first.isBlack ? 1 : 0);
    if (half % 2 === 0 || index === 0) {
      const number = first.number + Math.floor(half / 2);
      const label = `${number}.${half % 2 ? ".." : ""}`;
      this.list.append(element("li", {}, element("span", { class: "move-number", "aria-hidden": "true" }, label)));
    }
    this.list.lastElementChild.append(button);
    this.#buttons.push(button);
    this.#shown.push(ply);
  }

  #mark(ply) {
    const button = this.#buttons[ply - 1] ?? null;
    if (button !== this.#current) {
      this.#current?.removeAttribute("aria-current");
      button?.setAttribute("aria-current", "true");
      this.#current = button;
      this.#reveal(button); // and not again: somebody may have scrolled
    }
  }

  /** Scroll the list, and never the page, to a move. */
  #reveal(button) {
    const frame = this.root;
    if (!button) {
      frame.scrollTop = 0;
      return;
    }
    const box = button.getBoundingClientRect();
    const around = frame.getBoundingClientRect();
    if (box.top >= around.top && box.bottom <= around.bottom) return;
    frame.scrollTop += box.top - around.top - frame.clientHeight / 2;
  }
}

function firstNumber(fen) {
  const fields = fen?.split(" ") ?? [];
  return { number: Number(fields.at(-1)) || 1, isBlack: fields[1] === "b" };
}
