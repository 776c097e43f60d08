"""Faults: what the drivers raise, as our errors. Each is one sentence without a password."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError, StatementError

from app.persistence.address import Address
from app.persistence.errors import (
    InvalidDatabaseUrl,
    StorageError,
    StorageRefused,
    StorageUnavailable,
    UnusableDatabase,
)

#: By the start of the name of SQLite's result code.
_SQLITE_FAULTS: tuple[tuple[str, type[StorageError], str], ...] = (
    ("SQLITE_BUSY", StorageUnavailable, "{place} is locked by another process"),
    ("SQLITE_LOCKED", StorageUnavailable, "{place} is locked by another process"),
    ("SQLITE_FULL", StorageUnavailable, "{place} cannot grow: its disk is full"),
    ("SQLITE_READONLY", StorageUnavailable, "{place} cannot be written: it is read-only"),
    ("SQLITE_CANTOPEN", StorageUnavailable, "{place} cannot be opened"),
    ("SQLITE_IOERR", StorageUnavailable, "{place} cannot be read or written: its disk fails"),
    ("SQLITE_NOMEM", StorageUnavailable, "there is not enough memory to use {place}"),
    ("SQLITE_NOTADB", UnusableDatabase, "{place} is no SQLite database"),
    ("SQLITE_CORRUPT", UnusableDatabase, "{place} is damaged: restore it from a backup"),
)


def driver_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """Return what can come out of a driver, wrapped by SQLAlchemy or not."""
    driver: Any = engine.dialect.loaded_dbapi
    # The last two: text and numbers that cannot be sent.
    return (SQLAlchemyError, driver.Error, UnicodeError, OverflowError)


def translated(error: BaseException, address: Address) -> StorageError:
    """Return the error to raise in the place of a driver's."""
    wrapped = error.orig if isinstance(error, StatementError) else None
    cause = error if wrapped is None else wrapped
    reason = _reason(cause, address)
    # Both drivers keep to the names of PEP 249.
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    if kinds & {"IntegrityError", "DataError", "ValueError", "OverflowError"}:
        return StorageRefused(f"the database refused what was to be stored: {reason}")
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(cause, address, reason)
    if "ProgrammingError" in kinds:
        return UnusableDatabase(f"{address} cannot be used: {reason}")
    return StorageUnavailable(f"{address} does not answer: {reason}")


def connect(engine: Engine, address: Address) -> Connection:
    """Connect to a database, or raise one of our errors."""
    try:
        return engine.connect()
    except driver_errors(engine) as error:
        fault = translated(error, address)
        if address.dialect == "postgresql" and isinstance(fault, UnusableDatabase):
            # No server was asked yet: libpq does not know what to make of the URL.
            message = "the URL of the Postgres has a part that is wrong"
            raise InvalidDatabaseUrl(message) from None
        raise fault from None


def _of_sqlite(error: sqlite3.Error, address: Address, reason: str) -> StorageError:
    name = getattr(error, "sqlite_errorname", "")
    for start, kind, sentence in _SQLITE_FAULTS:
        if name.startswith(start):
            return kind(sentence.format(place=address))
    return UnusableDatabase(f"{address} cannot be used: {reason}")


def _reason(error: BaseException, address: Address) -> str:
    """Return the first line of what the driver says."""
    if isinstance(error, UnicodeError):
        return "it has characters that are no text"
    lines = str(error).strip().splitlines()
    reason = lines[0].strip() if lines else type(error).__name__
    return reason.replace(address.secret, "***") if address.secret else reason
