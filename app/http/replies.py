"""Replies to requests with an `Idempotency-Key`, kept for clients that lost the first one."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from app.matches.errors import KeyReused

_MOST = 2_000
_SECONDS = 600.0

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered to a request, which its digest tells from others."""

    request_digest: str
    location: str
    content: str


class Replies:
    """Keeps replies in memory, some and not for long, since they hold the tokens of seats.

    They cannot be had from the database, which knows only the tokens' hashes.
    """

    def __init__(
        self,
        most: int = _MOST,
        seconds: float = _SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        #: With the time of each, the oldest first.
        self._kept: OrderedDict[_Key, tuple[float, Reply]] = OrderedDict()
        self._turns: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, client: str, key: str) -> AsyncIterator[None]:
        """Let one request with a key be answered at a time: the next finds the reply."""
        lock = self._turns.setdefault((client, key), asyncio.Lock())
        async with lock:
            yield

    def find(self, client: str, key: str, request_digest: str) -> Reply | None:
        """Return the reply to the same request; raise `KeyReused` if it was another."""
        self._forget_old()
        _, reply = self._kept.get((client, key), (0.0, None))
        if reply is not None and reply.request_digest != request_digest:
            raise KeyReused
        return reply

    def keep(self, client: str, key: str, reply: Reply) -> None:
        """Keep a reply for a while."""
        self._kept[client, key] = self._clock(), reply
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def _forget_old(self) -> None:
        too_old = self._clock() - self._seconds
        while self._kept:
            key, (since, _) = next(iter(self._kept.items()))
            if since > too_old:
                return
            del self._kept[key]
