"""Fixtures for all tests."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator

import pytest
import structlog


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays: all modules, and thousands of tests.

    A full collection took a third of a second, and tests of processes do one each, to see that
    nothing was left open. Of what tests make nothing is spared.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have to tell: `record_property("told", ...)`, in whichever process."""
    told = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == "told"
    ]
    if told:
        terminalreporter.section("told by tests")
        for each in told:
            terminalreporter.write_line(str(each))


@pytest.fixture
def without_coverage() -> Iterator[None]:
    """Do not measure coverage in this test, which costs it several times its time.

    For tests that do the same thousands of times, or have others do the work; others cover the same
    lines. Threads and processes that were started before are measured on.
    """
    tracer, tracer_of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    yield
    threading.settrace(tracer_of_threads)
    sys.settrace(tracer)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Forget how a command of the terminal has set up logs: others look at what is logged."""
    yield
    structlog.reset_defaults()
