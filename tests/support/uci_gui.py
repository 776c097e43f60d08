"""A GUI for conversations in this process: it says lines, and waits for the answers it wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from agents.catalogue import Catalogue
from agents.player import Player
from agents.uci.limits import Limit
from app.uci.conversation import Conversation
from app.uci.ledger import UciLedger
from app.uci.options import Preferences
from app.uci.seats import Seats
from tests.support.processes import HANGS_AFTER


class Gui:
    """What was said to it, in order; each `hear` goes on where the last one ended."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._read = 0
        self._said: asyncio.Queue[str | None] = asyncio.Queue()
        self._has_come = asyncio.Condition()
        self._waking: set[asyncio.Task[None]] = set()

    def tell(self, line: str) -> None:
        """Take a line of the engine."""
        self.lines.append(line)
        task = asyncio.ensure_future(self._wake())
        self._waking.add(task)
        task.add_done_callback(self._waking.discard)

    def say(self, *lines: str | None) -> None:
        """Say lines; None is one that was too long."""
        for line in lines:
            self._said.put_nowait(line)

    async def hear(self, beginning: str) -> str:
        """Return the next line that begins so, once it has come."""
        async with asyncio.timeout(HANGS_AFTER), self._has_come:
            while True:
                while self._read < len(self.lines):
                    line = self.lines[self._read]
                    self._read += 1
                    if line.startswith(beginning):
                        return line
                await self._has_come.wait()

    async def best(self, *lines: str) -> str:
        """Say lines, and return the best move that comes then."""
        self.say(*lines)
        return (await self.hear("bestmove ")).split()[1]

    async def settled(self) -> None:
        """Return once all that was said has been done."""
        self.say("isready")
        await self.hear("readyok")

    def strings(self) -> list[str]:
        """Return what was told people."""
        begin = "info string "
        return [each.removeprefix(begin) for each in self.lines if each.startswith(begin)]

    async def _wake(self) -> None:
        async with self._has_come:
            self._has_come.notify_all()

    async def said(self) -> AsyncIterator[str | None]:
        """Yield what was said, until nothing is."""
        while (line := await self._said.get()) != "(end)":
            yield line


@asynccontextmanager
async def gui(
    *players: Player,
    catalogue: Callable[[], Catalogue] = Catalogue,
    own: Limit | None = None,
    calls: Callable[[str], None] | None = None,
    ends: str = "quit",
    **preferences: object,
) -> AsyncIterator[Gui]:
    """Talk with an engine of which a scripted player, if one is given, is the first player."""
    seated = {player.name: player for player in players}
    makers = {name: _always(player) for name, player in seated.items()}
    name = next(iter(seated), "random")
    wishes = replace(Preferences(name, overhead=timedelta(0)), **preferences)  # type: ignore[arg-type]
    ledger = UciLedger(wishes.budget, calls)

    @asynccontextmanager
    async def opening() -> AsyncIterator[Catalogue]:
        async with Catalogue(players=makers) if makers else catalogue() as opened:
            yield opened

    it = Gui()
    conversation = Conversation(wishes, Seats(opening, 7), ledger, it.tell, own=own or Limit())
    async with asyncio.timeout(HANGS_AFTER):
        running = asyncio.ensure_future(conversation.run(it.said()))
        try:
            yield it
            it.say(ends)
            await running
        finally:
            running.cancel()
            await asyncio.wait({running})


def _always(player: Player) -> Callable[[int | None], Player]:
    return lambda _seed: player
