"""The state of a game of chess as a flat tuple, and what a move makes of it.

The side to move's pieces come first, then the other side's, so that no code asks whose turn it is,
except where pawns walk. Queens stand in both slider sets (`diagonals` = bishops and queens,
`orthogonals` = rooks and queens); nothing has to merge them. A state never changes: `make` returns
a new one, and the old one stays good for undo.

This file is dense on purpose: it runs for every node of every search.
`docs/explanation/move-generation.md` walks through it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from engine.attacks import (
    BESIDE,
    BLACK_PAWN,
    DIAGONAL,
    DIAGONAL_RAYS,
    KING,
    KNIGHT,
    ORTHOGONAL,
    ORTHOGONAL_RAYS,
    WHITE_PAWN,
)
from engine.moves import Move
from engine.pieces import PieceType
from engine.squares import Bitboard, Square, squares_of

_KNIGHT = PieceType.KNIGHT
_BISHOP = PieceType.BISHOP
_ROOK = PieceType.ROOK

#: pawns, knights, diagonals, orthogonals, king square, all pieces: of the side to move;
#: the same six of the other side;
#: castling (the rooks that still may), en passant (the square, where a capture is legal),
#: white to move;
#: then what does not count for repetition: Chess960 (see below), both counters (see below), and
#: the square passed by the last double step.
State: TypeAlias = tuple[
    Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard,
    Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard,
    Bitboard, Bitboard, bool,
    int, int, Bitboard,
]  # fmt: skip

#: What is compared for repetition: the first fields of a state.
Key: TypeAlias = tuple[
    Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard,
    Bitboard, Bitboard, Bitboard, Bitboard, Square, Bitboard,
    Bitboard, Bitboard, bool,
]  # fmt: skip

#: Castling is written king takes rook, and rights as in X-FEN or as in Shredder-FEN.
CHESS960, CHESS960_SHREDDER = 1, 2

#: The half-move clock stands in the low bits of the counters, the plies since move 1 above them, so
#: that a quiet move adds to both at once.
CLOCK_BITS = 17
CLOCK = (1 << CLOCK_BITS) - 1
_ONE_PLY = 1 << CLOCK_BITS
_QUIET_PLY = _ONE_PLY + 1


class Castle(NamedTuple):
    """One way to castle: what must be empty, what must be safe, and where the pieces land."""

    crossed: Bitboard
    walked: Bitboard
    king_to: Square
    leaving: Bitboard
    rook_to: Bitboard
    #: Away from the usual squares the rook may be all that shields the king.
    may_expose: bool
    move: Move


class _Castles(dict[Bitboard, tuple[Castle, ...]]):
    """The ways to castle of a king on one square, by the rooks it may castle with."""

    def __init__(self, king: Square, chess960: bool) -> None:
        self._king = king
        self._chess960 = chess960

    def __missing__(self, rooks: Bitboard) -> tuple[Castle, ...]:
        ways = self[rooks] = tuple(self._way(rook) for rook in squares_of(rooks))
        return ways

    def _way(self, rook: Square) -> Castle:
        king = self._king
        first = king & 56  # the first square of the back rank
        king_to, rook_to = (first + 6, first + 5) if rook > king else (first + 2, first + 3)
        king_path = _squares_from_to(king, king_to)
        leaving = 1 << king | 1 << rook
        crossed = (king_path | _squares_from_to(rook, rook_to) | leaving) ^ leaving
        usual = king & 7 == 4 and rook & 7 in (0, 7)
        return Castle(
            crossed=crossed,
            walked=king_path,
            king_to=king_to,
            leaving=leaving,
            rook_to=1 << rook_to,
            may_expose=not usual,
            move=Move(king, king_to if usual and not self._chess960 else rook),
        )


def _squares_from_to(a: Square, b: Square) -> Bitboard:
    return sum(1 << s for s in range(min(a, b), max(a, b) + 1))


STANDARD_CASTLES = tuple(_Castles(king, chess960=False) for king in range(64))
CHESS960_CASTLES = tuple(_Castles(king, chess960=True) for king in range(64))


def is_check(state: State) -> bool:
    """Return whether the side to move is in check."""
    king = state[4]
    if KNIGHT[king] & state[7] or (WHITE_PAWN if state[14] else BLACK_PAWN)[king] & state[6]:
        return True
    their_diagonals = state[8]
    if DIAGONAL_RAYS[king] & their_diagonals:
        mask, modulus, attacks = DIAGONAL[king]
        if attacks[((state[5] | state[11]) & mask) % modulus] & their_diagonals:
            return True
    their_orthogonals = state[9]
    if ORTHOGONAL_RAYS[king] & their_orthogonals:
        mask, modulus, attacks = ORTHOGONAL[king]
        if attacks[((state[5] | state[11]) & mask) % modulus] & their_orthogonals:
            return True
    return False


def checkers_of(state: State) -> Bitboard:
    """Return the pieces that give check to the side to move."""
    (
        _, _, _, _, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, _, theirs,
        _, _, white, _, _, _,
    ) = state  # fmt: skip
    occupied = own | theirs
    mask, modulus, attacks = DIAGONAL[king]
    diagonal = attacks[(occupied & mask) % modulus]
    mask, modulus, attacks = ORTHOGONAL[king]
    orthogonal = attacks[(occupied & mask) % modulus]
    return (
        KNIGHT[king] & their_knights
        | (WHITE_PAWN if white else BLACK_PAWN)[king] & their_pawns
        | diagonal & their_diagonals
        | orthogonal & their_orthogonals
    )


def en_passant_moves(state: State) -> list[Move]:
    """Return the legal captures en passant onto the state's en passant square."""
    (
        pawns, _, _, _, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, _, theirs,
        _, en_passant, white, _, _, _,
    ) = state  # fmt: skip
    if white:
        victim, takers, pawn_checks = en_passant >> 8, BLACK_PAWN, WHITE_PAWN
    else:
        victim, takers, pawn_checks = en_passant << 8, WHITE_PAWN, BLACK_PAWN
    if KNIGHT[king] & their_knights or pawn_checks[king] & (their_pawns ^ victim):
        return []
    target = en_passant.bit_length() - 1
    occupied = (own | theirs) ^ victim | en_passant
    moves = []
    for origin in squares_of(takers[target] & pawns):
        # Two pawns leave the rank at once: look along every line with the board as it will be.
        after = occupied ^ 1 << origin
        mask, modulus, attacks = DIAGONAL[king]
        if attacks[(after & mask) % modulus] & their_diagonals:
            continue
        mask, modulus, attacks = ORTHOGONAL[king]
        if attacks[(after & mask) % modulus] & their_orthogonals:
            continue
        moves.append(Move(origin, target))
    return moves


def make(state: State, move: Move) -> State:
    """Return the state after a legal move; the caller knows that it is legal."""
    (
        pawns, knights, diagonals, orthogonals, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        castling, en_passant, white, chess960, counters, _,
    ) = state  # fmt: skip
    origin = move.from_bit
    target = move.to_bit
    bits = move.bits
    if theirs & target:
        theirs ^= target
        counters += _ONE_PLY - (counters & CLOCK)
        if their_pawns & target:
            their_pawns ^= target
        elif their_knights & target:
            their_knights ^= target
        else:
            if their_diagonals & target:
                their_diagonals ^= target
            if their_orthogonals & target:
                their_orthogonals ^= target
    else:
        counters += _QUIET_PLY
    passed = 0
    if king == move.from_square:
        if castling:
            if own & target or not KING[king] & target:
                return _castle(state, move)
            castling ^= castling & own
        king = move.to_square
    elif diagonals & origin:
        diagonals ^= bits
        if orthogonals & origin:
            orthogonals ^= bits
    elif orthogonals & origin:
        orthogonals ^= bits
    elif knights & origin:
        knights ^= bits
    else:
        counters ^= counters & CLOCK
        promotion = move.promotion
        if promotion is None:
            pawns ^= bits
            if target == en_passant:
                victim = target >> 8 if white else target << 8
                their_pawns ^= victim
                theirs ^= victim
            elif move.is_double_step:
                passed = origin << 8 if white else origin >> 8
        else:
            pawns ^= origin
            if promotion is _KNIGHT:
                knights |= target
            else:
                if promotion is not _ROOK:
                    diagonals |= target
                if promotion is not _BISHOP:
                    orthogonals |= target
    if castling:
        castling ^= castling & bits  # a rook leaves its place, or is taken there
    after = (
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        pawns, knights, diagonals, orthogonals, king, own ^ bits,
        castling, 0, not white, chess960, counters, passed,
    )  # fmt: skip
    if passed and BESIDE[move.to_square] & their_pawns:
        return with_usable_en_passant(after, passed)
    return after


def with_usable_en_passant(state: State, square: Bitboard) -> State:
    """Return the state with its en passant square set, if a capture there is legal."""
    usable = (*state[:13], square, *state[14:])
    return usable if en_passant_moves(usable) else state


def _castle(state: State, move: Move) -> State:
    """Return the state after a legal castling move."""
    own, rights, king = state[5], state[12], state[4]
    for way in (CHESS960_CASTLES if state[15] else STANDARD_CASTLES)[king][rights & own]:
        if way.move is move:
            break
    return (
        *state[6:12],
        *state[:3],
        (state[3] | way.leaving) ^ way.leaving | way.rook_to,
        way.king_to,
        own ^ way.leaving | 1 << way.king_to | way.rook_to,
        rights ^ rights & own,
        0,
        not state[14],
        state[15],
        state[16] + _QUIET_PLY,
        0,
    )
