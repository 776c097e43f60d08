"""Plain lines: commands as they come from a pipe, or from a terminal that can only print."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, TextIO, TypeAlias

from app.cli.processes.output import unless_hung_up

if TYPE_CHECKING:
    from app.cli.boards.play_screen import ConsoleScreen
    from app.play.session import Session

#: Of a line without an end: no more of it is kept.
_LONGEST = 1 << 16


class _Mark(Enum):
    """What may come in the place of a line."""

    END = "end"
    INTERRUPT = "interrupt"


_Came: TypeAlias = "str | _Mark"


class PlainLines:
    """Has lines obeyed one by one, each when it is somebody's turn."""

    def __init__(self, session: Session, screen: ConsoleScreen, stream: TextIO | None) -> None:
        self._session = session
        self._stream = stream
        self._is_terminal = stream is not None and stream.isatty()
        self._lines: asyncio.Queue[_Came] = asyncio.Queue()
        self._is_waiting = self._is_prompted = False
        screen.before_writing = self._begin_line
        screen.refreshed = self._ask

    async def run(self) -> None:
        """Take lines until somebody leaves, or there are no more."""
        self._start_reading()
        with self._signals():
            while not self._session.has_left:
                await self._take_one()

    async def _take_one(self) -> None:
        session = self._session
        # So a script need not know how long the opponent thinks.
        await session.sitting.settled()
        self._is_waiting = True
        self._ask()
        came = await self._lines.get()
        if came in tuple(_Mark):
            self._begin_line()  # which no Enter has done
        self._is_waiting = False
        if came is _Mark.END:
            await session.end()
        elif came is _Mark.INTERRUPT:
            await session.interrupt()
        else:
            self._echo(str(came))
            await session.obey(str(came))

    # --- the prompt ---

    def _ask(self) -> None:
        if self._is_waiting and not self._is_prompted and self._is_terminal:
            self._is_prompted = True
            _write(self._session.prompt)

    def _begin_line(self) -> None:
        """Leave the line of the prompt, if something is to be written meanwhile."""
        if self._is_prompted and self._is_waiting:
            _write("\n")
        self._is_prompted = False

    def _echo(self, line: str) -> None:
        """Write the line after its prompt, unless the terminal has done so."""
        self._is_prompted = False
        if not self._is_terminal:
            said = "".join(char for char in line[:200] if char.isprintable())
            _write(f"{self._session.prompt}{said}\n")

    # --- reading ---

    def _start_reading(self) -> None:
        """Read in a thread, which ends with the process if nothing comes any more."""
        loop = asyncio.get_running_loop()

        def put(came: _Came) -> None:
            with suppress(RuntimeError):  # nobody listens any longer
                loop.call_soon_threadsafe(self._lines.put_nowait, came)

        reading = threading.Thread(
            target=_read, args=(self._stream, put, self._is_terminal), daemon=True, name="lines"
        )
        reading.start()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def interrupt() -> None:
            if task is not None and not (self._is_terminal and self._is_waiting):
                self._session.was_interrupted = True
                task.cancel()
            else:
                self._lines.put_nowait(_Mark.INTERRUPT)

        def go_on() -> None:
            self._is_prompted = False  # the shell has written meanwhile
            self._ask()

        handled = {signal.SIGINT: interrupt, signal.SIGCONT: go_on}
        for number, handler in handled.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)


def _write(text: str) -> None:
    with unless_hung_up():
        sys.stdout.write(text)
        sys.stdout.flush()


def _read(stream: TextIO | None, put: Callable[[_Came], None], is_terminal: bool) -> None:
    """Read lines to the end, and tell of it; a terminal may have more after its end."""
    for _ in range(2 if is_terminal else 1):
        for line in _lines(stream):
            put(line)
        put(_Mark.END)


def _lines(stream: TextIO | None) -> Iterator[str]:
    kept = b""
    for piece in _without_mark(_pieces(stream)):
        *lines, rest = (kept + piece).split(b"\n")
        for line in lines:
            yield line[:_LONGEST].decode("utf-8", "replace")
        kept = rest[:_LONGEST]
    if kept:
        yield kept.decode("utf-8", "replace")


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Leave out the mark of UTF-8 at the beginning, as some editors of Windows write it."""
    for piece in pieces:
        yield piece.removeprefix(codecs.BOM_UTF8)
        break
    yield from pieces


def _pieces(stream: TextIO | None) -> Iterator[bytes]:
    """Yield what is there as soon as it is; past Python's buffer, which a thread would lock."""
    if stream is None:
        return
    try:
        descriptor = stream.fileno()
    except OSError:  # it is in memory
        yield stream.buffer.read()
        return
    with suppress(OSError):  # the terminal is gone
        while piece := os.read(descriptor, _LONGEST):
            yield piece
