"""Evaluation: what a position is worth to the side to move, in centipawns, without looking ahead.

It is a sum of terms that have names in chess, each weighed once for the middle game and once for
the endgame (`agents.classical.weights`). `evaluate` is what the search asks at every leaf, so it
is dense; `terms` tells the same sum apart, for people. `docs/explanation/classical-team.md` lists
the terms.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

from agents.classical.pawns import BLACK_SHIELDS, STRUCTURES, WHITE_SHIELDS
from agents.classical.weights import (
    BISHOP,
    BISHOP_DANGER,
    BISHOP_MOBILITY,
    BISHOP_PAIR,
    DANGER,
    DISTANCE,
    EDGE,
    FULL_PHASE,
    KING_PLACEMENT,
    KING_ZONE,
    KNIGHT,
    KNIGHT_DANGER,
    KNIGHT_MOBILITY,
    MATERIAL,
    NEARNESS,
    OFF_CENTRE,
    PASSED_BLOCKED,
    PASSED_OWN_KING,
    PASSED_THEIR_KING,
    QUEEN,
    QUEEN_DANGER,
    QUEEN_MOBILITY,
    ROOK,
    ROOK_DANGER,
    ROOK_HALF_OPEN,
    ROOK_MOBILITY,
    ROOK_OPEN,
    SHIFT,
    TEMPO,
    Packed,
    material_and_placement,
    unpack,
)
from engine.attacks import DIAGONAL, ORTHOGONAL, SliderTable
from engine.attacks import KNIGHT as KNIGHT_ATTACKS
from engine.squares import ALL, BITS, DARK_SQUARES, LIGHT_SQUARES, Bitboard, Square, squares_of
from engine.state import State

#: Sets of pieces that each table keeps at a time.
_LIMIT = 1 << 14
#: The phase up to which an ending is looked at more closely: two rooks a side.
_FEW = 8
#: No position is worth more, whatever is on the board: what is beyond are mates.
MOST = 25_000
_HALF = 1 << SHIFT - 1
_MASK = (1 << SHIFT) - 1


class _Sets(dict[Bitboard, Packed]):
    """What a set of pieces of one kind is worth where it stands; a pair of bishops has more."""

    def __init__(self, kind: int, white: bool) -> None:
        self._kind = kind
        self._white = white

    def __missing__(self, pieces: Bitboard) -> Packed:
        if len(self) >= _LIMIT:
            self.clear()
        worth = material_and_placement(self._kind, pieces, self._white) + pair(self._kind, pieces)
        self[pieces] = worth
        return worth


def pair(kind: int, pieces: Bitboard) -> Packed:
    """Return what is added for bishops on squares of both colours."""
    is_pair = kind == BISHOP and pieces & LIGHT_SQUARES and pieces & DARK_SQUARES
    return BISHOP_PAIR if is_pair else 0


_KINDS = (KNIGHT, BISHOP, ROOK, QUEEN)
_WHITE_SETS = tuple(_Sets(kind, True) for kind in _KINDS)
_BLACK_SETS = tuple(_Sets(kind, False) for kind in _KINDS)
_WHITE_KING = KING_PLACEMENT
_BLACK_KING = tuple(KING_PLACEMENT[square ^ 56] for square in range(64))


class _Leapers(dict[Bitboard, tuple[Bitboard, ...]]):
    """What each knight of a set attacks."""

    def __missing__(self, knights: Bitboard) -> tuple[Bitboard, ...]:
        if len(self) >= _LIMIT:
            self.clear()
        attacks = self[knights] = tuple(KNIGHT_ATTACKS[square] for square in squares_of(knights))
        return attacks


class _Sliders(dict[Bitboard, tuple[SliderTable, ...]]):
    """How to look up what each slider of a set attacks."""

    def __init__(self, tables: tuple[SliderTable, ...]) -> None:
        self._tables = tables

    def __missing__(self, sliders: Bitboard) -> tuple[SliderTable, ...]:
        if len(self) >= _LIMIT:
            self.clear()
        found = self[sliders] = tuple(self._tables[square] for square in squares_of(sliders))
        return found


_KNIGHTS = _Leapers()
_DIAGONALS = _Sliders(DIAGONAL)
_ORTHOGONALS = _Sliders(ORTHOGONAL)


def evaluate(state: State) -> int:
    """Return what a position is worth to the side to move, in centipawns."""
    (
        pawns, knights, diagonals, orthogonals, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        _, _, white, _, _, _,
    ) = state  # fmt: skip
    queens = diagonals & orthogonals
    their_queens = their_diagonals & their_orthogonals
    bishops = diagonals ^ queens
    their_bishops = their_diagonals ^ their_queens
    rooks = orthogonals ^ queens
    their_rooks = their_orthogonals ^ their_queens
    if white:
        (
            _, _, _, score, passed, their_passed, attacks, their_attacks, free, their_free,
        ) = STRUCTURES[pawns, their_pawns]  # fmt: skip
        of_knights, of_bishops, of_rooks, of_queens = _WHITE_SETS
        of_their_knights, of_their_bishops, of_their_rooks, of_their_queens = _BLACK_SETS
        score += _WHITE_KING[king] - _BLACK_KING[their_king]
        zone, shields = WHITE_SHIELDS[king]
        their_zone, their_shields = BLACK_SHIELDS[their_king]
    else:
        (
            _, _, _, score, their_passed, passed, their_attacks, attacks, their_free, free,
        ) = STRUCTURES[their_pawns, pawns]  # fmt: skip
        of_knights, of_bishops, of_rooks, of_queens = _BLACK_SETS
        of_their_knights, of_their_bishops, of_their_rooks, of_their_queens = _WHITE_SETS
        score = _BLACK_KING[king] - _WHITE_KING[their_king] - score
        zone, shields = BLACK_SHIELDS[king]
        their_zone, their_shields = WHITE_SHIELDS[their_king]
    if zone:
        score += shields[pawns & zone]
    if their_zone:
        score -= their_shields[their_pawns & their_zone]
    score += of_knights[knights] + of_bishops[bishops] + of_rooks[rooks] + of_queens[queens]
    score -= (
        of_their_knights[their_knights] + of_their_bishops[their_bishops]
        + of_their_rooks[their_rooks] + of_their_queens[their_queens]
    )  # fmt: skip
    phase = (
        (knights | their_knights | bishops | their_bishops).bit_count()
        + 2 * (rooks | their_rooks).bit_count()
        + 4 * (queens | their_queens).bit_count()
    )
    if phase > FULL_PHASE:
        phase = FULL_PHASE
    occupied = own | theirs
    mobility, danger = _activity(
        knights, bishops, rooks, queens, occupied, ALL ^ (own | their_attacks), their_king
    )
    their_mobility, their_danger = _activity(
        their_knights, their_bishops, their_rooks, their_queens,
        occupied, ALL ^ (theirs | attacks), king,
    )  # fmt: skip
    score += mobility - their_mobility + DANGER[danger] - DANGER[their_danger]
    if rooks and (files := rooks & free):
        score += ROOK_HALF_OPEN * files.bit_count() + ROOK_OPEN * (files & their_free).bit_count()
    if their_rooks and (files := their_rooks & their_free):
        score -= ROOK_HALF_OPEN * files.bit_count() + ROOK_OPEN * (files & free).bit_count()
    if passed:
        score += _running(passed, king, their_king, occupied, white)
    if their_passed:
        score -= _running(their_passed, their_king, king, occupied, not white)
    middle = (score + _HALF & _MASK) - _HALF
    end = score - middle >> SHIFT
    worth = (middle * phase + end * (FULL_PHASE - phase)) // FULL_PHASE
    if phase <= _FEW:
        worth += _ending(state, worth)
    worth += TEMPO
    return worth if -MOST < worth < MOST else MOST if worth > 0 else -MOST


def _activity(
    knights: Bitboard,
    bishops: Bitboard,
    rooks: Bitboard,
    queens: Bitboard,
    occupied: Bitboard,
    safe: Bitboard,
    their_king: Square,
) -> tuple[Packed, int]:
    """Return one side's mobility, and how much its pieces attack around the other's king."""
    zone = KING_ZONE[their_king]
    mobility = danger = 0
    if knights:
        for reached in _KNIGHTS[knights]:
            mobility += KNIGHT_MOBILITY * (reached & safe).bit_count()
            if reached & zone:
                danger += KNIGHT_DANGER * (reached & zone).bit_count()
    if bishops:
        for mask, modulus, attacks in _DIAGONALS[bishops]:
            reached = attacks[(occupied & mask) % modulus]
            mobility += BISHOP_MOBILITY * (reached & safe).bit_count()
            if reached & zone:
                danger += BISHOP_DANGER * (reached & zone).bit_count()
    if rooks:
        for mask, modulus, attacks in _ORTHOGONALS[rooks]:
            reached = attacks[(occupied & mask) % modulus]
            mobility += ROOK_MOBILITY * (reached & safe).bit_count()
            if reached & zone:
                danger += ROOK_DANGER * (reached & zone).bit_count()
    while queens:
        square = queens.bit_length() - 1
        queens ^= BITS[square]
        mask, modulus, attacks = DIAGONAL[square]
        reached = attacks[(occupied & mask) % modulus]
        mask, modulus, attacks = ORTHOGONAL[square]
        reached |= attacks[(occupied & mask) % modulus]
        mobility += QUEEN_MOBILITY * (reached & safe).bit_count()
        if reached & zone:
            danger += QUEEN_DANGER * (reached & zone).bit_count()
    return mobility, danger if danger < len(DANGER) else len(DANGER) - 1


def _running(
    passed: Bitboard, king: Square, their_king: Square, occupied: Bitboard, white: bool
) -> Packed:
    """Return what a side's passed pawns gain or lose by the kings and by what is in their way."""
    worth = 0
    for square in squares_of(passed):
        front, rank = (square + 8, square >> 3) if white else (square - 8, 7 - (square >> 3))
        if occupied & BITS[front]:
            worth += PASSED_BLOCKED[rank]
        end = PASSED_THEIR_KING[rank] * DISTANCE[their_king][front]
        worth += end - PASSED_OWN_KING[rank] * DISTANCE[king][front] << SHIFT
    return worth


def _ending(state: State, worth: int) -> int:
    """Return what to add with few pieces left: drive a king to the edge, or see that it is no win.

    Few pieces: at most what two rooks a side are.
    """
    ahead, behind = (state[:6], state[6:12]) if worth > 0 else (state[6:12], state[:6])
    sign = 1 if worth > 0 else -1
    pawns, knights, diagonals, orthogonals, king, _ = ahead
    their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, _ = behind
    if not pawns:
        if not orthogonals and (not diagonals or (not knights and _is_one_colour(diagonals))):
            if (knights | diagonals).bit_count() < 3:
                return -worth * 15 // 16  # one minor piece, or two knights, do not mate
        elif abs(worth) < 400:
            return -worth * 3 // 4  # such as rook against bishop: seldom enough
    elif (
        not (knights or orthogonals or their_knights or their_orthogonals)
        and diagonals
        and their_diagonals
        and diagonals.bit_count() == their_diagonals.bit_count() == 1
        and bool(diagonals & LIGHT_SQUARES) != bool(their_diagonals & LIGHT_SQUARES)
    ):
        return -worth // 2  # bishops of opposite colours
    if their_pawns or abs(worth) < 300:
        return 0
    return sign * (EDGE * OFF_CENTRE[their_king] + NEARNESS * (7 - DISTANCE[king][their_king]))


def _is_one_colour(bishops: Bitboard) -> bool:
    return not bishops & LIGHT_SQUARES or not bishops & DARK_SQUARES


# --- for people ---

_Side: TypeAlias = tuple[Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard]


@dataclass(frozen=True, slots=True)
class Terms:
    """An evaluation told apart, each term in centipawns for the side to move."""

    material: int
    placement: int
    mobility: int
    pawn_structure: int
    passed_pawns: int
    king_safety: int
    open_files: int
    bishop_pair: int
    #: What is added or taken away in endings with few pieces, and rounding.
    ending: int
    #: What it is worth to be the one to move.
    tempo: int

    @property
    def total(self) -> int:
        """What `evaluate` says of the position."""
        return sum(getattr(self, each.name) for each in fields(self))

    def __neg__(self) -> Terms:
        return Terms(*(-getattr(self, each.name) for each in fields(self)))


def terms(state: State) -> Terms:
    """Return the terms of an evaluation; their sum is what `evaluate` returns."""
    own: _Side = state[:6]
    theirs: _Side = state[6:12]
    white = state[14]
    whites, blacks = (own, theirs) if white else (theirs, own)
    sign = 1 if white else -1
    pawns = STRUCTURES[whites[0], blacks[0]]
    mine, other = _Pieces.of(own), _Pieces.of(theirs)
    phase = min(mine.phase + other.phase, FULL_PHASE)

    def tapered(packed: Packed) -> int:
        middle, end = unpack(packed)
        return (middle * phase + end * (FULL_PHASE - phase)) // FULL_PHASE

    material = sum(
        (a.bit_count() - b.bit_count()) * worth
        for a, b, worth in zip(
            (own[0], *mine.sets), (theirs[0], *other.sets), MATERIAL, strict=True
        )
    )
    placed = sum(
        material_and_placement(kind, a, white) - material_and_placement(kind, b, not white)
        for kind, a, b in zip(_KINDS, mine.sets, other.sets, strict=True)
    )
    placed += sign * pawns.placement - material
    kings = _WHITE_KING, _BLACK_KING
    placed += kings[not white][own[4]] - kings[white][theirs[4]]
    occupied = own[5] | theirs[5]
    own_attacks, their_attacks = pawns.white_attacks, pawns.black_attacks
    own_free, their_free = pawns.white_free, pawns.black_free
    own_passed, their_passed = pawns.white_passed, pawns.black_passed
    own_shields, their_shields = WHITE_SHIELDS, BLACK_SHIELDS
    if not white:
        own_attacks, their_attacks = their_attacks, own_attacks
        own_free, their_free = their_free, own_free
        own_passed, their_passed = their_passed, own_passed
        own_shields, their_shields = their_shields, own_shields
    mobility, danger = _activity(*mine.sets, occupied, ALL ^ (own[5] | their_attacks), theirs[4])
    their_mobility, their_danger = _activity(
        *other.sets, occupied, ALL ^ (theirs[5] | own_attacks), own[4]
    )
    passed = sign * pawns.passed_score
    passed += _running(own_passed, own[4], theirs[4], occupied, white)
    passed -= _running(their_passed, theirs[4], own[4], occupied, not white)
    safety = DANGER[danger] - DANGER[their_danger]
    for (zone, shields), side, way in (
        (own_shields[own[4]], own, 1),
        (their_shields[theirs[4]], theirs, -1),
    ):
        safety += way * shields[side[0] & zone] if zone else 0
    files, their_files = mine.sets[2] & own_free, other.sets[2] & their_free
    rooks = ROOK_HALF_OPEN * (files.bit_count() - their_files.bit_count())
    rooks += ROOK_OPEN * ((files & their_free).bit_count() - (their_files & own_free).bit_count())
    pairs = pair(BISHOP, mine.sets[1]) - pair(BISHOP, other.sets[1])
    told = {
        "material": tapered(material),
        "placement": tapered(placed),
        "mobility": tapered(mobility - their_mobility),
        "pawn_structure": tapered(sign * pawns.structure),
        "passed_pawns": tapered(passed),
        "king_safety": tapered(safety),
        "open_files": tapered(rooks),
        "bishop_pair": tapered(pairs),
    }
    return Terms(**told, ending=evaluate(state) - TEMPO - sum(told.values()), tempo=TEMPO)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """One side's knights, bishops, rooks and queens."""

    sets: tuple[Bitboard, Bitboard, Bitboard, Bitboard]

    @classmethod
    def of(cls, side: _Side) -> _Pieces:
        _, knights, diagonals, orthogonals, _, _ = side
        queens = diagonals & orthogonals
        return cls((knights, diagonals ^ queens, orthogonals ^ queens, queens))

    @property
    def phase(self) -> int:
        knights, bishops, rooks, queens = (each.bit_count() for each in self.sets)
        return knights + bishops + 2 * rooks + 4 * queens
