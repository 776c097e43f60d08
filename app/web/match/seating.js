// Playing in a match: which moves our seats have now, sending them, and saying why one cannot be played.

import { colorOf } from "../board/placement.js";
import { get, post } from "../core/api.js";
import { seats } from "../core/kept.js";
import { capital, sentence } from "../core/wording.js";
import { REASONS } from "./illegality.js";

/** In milliseconds: how soon legal moves are asked for again that could not be had. */
const RETRY = 2_000;

/** What whoever looks at a match may do on its board. */
export class Seating {
  #moves = { fen: null, list: [] };
  #asking = null;
  #asked = Promise.resolve();
  #playedAt = null; // how many plies there were when our last move was sent: it is on its way

  constructor(view) {
    this.view = view;
  }

  get #own() {
    return seats.of(this.view.matchId);
  }

  #isOurTurn() {
    const { log } = this.view;
    return log.status === "running" && log.toMove in this.#own;
  }

  /** Something has happened: learn the legal moves, if it is our turn. */
  learn() {
    const { log } = this.view;
    if (!this.#isOurTurn() || this.#moves.fen === log.fen || this.#asking === log.fen) return;
    this.#asking = log.fen;
    this.#asked = this.#ask(log.fen);
  }

  async #ask(wanted) {
    try {
      const match = await get(`/api/matches/${this.view.matchId}`, { signal: this.view.leaving });
      this.#moves = { fen: match.fen, list: match.legal_moves };
      if (match.ledger.calls) this.view.ledger.show(match.ledger, match.budget);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.view.controls.tell(sentence(problem.message));
      setTimeout(() => this.view.leaving.aborted || this.learn(), RETRY);
    } finally {
      if (this.#asking === wanted) this.#asking = null;
    }
    this.view.renew();
  }

  /** Wait for moves that are still on their way: some people are faster than them. */
  async #learned() {
    await this.#asked;
    if (!this.view.log.isOver) this.renew();
  }

  /** Give the board to our seats, with the moves that can be played now. */
  renew() {
    const { log, board, isAtEnd } = this.view;
    const colors = Object.keys(this.#own);
    if (!colors.length || log.isOver) {
      board.seat(null);
      return;
    }
    if (this.#playedAt !== log.plies.length) this.#playedAt = null;
    const isIdle = this.#playedAt === null;
    const canMove = isAtEnd && this.#isOurTurn() && isIdle && this.#moves.fen === log.fen;
    board.seat({
      colors,
      moves: canMove ? this.#moves.list : [],
      learned: () => this.#learned(),
      play: (uci) => this.play(uci),
      refuse: (from, to) => this.#refuse(from, to),
      tell: (text) => this.view.controls.tell(sentence(text)),
    });
  }

  /** Play a move that somebody typed, in any notation; return whether it was played, and say why if not. */
  async playTyped(text) {
    const reason = this.#notNow();
    if (reason) {
      this.view.controls.tell(reason);
      return false;
    }
    const checked = await this.#checked(text);
    if (checked?.legal) return this.play(checked.uci);
    if (checked) this.#explain(checked, text);
    return false;
  }

  /** Play a legal move; return whether it was played, and say why if not. */
  async play(uci) {
    const { log, board, controls } = this.view;
    if (!this.view.isAtEnd) this.view.goToEnd();
    const color = log.toMove;
    const token = this.#own[color];
    this.#playedAt = log.plies.length;
    controls.tell("");
    try {
      const headers = { "X-Seat-Token": token };
      await post(`/api/matches/${this.view.matchId}/moves`, { move: uci }, { headers, signal: this.view.leaving });
      return true;
    } catch (problem) {
      if (problem.name === "AbortError") return false;
      this.#playedAt = null;
      board.restore();
      if (problem.kind === "wrong-seat-token") this.view.loseSeat(color, problem);
      else controls.tell(sentence(problem.message));
      return false;
    } finally {
      this.view.renew();
    }
  }

  /** Say why a piece cannot be moved, or not to that square. */
  async #refuse(from, to) {
    const { log, controls, board } = this.view;
    const letter = board.shown.placement.pieces.get(from);
    const reason = this.view.isAtEnd ? this.#notNow() : "You are looking at an earlier position. Go to the latest one to move.";
    if (reason) {
      controls.tell(reason);
    } else if (!letter) {
      controls.tell(`There is no piece on ${from}.`);
    } else if (colorOf(letter) !== log.toMove) {
      controls.tell(`That piece is ${capital(colorOf(letter))}'s, and it is ${capital(log.toMove)}'s turn.`);
    } else if (to !== null) {
      const move = from + to;
      const checked = await this.#checked(move);
      if (checked?.legal) await this.play(checked.uci); // the moves could not be learnt
      else if (checked) this.#explain(checked, `${from}–${to}`);
    }
  }

  /** Return why nothing can be played just now, or null. */
  #notNow() {
    const { log } = this.view;
    if (log.status === "paused") return "The match is paused.";
    if (log.status !== "running") return "The match has not begun yet.";
    if (!this.#isOurTurn()) return `It is ${capital(log.toMove)}'s turn: wait for the move.`;
    return this.#playedAt === log.plies.length ? "Your move is on its way." : null;
  }

  /** Ask the rules about a move; null if they cannot be asked, which is said. */
  async #checked(move) {
    const { log, controls, leaving } = this.view;
    try {
      return await post("/api/positions/check", { fen: log.fen, variant: log.variant, move }, { signal: leaving });
    } catch (problem) {
      if (problem.name !== "AbortError") controls.tell(sentence(problem.message));
      return null;
    }
  }

  #explain({ reason, detail }, move) {
    const why = REASONS[reason];
    this.view.controls.tell(why ? `${move} is illegal: ${why}.` : sentence(detail));
  }
}
