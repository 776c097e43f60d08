"""Watching: a match of a service as it is shown: live, once, played again, or as its events."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

import typer
from rich.console import Console

from agents.timekeeping import now
from app.cli.boards.board import Look
from app.cli.boards.live_board import Board, Lines, Show, live_show
from app.cli.boards.picture import Picture
from app.cli.boards.scene import Scene
from app.cli.keyboard.keys import keys_pressed
from app.cli.remote.event_stream import Manners, SentEvent, watch
from app.cli.remote.matches import RemoteMatch
from app.cli.remote.service import RemoteService
from engine import Color

#: What the clocks of two machines may differ by before it matters: responses tell whole seconds.
_SAME_TIME = timedelta(seconds=2)


@dataclass(frozen=True)
class Wish:
    """How somebody wants to watch."""

    as_json: bool = False
    once: bool = False
    #: How long each move stays; None if it is no replay.
    replay: timedelta | None = None
    flipped: bool = False
    ascii: bool = False
    give_up: timedelta | None = None


class Watching:
    """Somebody who watches a match. All of it raises what `event_stream.watch` does."""

    def __init__(self, service: RemoteService, match: RemoteMatch, wish: Wish) -> None:
        self._service = service
        self._match = match
        self._wish = wish
        self._time = ServiceTime()

    async def print_events(self) -> None:
        """Print events as they are sent, a line for each; with `once`, those that there are."""
        is_seen = sys.stdout.isatty()
        async with self._events(Lines()) as events:
            async for event in events:
                line = event.text.replace("\n", " ")
                typer.echo(_harmless(line) if is_seen else line)
                if self._wish.once and self._is_past(event):
                    return

    async def draw_once(self) -> None:
        """Draw the match as it stands."""
        scene = Scene()
        async with self._events(Lines()) as events:
            async for event in events:
                scene = scene.after(event.data)
                if self._is_past(event):
                    break
        console = Console(highlight=False)
        look = Look.of(console, wants_ascii=self._wish.ascii)
        console.print(Picture.of(scene, look, self._time(), perspective=self._below))

    async def show(self) -> None:
        """Show the match until its end, or until somebody leaves."""
        show = live_show(
            pace=None if self._wish.replay is None else self._pace,
            perspective=self._below,
            wants_ascii=self._wish.ascii,
            clock=self._time,
        )
        async with show:
            if not isinstance(show, Board):
                await self._follow(show)
                return
            loop = asyncio.get_running_loop()
            try:
                # Whoever leaves lets the time be over that there is for watching.
                async with asyncio.timeout(None) as watching:
                    leave = lambda: watching.reschedule(loop.time())  # noqa: E731
                    with keys_pressed({"f": show.flip, "q": leave}):
                        await self._follow(show)
            except TimeoutError:
                if not watching.expired():
                    raise

    async def _follow(self, show: Show) -> None:
        """Show every event; in a replay, those of the past as if they happened now."""
        scene, past = Scene(), list[SentEvent]()
        async with self._events(show) as events:
            if self._wish.replay is not None:
                async for event in events:
                    past.append(event)
                    if self._is_past(event):
                        break
            for event in past:
                scene = scene.after(event.data)
                self._time.stands_at = scene.at
                await show.show(scene, event.data)
            self._time.stands_at = None
            async for event in events:
                scene = scene.after(event.data)
                await show.show(scene, event.data)

    def _events(self, show: Show) -> AbstractAsyncContextManager[AsyncGenerator[SentEvent, None]]:
        manners = Manners(
            tries=None,
            give_up=self._wish.give_up,
            tell=show.note,
            tell_time=self._time.learn,
            refuse=self._service.refusal,
        )
        path = f"api/matches/{self._match.id}/events"
        return aclosing(watch(self._service.client, path, manners))

    def _is_past(self, event: SentEvent) -> bool:
        """Return whether it is the last that had happened when somebody began to watch."""
        return event.is_logged and int(event.id) >= self._match.sequence

    def _pace(self, _ply: int) -> timedelta:
        is_past = self._time.stands_at is not None
        return (self._wish.replay or timedelta(0)) if is_past else timedelta(0)

    @property
    def _below(self) -> Color:
        return Color.BLACK if self._wish.flipped else Color.WHITE


class ServiceTime:
    """What time it is where the match is played; or, in a replay, where it was."""

    def __init__(self) -> None:
        #: When the event happened that is shown as if it happened now.
        self.stands_at: datetime | None = None
        self._ahead = timedelta(0)

    def learn(self, told: datetime) -> None:
        """Hear what time it is there."""
        ahead = told - now()
        self._ahead = ahead if abs(ahead) > _SAME_TIME else timedelta(0)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.stands_at or now() + self._ahead


def _harmless(line: str) -> str:
    """Return JSON that says the same, without anything that a terminal would obey."""
    return line if line.isprintable() else json.dumps(json.loads(line), separators=(",", ":"))
