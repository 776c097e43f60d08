"""Every test of streams runs on SQLite and on Postgres."""

from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    postgres_url,
    sqlite_template,
)
