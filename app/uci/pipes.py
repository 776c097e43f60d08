"""Pipes: standard input and output, as they are used for talking with a GUI."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from agents.timekeeping import now
from app.uci.commands import CommandLines

_CHUNK: Final = 64 * 1024
#: So many pieces are read ahead; whoever writes faster has to wait.
_AHEAD: Final = 4
#: After so many lines others have their turn.
_AT_ONCE: Final = 16
#: What fits into a pipe of which the system says that there is room, in bytes.
_PIECE: Final = select.PIPE_BUF
#: Who has so much to read first is not listened to; so often it is seen whether it is still there.
_MOST_UNREAD: Final = 1024 * 1024
_LOOK_ROUND: Final = timedelta(seconds=1)


class LineFile:
    """Lines that are added to a file, each at once.

    A full disk must not cost a game: it is told on standard error, once, and nothing more is added.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._path = path
        # Without a buffer: what could not be written would be tried again in the end.
        self._file: BinaryIO | None = path.open("ab", buffering=0)

    def add(self, line: str) -> None:
        """Add a line."""
        if self._file is None:
            return
        try:
            self._file.write(f"{line}\n".encode("utf-8", "replace"))
        except OSError as error:
            self.close()
            print(f"kibitz: {self._path} is not written on: {error.strerror}", file=sys.stderr)

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Log:
    """What both sides say, with the time; or nothing, where nobody wants to have it."""

    def __init__(self, add: Callable[[str], None] | None = None) -> None:
        self._add = add

    def heard(self, line: str) -> None:
        """Note what the GUI said."""
        self._note(">", line)

    def told(self, line: str) -> None:
        """Note what the GUI was told."""
        self._note("<", line)

    def _note(self, sign: str, line: str) -> None:
        if self._add is not None:
            shown = line if line.isprintable() else ascii(line)[1:-1]
            self._add(f"{now():%Y-%m-%d %H:%M:%S.%f} {sign} {shown}")


class Input:
    """Lines that a GUI writes, read in a thread: it may be a pipe, a terminal or a file."""

    def __init__(self, stream: BinaryIO, log: Log) -> None:
        self._read = _reader(stream)
        self._number = _number(stream)
        self._log = log
        self._lines = CommandLines()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._has_ended = False

    async def __aiter__(self) -> AsyncIterator[str | None]:
        """Return each line; None for one that is too long for any command."""
        loop = asyncio.get_running_loop()
        # A daemon, since nothing can wake it from a read that nobody answers.
        threading.Thread(target=self._pump, args=(loop,), name="uci-input", daemon=True).start()
        try:
            while not self._has_ended and (data := await self._pieces.get()):
                self._room.release()
                for number, line in enumerate(self._lines.feed(data), 1):
                    yield self._noted(line)
                    if not number % _AT_ONCE:
                        await asyncio.sleep(0)  # a flood must hold up neither clocks nor signals
            for line in self._lines.end():
                yield self._noted(line)
        finally:
            self.end()

    def is_hung_up(self) -> bool:
        """Return whether nobody is there any more who could write, though not all may be read."""
        if self._number is None:
            return False
        poll = select.poll()
        poll.register(self._number, 0)  # hanging up is told without being asked for
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    def end(self) -> None:
        """Let there be no more lines."""
        self._has_ended = True
        self._room.release()
        self._pieces.put_nowait(b"")

    def _noted(self, line: str | None) -> str | None:
        self._log.heard("(a line that is too long)" if line is None else line.rstrip("\r"))
        return line

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        data = b"-"
        while data:
            self._room.acquire()
            if self._has_ended:
                return
            try:
                data = self._read()
            except (OSError, ValueError):
                data = b""  # a terminal that was closed, or a stream that never was open
            try:
                loop.call_soon_threadsafe(self._pieces.put_nowait, data)
            except RuntimeError:
                return  # the program has ended meanwhile


class Output:
    """Lines for a GUI, each written at once, as long as it reads them; what it does not, waits.

    `broken` is called when nobody reads them any more, or they cannot be written: `error` is why,
    if it is worth telling.
    """

    def __init__(self, stream: BinaryIO, log: Log, broken: Callable[[], None]) -> None:
        self._stream = stream
        self._number = _number(stream)
        self._log = log
        self._broken = broken
        self._is_broken = False
        self._unwritten = bytearray()
        self._is_watching = False
        self._has_room = asyncio.Event()
        self._is_done = asyncio.Event()
        self._has_room.set()
        self._is_done.set()
        self.error: OSError | None = None

    def tell(self, line: str) -> None:
        """Write a line. It never fails nor waits: who is told may be called from anywhere."""
        if not self._is_broken:
            self._log.told(line)
            self._unwritten += f"{line}\n".encode("utf-8", "replace")
            self._write()

    async def paced(self, lines: Input) -> AsyncIterator[str | None]:
        """Yield lines of the GUI while it reads what it is told, until it is gone."""
        async for line in lines:
            while not self._has_room.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_ROUND.total_seconds()):
                        await self._has_room.wait()
                if not self._has_room.is_set() and lines.is_hung_up():
                    return
            yield line

    async def finish(self, patience: timedelta) -> None:
        """Write what waits, unless the GUI does not read it within some time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience.total_seconds()):
                await self._is_done.wait()
        self._watch(False)

    def _write(self) -> None:
        """Write as much as can be written without waiting."""
        try:
            while self._unwritten and self._is_ready():
                piece = bytes(self._unwritten[:_PIECE])
                number = self._number
                written = os.write(number, piece) if number is not None else len(piece)
                if number is None:
                    self._stream.write(piece)
                del self._unwritten[:written]
        except BlockingIOError:
            pass  # somebody else was quicker to fill it
        except OSError as error:
            self._is_broken = True
            if not isinstance(error, BrokenPipeError):
                self.error = error
            self._unwritten.clear()
            self._broken()
        self._watch(bool(self._unwritten))
        _set(self._has_room, len(self._unwritten) < _MOST_UNREAD)
        _set(self._is_done, not self._unwritten)

    def _is_ready(self) -> bool:
        if self._number is None:
            return True
        # So there is room for a piece in a pipe. That a descriptor does not block cannot be had:
        # others may have it, too.
        return bool(select.select((), (self._number,), (), 0)[1])

    def _watch(self, wanted: bool) -> None:
        """Have the rest written once there is room, or no longer."""
        if wanted is not self._is_watching and self._number is not None:
            loop, self._is_watching = asyncio.get_running_loop(), wanted
            if wanted:
                loop.add_writer(self._number, self._write)
            else:
                loop.remove_writer(self._number)


def _set(event: asyncio.Event, is_so: bool) -> None:
    if is_so:
        event.set()
    else:
        event.clear()


def _reader(stream: BinaryIO) -> Callable[[], bytes]:
    """Return what waits for some bytes and returns them; none at the end."""
    number = _number(stream)
    if number is not None:
        # Not the stream itself: at the end of the program it would wait for the thread that reads.
        return partial(_read, number)
    return partial(stream.read, _CHUNK)


def _read(number: int) -> bytes:
    while True:
        try:
            return os.read(number, _CHUNK)
        except BlockingIOError:  # whoever has it, too, wants it not to block
            select.select((number,), (), ())


def _number(stream: BinaryIO) -> int | None:
    try:
        return stream.fileno()
    except OSError:  # such as of a stream in memory
        return None
