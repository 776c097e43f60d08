"""Output file: written beside its name, and there once all of it is on the disk, or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Protocol, Self

from app.cli.files.disk import keep_name
from app.cli.files.standard_output import Printed, is_standard_output
from app.errors import AppError


class CannotWriteFile(AppError):
    """A file that is there already, or that cannot be written."""


class Sink(Protocol):
    """Where text goes."""

    def write(self, text: str) -> None:
        """Write on; raises `CannotWriteFile`."""


def open_output(
    path: Path, *, force: bool, makes_folder: bool = False
) -> AbstractContextManager[Sink]:
    """Return where to write: standard output, if a path means that, or an `OutputFile`.

    Raises `CannotWriteFile`.
    """
    if is_standard_output(path):
        return nullcontext(Printed())
    return OutputFile(path, force=force, makes_folder=makes_folder)


class OutputFile:
    """A file for text. To be entered; left by an error, it leaves everything as it was.

    So it does if nothing was written. A device or a pipe is written to as it is.
    """

    def __init__(self, path: Path, *, force: bool = False, makes_folder: bool = False) -> None:
        """Prepare to write; with `force`, in place of what is there. Raises `CannotWriteFile`."""
        self._shown = str(path)
        self._force = force
        self._is_special = False
        self._is_empty = True
        try:
            self._look(path)
            if self._is_special:
                self._path = self._written = path
                self._file = path.open("wb")
                return
            self._path = Path(os.path.realpath(path))  # a link stays one
            if makes_folder:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            # Not made of its name, which may be as long as names can be.
            self._written = self._path.with_name(f".kibitz-{token_hex(8)}")
            self._file = self._written.open("xb")
        except OSError as error:
            raise self._error(error) from None

    def write(self, text: str) -> None:
        """Write on; raises `CannotWriteFile`, or `BrokenPipeError` where nobody reads any more."""
        try:
            self._file.write(text.encode("utf-8", "backslashreplace"))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._error(error) from None
        self._is_empty = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None and not self._is_empty:
                self._keep()
        except BrokenPipeError:
            raise
        except OSError as failure:
            raise self._error(failure) from None
        finally:
            self._close()

    def _look(self, path: Path) -> None:
        """Find out what is there, and refuse what must not be written over."""
        try:
            # As it is: what a pipe of a shell is a link to, is no path.
            mode = path.stat().st_mode
        except FileNotFoundError:
            return
        if stat.S_ISDIR(mode):
            raise CannotWriteFile(f"{self._shown} cannot be written: it is a folder")
        self._is_special = not stat.S_ISREG(mode)
        if not self._is_special and not self._force:
            raise self._taken()

    def _taken(self) -> CannotWriteFile:
        return CannotWriteFile(f"{self._shown} is there already: say --force to write over it")

    def _keep(self) -> None:
        self._file.flush()
        if self._is_special:
            return
        os.fsync(self._file.fileno())
        if self._force:
            self._replace()
        else:
            self._give_new_name()
        keep_name(self._path.parent)

    def _replace(self) -> None:
        """Take the place of what is there, which whoever could not read still cannot."""
        with contextlib.suppress(OSError):  # there is none, or a disk without such modes
            shutil.copymode(self._path, self._written)
        self._written.replace(self._path)

    def _give_new_name(self) -> None:
        """Give the file its name, unless somebody else has taken that since."""
        try:
            os.link(self._written, self._path)
        except FileExistsError:
            raise self._taken() from None
        except OSError:  # there are disks without links
            if self._path.exists():
                raise self._taken() from None
            self._written.replace(self._path)

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        if not self._is_special:
            with contextlib.suppress(OSError):
                self._written.unlink(missing_ok=True)

    def _error(self, error: OSError) -> CannotWriteFile:
        return CannotWriteFile(f"{self._shown} cannot be written: {error.strerror}")
