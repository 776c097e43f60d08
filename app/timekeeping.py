"""Timekeeping: one clock for all that is written down. It never jumps while the process lives."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_STARTED = datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)
_STARTED_NS = time.monotonic_ns()


def now() -> datetime:
    """Return the time in UTC, to the millisecond.

    It is the wall's at the start of the process and what a watch measured since, so that clocks of
    matches do not run backwards when somebody sets the machine's.
    """
    return _STARTED + timedelta(milliseconds=(time.monotonic_ns() - _STARTED_NS) // 1_000_000)
