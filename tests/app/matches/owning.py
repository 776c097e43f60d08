"""Owners at work on a notebook instead of a database, which can be told to fail."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from agents import timekeeping
from agents.player import Player
from app.matches.commands import Command
from app.matches.events import Event
from app.matches.match import Match
from app.matches.owner import Owner
from app.matches.settings import HUMAN
from app.persistence.errors import LostOwnership, StorageUnavailable
from app.persistence.records import Change
from engine import Color
from tests.app.matches.telling import logged, match_settings
from tests.support.processes import HANGS_AFTER, Complaints

EPOCH, WORKER = 3, "worker-1"
FOOLS_MATE = "f3 e5 g4 Qh4#"
SHUFFLE = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8"


class Watch:
    """The time as owners see it: that of the machine, and what tests let pass at once."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return timekeeping.now() + self.ahead

    def pass_seconds(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


WATCH = Watch()
now = WATCH.now
pass_seconds = WATCH.pass_seconds


def types_of(events: list[Event]) -> list[str]:
    """Return the types of events, in order."""
    return [event.type.value for event in events]


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a test to its end, and see that it ends and that no exception goes unnoticed."""

    async def bounded() -> None:
        async with asyncio.timeout(HANGS_AFTER):
            await main

    complaints, logger = Complaints(), logging.getLogger("asyncio")
    logger.addHandler(complaints)
    try:
        asyncio.run(bounded())
    finally:
        logger.removeHandler(complaints)
    assert complaints.texts == []


class Notebook:
    """Keeps changes in memory. It can be out of reach for a while, slow, or another's by now."""

    def __init__(self, sequence: int) -> None:
        self.changes: list[Change] = []
        self.tried: list[Change] = []
        self.unavailable = 0
        self.outage = 0.0  # the seconds that each of these takes
        self.lost = False
        self.broken: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self._sequence = sequence
        self._news = asyncio.Condition()

    async def commit(self, change: Change) -> None:
        self.tried.append(change)
        async with self._news:
            self._news.notify_all()
        await self.gate.wait()
        if self.unavailable:
            self.unavailable -= 1
            pass_seconds(self.outage)
            raise StorageUnavailable("the disk is full")
        if self.lost:
            raise LostOwnership(change.match_id)
        if self.broken is not None:
            raise self.broken
        assert change.base_sequence == self._sequence
        assert change.epoch == EPOCH
        self._sequence = change.last_sequence
        self.changes.append(change)
        async with self._news:
            self._news.notify_all()

    @property
    def events(self) -> list[Event]:
        """All events, as they are read again."""
        return logged(self.changes)

    def of(self, *types: str) -> list[Event]:
        """Return the events of some types."""
        return [event for event in self.events if event.type.value in types]

    @property
    def moves(self) -> str:
        """The moves that were played."""
        return " ".join(event.fields["san"] for event in self.of("ply.played"))

    async def until(self, condition: Callable[[], object]) -> None:
        """Return when something is so, which may change with each change."""
        async with self._news:
            await self._news.wait_for(condition)

    async def until_played(self, plies: int) -> None:
        await self.until(lambda: len(self.of("ply.played")) >= plies)

    async def until_blocked(self) -> None:
        """Return when somebody waits for a commit."""
        await self.until(lambda: len(self.tried) > len(self.changes))


class Counts:
    """Counts what happens."""

    def __init__(self) -> None:
        self.all: Counter[tuple[str, str]] = Counter()
        self.took: list[timedelta] = []

    def decided(self, player: str, took: timedelta) -> None:
        self.all["decided", player] += 1
        self.took.append(took)

    def failed(self, player: str) -> None:
        self.all["failed", player] += 1

    def rejected(self, player: str) -> None:
        self.all["rejected", player] += 1

    def storage_failed(self, error: Exception) -> None:
        self.all["storage", type(error).__name__] += 1


class Table:
    """A match, its owner at work, and all that is written."""

    def __init__(self, match: Match, players: Mapping[Color, Player], **others: Any) -> None:
        self.match = match
        self.notebook = Notebook(match.sequence - len(match.new_events))
        self.counts = Counts()
        self.owner = Owner(
            match,
            EPOCH,
            WORKER,
            players=players,
            writer=self.notebook,
            observer=self.counts,
            **others,
        )
        self.task: asyncio.Task[None] | None = None

    async def finish(self) -> None:
        """Return when the owner has stopped by itself."""
        assert self.task is not None
        await self.task


@asynccontextmanager
async def table(
    white: Player | None = None,
    black: Player | None = None,
    *,
    match: Match | None = None,
    analyser: Any = None,
    spent: timedelta = timedelta(0),
    unavailable: int = 0,
    answered_at: Callable[[], datetime] | None = None,
    first: Command | None = None,
    say: Callable[[str, str], None] | None = None,
    **settings: Any,
) -> AsyncIterator[Table]:
    """Run a match of these players, a human where there is none; its owner is cancelled after."""
    players = {
        color: player
        for color, player in ((Color.WHITE, white), (Color.BLACK, black))
        if player is not None
    }
    names = [HUMAN if player is None else player.name for player in (white, black)]
    if match is None:
        match = Match.create("match-1", match_settings(*names, **settings), now())
        match.new_events.clear()
    others = {} if say is None else {"say": say}
    at = Table(match, players, analyser=analyser, spent=spent, answered_at=answered_at, **others)
    at.notebook.unavailable = unavailable
    before = asyncio.all_tasks()
    asking = None if first is None else asyncio.create_task(at.owner.ask(first))
    await asyncio.sleep(0)
    at.task = asyncio.create_task(at.owner.run())
    if asking is not None:
        await asking
    try:
        yield at
    finally:
        at.task.cancel()
        await asyncio.wait([at.task])
        if not at.task.cancelled() and (error := at.task.exception()) is not None:
            raise error
        assert asyncio.all_tasks() == before, "a task was left behind"
