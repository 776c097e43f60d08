"""Every test of persistence runs on SQLite and on Postgres."""

from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    empty_database_url,
    postgres,
    postgres_url,
    sqlite_template,
)
