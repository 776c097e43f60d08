"""What the doctor says of databases in all states; nothing of them is made or changed."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from app.doctor import storage
from app.doctor.findings import Sign
from app.doctor.machine import nearest
from app.doctor.storage import look_at_database, refuse_unreadable
from app.persistence import faults
from app.persistence.errors import (
    InvalidDatabaseUrl,
    StorageUnavailable,
    UnusableDatabase,
)
from app.persistence.schema import HEAD
from tests.support.folders import as_somebody_else, snapshot
from tests.support.postgres_proxy import Wire
from tests.support.processes import HANGS_AFTER, LINUX

PATIENCE = timedelta(seconds=HANGS_AFTER)
PASSWORD = "pass-word-of-mine"


def look(where, patience=PATIENCE):
    """Return what is found at a URL, or in a file, beside which nothing changes."""
    if not isinstance(where, Path):
        return told(look_at_database(where, patience))
    before = snapshot(nearest(where.parent))
    try:
        return told(look_at_database(f"sqlite:///{where}", patience))
    finally:
        assert snapshot(nearest(where.parent)) == before


def told(findings):
    return [(each.subject, each.sign, each.case) for each in findings]


@pytest.fixture
def path(tmp_path, sqlite_template):
    path = tmp_path / "kibitz.db"
    shutil.copy(sqlite_template, path)
    return path


def change(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        for each in statements:
            connection.execute(each)


# --- the disk ---


@pytest.mark.skipif(not LINUX, reason="only Linux has a disk in memory at a known place")
def test_a_disk_of_its_own(tmp_path, monkeypatch):
    def look_at_its_disk(path, folder=tmp_path):
        return storage.look_at_its_disk(f"sqlite:///{path}", folder)

    assert look_at_its_disk(tmp_path / "kibitz.db") == []
    (disk,) = look_at_its_disk("/dev/shm/not made/kibitz.db")
    assert (disk.subject, disk.case.partition(" at ")[2]) == ("Disk", "/dev/shm")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    (disk,) = look_at_its_disk("/dev/shm/kibitz.db")
    assert disk.sign is Sign.FAIL
    assert "KIBITZ_DATABASE" in disk.advice
    (disk,) = look_at_its_disk(tmp_path / "kibitz.db", None)
    assert disk.case == f"0 MB free at {tmp_path}"
    assert storage.look_at_its_disk("postgresql://127.0.0.1/x", tmp_path) == []
    assert storage.look_at_its_disk("what the check of the database tells", tmp_path) == []


# --- SQLite ---


def test_a_database_that_is_well(path):
    database, migrations = look(path)
    assert database[:2] == ("Database", Sign.OK)
    assert database[2].startswith(f"SQLite {sqlite3.sqlite_version}, {path}, 0.")
    assert migrations == ("Migrations", Sign.OK, f"the tables are at revision {HEAD}, the newest")


def test_one_that_is_to_be_made(tmp_path):
    path = tmp_path / "a" / "kibitz.db"
    case = f"SQLite, {path}; it is made with its tables when something is kept"
    assert look(path) == [("Database", Sign.OK, case)]
    assert not any(tmp_path.iterdir())


def test_one_that_cannot_be_made(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with as_somebody_else():
        ((_, sign, case),) = look(f"sqlite:///{folder / 'kibitz.db'}")
    assert sign is Sign.FAIL
    assert case.startswith(f"{folder / 'kibitz.db'} cannot be made, since ")
    file = tmp_path / "file"
    file.touch()
    case = f"{file / 'kibitz.db'} cannot be made, since {file} cannot be written"
    assert look(file / "kibitz.db") == [("Database", Sign.FAIL, case)]


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for each in (tmp_path, tmp_path / "pipe"):
        assert look(each) == [("Database", Sign.FAIL, f"{each} is no file")]


def test_an_empty_file(tmp_path):
    path = tmp_path / "kibitz.db"
    path.touch()
    database, migrations = look(path)
    assert database[1] is Sign.OK
    case = f"there are no tables; they are brought to {HEAD} when something is kept"
    assert migrations == ("Migrations", Sign.WARN, case)


@pytest.mark.parametrize(
    ("statement", "sign", "case"),
    [
        ("UPDATE alembic_version SET version_num = '0001'", Sign.WARN,
         f"the tables are at revision 0001; they are brought to {HEAD} when something is kept"),
        ("UPDATE alembic_version SET version_num = '9999'", Sign.FAIL,
         "the tables are at revision 9999, which this Kibitz does not know"),
        ("DELETE FROM alembic_version", Sign.WARN,
         f"there are no tables; they are brought to {HEAD} when something is kept"),
    ],
)  # fmt: skip
def test_tables_that_are_not_the_newest(path, statement, sign, case):
    change(path, statement)
    assert look(path)[1] == ("Migrations", sign, case)


@pytest.mark.parametrize("application", [0, 1])
def test_the_database_of_another_program(path, application):
    change(path, f"PRAGMA application_id = {application}")
    case = f"{path} is the database of another program"
    assert look(path) == [("Database", Sign.FAIL, case)]


def test_a_file_that_is_no_database(path):
    path.write_text("Dear diary, " * 1000)
    case = f"{path} is no SQLite database"
    assert look(path) == [("Database", Sign.FAIL, case)]


def test_a_damaged_file(path):
    change(path, "PRAGMA user_version = 1")
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xff" * 20 * 4096)
    with pytest.raises(UnusableDatabase, match=f"{path} is damaged: restore it from a backup"):
        look(path)


def test_one_row_that_is_damaged(path):
    change(path, "CREATE TABLE t (x UNIQUE)", "INSERT INTO t VALUES (1), (2)",
           "PRAGMA writable_schema = ON",
           "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
           " WHERE name = 'matches') WHERE name = 'sqlite_autoindex_t_1'")  # fmt: skip
    assert look(path) == [("Database", Sign.FAIL, f"{path} is damaged")]


def test_a_long_look_for_damage_is_given_up(path):
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 9999)"
    change(path, "CREATE TABLE t (x UNIQUE)", f"{rows} INSERT INTO t SELECT i FROM n")
    # It is well as far as was looked.
    assert [sign for _, sign, _ in look(path, timedelta(microseconds=1))] == [Sign.OK, Sign.OK]


def test_one_that_may_not_be_read_or_written(sqlite_template):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # others may look into it, unlike into those of pytest
        path = Path(folder, "kibitz.db")
        shutil.copy(sqlite_template, path)
        url = f"sqlite:///{path}"
        path.chmod(0o444)
        with as_somebody_else():
            database, migrations = look(url)
        assert database == ("Database", Sign.FAIL, f"{path} cannot be written")
        assert migrations[1] is Sign.OK
        path.chmod(0o000)
        with as_somebody_else():
            assert look(url) == [("Database", Sign.FAIL, f"{path} cannot be read")]


# --- Postgres ---


def test_a_postgres_that_is_well(postgres_url):
    database, migrations = look(postgres_url)
    assert database[:2] == ("Database", Sign.OK)
    assert database[2].startswith("Postgres ")
    assert migrations == ("Migrations", Sign.OK, f"the tables are at revision {HEAD}, the newest")


@pytest.mark.parametrize("revision", ["0001", "9999"])
def test_a_postgres_at_another_revision(postgres, revision):
    known = {"0001": f", and {HEAD} is needed", "9999": ", which this Kibitz does not know"}
    with postgres.bare_database() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE alembic_version (version_num text)")
            connection.execute("INSERT INTO alembic_version VALUES (%s)", [revision])
        migrations = look(url)[1]
    case = f"the tables are at revision {revision}{known[revision]}"
    assert migrations == ("Migrations", Sign.FAIL, case)


def test_a_postgres_without_tables(postgres):
    with postgres.bare_database() as url:
        findings = look_at_database(url, PATIENCE)
        with psycopg.connect(url) as connection:
            tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
            assert connection.execute(tables).fetchone() == (0,)
    assert [each.sign for each in findings] == [Sign.OK, Sign.FAIL]
    assert findings[1].case == f"there are no tables, and {HEAD} is needed"
    assert findings[1].advice == "kibitz db upgrade"


def test_a_postgres_whose_tables_are_not_ours(postgres):
    with postgres.bare_database() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE alembic_version (something text)")
        with pytest.raises(UnusableDatabase, match="version_num"):
            look(url)


def test_a_postgres_that_is_not_there(postgres_url):
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:1/kibitz"
    with pytest.raises(StorageUnavailable, match="does not answer: ") as caught:
        look(url)
    assert PASSWORD not in str(caught.value)
    missing = postgres_url.replace("kibitz_", "nobody_")
    with pytest.raises(StorageUnavailable, match="does not exist"):
        look(missing)


def test_a_postgres_that_freezes(postgres_url, monkeypatch):
    """Its kernel goes on to accept all that is sent, and nothing comes."""

    async def main():
        def connect_then_freeze(*arguments):
            connection = connect(*arguments)
            wire.freeze()
            return connection

        monkeypatch.setattr(faults, "connect", connect_then_freeze)
        wire = Wire(postgres_url)
        await wire.open()
        try:
            with pytest.raises(StorageUnavailable, match=r"said nothing for 0\.2 seconds"):
                await asyncio.to_thread(look, wire.url, timedelta(seconds=0.2))
        finally:
            await wire.close()

    connect = faults.connect
    asyncio.run(main())


# --- what is no URL ---


@pytest.mark.parametrize(
    "url", ["", "mysql://h/d", PASSWORD, f"postgresql://:{PASSWORD}@", "sqlite://x"]
)
def test_what_is_no_url_is_refused(url):
    with pytest.raises(InvalidDatabaseUrl) as caught:
        refuse_unreadable(url)
    assert PASSWORD not in str(caught.value)
    refuse_unreadable("sqlite:///kibitz.db")
