"""Sitting: one match that is played here, the task that plays it, and where it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.matches.commands import Command, Pause, Resume
from app.matches.errors import CannotDo, MatchIsOver
from app.matches.match import Match, MatchStatus
from engine import Color, Move

if TYPE_CHECKING:
    from app.matches.private import PrivateMatch
    from app.matches.saves import Kept

#: Those in which somebody may move.
_UNDER_WAY = (MatchStatus.CREATED, MatchStatus.RUNNING)


@dataclass(frozen=True)
class Undo:
    """Take back the last move of a side, and the answer to it; whoever the opponent is agrees."""

    color: Color

    def perform(self, match: Match, at: datetime) -> None:
        """Take it back."""
        if match.takeback is not self.color:  # as it may be in a game that was saved by the service
            match.ask_takeback(self.color, at)
        if match.takeback is self.color:  # else the opponent had asked for the same
            match.grant_takeback(self.color.opponent, at)


class Sitting:
    """A match and the task that plays it. Somebody tells it of every event, by `stir`."""

    def __init__(self, private: PrivateMatch, group: asyncio.TaskGroup) -> None:
        self.private = private
        #: Where it is kept, by name.
        self.kept: dict[str, Kept] = {}
        #: Under which name it was kept or loaded last.
        self.name = ""
        #: Whether it stands only for a moment, so that nobody need be told.
        self.is_resting = False
        self._group = group
        self._task: asyncio.Task[None] | None = None
        self._stirred = asyncio.Event()
        self._kept_moves: tuple[Move, ...] | None = None

    # --- what it is ---

    @property
    def match(self) -> Match:
        """The match."""
        return self.private.match

    @property
    def humans(self) -> tuple[Color, ...]:
        """The sides that are moved by hand."""
        settings = self.match.settings
        return tuple(color for color in Color if settings.player(color).is_human)

    @property
    def is_hot_seat(self) -> bool:
        """Whether both sides are moved by hand."""
        return len(self.humans) == len(Color)

    @property
    def hand(self) -> Color:
        """The side for which whatever is written now is meant."""
        mover = self.match.color
        return mover if mover in self.humans or not self.humans else self.humans[0]

    @property
    def is_under_way(self) -> bool:
        """Whether somebody may move."""
        return self.match.status in _UNDER_WAY

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it is unfinished, and has moves that are not kept yet."""
        match = self.match
        if match.is_over or len(match.game.line) <= match.opening_plies:
            return False
        return self._kept_moves != tuple(match.game.line.moves)

    # --- playing ---

    def go_on(self) -> None:
        """Have it played, if it is under way and nobody plays it yet."""
        if self.is_under_way and (self._task is None or self._task.done()):
            self._task = self._group.create_task(self.private.play())

    async def command(self, command: Command) -> None:
        """Have a command performed. Raises what `PrivateMatch.command` raises."""
        await self.begun()
        await self.private.command(command)
        if not self.is_under_way:
            await self._played()
        self.go_on()

    def stir(self) -> None:
        """Look again at how it stands."""
        self._stirred.set()

    async def settled(self) -> None:
        """Return once it is a person's turn, or nothing goes on."""
        await self._until(
            lambda: (
                not self.is_under_way
                or (self.match.status is MatchStatus.RUNNING and self.match.color in self.humans)
            )
        )

    async def begun(self) -> None:
        """Return once it has been started."""
        await self._until(lambda: self.match.status is not MatchStatus.CREATED)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._stirred.clear()
            await self._stirred.wait()

    async def _played(self) -> None:
        """Wait for the task that plays it, which ends with the match or its pause."""
        if self._task is not None:
            await asyncio.wait({self._task})

    @asynccontextmanager
    async def at_rest(self, why: str = "") -> AsyncIterator[None]:
        """Let it stand meanwhile, if it is under way: no clock runs, and nobody thinks."""
        await self.begun()
        self.is_resting = True
        has_run = self.is_under_way
        try:
            if has_run:
                with suppress(MatchIsOver, CannotDo):  # it ended, or paused, at the same time
                    await self.private.command(Pause(why))
                await self._played()
            yield
        finally:
            if has_run and self.match.status is MatchStatus.PAUSED:
                await self.private.command(Resume())
                self.go_on()
            self.is_resting = False

    async def leave(self) -> None:
        """Let it be as it stands."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    # --- keeping ---

    def keep_in_mind(self, kept: Kept) -> None:
        """Remember where it was stored as it stands."""
        self.kept[kept.name] = kept
        self.name = kept.name
        self._kept_moves = tuple(self.match.game.line.moves)
