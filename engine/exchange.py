"""What a move wins or loses by the captures on its target square: static exchange evaluation.

Both sides take there in turn, each time with the least valuable piece that may, and either stops
where going on would cost it something. Nothing else on the board moves.
"""

from __future__ import annotations

from typing import TypeAlias

from engine.attacks import (
    BETWEEN,
    BLACK_PAWN,
    DIAGONAL,
    DIAGONAL_RAYS,
    KING,
    KNIGHT,
    ORTHOGONAL,
    ORTHOGONAL_RAYS,
    WHITE_PAWN,
    is_attacked,
)
from engine.chess_position import ChessPosition
from engine.errors import IllegalMove
from engine.legality import why_illegal
from engine.movegen import is_legal
from engine.moves import Move
from engine.pieces import PieceType
from engine.squares import BACK_RANKS, BITS, Bitboard, Square
from engine.state import State, en_passant_moves, make

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN = 100, 320, 330, 500, 900
#: What pieces are worth in an exchange, in centipawns. A king is never taken.
PIECE_VALUES: dict[PieceType, int] = {
    PieceType.PAWN: _PAWN,
    PieceType.KNIGHT: _KNIGHT,
    PieceType.BISHOP: _BISHOP,
    PieceType.ROOK: _ROOK,
    PieceType.QUEEN: _QUEEN,
    PieceType.KING: 0,
}

#: Pawns and knights that could take on the square, diagonals, orthogonals, king, is white.
_Side: TypeAlias = tuple[Bitboard, Bitboard, Bitboard, Bitboard, Square, bool]


def exchange_value(position: ChessPosition, move: Move) -> int:
    """Return what a move wins by exchange, in centipawns for the side that moves.

    Counted: what the move takes (also en passant) and promotes to; every later capture on its
    target square, also by sliders that stand behind others, and by pawns that become queens there;
    the capture en passant that a double step allows. A piece takes only where that leaves its own
    king safe, so pins, discovered checks and guarded squares count.

    Not counted: what happens on any other square, so neither forks nor overloaded defenders nor
    mate; and that a more valuable piece may be the better one to take with. Raises `IllegalMove`.
    """
    state = position.state
    if not is_legal(state, move):
        raise IllegalMove(move.uci(), position.fen(), why_illegal(state, move))
    return exchange_of(state, move)


def exchange_of(state: State, move: Move) -> int:
    """Return the `exchange_value` of a move that the caller knows to be legal."""
    (
        pawns, knights, diagonals, orthogonals, king, own,
        their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs,
        _, en_passant, white, _, _, _,
    ) = state  # fmt: skip
    origin, target, square = move.from_bit, move.to_bit, move.to_square
    won = 0
    if theirs & target:
        won = _worth(target, their_pawns, their_knights, their_diagonals, their_orthogonals)
    if king == move.from_square:
        return won  # where a king may go nothing can take it, and to castle wins nothing
    # What stands on the board besides the target square.
    standing = (own | theirs | target) ^ origin ^ target
    lost_en_passant = 0
    if pawns & origin:
        stake = _PAWN
        if move.promotion is not None:
            stake = PIECE_VALUES[move.promotion]
            won += stake - _PAWN
        elif target == en_passant:
            won = _PAWN
            standing ^= target >> 8 if white else target << 8
        elif move.is_double_step:
            after = make(state, move)
            if after[13]:
                replies = en_passant_moves(after)
                lost_en_passant = max(exchange_of(after, reply) for reply in replies)
    else:
        stake = _worth(origin, pawns, knights, diagonals, orthogonals)
    near = KNIGHT[square]
    white_from, black_from = BLACK_PAWN[square], WHITE_PAWN[square]
    lost = _lost(
        square,
        stake,
        standing,
        (
            (black_from if white else white_from) & their_pawns, near & their_knights,
            their_diagonals, their_orthogonals, their_king, not white,
        ),
        (
            (white_from if white else black_from) & pawns, near & knights,
            diagonals, orthogonals, king, white,
        ),
    )  # fmt: skip
    return won - max(lost, lost_en_passant)


def _lost(square: Square, stake: int, standing: Bitboard, side: _Side, other: _Side) -> int:
    """Return what a side can win by taking on a square, where a piece worth `stake` stands.

    `standing` are the pieces on all the other squares. They leave it one by one as they take, which
    lets those behind them look through.
    """
    takings: list[int] = []
    diagonal_rays, orthogonal_rays = DIAGONAL_RAYS[square], ORTHOGONAL_RAYS[square]
    while True:
        pawns, knights, diagonals, orthogonals, king, _ = side
        pawns &= standing
        knights &= standing
        diagonals &= diagonal_rays & standing
        if diagonals:
            mask, modulus, attacks = DIAGONAL[square]
            diagonals &= attacks[(standing & mask) % modulus]
        orthogonals &= orthogonal_rays & standing
        if orthogonals:
            mask, modulus, attacks = ORTHOGONAL[square]
            orthogonals &= attacks[(standing & mask) % modulus]
        taker = worth = 0
        if pawns or knights or diagonals or orthogonals:
            queens = side[2] & side[3]
            snipers = standing & (DIAGONAL_RAYS[king] & other[2] | ORTHOGONAL_RAYS[king] & other[3])
            for takers, worth in (  # noqa: B007  # what it was last is used below
                (pawns, _PAWN),
                (knights, _KNIGHT),
                (diagonals ^ diagonals & queens, _BISHOP),
                (orthogonals ^ orthogonals & queens, _ROOK),
                ((diagonals | orthogonals) & queens, _QUEEN),
            ):
                if takers:
                    taker = _first_to_take(takers, king, standing | BITS[square], snipers)
                    if taker:
                        break
        if not taker:
            # A king takes last, and only what nothing guards.
            if KING[square] & BITS[king] and not _is_guarded(square, standing ^ BITS[king], other):
                takings.append(stake)
            break
        standing ^= taker
        if worth == _PAWN and BITS[square] & BACK_RANKS:
            takings.append(stake + _QUEEN - _PAWN)
            stake = _QUEEN
        else:
            takings.append(stake)
            stake = worth
        side, other = other, side
    best = 0
    for taken in reversed(takings):
        best = max(0, taken - best)
    return best


def _first_to_take(
    takers: Bitboard, king: Square, occupied: Bitboard, snipers: Bitboard
) -> Bitboard:
    """Return the first of a side's pieces of a kind whose leaving does not expose its king.

    `snipers` are the sliders that would attack the king, were nothing between.
    """
    while takers:
        taker = takers & -takers
        takers ^= taker
        after = occupied ^ taker
        left = snipers
        while left:
            sniper = left & -left
            if not BETWEEN[king][sniper] & after:
                break
            left ^= sniper
        else:
            return taker
    return 0


def _is_guarded(square: Square, standing: Bitboard, by: _Side) -> bool:
    pawns, knights, diagonals, orthogonals, king, white = by
    return is_attacked(
        square,
        standing,
        white,
        pawns & standing,
        knights & standing,
        diagonals & standing,
        orthogonals & standing,
        king,
    )


def _worth(
    piece: Bitboard, pawns: Bitboard, knights: Bitboard, diagonals: Bitboard, orthogonals: Bitboard
) -> int:
    """Return the value of one piece of a side, king aside."""
    if pawns & piece:
        return _PAWN
    if knights & piece:
        return _KNIGHT
    if diagonals & piece:
        return _QUEEN if orthogonals & piece else _BISHOP
    return _ROOK
