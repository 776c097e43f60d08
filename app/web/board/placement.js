// What a FEN says of the board: where the pieces stand, and in King's Cooking what lies in the courts.

/** How many squares a side has, by variant. */
export function sideOf(variant) {
  return variant === "kings-cooking" ? 3 : 8;
}

/** Pieces on the board by square (`e4` to `P`, as FEN writes them), whose turn it is, and courts. */
export function placementOf(fen, variant) {
  const fields = fen.split(" ");
  const side = sideOf(variant);
  const pieces = new Map();
  fields[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const sign of row) {
      if (/\d/.test(sign)) file += Number(sign);
      else pieces.set(squareName(file++, side - 1 - index), sign);
    }
  });
  return { pieces, side, turn: fields[1] === "b" ? "black" : "white", courts: courtsOf(fields, variant) };
}

/** What scored in each court, and what was captured into it: a captor's own. */
function courtsOf(fields, variant) {
  if (variant !== "kings-cooking") return null;
  const [, , inWhites, inBlacks, capturedWhite, capturedBlack] = fields;
  const letters = (field) => (field && field !== "-" ? [...field] : []);
  return {
    white: { scored: letters(inWhites), captured: letters(capturedBlack) },
    black: { scored: letters(inBlacks), captured: letters(capturedWhite) },
  };
}

/** Return the name of a square by its file and rank, from 0. */
export function squareName(file, rank) {
  return "abcdefgh"[file] + (rank + 1);
}

/** Return a square's file and rank, from 0. */
export function fileAndRank(square) {
  return [square.charCodeAt(0) - 97, Number(square[1]) - 1];
}

/** Return whose piece a letter of FEN is. */
export function colorOf(letter) {
  return letter === letter.toUpperCase() ? "white" : "black";
}

const KINDS = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/** Return what a letter of FEN is called, as in "white knight". */
export function pieceName(letter) {
  return `${colorOf(letter)} ${KINDS[letter.toLowerCase()]}`;
}

/** Return where a move begins and ends; a piece that leaves the board ends `off` it. */
export function endsOf(uci) {
  return uci.endsWith("off")
    ? { from: uci.slice(0, 2), to: "off", promotion: null }
    : { from: uci.slice(0, 2), to: uci.slice(2, 4), promotion: uci[4] ?? null };
}

const WORTH = { q: 9, r: 5, b: 3, n: 3, p: 1 };

/**
 * Return what each side has captured, the dearest first, and by how many points White is ahead, by
 * the pieces at the start and now. A pawn that promoted is not taken for one that was captured.
 */
export function material(startFen, fen, variant) {
  const before = counts(startFen, variant);
  const now = counts(fen, variant);
  const captured = { white: [], black: [] };
  let lead = 0;
  for (const kind of "qrbnp") {
    for (const color of ["white", "black"]) {
      const letter = color === "white" ? kind.toUpperCase() : kind;
      const here = now[letter] ?? 0;
      lead += (color === "white" ? 1 : -1) * WORTH[kind] * here;
      let lost = (before[letter] ?? 0) - here;
      if (kind === "p") lost -= promotions(before, now, color);
      const captor = color === "white" ? "black" : "white";
      for (let each = 0; each < lost; each++) captured[captor].push(letter);
    }
  }
  return { captured, lead };
}

function counts(fen, variant) {
  const found = {};
  for (const letter of placementOf(fen, variant).pieces.values()) found[letter] = (found[letter] ?? 0) + 1;
  return found;
}

/** Return at least how many pawns have promoted: a side has more pieces of a kind than at the start. */
function promotions(before, now, color) {
  let more = 0;
  for (const kind of "qrbn") {
    const letter = color === "white" ? kind.toUpperCase() : kind;
    more += Math.max(0, (now[letter] ?? 0) - (before[letter] ?? 0));
  }
  return more;
}
