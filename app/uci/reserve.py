"""Reserve: a move of our own, thought out offline, for when the player has none in time."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from agents.classical.errors import ClassicalError

if TYPE_CHECKING:
    from agents.classical.workers import ClassicalWorkers
    from agents.player import Turn
    from engine import Move

#: Enough not to lose a piece at once, and done in a moment.
NODES: Final = 1000
#: For a process on a busy machine; then it is thought out here.
_PATIENCE = timedelta(seconds=5)


class Reserve:
    """The classical team with few nodes, in a process of its own, so that nobody is in its way."""

    @cached_property
    def _workers(self) -> ClassicalWorkers:
        from agents.classical.workers import ClassicalWorkers  # not before somebody needs it

        return ClassicalWorkers(1, patience=_PATIENCE)

    async def warm(self) -> None:
        """Start the process before it is needed; raises `ClassicalError`."""
        await self._workers.warm()

    async def move(self, turn: Turn) -> Move:
        """Return a good enough move of those wanted, whatever happens to the process."""
        from agents.classical.allowance import Allowance
        from agents.classical.thinking import Question, think
        from agents.player import Turn

        plain = Turn(turn.start, turn.plies, among=turn.among)
        try:
            answer = await self._workers.think(plain, 0, Allowance(None, NODES))
        except ClassicalError:
            question = Question.of(0, plain, 0, None, NODES)
            answer = await asyncio.to_thread(think, question, time.monotonic())
        return answer.move

    async def aclose(self) -> None:
        """End the process. Safe to call twice."""
        await self._workers.aclose()
