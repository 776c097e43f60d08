"""Terminal: a program on a pseudo-terminal, typed at and looked at as a person would.

`pexpect` has the keyboard and `pyte` the screen. Whatever is waited for is waited for until it is
to be seen, and never for a time; what does not come at all fails with a picture of the screen.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pexpect
import ptyprocess
import pyte

from tests.support.command_line import KIBITZ
from tests.support.processes import HANGS_AFTER, MARK

KEYS = {
    "enter": "\r",
    "tab": "\t",
    "backspace": "\x7f",
    "escape": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "ctrl-a": "\x01",
    "ctrl-c": "\x03",
    "ctrl-d": "\x04",
    "ctrl-l": "\x0c",
    "ctrl-u": "\x15",
    "ctrl-z": "\x1a",
}

_END = "its end"


class Terminal:
    """A program, what is typed to it, and what its terminal shows."""

    def __init__(
        self,
        command: str,
        *arguments: str,
        columns: int = 100,
        rows: int = 40,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        variables = {
            **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
            "UCI_MARK": MARK,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": str(columns),
            "LINES": str(rows),
            **(environment or {}),
        }
        self.process = pexpect.spawn(
            command,
            list(arguments),
            dimensions=(rows, columns),
            cwd=cwd,
            env=variables,
            timeout=HANGS_AFTER,
        )
        self.process.delaybeforesend = None
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=1.0)
        # Some ask where the cursor is.
        self._screen.write_process_input = self.process.send
        self._stream = pyte.ByteStream(self._screen)
        #: All that it has written, as it came.
        self.written = b""

    # --- hands ---

    def type(self, text: str) -> None:
        """Type letters, without Enter."""
        self.process.send(text)

    def enter(self, line: str = "") -> None:
        """Type a line, with Enter."""
        self.process.send(f"{line}\r")

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        for key in keys:
            self.process.send(KEYS[key])

    def resize(self, columns: int, rows: int) -> None:
        """Make the window another size."""
        self._screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def hang_up(self, *, within: float = 2 * HANGS_AFTER) -> int:
        """Close the window, and return the exit code once the program has ended."""
        descriptor = os.pidfd_open(self.process.pid)
        try:
            self.process.ptyproc.fileobj.close()
            if not select.select([descriptor], [], [], within)[0]:
                raise AssertionError("it goes on without its terminal")
        finally:
            os.close(descriptor)
        code: int = self.process.ptyproc.wait()
        return code

    # --- eyes ---

    @property
    def lines(self) -> list[str]:
        """The screen, line by line, without spaces at their ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.lines).rstrip()

    @property
    def scrolled(self) -> list[str]:
        """What has gone from the screen at its top, and then the screen."""
        gone = [
            "".join(row[column].data for column in range(self._screen.columns)).rstrip()
            for row in self._screen.history.top
        ]
        return [*gone, *self.lines]

    def cell(self, row: int, column: int) -> pyte.screens.Char:
        """Return a place of the screen: its letter and colours."""
        return self._screen.buffer[row][column]

    def find(self, text: str) -> tuple[int, int]:
        """Return the row and column at which a text stands first, or raise `LookupError`."""
        for number, line in enumerate(self._screen.display):
            if text in line:
                return number, line.index(text)
        raise LookupError(text)

    def see(
        self, wanted: str | Callable[[Terminal], object], *, within: float = 2 * HANGS_AFTER
    ) -> None:
        """Return once a text stands on the screen, or something holds of it."""
        is_there = (lambda terminal: wanted in terminal.text) if isinstance(wanted, str) else wanted
        self._read_until(lambda: bool(is_there(self)), within, wanted)

    def see_written(self, wanted: str, *, within: float = 2 * HANGS_AFTER) -> None:
        """Return once a text was written at any time, though it may have gone from the screen."""
        self._read_until(
            lambda: any(wanted in line for line in self.scrolled), within, f"{wanted} (ever)"
        )

    def see_end(self, *, within: float = 2 * HANGS_AFTER) -> int:
        """Return the exit code once the program has ended; of a signal, its number, negated."""
        with contextlib.suppress(pexpect.EOF):
            self._read_until(lambda: False, within, _END)
        self.process.wait()
        if self.process.signalstatus is not None:
            return -self.process.signalstatus
        assert self.process.exitstatus is not None
        return self.process.exitstatus

    def _read_until(self, holds: Callable[[], bool], within: float, wanted: object) -> None:
        end = time.monotonic() + within
        while not holds():
            left = end - time.monotonic()
            try:
                piece = self.process.read_nonblocking(65536, timeout=max(left, 0.0))
            except pexpect.TIMEOUT:
                raise AssertionError(
                    f"not seen: {wanted}; the screen is\n{self.picture()}"
                ) from None
            except pexpect.EOF:
                if holds() or wanted is _END:
                    raise
                raise AssertionError(
                    f"it ended, and not seen: {wanted}; the screen is\n{self.picture()}"
                ) from None
            self.written += piece
            self._stream.feed(piece)

    def picture(self) -> str:
        """Return the screen in a frame."""
        width = self._screen.columns
        edge = f"+{'-' * width}+"
        return "\n".join([edge, *(f"|{line:{width}}|" for line in self.lines), edge])

    def close(self) -> None:
        """End the program, if it still runs."""
        try:
            self.process.close(force=True)
        except pexpect.ExceptionPexpect:  # it was killed, and had a tenth of a second to vanish
            with contextlib.suppress(ptyprocess.PtyProcessError):
                self.process.ptyproc.wait()
            self.process.close(force=True)


@contextlib.contextmanager
def on_terminal(*arguments: str, command: str = str(KIBITZ), **options: Any) -> Iterator[Terminal]:
    """Run `kibitz`, or another program, on a terminal; it has ended when this is left."""
    terminal = Terminal(command, *arguments, **options)
    try:
        yield terminal
    finally:
        terminal.close()
