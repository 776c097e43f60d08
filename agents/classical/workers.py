"""ClassicalWorkers: the processes in which the offline team thinks, shared by all its players."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from agents.classical.allowance import Allowance
from agents.classical.errors import (
    WorkerDied,
    WorkerFault,
    WorkersClosed,
    WorkerTimedOut,
    WorkerWontStart,
)
from agents.classical.thinking import Answer, Question
from agents.classical.worker import READY
from agents.excused import excused_wait
from agents.player import Turn
from agents.uci.child import Child
from agents.uci.errors import UciNotFound, UciWontStart

#: How long a worker may take to start, or over its time, before it is given up.
PATIENCE = timedelta(seconds=20)
#: Fewer nodes in a second than any machine searches.
_SLOWEST = 500
_TITLE = "classical"
_ROOT = Path(__file__).parents[2]
_REAPING = 10.0


class _Worker:
    """One process, and the answer that is awaited from it, if one is."""

    def __init__(self) -> None:
        self._child = Child(self)
        self._heard = b""
        self._awaited = 0
        self._answer: asyncio.Future[bytes] | None = None
        self._fault: WorkerFault | None = None

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self._fault is None and not (self._child.has_exited or self._child.has_fallen_silent)

    async def start(self, patience: timedelta) -> None:
        """Launch it, and wait until it is ready."""
        answer = self._expect(0)
        # `-P` and a path of our own: what lies in the working directory is none of its business.
        command = (sys.executable, "-P", "-m", "agents.classical.worker")
        try:
            await self._child.launch(_TITLE, command, {"PYTHONPATH": str(_ROOT)})
        except BaseException as error:
            answer.cancel()  # nobody will ask for it, not even why it was killed meanwhile
            if isinstance(error, UciNotFound | UciWontStart):
                raise WorkerWontStart(str(error)) from error
            raise
        await self._wait(answer, patience)

    async def ask(self, question: Question, patience: timedelta) -> Answer:
        """Return the answer to a question, or raise a `WorkerFault`."""
        answer = self._expect(question.number)
        self._child.tell(question.line())
        try:
            return Answer.read(await self._wait(answer, patience))
        except asyncio.CancelledError:
            # It stops at its next breath. What it still answers has another number than the next.
            self._child.tell(f'{{"stop": {question.number}}}\n')
            raise

    def kill(self, fault: WorkerFault | None = None) -> None:
        """End it now; who waits for its answer gets the fault."""
        if self._fault is None:
            self._fault = fault or WorkerDied(self._child.exit_code, self._child.last_words)
        self._child.kill()
        self._child.let_go()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(self._fault)

    async def aclose(self) -> None:
        """End it, and wait until nothing is left of it. Safe to call twice."""
        self.kill()
        # If the system cannot get rid of a process, then neither can we.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REAPING):
                await self._child.gone.wait()

    def _expect(self, number: int) -> asyncio.Future[bytes]:
        self._awaited = number
        self._answer = asyncio.get_running_loop().create_future()
        if not self.is_alive:
            self.kill()
        return self._answer

    async def _wait(self, answer: asyncio.Future[bytes], patience: timedelta) -> bytes:
        try:
            async with asyncio.timeout(patience.total_seconds()):
                return await answer
        except TimeoutError:
            fault = WorkerTimedOut(patience)
            self.kill(fault)
            raise fault from None

    # --- what it is told by its child ---

    def heard(self, data: bytes) -> None:
        """Take in what it printed: one line is one answer."""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            number = 0 if line + b"\n" == READY else Answer.read(line).number
            # An answer to what was cancelled is nobody's.
            if number == self._awaited and self._answer is not None and not self._answer.done():
                self._answer.set_result(line)

    def lost(self) -> None:
        """Notice its end."""
        if self._answer is None or self._answer.done() or self._child.has_exited:
            self.kill()


class ClassicalWorkers:
    """At most so many `processes`. They start when needed, and stay for the next turn.

    Whoever comes when all are busy waits in turn. One that dies or does not answer within
    `patience` over its time is replaced. Close it, or use it as a context.
    """

    def __init__(self, processes: int = 1, *, patience: timedelta = PATIENCE) -> None:
        if type(processes) is not int or processes < 1:
            raise WorkerWontStart("there must be at least one process")
        self._free = asyncio.Semaphore(processes)
        self._processes = processes
        self._patience = patience
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._numbers = count(1)
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
    def pids(self) -> tuple[int, ...]:
        """The numbers of all processes there are."""
        return tuple(each.pid for each in self._all if each.is_alive)

    async def warm(self, processes: int = 1) -> None:
        """Start so many processes, at most all, before they are needed.

        Raises `WorkersClosed`, `WorkerWontStart` or a `WorkerFault`.
        """
        async with AsyncExitStack() as leases:
            for _ in range(processes):
                if self._free.locked():
                    break  # to hold some and wait for others could be for ever
                await leases.enter_async_context(self._lease())

    async def think(self, turn: Turn, seed: int, allowance: Allowance) -> Answer:
        """Return what the team decides.

        Waiting for a process is excused. Raises `WorkersClosed`, `WorkerWontStart` or a
        `WorkerFault`, after which the turn can be retried.
        """
        seconds, nodes = allowance.seconds(), allowance.nodes
        expected = nodes / _SLOWEST if seconds is None and nodes else seconds or 0
        async with AsyncExitStack() as leases:
            lease = leases.enter_async_context(self._lease())
            worker, _ = await excused_wait(lease, turn.listener.excuse)
            question = Question.of(next(self._numbers), turn, seed, seconds, nodes)
            # Who says nothing is given up before the flag falls: the turn is then tried again.
            patience = allowance.lateness(self._patience) + timedelta(seconds=expected)
            return await worker.ask(question, patience)

    async def aclose(self) -> None:
        """End every process, for good; who waits gets `WorkersClosed`. Safe to call twice."""
        self._closed = True
        async with asyncio.TaskGroup() as group:
            for worker in self._all:
                group.create_task(worker.aclose())
        self._idle.clear()
        self._all.clear()

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[_Worker]:
        async with self._free:
            try:
                worker = await self._take()
                try:
                    yield worker
                finally:
                    if worker.is_alive and not self._closed:
                        self._idle.append(worker)
                    else:
                        await self._see_off(worker)
            except WorkerFault:
                if self._closed:
                    raise WorkersClosed from None  # which is why it died
                raise

    async def _take(self) -> _Worker:
        """Return an idle worker, or a new one."""
        if self._closed:
            raise WorkersClosed
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            await self._see_off(worker)  # it died while nobody looked
        worker = _Worker()
        self._all.add(worker)  # before it is ready: closing ends it, too
        try:
            await worker.start(self._patience)
        except BaseException:
            await self._see_off(worker)
            raise
        return worker

    async def _see_off(self, worker: _Worker) -> None:
        await worker.aclose()
        self._all.discard(worker)
