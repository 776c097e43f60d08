// Where things lie on a drawn board, for either perspective, with courts beyond the edges or without.

import { SIDE } from "./piece.js";
import { fileAndRank, squareName } from "./placement.js";

/** Between the board and a court. */
const GAP = 8;

/** The places of a board of some side, as somebody of a colour sees it. */
export class Geometry {
  constructor(side, orientation, hasCourts) {
    this.side = side;
    this.orientation = orientation;
    this.shelf = hasCourts ? SIDE + GAP : 0;
    this.width = side * SIDE;
    this.height = side * SIDE + 2 * this.shelf;
  }

  /** Return the squares row by row, the top row first. */
  rows() {
    const order = [...Array(this.side).keys()];
    const ranks = this.orientation === "white" ? [...order].reverse() : order;
    const files = this.orientation === "white" ? order : [...order].reverse();
    return ranks.map((rank) => files.map((file) => squareName(file, rank)));
  }

  /** Return the upper left corner of a square. */
  corner(square) {
    const [file, rank] = fileAndRank(square);
    const isWhite = this.orientation === "white";
    const column = isWhite ? file : this.side - 1 - file;
    const row = isWhite ? this.side - 1 - rank : rank;
    return [column * SIDE, this.shelf + row * SIDE];
  }

  /** Return the middle of a square. */
  middle(square) {
    return this.corner(square).map((each) => each + SIDE / 2);
  }

  /** Return the top of a colour's court. */
  courtTop(color) {
    return color === this.orientation ? this.height - SIDE : 0;
  }

  /** Return the square at a point, "white" or "black" for that court, or null. */
  at(x, y) {
    if (x < 0 || x >= this.width || y < 0 || y >= this.height) return null;
    const row = Math.floor((y - this.shelf) / SIDE);
    if (row < 0 || row >= this.side) {
      if (!this.shelf) return null;
      const far = this.orientation === "white" ? "black" : "white";
      return y < this.shelf ? far : this.orientation;
    }
    return this.rows()[row][Math.floor(x / SIDE)];
  }
}
