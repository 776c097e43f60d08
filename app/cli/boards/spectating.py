"""Spectating: two computers play in this process; it is drawn on a terminal, or told in lines."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from agents.timekeeping import now
from app.cli.boards.drawing import Drawing
from app.cli.boards.live_board import pace
from app.cli.boards.picture import Picture
from app.cli.boards.scene import Scene
from app.cli.boards.score_lines import told_lines
from app.cli.processes.stopping import stoppable
from app.matches.events import Event, EventType
from app.matches.private import PrivateMatch
from app.play.telling import tell_costs
from engine import Color

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from agents.catalogue import Catalogue
    from app.cli.boards.board import Look
    from app.matches.settings import MatchSettings

#: With these, nothing more comes.
_LAST = (EventType.ENDED, EventType.PAUSED)


class Spectating:
    """A game of two computers, and whoever looks on."""

    def __init__(self, console: Console, look: Look, perspective: Color) -> None:
        self._console = console
        self._look = look
        self._perspective = perspective
        self._scene = Scene()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._shown_at = 0.0

    async def watch(self, settings: MatchSettings, catalogue: Catalogue) -> str:
        """Play a game and show it; return why it did not come to its end, if so.

        Raises what `PrivateMatch.create` raises.
        """
        private = PrivateMatch.create(
            settings, catalogue, told=self._events.put_nowait, say=self._hear
        )
        with self._drawing() as is_drawn:
            async with asyncio.TaskGroup() as group:
                group.create_task(private.play())
                await self._show(is_drawn=is_drawn)
        if is_drawn:
            typer.echo(self._scene.ending)
        for line in tell_costs(private.ledger):
            typer.echo(line)
        return self._scene.paused

    async def _show(self, *, is_drawn: bool) -> None:
        """Show events until nothing more comes, at a pace that a person can follow."""
        while True:
            event = await self._events.get()
            if is_drawn and event.type is EventType.PLY:
                due = self._shown_at + pace(len(self._scene.plies)).total_seconds()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                self._shown_at = time.monotonic()
            self._scene = self._scene.after(event)
            if not is_drawn:
                for line in told_lines(self._scene, event):
                    typer.echo(line)
            if event.type in _LAST:
                return

    @contextmanager
    def _drawing(self) -> Iterator[bool]:
        """Draw on a terminal meanwhile; give whether there is one that can be drawn on."""
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield False
            return
        with Drawing(self._console, self._picture) as drawing, stoppable(drawing, has_clocks=True):
            yield True

    def _picture(self) -> Picture:
        return Picture.of(self._scene, self._look, now(), perspective=self._perspective)

    def _hear(self, by: str, words: str) -> None:
        self._scene = self._scene.hearing(by, words)
