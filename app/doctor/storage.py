"""Check of the database: whether it opens and answers, and whether its tables are those we need."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from app.doctor.findings import Finding, failure, fine, warning
from app.doctor.machine import is_there, look_at_disk, may, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from app.persistence.address import Address

DATABASE, MIGRATIONS = "Database", "Migrations"
ADVICE = (
    "see that it runs and can be reached, or set KIBITZ_DATABASE to another one: "
    "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
)
_ANOTHER = "set `database`, or KIBITZ_DATABASE, to another file"
ANOTHER_DISK = "free some room there, or set `database`, or KIBITZ_DATABASE, to another disk"
_UPGRADE = "kibitz db upgrade"
#: After so many steps of its machine SQLite asks whether to go on.
_STEPS = 10_000


def look_at_database(url: str, patience: timedelta) -> Sequence[Finding]:
    """Say what is found at a URL, waiting no longer than that for any answer.

    Raises `StorageError`.
    """
    from app.persistence.address import Address

    address = Address.parse(url)
    if address.dialect == "sqlite":
        return _look_at_sqlite(address, patience)
    return _look_at_postgres(address, patience)


def look_at_its_disk(url: str, data_folder: Path | None) -> Sequence[Finding]:
    """Say how much room an SQLite has, unless its disk is that of the data folder."""
    from app.persistence.address import Address
    from app.persistence.errors import InvalidDatabaseUrl

    try:
        address = Address.parse(url)
    except InvalidDatabaseUrl:
        return []  # which the check of the database tells
    if address.dialect != "sqlite":
        return []
    there = nearest(address.path)
    if data_folder is not None and there.stat().st_dev == nearest(data_folder).stat().st_dev:
        return []
    return [look_at_disk(there.parent if there.is_file() else there, ANOTHER_DISK)]


def refuse_unreadable(url: str) -> None:
    """Raise `InvalidDatabaseUrl` for what is no URL of a database."""
    from app.persistence.address import Address

    Address.parse(url)


def _look_at_sqlite(address: Address, patience: timedelta) -> Sequence[Finding]:
    from app.persistence.beside import log_of, open_beside
    from app.persistence.faults import translated
    from app.persistence.sqlite_file import APPLICATION_ID

    path = address.path
    if not is_there(path):
        return [_to_be_made(path)]
    if not path.is_file():  # a pipe would keep whoever opens it waiting
        return [failure(DATABASE, f"{path} is no file", _ANOTHER)]
    if not may(path, os.R_OK):
        return [failure(DATABASE, f"{path} cannot be read", f"chmod u+rw {path}")]
    began = time.monotonic()
    try:
        with open_beside(path, patience) as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if application != APPLICATION_ID and (application or tables):
                return [failure(DATABASE, f"{path} is the database of another program", _ANOTHER)]
            revision = _revision(connection) if "alembic_version" in tables else None
            took = time.monotonic() - began
            is_damaged = _is_damaged(connection, patience / 2)
    except sqlite3.Error as error:
        fault = translated(error, address)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            return [failure(DATABASE, str(fault), _ANOTHER)]
        raise fault from None
    size = sum(each.stat().st_size for each in (path, log_of(path)) if is_there(each))
    figures = {"kind": "sqlite", "place": str(path), "bytes": size}
    if is_damaged:
        advice = "restore it from a backup"
        return [failure(DATABASE, f"{path} is damaged", advice, **figures)]
    migrations = _migrations(revision, makes_itself=True)
    if not may(path, os.W_OK):
        advice = f"chmod u+rw {path}"
        return [failure(DATABASE, f"{path} cannot be written", advice, **figures), migrations]
    case = f"SQLite {sqlite3.sqlite_version}, {path}, {size / 1e6:,.1f} MB"
    return [fine(DATABASE, case + _answers(took), **figures), migrations]


def _to_be_made(path: Path) -> Finding:
    there = nearest(path.parent)
    if not there.is_dir() or not may(there, os.W_OK | os.X_OK):
        advice = "set data_folder, or `database`, to a place that you can write"
        return failure(DATABASE, f"{path} cannot be made, since {there} cannot be written", advice)
    case = f"SQLite, {path}; it is made with its tables when something is kept"
    return fine(DATABASE, case, kind="sqlite", place=str(path), bytes=None)


def _revision(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def _is_damaged(connection: sqlite3.Connection, patience: timedelta) -> bool:
    """Return whether something is wrong with a file, as far as can be seen in some time."""
    deadline = time.monotonic() + patience.total_seconds()
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return False  # so far it was well
        raise
    return bool(verdict != "ok")


def _look_at_postgres(address: Address, patience: timedelta) -> Sequence[Finding]:
    from sqlalchemy import text

    from app.persistence.engines import make_engine
    from app.persistence.faults import connect, driver_errors, translated
    from app.persistence.schema import revision_of

    engine = make_engine(address, writes=False, silence=patience)
    try:
        with connect(engine, address) as connection, connection.begin():
            began = time.monotonic()
            server = connection.scalar(text("SHOW server_version"))
            took = time.monotonic() - began
            revision = revision_of(connection)
    except driver_errors(engine) as error:
        raise translated(error, address) from None
    finally:
        engine.dispose()
    figures = {"kind": "postgresql", "place": str(address), "server": server}
    case = f"Postgres {server}, {address}{_answers(took)}"
    return [fine(DATABASE, case, **figures), _migrations(revision, makes_itself=False)]


def _migrations(revision: str | None, *, makes_itself: bool) -> Finding:
    """Say which tables there are; an SQLite is brought to the newest ones as it is opened."""
    from app.persistence.schema import HEAD

    figures = {"revision": revision, "newest": HEAD}
    if revision == HEAD:
        return fine(MIGRATIONS, f"the tables are at revision {HEAD}, the newest", **figures)
    if revision is not None and not _is_known(revision):
        case = f"the tables are at revision {revision}, which this Kibitz does not know"
        return failure(MIGRATIONS, case, "use the newer Kibitz that made them", **figures)
    state = "there are no tables" if revision is None else f"the tables are at revision {revision}"
    if makes_itself:
        case = f"{state}; they are brought to {HEAD} when something is kept"
        return warning(MIGRATIONS, case, f"or do it now: {_UPGRADE}", **figures)
    return failure(MIGRATIONS, f"{state}, and {HEAD} is needed", _UPGRADE, **figures)


def _is_known(revision: str) -> bool:
    from alembic.script import ScriptDirectory

    from app.persistence.schema import alembic_config

    chain = ScriptDirectory.from_config(alembic_config())
    return revision in {each.revision for each in chain.walk_revisions()}


def _answers(took: float) -> str:
    return f", answers in {took * 1000:.1f} ms"
