"""RateLimit: how many requests a provider gets per minute. Whoever comes too soon waits in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyrate_limiter import AbstractBucket

MINUTE = timedelta(minutes=1)
NO_WAIT = timedelta(0)
#: Two clocks never agree quite: whoever is too early by that little need not ask ten times.
_SHORTEST_WAIT = timedelta(milliseconds=5)


class RateLimit(Protocol):
    """Where one waits for one's turn to make a request."""

    async def acquire(self, provider: str) -> None:
        """Return when a request to a provider may be made; that it is made is counted."""


class Unlimited:
    """A limit that nobody ever meets."""

    async def acquire(self, provider: str) -> None:
        """Let it pass."""


class PacedRateLimit:
    """Lets requests pass as fast as places become free, first come, first served.

    Only who is first in the queue of a provider asks for a place; nobody polls.
    """

    def __init__(
        self,
        take: Callable[[str], Awaitable[timedelta]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`take` takes a place if one is free, and says how long to wait until one may be."""
        self._take = take
        self._sleep = sleep
        self._queues: dict[str, asyncio.Lock] = {}

    async def take(self, provider: str) -> timedelta:
        """Take a place if one is free, or say how long to wait until one may be."""
        return await self._take(provider)

    async def acquire(self, provider: str) -> None:
        """Wait for a place; whoever is cancelled leaves the queue."""
        async with self._queues.setdefault(provider, asyncio.Lock()):
            while (wait := await self.take(provider)) > NO_WAIT:
                await self._sleep(max(wait, _SHORTEST_WAIT).total_seconds())


class MemoryPlaces:
    """Places of this process alone: so many per minute, by provider."""

    def __init__(
        self,
        limits: Mapping[str, int],
        window: timedelta = MINUTE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._buckets = {name: _bucket(check(name, limits[name]), window) for name in limits}

    def take(self, provider: str) -> timedelta:
        """Take a place if one is free, or say how long to wait until one may be."""
        bucket = self._buckets.get(provider)
        if bucket is None:
            return NO_WAIT
        from pyrate_limiter import RateItem

        item = RateItem(provider, int(self._clock() * 1000))
        bucket.leak(item.timestamp)
        if bucket.put(item):
            return NO_WAIT
        wait = bucket.waiting(item)
        assert isinstance(wait, int)  # noqa: S101 - a bucket in memory is not asynchronous
        return timedelta(milliseconds=max(wait, 1))


def check(provider: str, limit: int) -> int:
    """Return a limit if it is one, or raise `ValueError`."""
    if limit < 1:
        raise ValueError(f"{provider} needs a limit of at least 1 request per minute, not {limit}")
    return limit


def _bucket(limit: int, window: timedelta) -> AbstractBucket:
    # Its import takes longer than that of all the rest, and not everybody has a limit.
    from pyrate_limiter import InMemoryBucket, Rate

    return InMemoryBucket([Rate(limit, window // timedelta(milliseconds=1))])
