"""Rate limits that processes share, through the database.

With SQLite they are kept in a file beside the database, for all processes whose databases are in
the same folder; with Postgres in the database itself, for all processes on all machines.

When the database is away, calls are paced by this process alone, at the same rate, until it is
back. To stop all play because nobody can count would do more harm: the worst is that several
processes together are too fast, and then the provider says 429, and is obeyed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, cast

import structlog
from sqlalchemy import URL, Connection, text

from agents.models.rate_limit import (
    MINUTE,
    NO_WAIT,
    MemoryPlaces,
    PacedRateLimit,
    RateLimit,
    Unlimited,
    check,
)
from app.persistence.address import Address
from app.persistence.engines import make_engine
from app.persistence.errors import StorageError, StorageUnavailable
from app.persistence.lane import Lane
from app.persistence.sqlite_file import SqliteFile

if TYPE_CHECKING:
    import sqlite3

    import psycopg
    from pyrate_limiter import AbstractBucket, RateItem

#: The file beside an SQLite database.
FILE = "kibitz-rate-limits.db"
#: How long to wait for the database before it counts as away.
_PATIENCE = timedelta(seconds=5)
#: How long it is left alone then.
_REST = timedelta(seconds=10)
#: How long to wait when the table is locked, as by a VACUUM.
_CONTENDED = timedelta(milliseconds=100)
#: How long to wait for what still runs when all is over.
_CLOSING = timedelta(seconds=5)
_MILLISECOND = timedelta(milliseconds=1)
#: Any number will do that nobody else uses for an advisory lock.
_LOCK = 0x6B62_7261_7465

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_rate_limits(
    database_url: str,
    limits: Mapping[str, int],
    *,
    window: timedelta = MINUTE,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[RateLimit]:
    """Share limits (requests per minute, by provider) with all who use the same database.

    Raises `InvalidDatabaseUrl`. A database that is away is no error.
    """
    address = _place_of(Address.parse(database_url))
    if not limits:
        yield Unlimited()
        return
    if address.dialect == "sqlite":
        # For us alone, as the database is; if it cannot be made, the limits are our own.
        with suppress(StorageUnavailable):
            SqliteFile(address).make()
    engine = make_engine(address, writes=True, silence=_PATIENCE)
    lane = Lane(address, engine, 1, "rate-limits")
    try:
        yield PacedRateLimit(SharedPlaces(address, lane, limits, window, clock).take)
    finally:
        lane.stop()
        deadline = time.monotonic() + _CLOSING.total_seconds()
        await asyncio.shield(asyncio.to_thread(lane.join, deadline))


class SharedPlaces:
    """Places that processes share: so many per minute, by provider."""

    def __init__(
        self,
        address: Address,
        lane: Lane,
        limits: Mapping[str, int],
        window: timedelta,
        clock: Callable[[], float],
    ) -> None:
        table = _PostgresTable if address.dialect == "postgresql" else _SqliteTable
        self._tables = {name: table(name, check(name, limits[name]), window) for name in limits}
        self._address = address
        self._lane = lane
        self._own = MemoryPlaces(limits, window, clock)
        self._clock = clock
        self._away_until: float | None = None

    async def take(self, provider: str) -> timedelta:
        """Take a place if one is free, or say how long to wait until one may be."""
        table = self._tables.get(provider)
        if table is None:
            return NO_WAIT
        if self._away_until is not None and self._clock() < self._away_until:
            return self._own.take(provider)
        try:
            wait = await self._lane.run(table.take, _PATIENCE)
        except StorageError as error:
            if self._away_until is None:
                _log.warning("rate limits are not shared for now", error=str(error))
            self._away_until = self._clock() + _REST.total_seconds()
            return self._own.take(provider)
        if self._away_until is not None:
            self._away_until = None
            _log.info("rate limits are shared again", database=str(self._address))
        return wait


class _Table(Protocol):
    """Who was let pass to one provider, and when."""

    def __init__(self, provider: str, limit: int, window: timedelta) -> None: ...

    def take(self, connection: Connection) -> timedelta:
        """Take a place, in a transaction, or say how long to wait."""


class _SqliteTable:
    """A table of an SQLite. Whoever writes has the file to himself from the first statement on."""

    def __init__(self, provider: str, limit: int, window: timedelta) -> None:
        self._provider = provider
        self._table = _table_name(provider)
        self._limit = limit
        self._window = window

    def take(self, connection: Connection) -> timedelta:
        from pyrate_limiter import Rate, RateItem, SQLiteBucket

        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} (name VARCHAR, item_timestamp INTEGER)"
        )
        driver.execute(
            f"CREATE INDEX IF NOT EXISTS {self._table}_time ON {self._table} (item_timestamp)"
        )
        # The bucket would commit by itself, and between what it reads and what it writes there
        # would be room for others.
        proxy = cast("sqlite3.Connection", _WithoutCommit(driver))
        bucket = SQLiteBucket([Rate(self._limit, self._window // _MILLISECOND)], proxy, self._table)
        return _taken(bucket, RateItem(self._provider, time.time_ns() // 1_000_000))


class _WithoutCommit:
    """A connection whose transactions somebody else ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.execute = connection.execute
        self.executemany = connection.executemany

    def commit(self) -> None:
        """Leave it to whoever began it."""


class _PostgresTable:
    """A table of a Postgres. Who takes a place holds an advisory lock, so they come in turn."""

    def __init__(self, provider: str, limit: int, window: timedelta) -> None:
        self._provider = provider
        self._limit = limit
        self._window = window
        self._pool = _Pool()
        self._bucket: AbstractBucket | None = None

    def take(self, connection: Connection) -> timedelta:
        from psycopg.pq import TransactionStatus
        from pyrate_limiter import PostgresBucket, Rate, RateItem

        driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        # The server's time: the clocks of machines differ.
        now = connection.execute(
            text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        ).scalar_one()
        item = RateItem(self._provider, now)
        with self._pool.lend(driver):
            bucket, self._bucket = self._bucket, None
            if bucket is None:
                rates = [Rate(self._limit, self._window // _MILLISECOND)]
                bucket = PostgresBucket(cast("Any", self._pool), _table_name(self._provider), rates)
            wait = _taken(bucket, item, lambda: _is_broken(driver, TransactionStatus.INERROR))
        # Kept only if all went well: else its table may not be there.
        self._bucket = bucket
        return wait


class _Pool:
    """What a bucket takes for a pool: the one connection whose transaction is under way."""

    closed = False

    def __init__(self) -> None:
        self._lent: psycopg.Connection[Any] | None = None

    @contextmanager
    def lend(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Give out a connection for as long as it lasts."""
        self._lent = connection
        try:
            yield
        finally:
            self._lent = None

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Return the connection; whoever began the transaction ends it."""
        assert self._lent is not None  # noqa: S101
        yield self._lent


def _taken(
    bucket: AbstractBucket, item: RateItem, is_contended: Callable[[], bool] = lambda: False
) -> timedelta:
    """Put an item into a bucket, or say how long to wait."""
    if bucket.put(item):
        bucket.leak(item.timestamp)
        return NO_WAIT
    if is_contended():
        return _CONTENDED
    wait = cast("int", bucket.waiting(item))
    if wait > 2 * bucket.rates[0].interval:
        bucket.flush()  # the clock was set back, and what it counted is hours ahead
        wait = 0
    return max(wait, 1) * _MILLISECOND


def _is_broken(connection: psycopg.Connection[Any], broken: object) -> bool:
    return connection.info.transaction_status == broken


def _place_of(address: Address) -> Address:
    """Return where the limits of a database are kept."""
    if address.dialect == "postgresql":
        return address
    beside = address.path.with_name(FILE)
    return Address("sqlite", URL.create("sqlite+pysqlite", database=str(beside)))


def _table_name(provider: str) -> str:
    """Return a name that every database takes, and no other provider has."""
    digest = hashlib.sha256(provider.encode()).hexdigest()[:12]
    return f"calls_{re.sub('[^a-z0-9]', '_', provider.lower())[:20]}_{digest}"
