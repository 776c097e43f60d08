"""EpsilonPlayer: another player that now and then plays any legal move instead."""

from __future__ import annotations

from random import Random, SystemRandom

from agents.player import Advice, Candidate, Decision, Player, Turn


class EpsilonPlayer:
    """With the chance `epsilon` any legal move, each as likely; else what the other player does.

    What it does at a ply depends on the seed and the ply alone, so a turn can be retried, and a
    match resumed, without changing it. Without a seed it takes one that nobody knows.
    """

    def __init__(self, player: Player, epsilon: float, seed: int | None = None) -> None:
        if not 0 <= epsilon <= 1:
            raise ValueError(f"a chance is from 0 to 1, not {epsilon}")
        self._player = player
        self._epsilon = epsilon
        self._seed = SystemRandom().getrandbits(64) if seed is None else seed

    @property
    def name(self) -> str:
        """The name of the other player: they are one to the opponent."""
        return self._player.name

    async def decide(self, turn: Turn) -> Decision:
        """Return a random move, or the other player's decision."""
        random = Random(f"{self._seed}/{len(turn.plies)}")  # noqa: S311  # nothing is kept secret
        if random.random() >= self._epsilon:
            return await self._player.decide(turn)
        move = random.choice(turn.moves)
        return Decision(move, (Advice(self.name, (Candidate(move, "at random"),)),))
