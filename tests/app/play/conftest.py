"""Games at a terminal log nothing, and keep what is saved in a folder of the test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import app.matches.owner
from tests.support.databases import sqlite_template  # noqa: F401


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Log nothing, and do not wait long after a fault."""
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", timedelta(milliseconds=1))
    with capture_logs():
        yield


@pytest.fixture
def folder(tmp_path: Path, sqlite_template: Path) -> Path:  # noqa: F811
    """A folder with a database in it, in which nothing is stored yet."""
    shutil.copy(sqlite_template, tmp_path / "kibitz.db")
    return tmp_path
