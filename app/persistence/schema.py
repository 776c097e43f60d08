"""Schema: which revision a database is at, and how it gets to the newest.

Alembic takes a while to import, so it is only when there is something for it to do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection, inspect, text

from app.persistence.address import Address
from app.persistence.engines import make_engine
from app.persistence.errors import SchemaBehind, UnusableDatabase
from app.persistence.faults import connect, driver_errors, translated
from app.persistence.sqlite_file import APPLICATION_ID, SqliteFile

if TYPE_CHECKING:
    from alembic.config import Config

T = TypeVar("T")

#: The newest revision in `migrations/versions`.
HEAD = "0003"

#: Two processes may be told to upgrade at once; the second waits for the first.
_UPGRADE_LOCK = 0x4B69627A_00000001
#: A migration of many rows, or waiting for that of another process, takes the time it takes.
_PATIENTLY = (
    "SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)


def upgrade(url: str) -> str:
    """Bring a database to the newest revision, whatever it is at, and return that one.

    Raises `InvalidDatabaseUrl`, `DatabaseInUse`, `UnusableDatabase` or `StorageUnavailable`.
    """
    address = Address.parse(url)
    if address.dialect == "postgresql":
        return _transaction(address, _upgraded, writes=True)
    file = SqliteFile(address)
    file.make()
    file.lock()
    try:
        file.refuse_foreign()
        return _transaction(address, _upgraded, writes=True)
    finally:
        file.unlock()


def current(url: str) -> str | None:
    """Return the revision of a database, or None if it has no tables; changes nothing.

    Raises as `upgrade` does.
    """
    address = Address.parse(url)
    if address.dialect == "sqlite":
        file = SqliteFile(address)
        if not file.exists:
            return None
        file.refuse_foreign()
    return _transaction(address, revision_of, writes=False)


def ensure_head(connection: Connection) -> None:
    """Bring an SQLite to the newest revision; raise `SchemaBehind` for a Postgres not there."""
    revision = revision_of(connection)
    if revision == HEAD:
        return
    if connection.dialect.name == "sqlite":
        upgrade_connection(connection)
        return
    _refuse_newer(revision)
    raise SchemaBehind(revision, HEAD)


def upgrade_connection(connection: Connection) -> None:
    """Run the migrations that are missing, within the transaction of the connection."""
    from alembic import command

    if connection.dialect.name == "postgresql":
        connection.execute(text(_PATIENTLY))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})"))
    else:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    revision = revision_of(connection)
    if revision == HEAD:
        return
    _refuse_newer(revision)
    command.upgrade(alembic_config(connection), "head")


def revision_of(connection: Connection) -> str | None:
    """Return the revision, or None if there are no tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def alembic_config(connection: Connection | None = None) -> Config:
    """Return what Alembic wants to know; there is no `alembic.ini`."""
    from alembic.config import Config

    config = Config()
    # What Alembic reads here goes through a parser to which a percent sign is special.
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def migrations_folder() -> Path:
    """Return the folder of the migrations: in the wheel inside `app`, in the sources beside it."""
    package = Path(str(files("app")))
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "migrations"


def _upgraded(connection: Connection) -> str:
    upgrade_connection(connection)
    return HEAD


def _refuse_newer(revision: str | None) -> None:
    """Raise `UnusableDatabase` for a revision that is not in our chain."""
    from alembic.script import ScriptDirectory

    chain = ScriptDirectory.from_config(alembic_config())
    if revision is not None and revision not in {each.revision for each in chain.walk_revisions()}:
        raise UnusableDatabase(
            f"the database is at revision {revision}, which this Kibitz does not know: "
            "use the newer one that made it"
        )


def _transaction(address: Address, work: Callable[[Connection], T], *, writes: bool) -> T:
    engine = make_engine(address, writes=writes)
    try:
        with connect(engine, address) as connection, connection.begin():
            return work(connection)
    except driver_errors(engine) as error:
        raise translated(error, address) from None
    finally:
        engine.dispose()
