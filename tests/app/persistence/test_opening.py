"""What opens and what does not: SQLite files, URLs, and a Postgres that is not there."""

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError

from app.persistence.database import Database
from app.persistence.errors import (
    DatabaseInUse,
    InvalidDatabaseUrl,
    SchemaBehind,
    StorageError,
    StorageRefused,
    StorageUnavailable,
    UnusableDatabase,
)
from app.persistence.events import append, last_position
from app.persistence.schema import HEAD
from app.persistence.tables import Worker
from tests.app.persistence.samples import an_event, inserted, new_id
from tests.support.folders import as_somebody_else

pytestmark = pytest.mark.asyncio

SECRET = "hunter2!"


def workers(connection):
    return len(connection.execute(select(Worker.id)).all())


# --- SQLite ---


async def test_an_sqlite_file_is_made_where_there_is_none(tmp_path):
    path = tmp_path / "not there" / "100% yes" / "kibitz.db"
    async with await Database.open(f"sqlite:///{path}") as database:
        record = await inserted(database)
        pragmas = await database.write(_pragmas)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id FROM matches").fetchall() == [(record.id,)]
    assert not path.with_name("kibitz.db-wal").exists()


def _pragmas(connection):
    names = ("journal_mode", "synchronous", "foreign_keys")
    return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}


HOLDER = """
import asyncio, sys
from app.persistence.database import Database

async def main():
    async with await Database.open(sys.argv[1]):
        print("open", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_one_process_at_a_time_serves_an_sqlite_file(tmp_path):
    """And one that is killed is not in the way of the next."""
    url = f"sqlite:///{tmp_path / 'kibitz.db'}"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, url, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert await process.stdout.readline() == b"open\n"
        with pytest.raises(DatabaseInUse, match=r"another process has .*kibitz\.db open"):
            await Database.open(url)
        async with await Database.open(url, exclusive=False) as database:
            assert await database.read(workers) == 0
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()
    async with await Database.open(url) as database:
        await inserted(database)


async def test_a_database_that_failed_to_open_is_not_in_the_way(tmp_path):
    path = tmp_path / "kibitz.db"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(UnusableDatabase):
        await Database.open(f"sqlite:///{path}")
    path.unlink()
    await (await Database.open(f"sqlite:///{path}")).aclose()


def _garbage(path):
    path.write_bytes(os.urandom(9000))


def _foreign(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")


def _marked(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")


def _newer(path):
    from app.persistence import schema

    schema.upgrade(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def _folder(path):
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (_garbage, UnusableDatabase, "{path} is no SQLite database"),
        (_foreign, UnusableDatabase, "{path} is the database of another program"),
        (_marked, UnusableDatabase, "{path} is the database of another program"),
        (
            _newer,
            UnusableDatabase,
            "the database is at revision 9999, which this Kibitz does not know: "
            "use the newer one that made it",
        ),
        (_folder, StorageUnavailable, "{path} cannot be opened"),
    ],
)
async def test_files_that_cannot_be_used_are_left_alone(tmp_path, make, error, sentence):
    path = tmp_path / "kibitz.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(error) as caught:
        await Database.open(f"sqlite:///{path}")
    assert str(caught.value) == sentence.format(path=path)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {each.name for each in tmp_path.iterdir()} <= {"kibitz.db", "kibitz.db.lock"}


async def test_a_damaged_file(database_url, dialect):
    if dialect == "postgresql":
        return
    path = Path(database_url.removeprefix("sqlite:///"))
    with path.open("r+b") as file:  # noqa: ASYNC230
        file.seek(4096)
        file.write(os.urandom(20 * 4096))
    with pytest.raises(UnusableDatabase, match=f"{path} is damaged: restore it from a backup"):
        async with await Database.open(database_url) as database:
            await inserted(database)


async def test_a_folder_that_cannot_be_written(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    path = folder / "kibitz.db"
    with as_somebody_else(), pytest.raises(StorageUnavailable) as caught:
        await Database.open(f"sqlite:///{path}")
    assert str(caught.value) == f"{path} cannot be written: Permission denied"


async def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "kibitz.db"
    with pytest.raises(StorageUnavailable, match="cannot be written"):
        await Database.open(f"sqlite:///{path}")


async def test_a_disk_that_is_full(tmp_path):
    async with await Database.open(f"sqlite:///{tmp_path / 'kibitz.db'}") as database:
        limit = "PRAGMA max_page_count = 60"
        await database.write(lambda connection: connection.exec_driver_sql(limit))
        with pytest.raises(StorageUnavailable, match="its disk is full"):
            await inserted(database, settings="x" * 500_000)
        assert await database.read(workers) == 0
        await inserted(database)  # which still has room


async def test_a_commit_that_fails_is_not_in_the_way_of_the_next(tmp_path):
    def add_later(connection):
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        return append(connection, [an_event(new_id())])

    async with await Database.open(f"sqlite:///{tmp_path / 'kibitz.db'}") as database:
        with pytest.raises(StorageRefused):
            await database.write(add_later)
        await inserted(database)
        assert await database.read(last_position) == 1


async def test_a_file_that_another_program_locks(tmp_path):
    path = tmp_path / "kibitz.db"
    async with await Database.open(f"sqlite:///{path}") as database:
        await database.write(lambda each: each.exec_driver_sql("PRAGMA busy_timeout = 1"))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageUnavailable, match="locked by another process"):
                await inserted(database)
            other.execute("ROLLBACK")
        await inserted(database)


# --- URLs and Postgres ---


@pytest.mark.parametrize(
    "url",
    [
        "",
        "kibitz.db",
        SECRET,
        f"mysql://user:{SECRET}@host/db",
        f"postgresql:/user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}@host:port/db",
        f"postgresql://user:{SECRET}@host:99x/db",
        f"postgresql://user:{SECRET}@host",
        f"postgresql://user:{SECRET}@localhost/db?colour={SECRET}",
        f"postgresql://user:{SECRET}@localhost/db?sslmode={SECRET}",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        f"postgresql://u:p@{SECRET}@127.0.0.1:1/db",
        f"postgresql://u:p@a/{SECRET}@127.0.0.1:1/db",
        "sqlite://kibitz.db",
        "sqlite:///kibitz.db?mode=ro",
        "sqlite:///a\0b",
    ],
)
async def test_urls_that_nobody_can_read(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError) as caught:
        await Database.open(url)
    error = caught.value
    assert isinstance(error, InvalidDatabaseUrl) or "sslmode" in url
    assert SECRET not in "".join(map(str, (error, error.args, error.__cause__)))
    assert "\n" not in str(error)
    assert list(tmp_path.iterdir()) == []


async def test_a_postgres_that_is_down():
    url = f"postgresql://kibitz:{SECRET}@127.0.0.1:1/kibitz"
    with pytest.raises(StorageUnavailable) as caught:
        await Database.open(url)
    assert str(caught.value).startswith(
        "postgresql://kibitz@127.0.0.1:1/kibitz does not answer: connection failed"
    )
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_postgres_without_that_database(postgres):
    url = postgres.url.replace("/postgres?", "/nowhere?")
    with pytest.raises(StorageUnavailable, match='database "nowhere" does not exist'):
        await Database.open(url)


async def test_a_postgres_that_was_not_upgraded(postgres):
    with postgres.bare_database() as url, pytest.raises(SchemaBehind) as caught:
        await Database.open(url)
    assert str(caught.value) == (
        "the database is empty and not at 0003: run `kibitz db upgrade` first"
    )


async def test_a_postgres_of_a_newer_kibitz(postgres_url):
    revise = "UPDATE alembic_version SET version_num = '{}'"
    async with await Database.open(postgres_url) as database:
        await database.write(lambda each: each.execute(text(revise.format("9999"))))
        try:
            with pytest.raises(UnusableDatabase, match="revision 9999"):
                await Database.open(postgres_url)
        finally:
            await database.write(lambda each: each.execute(text(revise.format(HEAD))))


async def test_a_connection_that_was_lost_is_made_again(postgres_url):
    end_others = text(
        "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    async with (
        await Database.open(postgres_url) as database,
        await Database.open(postgres_url) as other,
    ):
        await inserted(database)
        await database.read(workers)
        assert await other.write(lambda each: each.scalar(end_others)) >= 2
        await inserted(database)
        assert await database.read(workers) == 0


async def test_what_the_database_says_about_a_query_is_no_traceback(database_url):
    async with await Database.open(database_url) as database:
        with pytest.raises(UnusableDatabase, match=r"cannot be used: .*nowhere") as caught:
            await database.read(lambda each: each.execute(text("SELECT * FROM nowhere")))
    assert not isinstance(caught.value.__cause__, SQLAlchemyError)
    assert caught.value.__suppress_context__
