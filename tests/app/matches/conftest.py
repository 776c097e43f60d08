"""Runners are tested on SQLite and on Postgres, and what is logged is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

import app.matches.owner
from tests.app.matches.owning import now
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


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fault the owner waits, but tests do not; nor do they wait for time to pass."""
    monkeypatch.setattr(app.matches.owner, "now", now)
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=1))
