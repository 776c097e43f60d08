"""The schema: migrations and tables agree, on both databases, there and back."""

import asyncio
import os
import subprocess
import sys
import time
import zipfile
from contextlib import closing

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, select
from typer.testing import CliRunner

from app.cli.db import db
from app.persistence import schema
from app.persistence.address import Address
from app.persistence.database import Database
from app.persistence.engines import make_engine
from app.persistence.errors import DatabaseInUse
from app.persistence.sqlite_file import APPLICATION_ID
from app.persistence.tables import ModelCall, Table
from tests.app.persistence.samples import inserted
from tests.support.postgres import ROOT
from tests.support.processes import HANGS_AFTER


def on(url, work):
    """Run something in a transaction."""
    engine = make_engine(Address.parse(url), writes=True)
    try:
        with engine.begin() as connection:
            return work(connection)
    finally:
        engine.dispose()


def tables(connection):
    return set(inspect(connection).get_table_names())


def rules(connection):
    """Return the names of checks, foreign keys, unique constraints and indexes, by table."""
    found = inspect(connection)
    return {
        table: {
            each["name"]
            for kind in (
                found.get_check_constraints,
                found.get_foreign_keys,
                found.get_unique_constraints,
                found.get_indexes,
            )
            for each in kind(table)
        }
        for table in Table.metadata.tables
    }


def declared_rules():
    return {
        name: {
            each.name for each in (*table.constraints, *table.indexes) if each.name != f"pk_{name}"
        }
        for name, table in Table.metadata.tables.items()
    }


def test_head_is_the_last_of_one_chain():
    chain = ScriptDirectory.from_config(schema.alembic_config())
    assert chain.get_heads() == [schema.HEAD]
    assert chain.get_bases() == ["0001"]


def test_migrations_and_tables_agree(database_url):
    def differences(connection):
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, Table.metadata)

    assert on(database_url, differences) == []
    assert on(database_url, rules) == declared_rules()  # Alembic does not look at checks


def test_every_revision_can_be_taken_back(empty_database_url):
    assert schema.current(empty_database_url) is None
    assert schema.upgrade(empty_database_url) == schema.HEAD
    made = on(empty_database_url, tables)
    assert made == {*Table.metadata.tables, "alembic_version"}
    on(empty_database_url, lambda each: command.downgrade(schema.alembic_config(each), "base"))
    assert on(empty_database_url, tables) == {"alembic_version"}
    assert schema.current(empty_database_url) is None
    assert schema.upgrade(empty_database_url) == schema.HEAD
    assert on(empty_database_url, tables) == made


def test_the_calls_of_the_first_revision_are_kept(empty_database_url):
    def make(connection):
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        command.upgrade(schema.alembic_config(connection), "0001")
        connection.exec_driver_sql(
            "INSERT INTO model_calls (id, role, model, attempt, prompt_tokens, cached_tokens,"
            " reasoning_tokens, completion_tokens, latency_ms, request_digest, outcome, at)"
            " VALUES ('c1', 'selector', 'm', 1, 5, 0, 0, 2, 9, 'd', 'ok',"
            " '2025-01-01 00:00:00+00:00')"
        )

    on(empty_database_url, make)
    assert schema.upgrade(empty_database_url) == schema.HEAD
    (row,) = on(
        empty_database_url, lambda each: list(each.execute(select(ModelCall.__table__)).mappings())
    )
    assert (row["id"], row["prompt_tokens"]) == ("c1", 5)
    assert (row["color"], row["retry"], row["prompt_digest"]) == (None, 0, "")
    assert (row["is_estimated"], row["reply"], row["error"]) == (False, None, "")


def test_an_upgrade_loses_nothing_and_can_be_repeated(database_url):
    async def insert():
        async with await Database.open(database_url) as database:
            return await inserted(database)

    record = asyncio.run(insert())
    assert schema.upgrade(database_url) == schema.HEAD
    assert schema.current(database_url) == schema.HEAD
    found = on(database_url, lambda each: each.exec_driver_sql("SELECT id FROM matches").scalar())
    assert found == record.id


def test_an_upgrade_that_is_killed_halfway_leaves_nothing(empty_database_url):
    class Killed(Exception):
        pass

    address = Address.parse(empty_database_url)
    engine = make_engine(address, writes=True)

    @event.listens_for(engine, "before_cursor_execute")
    def kill(_connection, _cursor, statement, *_):
        if "CREATE TABLE plies" in statement:
            raise Killed

    connection = engine.connect()
    with closing(connection), pytest.raises(Killed), connection.begin():
        schema.upgrade_connection(connection)
    engine.dispose()
    assert on(empty_database_url, tables) == set()
    assert schema.upgrade(empty_database_url) == schema.HEAD


UPGRADE = "import sys; from app.persistence.schema import upgrade; print(upgrade(sys.argv[1]))"


def test_two_processes_may_upgrade_a_postgres_at_once(postgres):
    """They come at the same moment, and one waits for the other."""
    lock = f"SELECT pg_advisory_xact_lock({schema._UPGRADE_LOCK})"
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with postgres.bare_database() as url:
        command = [sys.executable, "-c", UPGRADE, url]
        with psycopg.connect(url) as first:
            first.execute(lock)
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            processes = [subprocess.Popen(command, text=True, **pipes) for _ in range(2)]
            deadline = time.monotonic() + HANGS_AFTER
            while first.execute(waiting).fetchone() != (2,) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert [process.poll() for process in processes] == [None, None]
        answers = [process.communicate(timeout=HANGS_AFTER)[0] for process in processes]
        assert answers == [f"{schema.HEAD}\n"] * 2
        assert on(url, rules) == declared_rules()


def test_a_file_that_is_served_is_not_upgraded(tmp_path):
    url = f"sqlite:///{tmp_path / 'kibitz.db'}"

    async def serve():
        async with await Database.open(url):
            with pytest.raises(DatabaseInUse):
                schema.upgrade(url)
            assert schema.current(url) == schema.HEAD

    asyncio.run(serve())


OPEN = """
import asyncio, sys
from app.persistence.database import Database

async def main():
    await (await Database.open(sys.argv[1])).aclose()

asyncio.run(main())
print("alembic" in sys.modules)
"""


def test_alembic_is_only_imported_if_there_is_something_to_do(database_url, tmp_path):
    def run(url):
        command = [sys.executable, "-c", OPEN, url]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert run(database_url) == "False\n"
    assert run(f"sqlite:///{tmp_path / 'new.db'}") == "True\n"


def test_the_wheel_has_the_migrations(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    # What is installed elsewhere does not count for coverage.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("app/migrations/")}
        archive.extractall(tmp_path / "installed")
    versions = (ROOT / "migrations" / "versions").glob("*.py")
    assert names >= {
        "app/migrations/env.py",
        *(f"app/migrations/versions/{v.name}" for v in versions),
    }
    url = f"sqlite:///{tmp_path / 'kibitz.db'}"
    # Only what is in the wheel can be found.
    installed = f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); {UPGRADE}"
    run = subprocess.run(
        [sys.executable, "-c", installed, url],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == (f"{schema.HEAD}\n", "")


def test_the_command_line(empty_database_url):
    def kibitz_db(*arguments):
        run = CliRunner().invoke(db, [*arguments, "--database", empty_database_url])
        assert run.exit_code == 0
        return run.stdout

    assert kibitz_db("current") == "empty\n"
    assert kibitz_db("upgrade") == "The database is at revision 0003 (was empty).\n"
    assert kibitz_db("upgrade") == "The database is at revision 0003 (was there already).\n"
    assert kibitz_db("current") == "0003 (newest)\n"


def test_the_command_line_uses_the_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_DATABASE", raising=False)
    assert CliRunner().invoke(db, ["upgrade"]).exit_code == 0
    assert (tmp_path / "data" / "kibitz.db").exists()
