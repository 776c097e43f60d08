"""Output: what becomes of it when nobody can have it any more."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

#: Of standard output, whatever stands in its place in Python.
_OUTPUT = 1


def forget_output() -> None:
    """Send what is still to be written nowhere: Python would try again as it ends, and complain."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _OUTPUT)
        os.close(nowhere)


@contextlib.contextmanager
def unless_hung_up() -> Iterator[None]:
    """Let what is written here go nowhere from now on, if the terminal of the output is gone.

    Whatever else keeps output from being written is raised.
    """
    try:
        yield
    except OSError as error:
        # A terminal that is gone does not say any more that it is one; but no file is a device.
        if error.errno != errno.EIO or not stat.S_ISCHR(os.fstat(_OUTPUT).st_mode):
            raise
        forget_output()
