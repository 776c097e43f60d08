"""Fixtures for all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def without_coverage() -> Iterator[None]:
    """Do not measure coverage in this test, which costs it several times its time.

    For tests that go through hundreds of thousands of positions; others cover the same lines.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(tracer)
