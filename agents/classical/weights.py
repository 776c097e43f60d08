"""Weights: what each thing in a position is worth, in the middle game and in the endgame.

Both are kept in one number (`pack`), so that one addition adds both; which of the two counts, and
how much, is decided at the end by the pieces that are left. All values are in centipawns and from
White's side of the board: rank 0 is White's back rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from engine.attacks import KING
from engine.squares import Bitboard, Square, squares_of

#: The middle game's value, and the endgame's so many bits higher: room for a board full of queens,
#: and few enough bits that those of real games are small numbers, which are added fast.
Packed: TypeAlias = int
SHIFT = 18
_HALF = 1 << SHIFT - 1
_MASK = (1 << SHIFT) - 1


def pack(middle: int, end: int) -> Packed:
    """Return both values as one number."""
    return (end << SHIFT) + middle


def unpack(packed: Packed) -> tuple[int, int]:
    """Return the values of the middle game and of the endgame."""
    middle = (packed + _HALF & _MASK) - _HALF
    return middle, packed - middle >> SHIFT


PAWN, KNIGHT, BISHOP, ROOK, QUEEN = range(5)
MATERIAL = (pack(88, 112), pack(330, 310), pack(340, 325), pack(490, 535), pack(980, 980))
#: By the pieces left (a minor piece 1, a rook 2, a queen 4): a middle game at 24, an endgame at 0.
FULL_PHASE = 24

BISHOP_PAIR = pack(26, 44)
TEMPO = 10

# --- placement: by file and rank, and by how far a square is from the edge, 0 to 3 each way ---

_PAWN_RANKS = ((0, 0), (0, 0), (3, 4), (8, 12), (16, 26), (28, 50), (46, 84), (0, 0))
#: What pawns of the four centre files gain by a double step, and lose by staying at home.
_PAWN_CENTRE = {3: (0, 0, 10, 20), 2: (0, 0, 6, 8), 1: (0, 0, -4, -14)}
_KING_FILES = (24, 34, 12, -10, -2, -10, 32, 26)
_KING_RANKS = (0, -22, -48, -64, -74, -80, -84, -86)


def _pawn(file: int, rank: int, off_file: int, _off_rank: int) -> Packed:
    middle, end = _PAWN_RANKS[rank]
    return pack(middle + _PAWN_CENTRE.get(rank, (0, 0, 0, 0))[off_file], end)


def _knight(file: int, rank: int, off_file: int, off_rank: int) -> Packed:
    outpost = 8 if rank in (4, 5) else -8 if rank == 0 else 0
    return pack(10 * (off_file + off_rank) - 40 + outpost, 8 * (off_file + off_rank) - 30)


def _bishop(file: int, rank: int, off_file: int, off_rank: int) -> Packed:
    fianchetto = 12 if rank == 1 and off_file == 1 else 0
    home = -14 if rank == 0 else 0
    return pack(4 * (off_file + off_rank) - 10 + fianchetto + home, 3 * (off_file + off_rank) - 8)


def _rook(file: int, rank: int, off_file: int, _off_rank: int) -> Packed:
    seventh = 16 if rank == 6 else 0
    return pack(3 * off_file - 4 + seventh, seventh)


def _queen(file: int, rank: int, off_file: int, off_rank: int) -> Packed:
    return pack(2 * (off_file + off_rank) - 6 - (4 if rank == 0 else 0), 6 * (off_file + off_rank))


def _king(file: int, rank: int, off_file: int, off_rank: int) -> Packed:
    return pack(_KING_FILES[file] + _KING_RANKS[rank], 11 * (off_file + off_rank) - 30)


def _table(value: Callable[[int, int, int, int], Packed]) -> tuple[Packed, ...]:
    return tuple(
        value(s & 7, s >> 3, min(s & 7, 7 - (s & 7)), min(s >> 3, 7 - (s >> 3))) for s in range(64)
    )


#: By kind and square; turn the rank round (`square ^ 56`) for Black.
PLACEMENT = tuple(map(_table, (_pawn, _knight, _bishop, _rook, _queen)))
KING_PLACEMENT = _table(_king)

# --- mobility: for each square that is neither our own nor attacked by a pawn ---

KNIGHT_MOBILITY = pack(4, 4)
BISHOP_MOBILITY = pack(5, 5)
ROOK_MOBILITY = pack(2, 4)
QUEEN_MOBILITY = pack(1, 2)

# --- rooks on files without pawns of their own, and once more without any ---

ROOK_HALF_OPEN = pack(11, 6)
ROOK_OPEN = pack(12, 6)

# --- pawns ---

DOUBLED = pack(-9, -20)
ISOLATED = pack(-12, -14)
BACKWARD = pack(-9, -10)
SUPPORTED = pack(8, 7)
PASSED = tuple(
    pack(*each)
    for each in ((0, 0), (3, 10), (5, 16), (12, 32), (26, 60), (50, 105), (84, 165), (0, 0))
)
#: For a passed pawn with something in its way, and for each step of the kings' distances to it.
PASSED_BLOCKED = tuple(
    pack(*each)
    for each in ((0, 0), (0, -4), (0, -6), (-4, -14), (-12, -28), (-24, -50), (-40, -80), (0, 0))
)
PASSED_THEIR_KING = (0, 0, 1, 4, 8, 13, 17, 0)
PASSED_OWN_KING = (0, 0, 1, 2, 4, 7, 9, 0)

# --- the king: pawns before it, and pieces that attack what is around it ---

SHIELD_NEAR, SHIELD_FAR, SHIELD_NONE = 13, 6, -15
#: For each square around the king that a piece attacks.
KNIGHT_DANGER, BISHOP_DANGER, ROOK_DANGER, QUEEN_DANGER = 3, 2, 3, 5
_MOST_DANGER = 110
#: What all of it is worth: little for one attacker, much for many together.
DANGER = tuple(pack(min(units * units * 2 // 9, 420), 0) for units in range(_MOST_DANGER))
KING_ZONE: tuple[Bitboard, ...] = tuple(KING[s] | 1 << s for s in range(64))

# --- endings without pawns: drive the lone king to the edge, and come near ---

EDGE, NEARNESS = 20, 12


def distance(one: Square, other: Square) -> int:
    """Return how many moves a king needs from one square to another."""
    return max(abs((one & 7) - (other & 7)), abs((one >> 3) - (other >> 3)))


DISTANCE: tuple[tuple[int, ...], ...] = tuple(
    tuple(distance(one, other) for other in range(64)) for one in range(64)
)
#: How far from the four centre squares, 0 to 6, counted along files and ranks.
OFF_CENTRE: tuple[int, ...] = tuple(
    max(3 - (s & 7), (s & 7) - 4) + max(3 - (s >> 3), (s >> 3) - 4) for s in range(64)
)


def material_and_placement(kind: int, pieces: Bitboard, white: bool) -> Packed:
    """Return what the pieces of one kind and side are worth where they stand."""
    turn = 0 if white else 56
    return sum(MATERIAL[kind] + PLACEMENT[kind][square ^ turn] for square in squares_of(pieces))
