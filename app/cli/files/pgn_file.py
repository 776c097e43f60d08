"""PGN file: games are appended to it one by one, each of them whole, and on the disk at once.

What a crash has left of a game at its end, ours or another program's, stays as it is: it is closed,
as a game without a result, so that the next one is not read as a part of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import typer

from app.cli.files.disk import keep_name
from app.cli.files.standard_output import is_standard_output
from app.errors import AppError
from engine.errors import shown

_RESULTS = (b"1-0", b"0-1", b"1/2-1/2", b"*")
#: What is no move: tags, comments to the end of the line, lines that are for others, comments, and
#: what begins and ends variations.
_MARKS = re.compile(rb"^\[[^\n]*|;[^\n]*|^%[^\n]*|\{[^}]*\}?|[()]", re.MULTILINE)
_FIRST_GAME = re.compile(rb'\n\n(?=\[\w+ ")')
#: How much is read of what is there, which is more than a game has.
_TAIL = 1 << 20


class CannotWritePgn(AppError):
    """A file to which no game can be appended."""

    def __init__(self, name: str, error: OSError | ValueError) -> None:
        reason = getattr(error, "strerror", None) or "it has no proper name"
        super().__init__(f"{name} cannot be written: {reason}")


class GameSink(Protocol):
    """Where games are kept. To be entered."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def append(self, pgn: str) -> None:
        """Keep a game; raises `CannotWritePgn`."""


def open_pgn(what: str | None) -> GameSink:
    """Return where games go: a file, standard output if that is meant, nowhere for None.

    Raises `CannotWritePgn`.
    """
    if what is None:
        return _Nowhere()
    return PrintedPgn() if is_standard_output(what) else PgnFile(what)


class _Nowhere:
    """Keeps no game."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""

    def append(self, pgn: str) -> None:
        """Let the game go."""


class PrintedPgn(_Nowhere):
    """Prints games on standard output."""

    def append(self, pgn: str) -> None:
        """Print a game, with the empty line after it."""
        typer.echo(pgn)
        if sys.stdout is not None:
            sys.stdout.flush()


class PgnFile:
    """A file to which games are appended. Several processes may do so at a time."""

    def __init__(self, path: str) -> None:
        """Open the file, or make it; raises `CannotWritePgn`."""
        self._name = shown(path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            is_new = not Path(path).exists()
            self._file = os.open(path, flags, 0o666)
            if is_new:
                keep_name(Path(path).parent)
        except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
            raise CannotWritePgn(self._name, error) from None
        self._is_file = stat.S_ISREG(os.fstat(self._file).st_mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, pgn: str) -> None:
        """Append a game, and return when it is on the disk; what could be half of it is taken back.

        Raises `CannotWritePgn`.
        """
        data = pgn.encode("utf-8", "replace") + b"\n"
        try:
            with self._alone():
                if self._is_file:
                    self._append_whole(data)
                else:
                    self._write(data)
        except OSError as error:
            raise CannotWritePgn(self._name, error) from None

    def _append_whole(self, data: bytes) -> None:
        size = os.fstat(self._file).st_size
        start = max(0, size - _TAIL)
        try:
            self._write(closing(os.pread(self._file, size - start, start)) + data)
            os.fsync(self._file)
        except OSError:
            with contextlib.suppress(OSError):  # the first error tells more
                os.ftruncate(self._file, size)
            raise

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process append at the same time."""
        if not self._is_file:
            yield
            return
        with contextlib.suppress(OSError):  # where files cannot be locked, nobody can wait either
            fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)


def closing(before: bytes) -> bytes:
    """Return what has to stand between games that are there and the next one.

    A whole game ends with its result and an empty line. What is torn is ended as it lacks it: a
    tag, a comment, variations, and in any case the result.
    """
    if before.endswith(b"\r"):  # half of what ends a line
        return b"\n" + closing(before + b"\n")
    text = before.replace(b"\r\n", b"\n")
    if not text.strip():
        return b""
    breaks = len(text) - len(text.rstrip(b"\n"))
    end = _End.of(text)
    if end.is_whole:
        return b"\n" * max(0, 2 - breaks)
    if end.tag is not None:
        missing = b"" if breaks else _rest_of_tag(end.tag.rstrip())
        return missing + b"\n" * max(0, 2 - breaks) + b"*\n\n"
    missing = b"}" * end.is_in_comment + b")" * end.depth
    return missing + (b"" if breaks and not missing else b"\n") + b"*\n\n"


@dataclass(frozen=True)
class _End:
    """Where a text of games ends."""

    #: The last word that is in no comment, and in no tag.
    word: bytes
    #: The last line, if it is a tag.
    tag: bytes | None
    is_in_comment: bool
    #: How many variations are open.
    depth: int

    @property
    def is_whole(self) -> bool:
        """Whether the last game has its result."""
        return self.word in _RESULTS and not self.is_in_comment

    @classmethod
    def of(cls, text: bytes) -> Self:
        """Read a text from where a game begins."""
        begin = _FIRST_GAME.search(text)  # what was cut off may have begun a comment
        at = begin.end() if begin is not None and len(text) >= _TAIL else 0
        words, tag, is_in_comment, depth = b"", None, False, 0
        for mark in _MARKS.finditer(text, at):
            if between := text[at : mark.start()].strip():
                words, tag = between, None
            at = mark.end()
            match mark[0][:1]:
                case b"[":
                    words, tag, depth = b"", mark[0], 0
                case b"(" | b")" as bracket:
                    words, tag = bracket, None
                    depth = max(0, depth + (1 if bracket == b"(" else -1))
                case b"{":
                    tag, is_in_comment = None, not mark[0].endswith(b"}")
        if rest := text[at:].strip():
            words, tag = rest, None
        return cls((words.split() or [b""])[-1], tag, is_in_comment, depth)


def _rest_of_tag(line: bytes) -> bytes:
    """Return what a line of tags lacks of `[Name "value"]`."""
    quotes = line.count(b'"') - line.count(b'\\"')
    if line.endswith(b"]") and quotes == 2:
        return b""
    if quotes == 0:
        return b' "?"]'
    return b'"]' if quotes == 1 else b"]"
