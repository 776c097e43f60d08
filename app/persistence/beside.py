"""Beside: reading the file of an SQLite beside whoever serves it. Nothing is made or changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

#: To look for a log would make one, so where there is none we promise that nobody writes.
_WITHOUT_LOG = "mode=ro&immutable=1"
#: With its index we read like anybody else, without leaving a trace in the index.
_WITH_LOG = "mode=ro&readonly_shm=1"
#: Its index, which is gone where a file was copied or restored, is made in our own memory. Nobody
#: has the file open then, so there is nothing to lock.
_WITH_LOG_ALONE = "mode=ro&vfs=unix-none"


@contextmanager
def open_beside(path: Path, patience: timedelta) -> Iterator[sqlite3.Connection]:
    """Give a connection that can only read, and waits so long for a lock.

    Raises `sqlite3.Error`, as what is asked of it does.
    """
    if path.exists() and not path.is_file():  # a pipe would keep whoever opens it waiting
        raise sqlite3.OperationalError(f"{path} is no file")
    how = _WITHOUT_LOG
    if log_of(path).exists():
        has_index = path.with_name(f"{path.name}-shm").exists()
        how = _WITH_LOG if has_index else _WITH_LOG_ALONE
    uri = f"{path.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(uri, uri=True, timeout=patience.total_seconds())) as connection:
        if how == _WITH_LOG_ALONE:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        yield connection


def log_of(path: Path) -> Path:
    """Return where SQLite keeps what was committed last, if it is there."""
    return path.with_name(f"{path.name}-wal")
