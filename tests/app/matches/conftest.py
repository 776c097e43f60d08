"""Runners are tested on SQLite and on Postgres, and what is logged is not shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    postgres_url,
    sqlite_template,
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Log nothing: to show a traceback takes longer than any of these tests."""
    with capture_logs():
        yield
