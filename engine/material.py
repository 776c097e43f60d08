"""Whether the pieces left on the board can still give checkmate."""

from __future__ import annotations

from engine.squares import DARK_SQUARES, LIGHT_SQUARES
from engine.state import State


def can_checkmate(state: State, white: bool) -> bool:
    """Return whether a side could checkmate by some series of moves, however foolish.

    By material only: blocked pawn chains and the like are not seen.
    """
    side, other = (state[:6], state[6:12]) if white == state[14] else (state[6:12], state[:6])
    pawns, knights, diagonals, orthogonals, _, everything = side
    if pawns or orthogonals:
        return True
    their_pawns, their_knights, their_diagonals, their_orthogonals, their_king, theirs = other
    if knights:
        if everything.bit_count() > 2:  # with any second piece
            return True
        # A lone knight needs one of their own pieces to stand in their king's way. A queen does
        # not do: she always has a way out.
        queens = their_diagonals & their_orthogonals
        return bool(theirs ^ 1 << their_king ^ queens)
    if diagonals:
        # Bishops of one colour need a piece that can block the other colour's squares.
        bishops = diagonals | their_diagonals ^ their_diagonals & their_orthogonals
        one_colour = not bishops & DARK_SQUARES or not bishops & LIGHT_SQUARES
        return bool(not one_colour or their_pawns or their_knights)
    return False


def is_dead(state: State) -> bool:
    """Return whether neither side can checkmate any more."""
    if state[0] or state[3] or state[6] or state[9]:
        return False  # a pawn, rook or queen is left
    return not can_checkmate(state, True) and not can_checkmate(state, False)
