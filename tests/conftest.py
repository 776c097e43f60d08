"""Fixtures for all tests."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext

import pytest
import structlog

from app import logs

#: What takes minutes.
_LONG = ("e2e", "test_docs.py", "test_evaluate.py", "test_play.py")


#: So many cases of a test are measured. Nearly all others run the same lines with other values, and
#: to measure those takes a quarter of their time; what only they run is reported as not covered.
_MEASURED_CASES = 2
_IS_MEASURED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that nobody is left alone with it in the end."""
    items.sort(key=lambda item: not set(_LONG) & set(item.path.parts))
    cases: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0]
        cases[name] += 1
        item.stash[_IS_MEASURED] = cases[name] <= _MEASURED_CASES


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run a test, perhaps without measuring which lines it runs."""
    with nullcontext() if item.stash[_IS_MEASURED] else _unmeasured():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Collect garbage less often; and hear Ctrl-C, so that what tests start hears it.

    Shells have whatever they start in the background ignore it.
    """
    gc.set_threshold(50_000, 20, 100)  # whoever sees to it that nothing is left open collects
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


#: What tells a process that is started to measure coverage.
_MEASURING: dict[str, str] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Get ready for thousands of tests, and hundreds of processes that they start."""
    _spare_collector()
    _spare_processes()


def _spare_collector() -> None:
    """Let the garbage collector leave alone what stays: all modules, and thousands of tests.

    A full collection took a third of a second, and tests of processes do one each, to see that
    nothing was left open. Of what tests make nothing is spared.
    """
    gc.collect()
    gc.freeze()


def _spare_processes() -> None:
    """Have no process measured but those of tests that ask for it.

    It doubles what a start costs, and nearly all that they do is done in this process, too.
    """
    for name in [each for each in os.environ if each.startswith("COV")]:
        _MEASURING[name] = os.environ.pop(name)


@pytest.fixture(scope="module")
def measured_processes() -> Iterator[None]:
    """Measure coverage in the processes that the tests of a module start."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _MEASURING.items():
            patch.setenv(name, value)
        yield


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
    with _unmeasured():
        yield


@contextmanager
def _unmeasured() -> Iterator[None]:
    tracer, tracer_of_threads = sys.gettrace(), threading.gettrace()
    if type(tracer).__module__.partition(".")[0] != "coverage":
        yield  # nobody measures, or somebody looks for faults
        return
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        threading.settrace(tracer_of_threads)
        sys.settrace(tracer)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Forget how a command of the terminal has set up logs: others look at what is logged."""
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, (*logs._SILENT, *logs._SILENT_UNLESS_DEBUGGING))]
    levels, handlers = [each.level for each in loggers], list(root.handlers)
    yield
    structlog.reset_defaults()
    logging.captureWarnings(False)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    for handler in set(root.handlers) - set(handlers):
        if isinstance(handler, logs._Handler):
            root.removeHandler(handler)
