"""SqliteFile: the file of an SQLite before it is opened: made, locked, and known to be ours."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing

from app.persistence.address import Address
from app.persistence.errors import DatabaseInUse, StorageUnavailable, UnusableDatabase
from app.persistence.faults import translated

#: "Kibz", in the header of our files, so that nobody else's are taken for them.
APPLICATION_ID = 0x4B69627A


class SqliteFile:
    """The file, and a lock beside it, since one process may serve it at a time.

    The kernel frees the lock when the process ends, whichever way it does.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._path = address.path
        self._lock_path = self._path.with_name(self._path.name + ".lock")
        self._lock: int | None = None

    @property
    def exists(self) -> bool:
        """Whether it is there."""
        return self._path.exists()

    def make(self) -> None:
        """Make the folder and an empty file, for us alone, unless they are there already."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600, exist_ok=True)
        except OSError as error:
            message = f"{self._address} cannot be written: {error.strerror}"
            raise StorageUnavailable(message) from None

    def lock(self) -> None:
        """Take the lock, or raise `DatabaseInUse` or `StorageUnavailable` at once."""
        try:
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            message = f"{self._lock_path} cannot be written: {error.strerror}"
            raise StorageUnavailable(message) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise DatabaseInUse(str(self._path)) from None
        self._lock = lock

    def unlock(self) -> None:
        """Free the lock. Its file stays: to remove it could take it from under another process."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def refuse_foreign(self) -> None:
        """Raise `UnusableDatabase` for a file that is not ours, before anything of it is changed.

        Raises `StorageUnavailable` if it cannot be read.
        """
        try:
            with closing(sqlite3.connect(self._path, timeout=5.0)) as connection:
                (application,) = connection.execute("PRAGMA application_id").fetchone()
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise translated(error, self._address) from None
        if application != APPLICATION_ID and (application or tables):
            raise UnusableDatabase(f"{self._address} is the database of another program")
