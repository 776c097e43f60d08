"""Bounds: how much one client may ask for, so that the others get their share.

Over a bound is 413 or 429; the latter says by `Retry-After` when to try again.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from starlette.datastructures import Headers

from app.http.errors import Kind, Refusal

if TYPE_CHECKING:
    from pyrate_limiter import AbstractBucket
    from pyrate_limiter.abstracts.algorithm import Decision
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TOO_LARGE = Kind(413, "body-too-large", "The body is too large")
_TOO_SLOW = Kind(408, "body-too-slow", "The body did not come in time")
_CLOSE = {"Connection": "close"}
#: How long a body may take to come.
_BODY_SECONDS = 30.0
#: How long to listen to a client that is still sending what nobody will read: else it may find the
#: connection reset before it has read why.
_LINGER_SECONDS = 2.0
#: How many clients' rates are remembered. (Of IPv4 they can be many, and each has few.)
_MOST_CLIENTS = 10_000


class BodyBound:
    """Middleware: refuses bodies that are too large or too slow, and never has one in memory."""

    def __init__(
        self,
        app: ASGIApp,
        most_bytes: int,
        most_seconds: float = _BODY_SECONDS,
        linger_seconds: float = _LINGER_SECONDS,
    ) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds
        self._linger_seconds = linger_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and cut its body off where it goes over the bound."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length")
        if length == "0" or (length is None and "transfer-encoding" not in headers):
            await self._app(scope, receive, send)  # nothing to count, and streams stay fast
            return
        body = _Body(self._most_bytes, self._most_seconds, receive, send)
        if length is not None and (len(length) > 12 or int(length) > self._most_bytes):
            body.refusal = too_large(self._most_bytes)
        else:
            try:
                await self._app(scope, body.receive, body.send)
            except Exception:
                if body.refusal is None:
                    raise
        if body.refusal is not None and not body.is_answered:
            # A client that asked for leave by `Expect: 100-continue` has sent nothing yet.
            linger = 0.0 if "expect" in headers else self._linger_seconds
            await body.refuse(scope, linger)


def too_large(most_bytes: int) -> Refusal:
    """Return the refusal of a body that is larger than it may be."""
    detail = f"a body may have at most {most_bytes} bytes"
    return Refusal(_TOO_LARGE, detail, headers=_CLOSE, members={"limit": most_bytes})


class _CutOff(Exception):
    """Ends the reading of a body that is refused."""


class _Body:
    """The body of one request on its way, and the answer on its way back."""

    def __init__(self, bytes_left: int, most_seconds: float, receive: Receive, send: Send) -> None:
        self._most_bytes = self._bytes_left = bytes_left
        self._receive = receive
        self._send = send
        self._most_seconds = most_seconds
        self._deadline = asyncio.get_running_loop().time() + most_seconds
        self._is_read = False
        self.refusal: Refusal | None = None
        self.is_answered = False

    async def receive(self) -> Message:
        """Hand on a part of the body, or raise `_CutOff` if there is too much of it."""
        if self._is_read:
            return await self._receive()  # which tells when the client has gone
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            detail = f"the body did not come within {self._most_seconds:g} s"
            self.refusal = Refusal(_TOO_SLOW, detail, headers=_CLOSE)
            raise _CutOff from None
        self._bytes_left -= len(message.get("body", b""))
        if self._bytes_left < 0:
            self.refusal = too_large(self._most_bytes)
            raise _CutOff
        self._is_read = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Hand on an answer, unless the body was refused: whoever read it may call it garbled."""
        if self.refusal is None or self.is_answered:
            self.is_answered = True
            await self._send(message)

    async def refuse(self, scope: Scope, linger_seconds: float) -> None:
        """Answer with the refusal, and listen for a while to a client that is still sending."""
        assert self.refusal is not None  # noqa: S101 - for types

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "more_body": True}  # the client has it all, but we stay
            await self._send(message)

        await self.refusal.response()(scope, self._receive, send)
        if linger_seconds:
            await self._linger(linger_seconds)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _linger(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (await self._receive()).get("more_body", False):
                    pass


class Places:
    """How many may do something at a time: in total, and of one client."""

    def __init__(self, what: str, total: int, per_client: int, retry_after: int = 5) -> None:
        self._kind = Kind(429, f"too-many-{what}", f"Too many {what}", retry_after=retry_after)
        self._what = what
        self._total = total
        self._per_client = per_client
        self._by_client: Counter[str] = Counter()
        #: How many places are taken.
        self.taken = 0

    def take(self, client: str) -> Callable[[], None]:
        """Take a place, and return what gives it back; raise `Refusal` if there is none."""
        if self._by_client[client] >= self._per_client:
            raise Refusal(
                self._kind, f"a client may have {self._per_client} {self._what} at a time"
            )
        if self.taken >= self._total:
            raise Refusal(self._kind, f"there may be {self._total} {self._what} at a time")
        self._by_client[client] += 1
        self.taken += 1
        is_ours = True

        def give_back() -> None:
            nonlocal is_ours
            if is_ours:
                is_ours = False
                self.taken -= 1
                self._by_client[client] -= 1
                if not self._by_client[client]:
                    del self._by_client[client]

        return give_back

    @contextlib.contextmanager
    def taking(self, client: str) -> Iterator[None]:
        """Have a place for a while; raise `Refusal` if there is none."""
        give_back = self.take(client)
        try:
            yield
        finally:
            give_back()


class StartRate:
    """How fast one client may start things: so many at once, and as many again each minute."""

    def __init__(self, what: str, per_minute: int, most_clients: int = _MOST_CLIENTS) -> None:
        self._kind = Kind(429, f"too-many-{what}", f"Too many {what} in a short time")
        self._detail = f"a client may start {per_minute} {what} in a minute"
        self._per_minute = per_minute
        self._most_clients = most_clients
        #: By client, the one that has not come for longest first.
        self._buckets: OrderedDict[str, AbstractBucket] = OrderedDict()

    def check(self, client: str) -> None:
        """Count a start, or raise `Refusal` if it comes too soon."""
        from pyrate_limiter import RateItem  # here, as it takes 80 ms to import

        bucket = self._bucket(client)
        now: int = bucket.now()  # type: ignore[no-untyped-call]
        decision = cast("Decision", bucket.put_decision(RateItem(client, now)))
        if not decision.allowed:
            seconds = max(1, math.ceil((decision.retry_after_ms or 0) / 1000))
            raise Refusal(self._kind, self._detail, headers={"Retry-After": str(seconds)})

    def _bucket(self, client: str) -> AbstractBucket:
        from pyrate_limiter import Duration, Rate, StateBucket

        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = StateBucket([Rate(self._per_minute, Duration.MINUTE)])
            self._buckets[client] = bucket
            if len(self._buckets) > self._most_clients:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(client)
        return bucket
