"""The service as a real process: started on a free port, killed, stopped, and seen to be gone.

    python -m tests.support.services

is a template: an interpreter that has imported everything, and forks a `kibitz` for each line of
arguments that it reads. So a start costs a tenth of a second, and a test can afford dozens.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib
import json
import os
import re
import resource
import signal
import sys
import termios
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.processes import HANGS_AFTER, LINUX, until

ROOT = Path(__file__).resolve().parents[2]
_READY = re.compile(rb"Kibitz serves http://127\.0\.0\.1:(\d+)\n")
_EXIT = re.compile(rb"exit (-?\d+)\n")
_KIBITZ = "from app.cli import main; main()"
#: An engine that takes a twentieth of a second longer than Stockfish over every move; or, where
#: moves are rationed, waits until it may make it.
_SLOW = (
    "stockfish | while read -r line; do case $line in bestmove*)"
    ' if [ -p "$TMPDIR/ration" ]; then read -r _ < "$TMPDIR/ration"; else sleep 0.05; fi;;'
    ' esac; echo "$line"; done'
)
_SETTINGS = f"""\
engine_processes = 1
starts_per_minute = 100000

[engines.slow]
command = ["/bin/sh", "-c", {json.dumps(_SLOW)}]
nodes = 50
"""
_IMPORTED = (
    "app.cli.serve",
    "app.http.security",
    "app.logs",
    "app.main",
    "app.services",
    "encodings.idna",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.httptools_impl",
)


class Ended(Exception):
    """The process ended before it was ready; with what it complained of."""


class Machine:
    """Where services run: their settings, and a mark on every process of theirs.

    To be entered; in the end nothing may be left running.
    """

    def __init__(self, folder: Path, database_url: str) -> None:
        self.database_url = database_url
        #: What services said on standard error, which is nothing if all is well.
        self.complaints = folder / "stderr"
        self._executed: list[Process] = []
        self._temporary = folder / "temporary"  # engines get TMPDIR of us, so it marks them
        self._temporary.mkdir(parents=True)
        settings = folder / "kibitz.toml"
        settings.write_text(_SETTINGS)
        # It does not count for coverage.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
        self._environment = ours | {
            "KIBITZ_CONFIG": str(settings),
            "KIBITZ_DATA_FOLDER": str(folder / "data"),
            "PATH": f"{os.environ['PATH']}{os.pathsep}/usr/games",
            "TMPDIR": str(self._temporary),
        }

    @property
    def serve(self) -> tuple[str, ...]:
        """The arguments of a service."""
        options = ("--port", "0", "--log-level", "warning", "--database", self.database_url)
        return ("serve", *options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if error is None:
            await self.deserted()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._executed:
            await process.wait()

    async def execute(self, *command: str, stdin: int = DEVNULL) -> Process:
        """Start a program that is marked as ours."""
        with self.complaints.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *command,
                cwd=ROOT,
                env=self._environment,
                stdin=stdin,
                stdout=PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._executed.append(process)
        return process

    async def start(self, *arguments: str) -> Service:
        """Start `kibitz`, by default the service, as everybody does."""
        process = await self.execute("-c", _KIBITZ, *(arguments or self.serve))
        return Service(process.pid, process, self.complaints)

    @contextmanager
    def rationing(self) -> Iterator[Ration]:
        """Let `uci:slow` make those moves only that it is allowed, in whichever process."""
        path = self._temporary / "ration"
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        try:
            yield Ration(descriptor)
        finally:
            path.unlink()
            os.close(descriptor)

    def processes(self) -> set[int]:
        """Return every living process of ours, whoever its parent is. (Only on Linux.)"""
        mark = f"TMPDIR={self._temporary}".encode()
        found = set()
        for place in Path("/proc").glob("[0-9]*") if LINUX else ():
            with contextlib.suppress(OSError):  # it ended just now, or is somebody else's
                if mark in (place / "environ").read_bytes():
                    found.add(int(place.name))
        return found

    async def deserted(self, *but: int) -> None:
        """Wait until nothing of ours is left: engines notice by themselves that they are alone."""
        async with asyncio.timeout(HANGS_AFTER):
            await until(lambda: self.processes() <= set(but))


class Ration:
    """How many moves `uci:slow` may make: so no evaluation is over before a test is done.

    One that was orphaned while it waited takes a move, too, and dies of it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def allow(self, moves: int) -> None:
        """Let it make so many more."""
        os.write(self._descriptor, b"\n" * moves)

    def withdraw(self) -> None:
        """Let it make no more."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._descriptor, 65_536)

    @property
    def is_used_up(self) -> bool:
        """Whether it has to wait with the next move."""
        left = fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4))
        return not int.from_bytes(left, sys.byteorder)


class Service:
    """A process of `kibitz`. What it prints is read; what it complains of is in a file."""

    def __init__(self, pid: int, output: Process, complaints: Path) -> None:
        self.pid = pid
        self._complaints = complaints
        #: Where it serves, once it does.
        self.port: int | None = None
        self._code: int | None = None
        self._settled = asyncio.Event()
        self._following = asyncio.create_task(self._follow(output))

    async def _follow(self, output: Process) -> None:
        assert output.stdout is not None
        while self._code is None and (line := await output.stdout.readline()):
            if found := _READY.fullmatch(line):
                self.port = int(found[1])
                self._settled.set()
            elif found := _EXIT.fullmatch(line):
                self._code = int(found[1])
        if self._code is None:
            self._code = await output.wait()
        self._settled.set()

    async def ready(self) -> int:
        """Wait until it serves, and return the port; raises `Ended`."""
        async with asyncio.timeout(HANGS_AFTER):
            await self._settled.wait()
        if self.port is None:
            raise Ended(self._complaints.read_text())
        return self.port

    @property
    def has_ended(self) -> bool:
        """Whether it has come to its end, whichever way."""
        return self._code is not None

    def send(self, number: int) -> None:
        """Send a signal."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def let_files_grow(self, most: int | None) -> None:
        """Bound the size of all files that it writes, as a full disk would, or no longer."""
        _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
        soft = hard if most is None else most
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (soft, hard))

    async def wait(self, hangs_after: float = HANGS_AFTER) -> int:
        """Wait for its end, and return the exit code, which is negative after a signal."""
        async with asyncio.timeout(hangs_after):
            await self._following
        assert self._code is not None
        return self._code

    async def kill(self) -> None:
        """Let it die on the spot."""
        self.send(signal.SIGKILL)
        assert await self.wait() == -signal.SIGKILL

    async def kill_anyway(self) -> None:
        """Let it die, if it has not come to its end."""
        self.send(signal.SIGKILL)
        assert await self.wait() in (0, -signal.SIGKILL)

    async def stop(self) -> None:
        """Ask it to stop, and see that it does so in good order."""
        self.send(signal.SIGTERM)
        assert await self.wait() == 0


class Template:
    """Starts services one after the other, each when the one before has ended."""

    def __init__(self, machine: Machine, process: Process) -> None:
        self._machine = machine
        self._process = process

    @property
    def pid(self) -> int:
        """Its own process."""
        return self._process.pid

    async def start(self, *arguments: str) -> Service:
        """Start `kibitz`, by default the service."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(arguments or self._machine.serve).encode() + b"\n")
        pid = int(await self._process.stdout.readline())
        return Service(pid, self._process, self._machine.complaints)


@asynccontextmanager
async def template(machine: Machine) -> AsyncIterator[Template]:
    """Have a template for a while."""
    process = await machine.execute("-m", "tests.support.services", stdin=PIPE)
    assert process.stdin is not None
    try:
        yield Template(machine, process)
    finally:
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _fork() -> None:
    """Run `kibitz` in a child, for each line of arguments, and tell of its start and its end."""
    for name in _IMPORTED:
        importlib.import_module(name)
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            sys.argv = ["kibitz", *json.loads(line)]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.exit(importlib.import_module("app.cli").main())
        os.write(1, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(1, b"exit %d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    _fork()
