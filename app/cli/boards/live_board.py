"""Live board: a match as it is played, drawn in a terminal, or told line by line without one."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, Self

import typer

from agents.timekeeping import now
from app.cli.boards.board import Look
from app.cli.boards.picture import Picture
from app.cli.boards.scene import Scene, Told, kind_of
from app.cli.boards.score_lines import told_lines
from app.cli.processes.stopping import stoppable
from engine import Color

if TYPE_CHECKING:
    from rich.console import Console

#: In seconds: how long what is new may wait to be drawn, with all else that comes by then.
_TICK = 0.1
_PLY = "ply.played"


class Show(Protocol):
    """Somewhere a match is shown, while it is entered."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def show(self, scene: Scene, event: Told) -> None:
        """Show what is to be seen after an event."""

    def note(self, words: str) -> None:
        """Say something of the way the match is watched, such as a lost connection; or no more."""


class Lines:
    """Tells what happens in lines, without anything that only a terminal understands."""

    def __init__(self) -> None:
        self._is_noted = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave nothing behind."""

    async def show(self, scene: Scene, event: Told) -> None:
        """Print what an event is worth telling, if it is."""
        for line in told_lines(scene, event):
            typer.echo(line)

    def note(self, words: str) -> None:
        """Print it when it is lost, and when it is back, beside what a program may read."""
        if bool(words) != self._is_noted:
            self._is_noted = bool(words)
            typer.echo(words or "The connection is back.", err=True)


class Board:
    """Draws the board over the whole terminal, with clocks that run, and leaves the last picture.

    With a `pace` every position stays as long as it says, so that a person can follow.
    """

    def __init__(
        self,
        console: Console,
        *,
        look: Look | None = None,
        perspective: Color = Color.WHITE,
        pace: Callable[[int], timedelta] | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """`clock` tells the time where the match is played."""
        from rich.live import Live

        self._live = Live(console=console, auto_refresh=False, screen=True)
        self._console = console
        self._pace = pace
        self._clock = clock
        self._look = look or Look.of(console)
        self._perspective = perspective
        self._scene: Scene | None = None
        self._note = ""
        self._drawn: object = None
        self._shown_at = 0.0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Take the terminal, and draw whenever there is something new, if only on a clock."""
        async with AsyncExitStack() as stack:
            stack.callback(self._end)
            self._live.start()
            stack.enter_context(stoppable(self, has_clocks=False))  # the service has them
            group = await stack.enter_async_context(asyncio.TaskGroup())
            stack.callback(group.create_task(self._run()).cancel)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            # Whatever ended the match goes on as it is, and not in a group.
            await self._stack.aclose()
        except BaseExceptionGroup as group:  # it could not be drawn
            raise group.exceptions[0] from None

    async def show(self, scene: Scene, event: Told) -> None:
        """Have a scene drawn soon, and after a move not before the last one could be seen."""
        if kind_of(event) == _PLY and self._pace is not None:
            due = self._shown_at + self._pace(len(scene.plies)).total_seconds()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self._shown_at = time.monotonic()
            self._scene = scene
            self.draw()
        self._scene = scene

    def note(self, words: str) -> None:
        """Say something on the board."""
        self._note = words

    def flip(self) -> None:
        """Let the other side be below."""
        self._perspective = self._perspective.opponent
        self.draw()

    def draw(self) -> None:
        """Draw what is to be seen now, unless it stands there already."""
        if self._scene is None and not self._note:
            return  # nobody knows yet what is played
        picture = self._picture()
        drawn = (picture, self._console.size)
        if drawn != self._drawn:
            self._live.update(picture, refresh=True)
            self._drawn = drawn

    async def _run(self) -> None:
        while True:
            self.draw()
            await asyncio.sleep(_TICK)

    def _picture(self) -> Picture:
        return Picture.of(
            self._scene or Scene(),
            self._look,
            self._clock(),
            perspective=self._perspective,
            note=self._note,
        )

    def leave(self) -> None:
        """Give the terminal back as it was."""
        self._live.stop()

    def come_back(self) -> None:
        """Take the terminal again, and draw all of it."""
        self._drawn = None
        self._live.start()

    def _end(self) -> None:
        """Give the terminal back as it was, with the last picture where output goes on."""
        self.leave()
        if self._scene is not None:
            self._console.print(replace(self._picture(), note=""))


def pace(ply: int) -> timedelta:
    """Return how long a position stays: the longer the match, the shorter, 45 s for 400 plies."""
    if ply <= 100:
        return timedelta(milliseconds=250)
    return timedelta(milliseconds=80 if ply <= 300 else 30)


def live_show(
    *,
    pace: Callable[[int], timedelta] | None = None,
    perspective: Color = Color.WHITE,
    wants_ascii: bool = False,
    clock: Callable[[], datetime] = now,
) -> Show:
    """Return a board for a terminal, or lines for what is none."""
    if not sys.stdout.isatty():
        return Lines()
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_dumb_terminal:
        return Lines()
    look = Look.of(console, wants_ascii=wants_ascii)
    return Board(console, look=look, perspective=perspective, pace=pace, clock=clock)
