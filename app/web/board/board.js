// The board: squares, pieces that slide, marks, arrows, courts; and, for players, a hand.

import { element, fill, svg } from "../core/element.js";
import { Geometry } from "./geometry.js";
import { Hand } from "./hand.js";
import { SIDE, drawPiece } from "./piece.js";
import { colorOf, endsOf, fileAndRank, pieceName, placementOf } from "./placement.js";

/** More pieces than that do not slide at once: somebody has jumped to another ply. */
const MOST_SLIDING = 4;

/**
 * `<kibitz-board>`: call `show` with a position, and `seat` to let somebody move.
 *
 * A board that nobody moves on is a picture with a description. One with a seat is a grid of squares
 * that can be walked by arrow keys.
 */
export class Board extends HTMLElement {
  #geometry = null;
  #slots = new Map(); // by square: { letter, drawing }
  #shown = null;
  #orientation = "white";
  #hand = null;

  /**
   * Show a position: `{ fen, variant, lastMove, isCheck }`, where `lastMove` is UCI or null. Pieces
   * slide unless `isStill`.
   */
  show(position, { isStill = false } = {}) {
    const known = this.#shown;
    const isSame = known && ["fen", "variant", "lastMove", "isCheck"].every((name) => known[name] === position[name]);
    if (isSame) return; // also where somebody has moved, and the service has not told of it yet
    this.#shown = { ...position, placement: placementOf(position.fen, position.variant) };
    this.#draw(isStill);
  }

  /** What is shown: the position, and its placement. */
  get shown() {
    return this.#shown;
  }

  get geometry() {
    return this.#geometry;
  }

  /** Who sits below: "white" or "black". */
  get orientation() {
    return this.#orientation;
  }

  set orientation(color) {
    if (color === this.#orientation) return;
    this.#orientation = color;
    if (this.#shown) this.#draw(true);
  }

  /**
   * Let somebody move, or nobody: `{ colors, moves, learned(), play(uci), refuse(from, to), tell(text) }`.
   * `moves` are the legal ones now, once `learned` has come true; without any it is not their turn, and
   * `refuse` says so.
   */
  seat(seat) {
    const hadHand = this.#hand !== null;
    if (!seat) {
      this.#hand?.leave();
      this.#hand = null;
    } else {
      this.#hand ??= new Hand(this);
      this.#hand.take(seat);
    }
    if (hadHand !== (this.#hand !== null) && this.#shown) this.#rebuild();
  }

  /** Put the pieces back to where the position has them, after a move that was not played. */
  restore() {
    if (this.#shown) this.#draw(false);
  }

  /** Put a piece where somebody has just moved it, until the service tells of the new position. */
  foresee(from, to) {
    const pieces = new Map(this.#shown.placement.pieces);
    const taken = pieces.get(to);
    if (taken && colorOf(taken) === colorOf(pieces.get(from))) return; // castling in Chess960
    if (to !== "off") pieces.set(to, pieces.get(from));
    pieces.delete(from);
    this.#arrange(pieces, true);
  }

  /** Draw arrows over the board, for moves of a colour: `[{ uci, kind, color }]`. */
  point(arrows) {
    if (!this.#geometry) return;
    fill(this.arrows, arrows.map((each) => this.#arrow(each)));
  }

  // --- drawing ---

  #draw(isStill) {
    const { placement } = this.#shown;
    const hasCourts = placement.courts !== null;
    const wanted = new Geometry(placement.side, this.#orientation, hasCourts);
    const isSame =
      this.#geometry?.side === wanted.side &&
      this.#geometry.orientation === wanted.orientation &&
      this.#geometry.shelf === wanted.shelf;
    if (!isSame) {
      this.#geometry = wanted;
      this.#rebuild();
    }
    this.#arrange(placement.pieces, isStill || !isSame);
    this.#mark();
    this.#fillCourts();
    this.#describe();
    this.#hand?.renew();
  }

  /** Make the parts that stay: squares, labels, layers. */
  #rebuild() {
    const { width, height } = this.#geometry;
    const isGrid = this.#hand !== null;
    const layer = (name) => svg("g", { class: name, "aria-hidden": isGrid ? "true" : null });
    this.squares = new Map();
    const rows = this.#geometry.rows().map((row) =>
      svg("g", isGrid ? { role: "row" } : {}, row.map((square) => this.#square(square, isGrid))),
    );
    this.courtLayers = this.#courtLayers(isGrid);
    this.marks = layer("marks");
    this.pieces = layer("pieces");
    this.arrows = layer("arrows");
    const labels = layer("labels");
    labels.append(...this.#labels());
    this.picture = svg(
      "svg",
      { class: "board", viewBox: `0 0 ${width} ${height}`, role: isGrid ? "grid" : "img", "aria-label": "Board", dataset: { side: this.#geometry.side } },
      this.courtLayers.far?.group,
      rows,
      this.courtLayers.near?.group,
      this.marks, labels, this.pieces, this.arrows,
    );
    this.#slots.clear();
    const hadFocus = this.contains(document.activeElement);
    fill(this, this.picture);
    this.#hand?.enter(this.picture);
    if (this.#shown) {
      this.#arrange(this.#shown.placement.pieces, true);
      this.#mark();
      this.#fillCourts();
      this.#describe();
      if (hadFocus) this.#hand?.stand();
    }
  }

  #square(square, isGrid) {
    const [x, y] = this.#geometry.corner(square);
    const [file, rank] = fileAndRank(square);
    const shade = (file + rank) % 2 ? "light" : "dark";
    const cell = isGrid ? { role: "gridcell", tabindex: "-1" } : {};
    const drawn = svg("rect", { class: `square ${shade}`, x, y, width: SIDE, height: SIDE, dataset: { square }, ...cell });
    this.squares.set(square, drawn);
    return drawn;
  }

  #courtLayers(isGrid) {
    if (!this.#geometry.shelf) return {};
    const made = (color) => {
      const y = this.#geometry.courtTop(color);
      const cell = isGrid ? { role: "gridcell", tabindex: "-1" } : {};
      const floor = svg("rect", {
        class: "court", x: 0, y, width: this.#geometry.width, height: SIDE, rx: 4, dataset: { square: color }, ...cell,
      });
      const content = svg("g", { class: "court-pieces", "aria-hidden": isGrid ? "true" : null });
      const label = svg("text", { class: "court-name", x: this.#geometry.width / 2, y: y + SIDE / 2, "aria-hidden": isGrid ? "true" : null }, `${color === "white" ? "White" : "Black"}'s court`);
      this.squares.set(color, floor);
      return { color, floor, label, content, group: svg("g", isGrid ? { role: "row" } : {}, floor, label, content) };
    };
    const near = this.#orientation;
    return { near: made(near), far: made(near === "white" ? "black" : "white") };
  }

  #labels() {
    const { height, shelf } = this.#geometry;
    const rows = this.#geometry.rows();
    const files = rows.at(-1).map((square, column) =>
      svg("text", { x: column * SIDE + SIDE - 3, y: height - shelf - 3, "text-anchor": "end" }, square[0]),
    );
    const ranks = rows.map((row, index) =>
      svg("text", { x: 3, y: shelf + index * SIDE + 11 }, row[0][1]),
    );
    return [...files, ...ranks];
  }

  /** Bring the drawn pieces to their squares: those that moved slide, others come and go. */
  #arrange(pieces, isStill) {
    const free = [];
    for (const [square, slot] of this.#slots) {
      if (pieces.get(square) === slot.letter) continue;
      free.push({ square, ...slot });
      this.#slots.delete(square);
    }
    const missing = [...pieces].filter(([square]) => !this.#slots.has(square));
    this.picture.classList.toggle("still", isStill || missing.length > MOST_SLIDING);
    for (const [square, letter] of missing) {
      const drawing = this.#takeNearest(free, letter, square) ?? this.pieces.appendChild(drawPiece(letter));
      this.#slots.set(square, { letter, drawing });
    }
    for (const { drawing } of free) drawing.remove();
    for (const [square, { drawing }] of this.#slots) this.place(drawing, square);
  }

  #takeNearest(free, letter, square) {
    const distance = (each) => {
      const [x, y] = this.#geometry.corner(each.square);
      const [toX, toY] = this.#geometry.corner(square);
      return Math.abs(x - toX) + Math.abs(y - toY);
    };
    const alike = free.filter((each) => each.letter === letter).sort((one, other) => distance(one) - distance(other));
    if (!alike.length) return null;
    free.splice(free.indexOf(alike[0]), 1);
    return alike[0].drawing;
  }

  /** Put a drawing onto a square. */
  place(drawing, square) {
    const [x, y] = this.#geometry.corner(square);
    drawing.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Return the drawing of the piece on a square. */
  drawingOn(square) {
    return this.#slots.get(square)?.drawing ?? null;
  }

  #mark() {
    const { lastMove, isCheck, placement } = this.#shown;
    const marks = [];
    if (lastMove) {
      const { from, to } = endsOf(lastMove);
      marks.push(this.mark(from, "moved"));
      if (to !== "off") marks.push(this.mark(to, "moved"));
    }
    if (isCheck) {
      const king = placement.turn === "white" ? "K" : "k";
      for (const [square, letter] of placement.pieces) if (letter === king) marks.push(this.mark(square, "check"));
    }
    fill(this.marks, marks, this.#hand?.marks() ?? []);
  }

  /** Draw the marks again: what is selected or hinted at has changed. */
  remark() {
    this.#mark();
  }

  /** Return a mark over a square or a court. */
  mark(square, kind) {
    if (square === "white" || square === "black") {
      const y = this.#geometry.courtTop(square);
      return svg("rect", { class: `mark ${kind}`, x: 0, y, width: this.#geometry.width, height: SIDE, rx: 4 });
    }
    const [x, y] = this.#geometry.corner(square);
    return svg("rect", { class: `mark ${kind}`, x, y, width: SIDE, height: SIDE });
  }

  #fillCourts() {
    const { courts } = this.#shown.placement;
    if (!courts) return;
    for (const { color, content, label } of Object.values(this.courtLayers)) {
      const { scored, captured } = courts[color];
      const y = this.#geometry.courtTop(color);
      const drawn = [...scored.map((letter) => [letter, "scored"]), ...captured.map((letter) => [letter, "captured"])];
      label.classList.toggle("taken", drawn.length > 0);
      const step = Math.min(SIDE, this.#geometry.width / Math.max(1, drawn.length));
      fill(content, drawn.map(([letter, kind], index) => {
        const drawing = drawPiece(letter);
        drawing.classList.add(kind);
        drawing.style.transform = `translate(${index * step}px, ${y}px)`;
        return drawing;
      }));
    }
  }

  #arrow({ uci, kind, color }) {
    const { from, to } = endsOf(uci);
    const [x, y] = this.#geometry.middle(from);
    const court = color === "white" ? "black" : "white";
    const [toX, toY] = to === "off"
      ? [x, this.#geometry.courtTop(court) + SIDE / 2]
      : this.#geometry.middle(to);
    const angle = Math.atan2(toY - y, toX - x);
    const [tipX, tipY] = [toX - 6 * Math.cos(angle), toY - 6 * Math.sin(angle)];
    const wing = (turn) => `${tipX - 13 * Math.cos(angle + turn)} ${tipY - 13 * Math.sin(angle + turn)}`;
    return svg(
      "g",
      { class: `arrow ${kind}` },
      svg("line", { x1: x, y1: y, x2: tipX - 8 * Math.cos(angle), y2: tipY - 8 * Math.sin(angle) }),
      svg("path", { d: `M${tipX} ${tipY}L${wing(0.5)}L${wing(-0.5)}z` }),
    );
  }

  /** Tell what is on the board: as one sentence, or square by square where it can be walked. */
  #describe() {
    const { placement } = this.#shown;
    if (this.#hand) {
      this.picture.setAttribute("aria-label", `Board, ${placement.turn} to move. Arrow keys walk, Enter picks up and puts down.`);
      for (const [square, drawn] of this.squares) {
        const letter = placement.pieces.get(square);
        drawn.setAttribute("aria-label", letter ? `${square}, ${pieceName(letter)}` : this.#emptyName(square));
      }
    } else {
      const list = (color) =>
        [...placement.pieces].filter(([, letter]) => colorOf(letter) === color)
          .map(([square, letter]) => `${pieceName(letter).split(" ")[1]} ${square}`).join(", ");
      this.picture.setAttribute("aria-label", `Board, ${placement.turn} to move. White: ${list("white") || "nothing"}. Black: ${list("black") || "nothing"}.`);
    }
  }

  #emptyName(square) {
    return square === "white" || square === "black" ? `${square}'s court` : `${square}, empty`;
  }
}

customElements.define("kibitz-board", Board);

/** Return a board. */
export function board(attributes = {}) {
  return element("kibitz-board", attributes);
}
