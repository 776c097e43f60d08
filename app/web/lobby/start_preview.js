// The position from which a match will start, as a small board beside the form.

import { board } from "../board/board.js";
import { post } from "../core/api.js";
import { element, say } from "../core/element.js";
import { capital, sentence } from "../core/wording.js";

/** In milliseconds: somebody who types is not done after each letter. */
const TYPING = 300;

/** Shows where a game starts; `blame(field, message)` and `clear(field)` say whether it can. */
export class StartPreview {
  #blame;
  #clear;
  #signal;
  #timer;
  #asking = new AbortController();
  #shown = "";

  constructor({ blame, clear, signal }) {
    this.#blame = blame;
    this.#clear = clear;
    this.#signal = signal;
    this.board = board({ class: "small-board" });
    this.caption = element("p", { class: "quiet small", role: "status" });
    this.root = element("figure", { class: "start-preview" }, this.board, element("figcaption", {}, this.caption));
  }

  /** Show the start of a game: `{ variant, fen, moves, name }`, where `moves` is a list. */
  show(start) {
    const wanted = JSON.stringify(start);
    if (wanted === this.#shown) return;
    const isFirst = this.#shown === "";
    this.#shown = wanted;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(start), isFirst ? 0 : TYPING);
  }

  async #ask({ variant, fen, moves, name }) {
    this.#asking.abort();
    this.#asking = new AbortController();
    const signal = AbortSignal.any([this.#signal, this.#asking.signal]);
    if (signal.aborted) return;
    const position = { variant, ...(fen && { fen }) };
    try {
      const answer = moves.length
        ? await post("/api/positions/play", { ...position, moves }, { signal })
        : await post("/api/positions/moves", position, { signal });
      const last = answer.plies?.at(-1);
      const isCheck = answer.check ?? /[+#]$/.test(last.san);
      this.board.show({ fen: answer.fen, variant, lastMove: last?.uci ?? null, isCheck }, { isStill: true });
      say(this.caption, this.#words(answer, { variant, fen, moves, name }));
      for (const field of ["initial_fen", "opening"]) this.#clear(field);
      const over = answer.outcome?.detail;
      if (over) this.#blame(fen ? "initial_fen" : "opening", `the game is over there: ${over}`);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      const isMove = problem.field?.startsWith("moves");
      if (problem.field) this.#blame(isMove ? "opening" : "initial_fen", problem.message);
      else say(this.caption, sentence(problem.message));
    }
  }

  #words(answer, { variant, fen, moves, name }) {
    const isDrawn = variant === "chess960" && !fen && !moves.length;
    if (isDrawn) return "The start is drawn by lot when the match begins; this is one of 960.";
    return [name, `${capital(answer.turn)} to move`].filter(Boolean).join(" · ");
  }
}
