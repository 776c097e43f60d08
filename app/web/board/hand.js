// A player's hand: picks pieces up and puts them down, by dragging, by clicks and by keys.

import { nextFrame } from "../core/view.js";
import { choosePromotion } from "./promotion.js";
import { SIDE } from "./piece.js";
import { colorOf, endsOf, fileAndRank, pieceName } from "./placement.js";

/** In pixels: less than that is a click and no drag. */
const DRAG_FROM = 4;

/** The hand of whoever sits at a board. */
export class Hand {
  #board;
  #seat = null;
  #picture = null;
  #selected = null;
  #cursor = null;
  #drag = null;
  #leaving = new AbortController();

  constructor(board) {
    this.#board = board;
  }

  /** Take a seat, or another one. */
  take(seat) {
    this.#seat = seat;
    if (this.#selected && !this.#isOwn(this.#selected)) this.#selected = null;
    if (this.#picture) this.#board.remark();
  }

  /** Leave the board. */
  leave() {
    this.#leaving.abort();
    this.#board.classList.remove("playable");
  }

  /** Lay the hand on a new drawing of the board. */
  enter(picture) {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    this.#picture = picture;
    this.#drag = null;
    this.#board.classList.add("playable");
    picture.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    picture.addEventListener("pointermove", (event) => this.#move(event), { signal });
    picture.addEventListener("pointerup", (event) => this.#up(event), { signal });
    picture.addEventListener("pointercancel", (event) => this.#isDragging(event) && this.#drop(), { signal });
    picture.addEventListener("keydown", (event) => this.#key(event), { signal });
    // Not at the picture: Chromium lets everything in SVG have the focus that listens for it.
    this.#board.addEventListener("focusin", (event) => this.#stand(event.target.dataset.square ?? this.#cursor), { signal });
    this.#board.addEventListener("focusout", () => this.#board.remark(), { signal });
    this.#cursor = this.#board.squares.has(this.#cursor) ? this.#cursor : this.#board.geometry.rows().at(-1)[0];
    this.#board.squares.get(this.#cursor).setAttribute("tabindex", "0");
  }

  /** Stand where the keys were, on a new drawing. */
  stand() {
    this.#moveCursor(this.#cursor, true);
  }

  /** The position has changed. */
  renew() {
    if (this.#drag && this.#isOwn(this.#drag.from)) this.#carry();
    else if (this.#drag) this.#drop();
    if (this.#selected && !this.#isOwn(this.#selected)) this.#selected = null;
    this.#board.remark();
  }

  /** Return the marks of what is selected, where it can go, and where the keys are. */
  marks() {
    const marks = [];
    const { pieces } = this.#board.shown.placement;
    if (this.#selected) {
      marks.push(this.#board.mark(this.#selected, "selected"));
      for (const target of this.#targets(this.#selected)) {
        marks.push(this.#board.mark(target, pieces.has(target) ? "hint taking" : "hint"));
      }
    }
    if (this.#picture?.contains(document.activeElement) && document.activeElement.matches(":focus-visible")) {
      marks.push(this.#board.mark(this.#cursor, "cursor"));
    }
    return marks;
  }

  #targets(from) {
    return new Set(this.#movesFrom(from).map(({ uci }) => this.#targetOf(uci)));
  }

  #movesFrom(from) {
    return this.#seat.moves.filter(({ uci }) => endsOf(uci).from === from);
  }

  /** Return where a move is put down: whoever leaves the board goes to the opponent's court. */
  #targetOf(uci) {
    const { from, to } = endsOf(uci);
    if (to !== "off") return to;
    return colorOf(this.#board.shown.placement.pieces.get(from)) === "white" ? "black" : "white";
  }

  /** Whether whoever has a piece selected means to put it there, and not to select another one. */
  #isTarget(square) {
    const from = this.#selected;
    return !this.#isOwn(square) || this.#targets(from).has(square) || this.#castling(from, square).length > 0;
  }

  /** Whether they may mean it, which only shows once the legal moves are there. */
  #mayBeTarget(square) {
    return this.#isTarget(square) || (!this.#seat.moves.length && this.#isOntoRook(this.#selected, square));
  }

  /** Whether a king is put onto a rook of its own side. */
  #isOntoRook(from, square) {
    const { pieces } = this.#board.shown.placement;
    const rook = { K: "R", k: "r" }[pieces.get(from)];
    return rook !== undefined && pieces.get(square) === rook;
  }

  #isOwn(square) {
    const letter = this.#board.shown.placement.pieces.get(square);
    return letter !== undefined && this.#seat.colors.includes(colorOf(letter));
  }

  // --- by pointer ---

  #at(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.#picture.getScreenCTM().inverse());
    return { square: this.#board.geometry.at(point.x, point.y), x: point.x, y: point.y };
  }

  #down(event) {
    if (event.button !== 0 || this.#drag) return; // a second finger
    const { square } = this.#at(event);
    if (square === null) return;
    event.preventDefault();
    const wasSelected = this.#selected === square;
    if (this.#selected && !wasSelected && this.#mayBeTarget(square)) {
      this.#try(this.#selected, square, this.#isTarget(square));
      return;
    }
    this.#moveCursor(square, false);
    if (!this.#isOwn(square)) {
      this.#select(null);
      if (this.#board.shown.placement.pieces.has(square)) this.#seat.refuse(square, null);
      return;
    }
    this.#select(square);
    this.#seat.tell(""); // what was said of another move
    this.#picture.setPointerCapture(event.pointerId);
    this.#drag = { from: square, wasSelected, pointer: event.pointerId, startX: event.clientX, startY: event.clientY, isUnderWay: false };
  }

  #isDragging(event) {
    return this.#drag?.pointer === event.pointerId;
  }

  #move(event) {
    if (!this.#isDragging(event)) return;
    const { startX, startY } = this.#drag;
    if (Math.hypot(event.clientX - startX, event.clientY - startY) > DRAG_FROM) this.#drag.isUnderWay = true;
    const { x, y } = this.#at(event);
    Object.assign(this.#drag, { x, y });
    this.#carry();
  }

  /** Draw the piece in the hand where the hand is, whatever else has changed. */
  #carry() {
    const drawing = this.#board.drawingOn(this.#drag.from);
    if (!this.#drag.isUnderWay || !drawing) return;
    if (!drawing.classList.contains("dragged")) {
      drawing.classList.add("dragged");
      drawing.parentNode.append(drawing); // over the others
    }
    drawing.style.transform = `translate(${this.#drag.x - SIDE / 2}px, ${this.#drag.y - SIDE / 2}px)`;
  }

  #up(event) {
    if (!this.#isDragging(event)) return;
    const { from, wasSelected, isUnderWay } = this.#drag;
    const { square } = this.#at(event);
    this.#drop(isUnderWay && square !== null && square !== from);
    if (!isUnderWay) {
      if (wasSelected) this.#select(null);
    } else if (square !== null && square !== from) this.#try(from, square);
  }

  /** Let go of a dragged piece. */
  #drop(isMoved = false) {
    const drawing = this.#drag && this.#board.drawingOn(this.#drag.from);
    if (drawing) {
      this.#picture.classList.add("still");
      if (!isMoved) this.#board.place(drawing, this.#drag.from);
      nextFrame(() => drawing.classList.remove("dragged"));
    }
    this.#drag = null;
  }

  // --- by keys ---

  #key(event) {
    const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key] && !event.target.matches(":focus-visible")) return; // a hand came by mouse: they leaf
    if (steps[event.key]) this.#walk(...steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.#press();
    else if (event.key === "Escape" && this.#selected) {
      this.#select(null);
      this.#seat.tell("put back");
    } else return;
    event.preventDefault();
    event.stopPropagation(); // arrow keys also leaf through the moves
  }

  #walk(right, down) {
    const rows = this.#board.geometry.rows();
    const grid = this.#board.geometry.shelf
      ? [[this.#board.courtLayers.far.color], ...rows, [this.#board.courtLayers.near.color]]
      : rows;
    const row = grid.findIndex((each) => each.includes(this.#cursor));
    const next = grid[Math.min(grid.length - 1, Math.max(0, row + down))];
    const column = Math.max(0, grid[row].indexOf(this.#cursor)) + right;
    this.#moveCursor(next[Math.min(next.length - 1, Math.max(0, column))], true);
  }

  #moveCursor(square, hasFocus) {
    this.#board.squares.get(square).focus({ preventScroll: true, focusVisible: hasFocus });
    this.#stand(square);
  }

  /** The keys are at a square, however they got there: some screen readers go to one directly. */
  #stand(square) {
    this.#board.squares.get(this.#cursor)?.setAttribute("tabindex", "-1");
    this.#cursor = square;
    this.#board.squares.get(square).setAttribute("tabindex", "0");
    this.#board.remark();
  }

  #press() {
    const square = this.#cursor;
    if (this.#selected === square) this.#select(null);
    else if (this.#selected && this.#mayBeTarget(square)) this.#try(this.#selected, square, this.#isTarget(square));
    else if (this.#isOwn(square)) {
      this.#select(square);
      if (!this.#seat.moves.length) {
        this.#seat.refuse(square, null); // it is not their turn
        return;
      }
      const targets = [...this.#targets(square)];
      const name = pieceName(this.#board.shown.placement.pieces.get(square));
      this.#seat.tell(`${name} ${square} picked up; ${targets.length ? `it can go to ${targets.join(", ")}` : "it cannot move"}`);
    } else this.#seat.refuse(square, null);
  }

  // --- moving ---

  #select(square) {
    this.#selected = square;
    this.#board.remark();
  }

  /** Move there; if that is impossible, say why, or if they were not sure to mean it, select what stands there. */
  async #try(from, target, isSure = true) {
    await this.#seat.learned();
    const found = this.#movesFrom(from).filter(({ uci }) => this.#targetOf(uci) === target);
    const moves = found.length ? found : this.#castling(from, target);
    this.#select(null);
    if (!moves.length) {
      this.#board.restore();
      if (isSure) this.#refuse(from, target);
      else this.#select(target);
      return;
    }
    this.#board.foresee(from, endsOf(moves[0].uci).to);
    const chosen = moves.length === 1 ? moves[0] : await choosePromotion(this.#board, target, moves);
    if (chosen) this.#seat.play(chosen.uci);
    else this.#board.restore();
  }

  /** Say why a piece cannot be put down somewhere. */
  #refuse(from, target) {
    const isCourt = target === "white" || target === "black";
    const isOwnCourt = isCourt && target === colorOf(this.#board.shown.placement.pieces.get(from));
    if (isOwnCourt) this.#seat.tell("pieces leave the board over the opponent's edge, never over their own");
    else this.#seat.refuse(from, isCourt ? "off" : target);
  }

  /**
   * One castles by moving the king two files, in Chess960 by taking the own rook. Here the king's new
   * square will do in Chess960, and the rook in chess.
   */
  #castling(from, target) {
    const { pieces } = this.#board.shown.placement;
    const king = pieces.get(from);
    if (king?.toLowerCase() !== "k" || target.length !== 2) return [];
    const [file, rank] = fileAndRank(target);
    const [at, ownRank] = fileAndRank(from);
    const isOwnRook = this.#isOntoRook(from, target);
    if (rank !== ownRank || !(isOwnRook || [2, 6].includes(file))) return [];
    const isShort = isOwnRook ? file > at : file === 6;
    return this.#movesFrom(from).filter(({ uci }) => {
      const [to] = fileAndRank(endsOf(uci).to);
      const isOntoRook = this.#isOntoRook(from, endsOf(uci).to);
      const isCastling = isOntoRook ? !isOwnRook : isOwnRook && Math.abs(to - at) === 2;
      return isCastling && to > at === isShort;
    });
  }
}
