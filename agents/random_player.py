"""The player `random`: any legal move, each as likely. The floor that every other must beat."""

from __future__ import annotations

from random import Random

from agents.player import Decision, Turn
from engine import Move


class RandomPlayer:
    """Plays legal moves at random; with the same seed and turns, the same ones."""

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._random = Random(seed)  # noqa: S311  # nothing is to be kept secret

    async def decide(self, turn: Turn) -> Decision:
        """Return one of the legal moves."""
        # In a fixed order, so that a seed means the same game whatever the order of generation.
        return Decision(self._random.choice(sorted(turn.position.legal_moves(), key=Move.uci)))
