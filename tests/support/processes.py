"""Running tests of processes: in bounded time, quietly, and with nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from agents.uci.options import Value
from agents.uci.program import Patience, UciProgram
from tests.support import uci_engine

T = TypeVar("T")

LINUX = sys.platform == "linux"
TITLE = "Crash Test"
#: In the environment of every process that a test starts, so that it can be found.
MARK = uuid4().hex
#: What takes so many seconds hangs, however slow the machine.
HANGS_AFTER = 60.0
#: How many seconds somebody else may take to close what is to be closed.
_CLOSING = 5.0
#: Longer, so that a test whose good process is waited for in vain fails.
PATIENT = dict.fromkeys(("start", "ready", "search", "stop"), 2 * HANGS_AFTER)


def program(
    mode: str = "Engine",
    moves: str = "e2e4",
    *,
    log: Path | None = None,
    once: Path | None = None,
    options: Mapping[str, Value] | None = None,
    environment: Mapping[str, str] | None = None,
    **patience: float,
) -> UciProgram:
    """Return the misbehaving program, with patience in seconds."""
    assert mode in uci_engine.MODES
    variables = {"UCI_MARK": MARK, **(environment or {})}
    if log is not None:
        variables["UCI_LOG"] = str(log)
    if once is not None:
        variables["UCI_ONCE"] = str(once)
    return UciProgram(
        TITLE,
        (sys.executable, "-I", "-S", uci_engine.__file__, mode, moves),
        options=options or {},
        environment=variables,
        patience=Patience(**{k: timedelta(seconds=v) for k, v in (PATIENT | patience).items()}),
    )


def told(log: Path, pid: int | None = None) -> list[str]:
    """Return what the program has noted in its log: all of its processes, or one of them."""
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    return [text for number, text in lines if pid is None or int(number) == pid]


async def steps_of_the_loop(number: int) -> None:
    """Let everybody run so many times."""
    for _ in range(number):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for what no event tells: that another process has come so far."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.005)


def run(main: Coroutine[Any, Any, T], *, debug: bool = True, hangs_after: float = HANGS_AFTER) -> T:
    """Run something to its end, and see that it ends, says nothing, and leaves nothing behind."""
    complaints = Complaints()
    logger = logging.getLogger("asyncio")
    logger.addHandler(complaints)
    before = (descriptors(), children())
    try:
        result = asyncio.run(_bounded(main, hangs_after), debug=debug)
        for thread in watchers():
            thread.join(HANGS_AFTER)
        # What was never closed says so now, and not in the next test. What is older than this one
        # is left alone: to look through that takes longer than most tests.
        gc.collect(1)
    except BaseException:
        for survivor in survivors():  # the next test has nothing to do with them
            os.kill(survivor, signal.SIGKILL)
        raise
    finally:
        logger.removeHandler(complaints)
    assert complaints.texts == []
    # By name and not by number: what an earlier test left to the garbage collector may go now. And
    # a server in another thread closes its end of a connection a little later than we do ours.
    deadline = time.monotonic() + _CLOSING
    while (left := descriptors() - before[0]) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert left == set()
    assert children() == before[1]
    assert survivors() == set()
    assert watchers() == []
    return result


async def _bounded(main: Coroutine[Any, Any, T], hangs_after: float) -> T:
    # In debug mode asyncio remarks on slow callbacks, and any is slow on a busy machine.
    asyncio.get_running_loop().slow_callback_duration = math.inf
    async with asyncio.timeout(hangs_after):
        return await main


class Complaints(logging.Handler):
    """What asyncio has to say: exceptions that nobody retrieved, children that nobody knows."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


def watchers() -> list[threading.Thread]:
    """Return the threads in which asyncio waits for the ends of processes."""
    return [each for each in threading.enumerate() if each.name.startswith("asyncio-waitpid")]


def descriptors() -> set[tuple[str, str]]:
    """Return which files and pipes we have open; each pipe and socket has a name of its own."""
    found = set()
    for place in Path("/proc/self/fd" if LINUX else "/dev/fd").iterdir():
        with contextlib.suppress(OSError):  # the one by which we look is closed already
            found.add((place.name, str(place.readlink()) if LINUX else place.name))
    return {each for each in found if not each[1].endswith("/fd")}


def children() -> set[int]:
    """Return the processes that we have started and not seen the end of, zombies and all."""
    us = str(os.getpid())
    # The name of a program, which may hold anything, is in parentheses.
    parents = {pid: stat.rpartition(b")")[2].split()[1] for pid, stat in _read_all("stat").items()}
    return {pid for pid, parent in parents.items() if parent.decode() == us}


def survivors() -> set[int]:
    """Return every living process of the program, whoever its parent is."""
    return {pid for pid, text in _read_all("environ").items() if MARK.encode() in text}


def _read_all(file: str) -> dict[int, bytes]:
    """Return a file of every process that lets us read it."""
    found = {}
    for place in Path("/proc").glob("[0-9]*") if LINUX else ():
        with contextlib.suppress(OSError):  # it ended just now, or is somebody else's
            found[int(place.name)] = (place / file).read_bytes()
    return found
