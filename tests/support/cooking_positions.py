"""Positions of the oracle of King's Cooking, as the engine knows them."""

from __future__ import annotations

from engine import Color, KingsCookingPosition
from tests.support import cooking_oracle as oracle


def engine_position(position: oracle.Position, number: int = 1) -> KingsCookingPosition:
    """Return the engine's position, made directly: there are hundreds of thousands."""
    board, turn = position.board, Color.WHITE if position.white_to_move else Color.BLACK
    if turn is Color.BLACK:  # which sees the board from the other side
        board = "".join(board[row : row + 3] for row in (6, 3, 0)).swapcase()
    in_order = ["".join(p for p in "RNBrnb" if p in each) for each in position[2:]]
    return KingsCookingPosition(board, turn, *in_order, number)
