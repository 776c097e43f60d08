// A match as its log tells it: every event changes it, and nothing else does.

import { delayOf } from "../core/delays.js";

/** In milliseconds: the `Date` of an answer is rounded down to the second, and on its way for a while. */
const DATE_IS_OFF_BY = 3_000;

/** A match, rebuilt from its events: those of the past and those to come are dealt with alike. */
export class MatchLog {
  constructor() {
    this.settings = null;
    this.startFen = null;
    this.openingPlies = 0;
    /** Where the players begin: after the opening. */
    this.openingFen = null;
    this.openingClocks = null;
    this.plies = [];
    this.pending = turnWithout();
    this.status = "created";
    this.clocks = null;
    this.turn = null;
    this.drawOffer = null;
    /** Who has declined a draw, since the last ply of somebody else. */
    this.drawDeclined = null;
    this.takeback = null;
    this.pause = null;
    this.budget = null;
    this.outcome = null;
    this.detail = "";
    this.endedAt = null;
    this.sequence = 0;
    /** By how much this browser's clock is ahead of the service's, in milliseconds, as far as known. */
    this.skew = Infinity;
  }

  #leastSkew = -Infinity;

  /** Take an event: `{ type, data }`. Types that are not known are left alone. */
  apply({ type, data }, now = Date.now()) {
    if (data.sequence) this.sequence = data.sequence;
    // A turn may begin in the future: after a fault its player is asked again only then.
    if (data.at && type !== "turn.started") this.#refineSkew(now - Date.parse(data.at));
    this.#changes[type]?.(data);
  }

  /** Learn what the clock of the service shows, to the second. */
  tellTime(time, now = Date.now()) {
    this.#leastSkew = now - time - DATE_IS_OFF_BY;
    this.#refineSkew(now - time);
  }

  /** The least sample is the one that was on its way for the shortest time. */
  #refineSkew(sample) {
    this.skew = Math.max(this.#leastSkew, Math.min(this.skew, sample));
  }

  #changes = {
    "match.created": (data) => {
      this.settings = data.settings;
      this.budget = data.settings.budget;
      this.openingPlies = data.opening.length;
      this.fen = this.openingFen = data.fen;
      if (!data.opening.length) this.startFen = data.fen;
      this.plies = data.opening.map((uci, index) => ({ number: index + 1, uci, source: "opening", ...turnWithout() }));
    },
    "match.started": () => (this.status = "running"),
    "turn.started": (data) => {
      this.status = "running";
      this.clocks = data.clocks;
      this.openingClocks ??= data.clocks;
      this.turn = { color: data.color, startedAt: Date.parse(data.at), spentMs: data.spent_ms };
      this.pending.speaking.clear(); // whoever is asked anew begins anew
    },
    "advice.given": (data) => {
      this.pending.speaking.delete(data.by);
      this.pending.advice.push(data);
    },
    "advice.delta": (data) => {
      const { speaking } = this.pending;
      speaking.set(data.by, (speaking.get(data.by) ?? "") + data.words);
    },
    "attempt.rejected": (data) => this.pending.rejected.push(data),
    "ply.played": (data) => {
      this.plies.length = data.ply - 1;
      const evaluation = data.evaluation?.mate === 0 ? { mate: 0, by: data.color } : data.evaluation;
      const { advice, rejected } = this.pending;
      this.plies.push({ ...data, evaluation, number: data.ply, advice, rejected });
      if (data.color !== this.drawDeclined) this.drawDeclined = null;
      this.fen = data.fen;
      this.clocks = data.clocks;
      this.turn = null;
      this.takeback = null;
      this.pending = turnWithout();
    },
    "draw.offered": (data) => {
      this.drawOffer = data.color;
      this.drawDeclined = null;
    },
    "draw.declined": (data) => {
      this.drawOffer = null;
      this.drawDeclined = data.color;
    },
    "takeback.asked": (data) => (this.takeback = data.color),
    "takeback.declined": () => (this.takeback = null),
    "takeback.taken": (data) => {
      this.plies.length = data.keep;
      const isOpening = data.keep <= this.openingPlies;
      this.fen = isOpening ? this.openingFen : this.plies.at(-1).fen;
      this.clocks = isOpening ? this.openingClocks : this.plies.at(-1).clocks;
      this.turn = null;
      this.takeback = null;
      this.drawOffer = null;
      this.pending = turnWithout();
    },
    "match.paused": (data) => {
      this.status = "paused";
      this.pause = { reason: data.reason, cause: data.cause };
      this.pending.speaking.clear();
      if (this.turn) this.turn = { ...this.turn, startedAt: null, spentMs: data.spent_ms };
    },
    "match.resumed": (data) => {
      this.status = "running";
      this.pause = null;
      if (data.budget) this.budget = data.budget;
    },
    "match.ended": (data) => {
      this.status = data.status;
      this.outcome = data.outcome;
      this.detail = data.detail;
      this.endedAt = data.at;
      this.pause = null;
      this.drawOffer = null;
      this.takeback = null;
      if (this.turn) this.turn = { ...this.turn, startedAt: null, spentMs: data.spent_ms };
      this.pending.speaking.clear();
    },
  };

  /** Learn what the log leaves out: where the game started, and how the opening's moves are written. */
  fillOpening(startFen, plies) {
    this.startFen = startFen;
    for (const each of plies.slice(0, this.openingPlies)) {
      const known = this.plies[each.number - 1];
      if (known?.source !== "opening") continue;
      this.plies[each.number - 1] = { ...known, san: each.san, fen: each.fen, color: each.color };
    }
  }

  /** Whether the opening still has to be filled in. */
  get lacksOpening() {
    return this.settings !== null && this.startFen === null;
  }

  get isOver() {
    return this.status === "ended" || this.status === "aborted";
  }

  get variant() {
    return this.settings?.variant ?? "standard";
  }

  /** Whose turn it is, by the position. */
  get toMove() {
    return this.fen?.split(" ")[1] === "b" ? "black" : "white";
  }

  /** Return the position after some ply, for the board. */
  positionAfter(number) {
    const ply = this.plies[number - 1];
    return {
      fen: (number === 0 ? this.startFen : ply?.fen) ?? this.fen,
      variant: this.variant,
      lastMove: ply?.uci ?? null,
      isCheck: /[+#]$/.test(ply?.san ?? ""),
    };
  }

  /** Return what is left on a colour's clock, in milliseconds, or null if the match is not timed. */
  left(color, now = Date.now()) {
    if (!this.clocks) return null;
    const stood = this.clocks[`${color}_ms`];
    if (stood === null || this.turn?.color !== color) return stood;
    return stood - Math.max(0, this.thought(now) - this.#delay(color));
  }

  /** Return what stood on a colour's clock when some ply had been played, as `left` does. */
  stoodAfter(color, number) {
    const clocks = number > this.openingPlies ? this.plies[number - 1]?.clocks : this.openingClocks;
    return clocks?.[`${color}_ms`] ?? null;
  }

  #delay(color) {
    if (!this.settings?.time_control?.includes("d")) return 0;
    const played = this.plies.filter((ply) => ply.source !== "opening" && ply.color === color).length;
    return delayOf(this.settings.time_control, played);
  }

  /** Return how long the side to move has thought, in milliseconds. */
  thought(now = Date.now()) {
    if (!this.turn) return 0;
    const { startedAt, spentMs } = this.turn;
    const isRunning = startedAt !== null && this.status === "running";
    return spentMs + (isRunning ? Math.max(0, now - this.skew - startedAt) : 0);
  }
}

/** What was said and refused in a turn: nothing yet. */
function turnWithout() {
  return { advice: [], rejected: [], speaking: new Map() };
}
