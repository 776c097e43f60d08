"""UciPool: warm processes of one UCI engine, lent out one task at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import Self

from agents.player import Turn
from agents.uci.errors import PoolClosed, UciFault, UciTimedOut
from agents.uci.info import Info
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.process import SearchResult, UciProcess
from agents.uci.program import UciProgram

_NO_OPTIONS: Mapping[str, Value] = {}


class UciPool:
    """At most `size` processes of a program. They start when needed, and stay for the next.

    Whoever comes when all are out waits in turn. A process that misbehaved is never lent again:
    another one is started in its place.
    """

    def __init__(self, program: UciProgram, size: int = 2) -> None:
        self.program = program
        self.size = size
        self._free = size  # how many more may be lent
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._idle: list[UciProcess] = []
        self._processes: set[UciProcess] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    @property
    def processes(self) -> tuple[UciProcess, ...]:
        """Every process there is: starting, idle or lent."""
        return tuple(each for each in self._processes if not each.is_gone)

    @asynccontextmanager
    async def lease(
        self,
        options: Mapping[str, Value] = _NO_OPTIONS,
        variant: str = "standard",
        game: object = None,
        *,
        new: bool = False,
    ) -> AsyncIterator[UciProcess]:
        """Lend a process, ready for searches in a game (any object), or in none in particular.

        The one that last searched in the same game is preferred, since it remembers, unless it has
        to be a `new` one. Raises `PoolClosed`, `UciNotFound`, `UciWontStart`, `InvalidOption`,
        `CannotPlayVariant` or a `UciFault`.
        """
        await self._wait_for_turn()
        process: UciProcess | None = None
        try:
            while process is None:
                process, is_new = await self._take(options, game, new)
                try:
                    await process.prepare(options, variant, game)
                except UciFault:
                    if is_new and not self._closed:
                        raise
                    # It broke while nobody looked, so whoever asks now need not know.
                    await self._put_back(process)
                    process = None
            yield process
        finally:
            try:
                if process is not None:
                    await self._put_back(process)
            finally:
                self._next_turn()

    async def search(
        self,
        turn: Turn,
        limit: Limit,
        *,
        options: Mapping[str, Value] = _NO_OPTIONS,
        game: object = None,
        forget: bool = False,
        listener: Callable[[Info], None] | None = None,
    ) -> SearchResult:
        """Search a turn by a process that is lent for it; if it breaks, by another one.

        Waiting for a process, and for one that broke, is charged to the clock of a limit. If the
        second one breaks too, or the first does not answer in time, the `UciFault` goes on. Raises
        what `lease` and `UciProcess.search` raise.
        """
        now = asyncio.get_running_loop().time
        began = now() - limit.spent.total_seconds()
        is_last = False
        while True:
            try:
                # What broke may have died while it was idle, and the others with it: so the next
                # one is a new one.
                lease = self.lease(options, turn.position.variant, game, new=is_last)
                async with lease as process:
                    if limit.clock is not None:
                        limit = replace(limit, spent=timedelta(seconds=now() - began))
                    return await process.search(turn, limit, forget=forget, listener=listener)
            except UciTimedOut:
                raise  # it had all the time there is
            except UciFault:
                if is_last:
                    raise
                is_last = True

    async def aclose(self) -> None:
        """End every process; who waits for one gets `PoolClosed`. Safe to call twice."""
        self._closed = True
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(PoolClosed(self.program.title))
        self._idle.clear()
        async with asyncio.TaskGroup() as group:
            for process in self._processes:
                group.create_task(process.aclose())
        self._processes.clear()

    async def _take(
        self, options: Mapping[str, Value], game: object, new: bool
    ) -> tuple[UciProcess, bool]:
        """Return an idle process, the most suitable one, or else a new one; and whether it is."""
        await self._see_off_dead()
        if self._closed:
            raise PoolClosed(self.program.title)
        by_fit = sorted(self._idle, key=lambda each: each.suits(options, game))
        has_room = len(self._processes) < self.size
        if new and by_fit and not has_room:
            self._idle.remove(by_fit[0])
            await self._end(by_fit[0])
        # Rather a new process than one that would have to forget another game, if there is room.
        if new or not by_fit or (has_room and by_fit[-1].game not in (None, game)):
            return await self._start(), True
        self._idle.remove(by_fit[-1])
        return by_fit[-1], False

    async def _start(self) -> UciProcess:
        process = UciProcess(self.program)
        self._processes.add(process)  # before it has answered: closing the pool ends it, too
        try:
            await process.begin()
        except UciFault:
            if not self._closed:
                raise
        if self._closed:
            await self._put_back(process)
            raise PoolClosed(self.program.title)
        return process

    async def warm(self, processes: int = 1) -> None:
        """Let there be so many processes, at most `size`, before they are needed.

        Raises `PoolClosed`, `UciNotFound`, `UciWontStart` or a `UciFault`.
        """
        if sum(each.is_alive for each in self._processes) >= processes:
            return  # whatever they do: made ready for nobody, they would not be ready for somebody
        async with AsyncExitStack() as leases:
            for _ in range(processes):
                if not self._free:
                    break  # to hold some and wait for others could be for ever
                await leases.enter_async_context(self.lease())

    async def _see_off_dead(self) -> None:
        """Forget processes that have ended, and wait for the end of idle ones that are about to."""
        dead = [each for each in self._idle if not each.is_alive]
        self._idle = [each for each in self._idle if each.is_alive]
        for process in dead:
            await self._put_back(process)
        self._processes = {each for each in self._processes if not each.is_gone}

    async def _put_back(self, process: UciProcess) -> None:
        if process.is_alive and not self._closed:
            self._idle.append(process)
        else:
            await self._end(process)

    async def _end(self, process: UciProcess) -> None:
        await process.aclose()
        self._processes.discard(process)

    async def _wait_for_turn(self) -> None:
        if self._closed:
            raise PoolClosed(self.program.title)
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._next_turn()  # it had come just now, and is somebody else's
            raise
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _next_turn(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
