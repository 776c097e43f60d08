"""Every test of the whole runs on SQLite and on Postgres, where it makes sense."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    empty_database_url,
    postgres,
    sqlite_template,
)
from tests.support.services import Machine


@pytest.fixture(autouse=True)
def _clients_are_not_measured(without_coverage: None) -> None:
    """Spare clients and checks the cost of coverage: what they are about runs elsewhere."""


@pytest.fixture
def make_machine(tmp_path: Path) -> Callable[[str], Machine]:
    """Make places where services run on a database."""
    numbers = count(1)
    return lambda url: Machine(tmp_path / f"machine{next(numbers)}", url)


@pytest.fixture
def machine(make_machine: Callable[[str], Machine], database_url: str) -> Machine:  # noqa: F811
    """Where services run on a fresh database."""
    return make_machine(database_url)
