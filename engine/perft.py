"""Perft: counting the leaves of the tree of legal moves, to check and time move generation."""

from __future__ import annotations

from engine.moves import Move
from engine.position import Position


def perft(position: Position, depth: int) -> int:
    """Return how many sequences of `depth` legal moves there are."""
    if depth < 0:
        raise ValueError(f"depth must not be negative, but is {depth}")
    return position.leaves(depth)


def divide(position: Position, depth: int) -> dict[Move, int]:
    """Return `perft` after each legal move, in the order of their UCI names."""
    if depth < 1:
        raise ValueError(f"depth must be at least 1, but is {depth}")
    moves = sorted(position.legal_moves(), key=Move.uci)
    return {move: position.play(move).leaves(depth - 1) for move in moves}
