// Who sits at a side of the board: name, clock, what was captured, and the result in the end.

import { pieceIcon } from "../board/piece.js";
import { material, placementOf } from "../board/placement.js";
import { element, fill, say } from "../core/element.js";
import { capital, clock, playerName } from "../core/wording.js";

/** Under so many milliseconds a clock is marked. */
const LOW = 20_000;

/** The bar of one colour. */
export class PlayerBar {
  constructor(color) {
    this.color = color;
    this.name = element("strong", { class: "player-name" });
    this.note = element("span", { class: "quiet small" });
    this.captured = element("span", { class: "captured" });
    this.result = element("span", { class: "player-result" });
    this.clock = element("span", { class: "clock", role: "timer", "aria-live": "off", "aria-label": `${capital(color)}'s clock` });
    this.root = element(
      "div",
      { class: `player-bar ${color}`, role: "group", "aria-label": capital(color) },
      element("span", { class: `color-mark ${color}`, "aria-hidden": "true" }),
      element("span", { class: "player-who" }, this.name, this.note, this.captured),
      this.result,
      this.clock,
    );
  }

  /** Show how it stands in a match after some ply, in a position, and whether it is ours. */
  show(log, ply, fen, isOurs, now = Date.now()) {
    const seat = log.settings[this.color];
    say(this.name, playerName(seat));
    say(this.note, [seat.title && seat.name, isOurs && "you"].filter(Boolean).join(" · "));
    this.root.classList.toggle("to-move", !log.isOver && log.toMove === this.color);
    say(this.result, this.#resultText(log));
    this.#showCaptured(log, fen);
    this.ply = ply;
    this.tick(log, now);
  }

  /** Show the clock, as it stood after the ply that is shown; or, without one, how long it has thought. */
  tick(log, now = Date.now()) {
    const isNow = this.ply >= log.plies.length;
    const left = isNow ? log.left(this.color, now) : log.stoodAfter(this.color, this.ply);
    const isThinking = isNow && log.status === "running" && log.turn?.color === this.color;
    if (left !== null) {
      say(this.clock, clock(left));
      this.clock.classList.toggle("low", left < LOW);
    } else {
      const seconds = isThinking ? Math.floor(log.thought(now) / 1000) : 0;
      say(this.clock, seconds < 1 ? "" : seconds < 60 ? `${seconds} s` : clock(seconds * 1000));
    }
    this.clock.classList.toggle("running", isThinking);
    this.clock.hidden = !this.clock.textContent;
  }

  #resultText(log) {
    if (!log.outcome) return "";
    if (log.outcome.winner === null) return "½";
    return log.outcome.winner === this.color ? "1" : "0";
  }

  #showCaptured(log, fen) {
    if (log.variant === "kings-cooking" && fen) {
      const { courts } = placementOf(fen, log.variant); // which show what was captured
      const off = courts[this.color === "white" ? "black" : "white"].scored.length;
      this.captured.hidden = false;
      say(this.captured, `${off} off`);
      return;
    }
    if (!log.startFen || !fen) {
      this.captured.hidden = true;
      return;
    }
    const { captured, lead } = material(log.startFen, fen, log.variant);
    const ours = captured[this.color];
    const ahead = this.color === "white" ? lead : -lead;
    const key = `${ours.join("")} ${ahead}`;
    if (this.captured.dataset.key === key) return;
    this.captured.dataset.key = key;
    this.captured.hidden = !ours.length && ahead <= 0;
    fill(
      this.captured,
      ours.length > 0 && element("span", { class: "visually-hidden" }, "has captured "),
      ours.map((letter) => pieceIcon(letter)),
      ahead > 0 && element("span", { class: "small quiet" }, `+${ahead}`),
    );
  }
}
