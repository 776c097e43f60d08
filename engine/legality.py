"""Why a move is illegal. Slow and thorough: it runs only after a move was refused."""

from __future__ import annotations

from engine.attacks import (
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
from engine.errors import Illegality
from engine.moves import Move
from engine.squares import BACK_RANKS, RANK_MASKS, squares_of
from engine.state import CHESS960_CASTLES, STANDARD_CASTLES, Castle, State, is_check


def why_illegal(state: State, move: Move) -> Illegality:
    """Return the rule that an illegal move breaks."""
    king, own, theirs = state[4], state[5], state[11]
    if not (own | theirs) & move.from_bit:
        return Illegality.NO_PIECE
    if theirs & move.from_bit:
        return Illegality.WRONG_SIDE
    if king == move.from_square and _looks_like_castling(state, move):
        return why_no_castling(state, move.to_square > king)
    if own & move.to_bit:
        return Illegality.OWN_PIECE
    if reason := _wrong_geometry(state, move):
        return reason
    if king == move.from_square:
        return Illegality.KING_INTO_CHECK
    return Illegality.LEAVES_KING_IN_CHECK if is_check(state) else Illegality.EXPOSES_KING


def _wrong_geometry(state: State, move: Move) -> Illegality | None:
    """Return why the piece cannot go there, kings aside."""
    pawns, knights, diagonals, orthogonals, king, own = state[:6]
    origin, target = move.from_bit, move.to_bit
    if pawns & origin:
        return _wrong_pawn_move(state, move)
    if move.promotion is not None:
        return Illegality.CANNOT_PROMOTE
    occupied = own | state[11]
    on_empty_board = reached = 0
    if knights & origin:
        on_empty_board = reached = KNIGHT[move.from_square]
    elif king == move.from_square:
        on_empty_board = reached = KING[king]
    if diagonals & origin:
        mask, modulus, attacks = DIAGONAL[move.from_square]
        on_empty_board |= DIAGONAL_RAYS[move.from_square]
        reached |= attacks[(occupied & mask) % modulus]
    if orthogonals & origin:
        mask, modulus, attacks = ORTHOGONAL[move.from_square]
        on_empty_board |= ORTHOGONAL_RAYS[move.from_square]
        reached |= attacks[(occupied & mask) % modulus]
    if not on_empty_board & target:
        return Illegality.NOT_HOW_IT_MOVES
    return None if reached & target else Illegality.BLOCKED


def _wrong_pawn_move(state: State, move: Move) -> Illegality | None:
    white, en_passant = state[14], state[13]
    occupied, theirs, their_pawns = state[5] | state[11], state[11], state[6]
    origin, target = move.from_bit, move.to_bit
    ahead = origin << 8 if white else origin >> 8
    reason = None
    if (WHITE_PAWN if white else BLACK_PAWN)[move.from_square] & target:
        if not theirs & target and target != en_passant:
            passed_by = target >> 8 if white else target << 8
            on_rank = target & RANK_MASKS[5 if white else 2]
            if on_rank and their_pawns & passed_by:
                # An en passant square that cannot be used is not in the state: the king forbids it.
                if state[17] != target:
                    reason = Illegality.EN_PASSANT_EXPIRED
                elif is_check(state):
                    reason = Illegality.LEAVES_KING_IN_CHECK
                else:
                    reason = Illegality.EXPOSES_KING
            else:
                reason = Illegality.NOTHING_TO_CAPTURE
    elif target == ahead or (
        move.is_double_step and origin & RANK_MASKS[1 if white else 6] and target != ahead
    ):
        if occupied & target:
            reason = Illegality.PAWN_BLOCKED
        elif occupied & ahead:
            reason = Illegality.BLOCKED
    else:
        reason = Illegality.NOT_HOW_IT_MOVES
    if reason is None and (move.promotion is None) == bool(target & BACK_RANKS):
        if move.promotion is None:
            return Illegality.MUST_PROMOTE
        return Illegality.CANNOT_PROMOTE
    return reason


def _looks_like_castling(state: State, move: Move) -> bool:
    king = state[4]
    if KING[king] & move.to_bit and not state[5] & move.to_bit:
        return False
    first = king & 56
    if first not in (0, 56) or move.to_square & 56 != first or first != (0 if state[14] else 56):
        return False
    rooks = state[3] & ~state[2]
    return bool(rooks & move.to_bit) or (king % 8 == 4 and move.to_square % 8 in (2, 6))


def why_no_castling(state: State, king_side: bool) -> Illegality:
    """Return why the king cannot castle to one side, given that it cannot."""
    way = castle_of(state, king_side)
    if way is None:
        return Illegality.NO_CASTLING_RIGHT
    if (state[5] | state[11]) & way.crossed:
        return Illegality.CASTLING_BLOCKED
    if is_check(state):
        return Illegality.CASTLING_OUT_OF_CHECK
    occupied = (state[5] | state[11]) ^ 1 << state[4]
    for square in squares_of(way.walked):
        if square not in (state[4], way.king_to) and is_attacked(
            square, occupied, not state[14], *state[6:11]
        ):
            return Illegality.CASTLING_THROUGH_CHECK
    after = (occupied | way.leaving) ^ way.leaving | way.rook_to
    if is_attacked(way.king_to, after, not state[14], *state[6:11]):
        return Illegality.CASTLING_INTO_CHECK
    return Illegality.NOT_HOW_IT_MOVES  # castling is legal, but not written like that


def castle_of(state: State, king_side: bool) -> Castle | None:
    """Return how the side to move may still castle to one side, if it may at all."""
    king, own, rights = state[4], state[5], state[12]
    castles = CHESS960_CASTLES if state[15] else STANDARD_CASTLES
    for way in castles[king][rights & own]:
        if ((way.leaving ^ 1 << king) > 1 << king) == king_side:
            return way
    return None
