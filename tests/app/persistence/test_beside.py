"""Reading the file of an SQLite beside whoever has it open, or has left it so."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from app.persistence.beside import open_beside
from tests.support.folders import snapshot
from tests.support.processes import HANGS_AFTER

PATIENCE = timedelta(seconds=HANGS_AFTER)
#: Commits a row, most of which is then in the log, and dies of a power cut, or nearly so.
CRASH = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("CREATE TABLE t (x)")
connection.execute("INSERT INTO t VALUES (1)")
connection.commit()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some % file?.db"


@contextmanager
def closed(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (1)")
    yield


@contextmanager
def with_journal(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (1)")
    yield


@contextmanager
def crashed(path):
    subprocess.run([sys.executable, "-I", "-S", "-c", CRASH, str(path)], check=False)
    yield


@contextmanager
def copied_after_a_crash(path):
    with crashed(path):
        path.with_name(f"{path.name}-shm").unlink()
        yield


@contextmanager
def being_written(path):
    with closed(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO t VALUES (2)")
        connection.execute("DELETE FROM t WHERE x = 2")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (3)")
        yield


@pytest.mark.parametrize(
    "state", [closed, with_journal, crashed, copied_after_a_crash, being_written]
)
def test_what_was_committed_is_read_and_nothing_changes(path, state):
    with state(path):
        before = snapshot(path.parent)
        with open_beside(path, PATIENCE) as connection:
            assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]
            assert snapshot(path.parent) == before
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("INSERT INTO t VALUES (4)")
        assert snapshot(path.parent) == before


def test_a_crash_is_mended_by_the_next_who_writes(path):
    with copied_after_a_crash(path):
        with open_beside(path, PATIENCE) as connection:
            connection.execute("SELECT x FROM t")
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]


def test_what_is_no_file_is_not_opened(path):
    os.mkfifo(path)
    for each in (path, path.parent):
        with (
            pytest.raises(sqlite3.OperationalError, match="is no file"),
            open_beside(each, PATIENCE),
        ):
            pass


def test_nothing_is_made_where_nothing_is(path):
    with pytest.raises(sqlite3.OperationalError), open_beside(path, PATIENCE) as connection:
        connection.execute("SELECT 1 FROM t")
    assert not any(path.parent.iterdir())


def test_a_copy_can_be_read_while_the_original_is_written(path, tmp_path):
    with being_written(path):
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)
        with open_beside(copy, PATIENCE) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)
