"""Child: a program that runs beside us, with its pipes. It can always be got rid of.

It is in a process group of its own, which is killed as a whole. Killing never waits: what is left
is swept up as its end becomes known, and `gone` is set when nothing remains.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from agents.uci.errors import UciNotFound, UciWontStart

#: All that a program gets of our environment. It has no business with our keys.
_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_MAX_LAST_WORDS = 2000
_CHUNK = 64 * 1024


class Parent(Protocol):
    """Who is told what becomes of a child."""

    def heard(self, data: bytes) -> None:
        """Take in what it printed."""

    def lost(self) -> None:
        """Notice that its process has ended, or its output; it is told of each."""


class Child(asyncio.SubprocessProtocol):
    """One process, from its launch until nothing of it is left."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._transport: asyncio.SubprocessTransport | None = None
        self._output: int | None = None
        self._last_words = b""
        self._is_killed = False
        self._is_lost = False  # to asyncio, which has nothing more to do with it
        #: Whether the process has ended, and whether its output has.
        self.has_exited = False
        self.has_fallen_silent = False
        self.gone = asyncio.Event()

    async def launch(
        self, title: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        """Start the program, or raise `UciNotFound` or `UciWontStart`."""
        ours = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        variables = ours | dict(environment)
        program = command[0] if command else ""
        try:
            if not program:
                raise FileNotFoundError
            await self._spawn(command, variables)
        except (OSError, ValueError) as error:
            self._close_output()
            self.gone.set()  # it was never there
            if not isinstance(error, FileNotFoundError):
                reason = getattr(error, "strerror", None) or str(error)
                raise UciWontStart(title, program, reason) from error
            if shutil.which(program, path=variables.get("PATH")):
                # An interpreter or a loader, of which the system says only that it is missing.
                reason = "what it needs to run is not installed"
                raise UciWontStart(title, program, reason) from error
            raise UciNotFound(title, program) from None

    async def _spawn(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        # A pipe of our own: asyncio's would hand each piece on through the loop once more, and
        # engines flush after every line.
        loop = asyncio.get_running_loop()
        self._output, theirs = os.pipe()
        os.set_blocking(self._output, False)
        loop.add_reader(self._output, self._read)
        try:
            await loop.subprocess_exec(
                lambda: self,
                *command,
                stdout=theirs,
                env=variables,
                start_new_session=True,  # Ctrl-C is for us; and a group can be killed as a whole
            )
        finally:
            os.close(theirs)

    @property
    def pid(self) -> int:
        """The number of the process; 0 before there is one."""
        return 0 if self._transport is None else self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """As `subprocess` has it: negative for the signal that ended it; None if not known."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def last_words(self) -> str:
        """The last line that it wrote to standard error."""
        lines = self._last_words.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def tell(self, text: str) -> None:
        """Write to its input. One that has ended is told nothing."""
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            cast(asyncio.WriteTransport, pipe).write(text.encode())

    def kill(self) -> None:
        """End it and whatever it started, now."""
        self._is_killed = True
        self._signal()

    def let_go(self) -> None:
        """Close our ends of the pipes, whoever holds the others."""
        # Not the whole transport: while the process ends, that would reap it behind the back of
        # the thread that waits for it, and its exit code would be lost.
        self._close_output()
        for fd in (0, 2):
            pipe = None if self._transport is None else self._transport.get_pipe_transport(fd)
            if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
                pipe.abort()  # closing would wait until all has been read that was written
            elif pipe is not None:
                pipe.close()

    # --- what happens to it ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the process. Called by asyncio, as are those below."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if self._is_killed:
            self._signal()  # it was killed before it was there

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Remember the end of what it wrote to standard error."""
        self._last_words = (self._last_words + data)[-_MAX_LAST_WORDS:]

    def process_exited(self) -> None:
        """Notice the end of the process, and sweep up what it started."""
        self._signal()
        self.has_exited = True
        self._parent.lost()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Notice that asyncio has nothing left of it."""
        if self._transport is not None:
            self._transport.close()
        self._is_lost = True
        self._check_gone()

    def _read(self) -> None:
        if self._output is None:
            return
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._parent.heard(data)
        else:
            self._close_output()
            self.has_fallen_silent = True
            self._parent.lost()

    def _close_output(self) -> None:
        if self._output is not None:
            asyncio.get_running_loop().remove_reader(self._output)
            os.close(self._output)
            self._output = None
            self._check_gone()

    def _check_gone(self) -> None:
        if self._is_lost and self._output is None:
            self.gone.set()

    def _signal(self) -> None:
        """Kill the process and its group, unless that has been done after its end."""
        if self._transport is None or self.has_exited:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(self._transport.get_pid(), signal.SIGKILL)
