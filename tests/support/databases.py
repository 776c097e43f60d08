"""Fresh databases for tests: SQLite files, and databases of a real Postgres.

The Postgres is that of KIBITZ_TEST_POSTGRES_URL, a server on which databases may be created, or
else one that is started for the test run. Migrations are not run for each test.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from app.persistence import schema
from app.persistence.tables import Table
from tests.support.postgres import shared_postgres

VARIABLE = "KIBITZ_TEST_POSTGRES_URL"
DIALECTS = ("sqlite", "postgresql")


class Postgres:
    """A server on which tests get databases of their own.

    To create one takes up to half a second on a busy disk, so those with the tables are emptied
    and lent again.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._admin = psycopg.connect(url, autocommit=True)
        self._all: list[str] = []
        self._free: list[str] = []

    @contextmanager
    def database(self) -> Iterator[str]:
        """Lend a database with the tables and nothing in them; what is yielded is its URL."""
        url = self._free.pop() if self._free else self._create_with_tables()
        yield url
        self._empty(url)
        self._free.append(url)

    @contextmanager
    def bare_database(self) -> Iterator[str]:
        """Lend a database without tables."""
        url = self._create()
        yield url
        self._drop(url)

    def close(self) -> None:
        """Remove every database that was made."""
        for url in list(self._all):
            self._drop(url)
        self._admin.close()

    def _create_with_tables(self) -> str:
        url = self._create()
        schema.upgrade(url)
        return url

    def _create(self) -> str:
        name = f"kibitz_{uuid4().hex}"
        self._execute("CREATE DATABASE {}", name)
        rest, question, query = self.url.partition("?")
        url = rest.rpartition("/")[0] + f"/{name}" + question + query
        self._all.append(url)
        return url

    def _empty(self, url: str) -> None:
        """Show out whoever is still connected, and delete all rows."""
        tables = reversed(Table.metadata.sorted_tables)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("; ".join(f"DELETE FROM {table.name}" for table in tables))

    def _drop(self, url: str) -> None:
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", _name_of(url))
        self._all.remove(url)

    def _execute(self, query: str, name: str) -> None:
        self._admin.execute(sql.SQL(query).format(sql.Identifier(name)))


def _name_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


@contextmanager
def running_postgres(run: str = "") -> Iterator[Postgres]:
    """Use a Postgres, which processes share that give the same name of a test run."""
    url = os.environ.get(VARIABLE)
    with shared_postgres(run or uuid4().hex) if not url else _given(url) as server_url:
        postgres = Postgres(server_url)
        try:
            yield postgres
        finally:
            postgres.close()


@contextmanager
def _given(url: str) -> Iterator[str]:
    yield url


@pytest.fixture(scope="session")
def postgres(testrun_uid: str) -> Iterator[Postgres]:
    """A Postgres, the same one in all processes of the test run."""
    with running_postgres(testrun_uid) as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the tables, to be copied."""
    path = tmp_path_factory.mktemp("template") / "kibitz.db"
    schema.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """Each kind of database: a test that uses one runs on both."""
    return request.param


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """A fresh database of the Postgres, for what SQLite has not."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def database_url(dialect: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh database with tables and nothing in them."""
    if dialect == "sqlite":
        path = request.getfixturevalue("tmp_path") / "kibitz.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@pytest.fixture
def empty_database_url(dialect: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh database without tables; of SQLite, not even the file is there."""
    if dialect == "sqlite":
        yield f"sqlite:///{request.getfixturevalue('tmp_path') / 'kibitz.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.bare_database() as url:
        yield url
