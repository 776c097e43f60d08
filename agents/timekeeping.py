"""Timekeeping: one clock for all that is written down. It never jumps while the process lives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

_STARTED = datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)
#: One that also runs while the machine sleeps, where there is one.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_started_ns = time.clock_gettime_ns(_CLOCK)


def now() -> datetime:
    """Return the time in UTC, to the millisecond.

    It is the wall's at the start of the process and what a watch measured since, so that clocks of
    matches do not run backwards when somebody sets the machine's.
    """
    elapsed = time.clock_gettime_ns(_CLOCK) - _started_ns
    return _STARTED + timedelta(milliseconds=elapsed // 1_000_000)


@contextmanager
def standing_still() -> Iterator[None]:
    """Leave out what passes meanwhile, as if it had not: time in which this process was stopped."""
    global _started_ns
    began = time.clock_gettime_ns(_CLOCK)
    try:
        yield
    finally:
        _started_ns += time.clock_gettime_ns(_CLOCK) - began
