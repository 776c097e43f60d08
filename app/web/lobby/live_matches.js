// The matches that are not over, kept up to date by the stream of all matches.

import { get } from "../core/api.js";

/** So many that nobody told of are asked for one by one; more of them by one list. */
const FEW = 3;
/** The most that the service lists at a time, and the most in a snapshot. */
const MOST = 200;
/** How many matches are looked at again at a time, of those that may have changed without an event. */
const MOST_LOOKED_AT = 20;

/** Return whether nothing more can happen in a match. */
export function isOver(match) {
  return match.status === "ended" || match.status === "aborted";
}

/**
 * States of matches by the events of `/api/events`.
 *
 * `tell(match)` hears of each that is new or has changed, `forget()` that none of them counts any
 * more, `fail(problem)` what could not be asked for, and `succeed()` that it could again.
 */
export class LiveMatches {
  #matches = new Map();
  #unknown = new Map(); // by id: events that came before we knew the match
  #isLearning = false;
  #tell;
  #forget;
  #fail;
  #succeed;
  #ended = new Map(); // by id: the last event of those that are over, since answers may overtake events
  #signal;
  /** By how much this browser's clock is ahead of the service's, in milliseconds. */
  skew = 0;
  /** Whether there were more than a snapshot holds: others have to be asked for. */
  isCut = false;

  constructor({ tell, forget, fail, succeed, signal }) {
    this.#tell = tell;
    this.#forget = forget;
    this.#fail = fail;
    this.#succeed = succeed;
    this.#signal = signal;
  }

  /** Take in events of the stream. */
  take(events) {
    for (const { type, data } of events) {
      if (type === "snapshot") this.#begin(data.matches);
      else this.#happen(type, data);
    }
    this.#learn();
  }

  /** Take in what the clock of the service shows, to the second. */
  noteTime(shown) {
    this.skew = Date.now() - shown;
  }

  /** Take in the state of a match, unless a newer one is known. */
  learn(match) {
    const known = this.#matches.get(match.id)?.sequence ?? this.#ended.get(match.id) ?? 0;
    if (known > match.sequence) return;
    const events = this.#unknown.get(match.id) ?? [];
    this.#unknown.delete(match.id);
    if (!isOver(match)) this.#matches.set(match.id, match);
    else this.#end(match);
    this.#tell(match);
    for (const [type, data] of events) this.#happen(type, data);
  }

  /**
   * Look for what the stream does not tell of: that a match waits, was paused, or goes on, and that a
   * human took a move back.
   */
  async look() {
    try {
      const lists = await Promise.all(["paused", "created"].map((status) => this.#list({ status })));
      const listed = lists.flat();
      for (const match of listed) this.learn(match);
      const ids = new Set(listed.map((match) => match.id));
      const doubtful = [...this.#matches.values()].filter((match) => !ids.has(match.id) && mayHaveChanged(match));
      for (const { id } of doubtful.slice(0, MOST_LOOKED_AT)) this.learn(await this.#get(id));
      this.#succeed();
    } catch (problem) {
      this.#fail(problem);
    }
  }

  /** Ask for those that a filter is for, where the snapshot could not hold all. */
  async ask(query) {
    if (!this.isCut) return;
    try {
      for (const status of ["running", "paused", "created"]) {
        if (query.status && query.status !== status) continue;
        for (const match of await this.#list({ ...query, status })) this.learn(match);
      }
    } catch (problem) {
      this.#fail(problem);
    }
  }

  #begin(matches) {
    this.#matches.clear();
    this.#unknown.clear();
    this.#ended.clear();
    this.isCut = matches.length >= MOST;
    this.#forget();
    for (const match of matches) this.learn(match);
  }

  #happen(type, data) {
    this.skew = Math.min(this.skew, Date.now() - Date.parse(data.at)); // the quickest one tells best
    const match = this.#matches.get(data.match_id);
    if (!match) {
      const events = this.#unknown.get(data.match_id) ?? [];
      this.#unknown.set(data.match_id, [...events, [type, data]]);
      return;
    }
    if (data.sequence <= match.sequence) return;
    CHANGES[type]?.(match, data);
    match.sequence = data.sequence;
    if (isOver(match)) this.#end(match);
    this.#tell(match);
  }

  #end(match) {
    this.#matches.delete(match.id);
    this.#ended.set(match.id, match.sequence);
    if (this.#ended.size > MOST) this.#ended.delete(this.#ended.keys().next().value);
  }

  /** Ask for the matches of which there are events, but no state. */
  async #learn() {
    if (this.#isLearning) return;
    this.#isLearning = true;
    try {
      while (this.#unknown.size && !this.#signal.aborted) {
        if (this.#unknown.size > FEW) {
          for (const match of await this.#list({})) if (this.#unknown.has(match.id)) this.learn(match);
        }
        const [id] = this.#unknown.keys();
        if (id) this.learn(await this.#get(id));
      }
    } catch (problem) {
      this.#unknown.clear(); // the next event of each tries again
      this.#fail(problem);
    } finally {
      this.#isLearning = false;
    }
  }

  async #list(query) {
    return (await get("/api/matches", { query: { ...query, limit: MOST }, signal: this.#signal })).matches;
  }

  #get(id) {
    return get(`/api/matches/${id}`, { signal: this.#signal });
  }
}

/** What events of the stream of all matches change. */
const CHANGES = {
  "match.started"(match, { at, fen }) {
    Object.assign(match, { status: "running", fen, started_at: at, turn_started_at: at, spent_ms: 0 });
  },
  "ply.played"(match, { at, ply, color, uci, san, fen, clocks }) {
    Object.assign(match, {
      status: "running", fen, ply_count: ply, turn: color === "white" ? "black" : "white",
      last_move: { uci, san }, check: /[+#]$/.test(san), clocks, turn_started_at: at, spent_ms: 0,
    });
  },
  "match.ended"(match, { at, status, outcome, detail }) {
    Object.assign(match, { status, outcome, detail, result: outcome?.result ?? "*", ended_at: at });
  },
};

function mayHaveChanged(match) {
  if (match.status !== "running") return true;
  return match.white.name === "human" || match.black.name === "human"; // somebody may take a move back
}
