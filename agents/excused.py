"""ExcusedTime: what of a turn was not the player's doing, each moment counted once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TypeAlias, TypeVar

from agents.timekeeping import now as steady_now

#: Told of times that are not the player's fault: from when until when.
Excuse: TypeAlias = Callable[[datetime, datetime], None]
T = TypeVar("T")

#: What is shorter is not excused.
NOT_WORTH_A_WORD = timedelta(milliseconds=50)
_NOTHING = timedelta(0)
#: A wait is excused bit by bit, and ahead of time, or the clock might run out meanwhile. The bits
#: grow, so that they are few and nobody is given more than he has waited.
_FIRST_BIT, _LONGEST_BIT = timedelta(milliseconds=100), timedelta(seconds=5)


class ExcusedTime:
    """Times for which a player is not charged: from when until when."""

    def __init__(self) -> None:
        self._spans: list[tuple[datetime, datetime]] = []  # none overlap
        self.total = _NOTHING

    def add(self, since: datetime, until: datetime) -> timedelta:
        """Excuse a time, and return how much of it was not excused before."""
        new = [(since, until)] if until > since else []
        for begin, end in self._spans:
            parts = [part for a, b in new for part in ((a, min(b, begin)), (max(a, end), b))]
            new = [(a, b) for a, b in parts if b > a]
        self._spans += new
        added = sum((b - a for a, b in new), _NOTHING)
        self.total += added
        return added


async def excused_wait(
    waiting: Awaitable[T],
    excuse: Excuse,
    now: Callable[[], datetime] = steady_now,
) -> tuple[T, datetime]:
    """Wait for something that is not the player's doing.

    Return what comes of it, and until when the time is excused, which may lie ahead.
    """
    since, bit = now(), _FIRST_BIT
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait({task}, timeout=NOT_WORTH_A_WORD.total_seconds())
        while not task.done():
            until = now() + bit
            excuse(since, until)
            since = until
            await asyncio.wait({task}, timeout=bit.total_seconds())
            bit = min(2 * bit, _LONGEST_BIT)
        result = await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    ended = now()
    if ended - since >= NOT_WORTH_A_WORD:
        excuse(since, ended)
    return result, max(since, ended)
