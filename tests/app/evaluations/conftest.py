"""Databases for tests of evaluations: SQLite with its tables, and both kinds where it matters."""

from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    postgres_url,
    sqlite_template,
)
