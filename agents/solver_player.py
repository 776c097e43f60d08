"""The player `solver`: perfect play of King's Cooking, with the verdict on every move."""

from __future__ import annotations

import asyncio

from agents.errors import CannotPlayVariant
from agents.player import Advice, Candidate, Decision, Turn
from engine import KingsCookingPosition, RatedMove, Solver, seen_twice
from engine.variants import KINGS_COOKING


class SolverPlayer:
    """Plays King's Cooking perfectly: never gives away what it has, and wins in the fewest plies.

    In a drawn position it keeps the draw, and chooses the move after which the opponent can go
    wrong most easily. Players may share one `Solver`, and with it what it has worked out.
    """

    name = "solver"
    variants = (KINGS_COOKING.name,)

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    async def decide(self, turn: Turn) -> Decision:
        """Return the best move, with the verdict on each.

        Raises `CannotPlayVariant` for another game than King's Cooking.
        """
        position = turn.position
        if not isinstance(position, KingsCookingPosition):
            raise CannotPlayVariant(self.name, position.variant, self.variants)
        # The first question takes two or three seconds, so it is not asked on the event loop.
        rated = await asyncio.to_thread(self._solver.moves, position, seen_twice(turn.positions))
        return Decision(rated[0].move, (_advice(rated),))


def _advice(rated: list[RatedMove]) -> Advice:
    candidates = tuple(Candidate(each.move, str(each.verdict)) for each in rated)
    return Advice(SolverPlayer.name, candidates)
