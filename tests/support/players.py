"""Players that decide from a script: moves, words, resignations, faults, and waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from agents.errors import AgentError
from agents.player import Decision, Turn
from engine import Move


class Fault(AgentError):
    """What keeps a player from deciding and is not its doing, such as a provider out of reach."""

    def __init__(self, text: str = "the provider is out of reach") -> None:
        super().__init__(text)


@dataclass(frozen=True)
class Waits:
    """Decide only when an event has come, or never; then do another step."""

    until: asyncio.Event | None = None
    then: Step = None


#: A move or words, no move at all, a whole decision, what is raised, waiting, or what makes a step.
Step: TypeAlias = "Move | str | Decision | BaseException | Waits | Callable[[Turn], Step] | None"

RESIGNS = Decision(None, resigns=True)
ACCEPTS = Decision(None, accepts_draw=True)
CLAIMS = Decision(None, claims_draw=True)
NEVER = Waits()


def offers(move: str) -> Decision:
    """Return a decision for a move with an offer of a draw."""
    return Decision(move, offers_draw=True)


class ScriptedPlayer:
    """Does one step of its script for each turn it is given; after the last it thinks for ever.

    `turns` are those it was given, and `cancelled` counts those it was not let finish.
    """

    def __init__(self, *script: Step, name: str = "scripted") -> None:
        self.name = name
        self.turns: list[Turn] = []
        self.cancelled = 0
        self._script = list(script)
        self._asked = asyncio.Condition()

    async def decide(self, turn: Turn) -> Decision:
        """Do the next step."""
        step = self._script.pop(0) if self._script else NEVER
        self.turns.append(turn)
        async with self._asked:
            self._asked.notify_all()
        try:
            return await self._do(step, turn)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def asked(self, times: int = 1) -> Turn:
        """Return the last turn once it was given so many."""
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.turns) >= times)
        return self.turns[-1]

    async def _do(self, step: Step, turn: Turn) -> Decision:
        if isinstance(step, Waits):
            await (step.until or asyncio.Event()).wait()
            return await self._do(step.then, turn)
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, Decision):
            return step
        if step is None or isinstance(step, str | Move):
            return Decision(step)
        return await self._do(step(turn), turn)


def scripted_pair(moves: str) -> tuple[ScriptedPlayer, ScriptedPlayer]:
    """Return players of both sides that play a line, and then think for ever."""
    line = moves.split()
    return ScriptedPlayer(*line[::2], name="white"), ScriptedPlayer(*line[1::2], name="black")
