"""Standard output, where a command takes it in place of a file."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

STANDARD_OUTPUT = "-"
#: What a terminal could take for a command; line ends are none.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DESCRIPTOR = 1


def is_standard_output(path: str | Path) -> bool:
    """Tell whether a name means standard output: `-`, or where that leads already.

    Of a file that is opened a second time one part would be written over the other.
    """
    if str(path) == STANDARD_OUTPUT:
        return True
    try:
        return os.path.samestat(os.stat(path), os.fstat(_DESCRIPTOR))  # noqa: PTH116 - as `fstat`
    except (OSError, ValueError):  # a name with a NUL in it is a ValueError
        return False


class Printed:
    """Standard output, in UTF-8 wherever it leads, but for a terminal, which has its own encoding.

    A terminal gets no character that could be a command to it.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()

    def write(self, text: str) -> None:
        """Print on."""
        if self._is_terminal:
            sys.stdout.write(_CONTROL.sub("\ufffd", text))
        else:
            sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
