"""Engines of SQLAlchemy for both databases: how they connect, and how a transaction begins."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event

from app.persistence.address import Address

#: Seconds that a server may take to greet us.
CONNECT_TIMEOUT = 5

#: `synchronous` FULL: a committed ply survives a power cut. The cache is 16 MB per connection.
_PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",
    "PRAGMA trusted_schema = OFF",
)

#: Nobody waits for ever. A process that hangs while it holds the lock on the order of events would
#: stop all others, so the server ends its transaction.
_SESSION = (
    "SELECT set_config('timezone', 'UTC', false),"
    " set_config('lock_timeout', '10s', false),"
    " set_config('statement_timeout', '30s', false),"
    " set_config('idle_in_transaction_session_timeout', '15s', false)"
)

#: Whoever reads has waited no longer than that, and left: see `database`.
_READING = (
    "SELECT set_config('default_transaction_read_only', 'on', false),"
    " set_config('statement_timeout', '10s', false)"
)

#: A server that has vanished is noticed within half a minute, and not after hours.
POSTGRES_OPTIONS: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT,
    "application_name": "kibitz",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def make_engine(address: Address, *, writes: bool, silence: timedelta | None = None) -> Engine:
    """Return an engine for transactions that write, or for those that only read.

    Of a Postgres that says nothing for longer than `silence` the connection is given up: one that
    is frozen keeps to none of the other limits.
    """
    if address.dialect == "sqlite":
        return _sqlite_engine(address, writes=writes)
    return _postgres_engine(address, writes=writes, silence=silence)


def _sqlite_engine(address: Address, *, writes: bool) -> Engine:
    # A connection is used by one thread at a time, but closed by another.
    arguments = {"isolation_level": None, "check_same_thread": False, "timeout": 5.0}
    engine = create_engine(
        address.url, poolclass=NullPool, connect_args=arguments, hide_parameters=True
    )
    # IMMEDIATE: a transaction that first reads and then writes could else fail in between.
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def connected(connection: sqlite3.Connection, _record: object) -> None:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        if not writes:
            connection.execute("PRAGMA query_only = ON")

    def began(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        driver.execute(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", began)
    return engine


def _postgres_engine(address: Address, *, writes: bool, silence: timedelta | None) -> Engine:
    from app.persistence.silence import limited  # psycopg comes late

    engine = create_engine(
        address.url,
        poolclass=NullPool,
        connect_args=POSTGRES_OPTIONS,
        hide_parameters=True,
        use_native_hstore=False,
        # One statement is one read of a consistent state; several in a transaction are, too.
        isolation_level="READ COMMITTED" if writes else "REPEATABLE READ",
    )

    def connected(connection: Any, _record: object) -> None:  # noqa: ANN401 - a driver's
        connection.execute(_SESSION)
        if not writes:
            connection.execute(_READING)
        connection.commit()

    if silence is not None:
        limited(engine, silence)
    event.listen(engine, "connect", connected)
    return engine
