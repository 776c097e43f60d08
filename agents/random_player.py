"""The player `random`: any legal move, each as likely. The floor that every other must beat."""

from __future__ import annotations

from random import Random, SystemRandom

from agents.player import Decision, Turn


class RandomPlayer:
    """Plays legal moves at random.

    What it plays depends on the seed and the turn alone, so that a match can be resumed without
    changing it. Without a seed it takes one that nobody knows.
    """

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._seed = SystemRandom().getrandbits(64) if seed is None else seed

    async def decide(self, turn: Turn) -> Decision:
        """Return one of the legal moves."""
        random = Random(f"{self._seed}/{len(turn.plies)}")  # noqa: S311  # nothing is kept secret
        return Decision(random.choice(turn.moves))
