"""Replies to requests with an `Idempotency-Key`, kept for clients that lost the first one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import Header, Response
from starlette.datastructures import State

from app.bodies import Body
from app.http.paging import json_response
from app.matches.errors import KeyReused

_MOST = 2_000
_SECONDS = 600.0

_Key = tuple[str, str]

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,255}$",
        description="Any text without spaces, such as a UUID. Who sends the same request with the "
        "same key again gets the first reply again, and starts nothing.",
        examples=["5f0c1f0e-6a52-4a8e-9d7a-1c7b3a5e2f11"],
    ),
]
#: For `responses=`, where something is started.
STARTED: dict[str, Any] = {
    "description": "It is started, or was by the same request with the same key.",
    "headers": {
        "Location": {"description": "Where it is.", "schema": {"type": "string"}},
        "Idempotency-Replayed": {
            "description": "`true` if it was started before.",
            "schema": {"type": "string"},
        },
    },
}


def digest_of(body: Body) -> str:
    """Return what tells a request from another, however either was spelled."""
    data = body.model_dump(mode="json", exclude_unset=True)
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered to a request, which its digest tells from others."""

    request_digest: str
    location: str
    content: str

    def response(self, *, is_repeated: bool) -> Response:
        """Return it as an answer to whoever asked, for the first time or again."""
        headers = {"Location": self.location}
        if is_repeated:
            headers["Idempotency-Replayed"] = "true"
        return json_response(self.content, 201, headers)


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

    async def answer(
        self,
        client: str,
        key: str | None,
        request_digest: str,
        start: Callable[[], Awaitable[tuple[Reply, bool]]],
    ) -> Response:
        """Answer a request that starts something, or give the first reply again.

        `start` returns the reply, and whether it had been started before, by this key.
        """
        if key is None:
            reply, _ = await start()
            return reply.response(is_repeated=False)
        async with self.turn(client, key):
            known = self.find(client, key, request_digest)
            if known is not None:
                return known.response(is_repeated=True)
            reply, is_repeated = await start()
            if not is_repeated:
                self.keep(client, key, reply)
        return reply.response(is_repeated=is_repeated)

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


def replies_of(state: State, name: str) -> Replies:
    """Return the replies of an application by a name: keys for different things do not meet."""
    if not hasattr(state, name):
        setattr(state, name, Replies())
    replies: Replies = getattr(state, name)
    return replies
