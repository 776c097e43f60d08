"""Database: one SQLite file, or one Postgres, and the transactions on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Literal, Self, TypeVar

import structlog
from sqlalchemy import Connection

from app.persistence.address import Address, DialectName
from app.persistence.engines import make_engine
from app.persistence.lane import Lane
from app.persistence.schema import ensure_head
from app.persistence.sqlite_file import SqliteFile

T = TypeVar("T")

#: Transactions that only read can go on beside each other; those that write go one by one.
_READERS = 3
#: How long somebody waits for a transaction that reads, and for one that writes.
READING = timedelta(seconds=10)
WRITING = timedelta(seconds=30)
#: How long a thread waits for a server that says nothing. By then the server itself would have
#: ended the statement (see `engines`), and whoever waited has left.
_SILENCE = {"reader": timedelta(seconds=12), "writer": timedelta(seconds=40)}
#: How long closing waits for transactions in hand.
CLOSING = timedelta(seconds=5)

_log = structlog.get_logger(__name__)


class Database:
    """Where matches are kept. Transactions are plain functions of a connection; see `read`."""

    def __init__(self, address: Address, file: SqliteFile | None) -> None:
        self.address = address
        self._file = file
        self._writer = _lane(address, 1, "writer")
        self._readers = _lane(address, _READERS, "reader")

    @classmethod
    async def open(cls, url: str, *, exclusive: bool = True) -> Self:
        """Open a database: `sqlite:///path` or `postgresql://user:password@host/database`.

        An SQLite file is made if it is not there, brought to the newest revision, and unless not
        `exclusive` kept from other processes. Raises `InvalidDatabaseUrl`, `DatabaseInUse`,
        `SchemaBehind` (Postgres), `UnusableDatabase` or `StorageUnavailable`.
        """
        address = Address.parse(url)
        file = SqliteFile(address) if address.dialect == "sqlite" else None
        if file is not None:
            file.make()
            if exclusive:
                file.lock()
        database = cls(address, file)
        try:
            if file is not None:
                file.refuse_foreign()
            await database.write(ensure_head, is_patient=True)  # it may migrate a large file
        except BaseException:
            await database.aclose()
            raise
        return database

    @property
    def dialect(self) -> DialectName:
        """Which kind of database it is."""
        return self.address.dialect

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a transaction that only reads, and sees one state of everything.

        Raises `StorageUnavailable`, at the latest after `READING`; and what the function raises.
        """
        return await self._readers.run(query, READING)

    async def write(self, work: Callable[[Connection], T], *, is_patient: bool = False) -> T:
        """Run a transaction that writes: all of it, or nothing if the function raises.

        The function is run again if the connection turns out to be lost before the commit. A caller
        that is cancelled does not interrupt it. Raises `StorageUnavailable`, after which it may
        have been committed nevertheless, at the latest after `WRITING` unless one is patient;
        `StorageRefused`; and what the function raises.
        """
        return await self._writer.run(work, None if is_patient else WRITING)

    async def aclose(self) -> None:
        """Finish the transactions in hand, and let go of the database. Safe to call twice.

        Those that take longer than `CLOSING` are left alone: they end with the process.
        """
        self._writer.stop()
        self._readers.stop()
        # Whoever is cancelled meanwhile does not free the file before it is closed.
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        deadline = time.monotonic() + CLOSING.total_seconds()
        are_finished = [lane.join(deadline) for lane in (self._writer, self._readers)]
        if not all(are_finished):
            # The lock on the file stays, too, until the process ends: somebody still uses it.
            _log.warning("closed before all transactions were finished", database=str(self.address))
        elif self._file is not None:
            self._file.unlock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _lane(address: Address, threads: int, name: Literal["reader", "writer"]) -> Lane:
    engine = make_engine(address, writes=name == "writer", silence=_SILENCE[name])
    return Lane(address, engine, threads, name)
