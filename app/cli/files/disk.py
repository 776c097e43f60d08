"""Disk: what it takes until a new name is still there after a power cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path

#: What devices and pipes answer that nobody can wait for.
_CANNOT_WAIT = (errno.EINVAL, errno.EROFS, errno.ENOTSUP)


def keep_name(folder: Path) -> None:
    """Have the name of a new file on the disk, too, where one can wait for it."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:  # a folder into which one may write, and not look
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_WAIT:
            raise
    finally:
        os.close(handle)
