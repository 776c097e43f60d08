"""HTTP as the service speaks it: bounded where uvicorn is not, and with problems for errors.

What is bounded here happens before there is a request that an application could refuse: how many
connections there are, how long a request takes to begin, and how large its headers are.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from app.http.errors import Kind, problem
from app.http.streams import STREAM_KINDS
from app.streaming.errors import FeedClosed
from app.streaming.protocol import AbortableProtocol

if TYPE_CHECKING:
    from fastapi import Response
    from uvicorn._types import (
        ASGI3Application,
        ASGIReceiveCallable,
        ASGISendCallable,
        Scope,
    )
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
    from uvicorn.server import ServerState

_UNREADABLE = Kind(400, "unreadable-request", "The request is not HTTP")
_TOO_LARGE = Kind(431, "headers-too-large", "The headers are too large")
_STOPPING = STREAM_KINDS[FeedClosed]

#: Of the URL and the headers together, in bytes.
MOST_HEADER_BYTES = 65_536
MOST_HEADERS = 200

#: Of each server, the connections without a request; the one that waits longest comes first.
_WAITING: WeakKeyDictionary[ServerState, dict[BoundedProtocol, None]] = WeakKeyDictionary()


class BoundedProtocol(AbortableProtocol):
    """One connection. For `uvicorn.Config(http=...)`, or a subclass of it with other bounds.

    Over the bound of connections, the one goes that has waited longest for a request, if there is
    one: whoever opens connections and is silent keeps nobody out.
    """

    most_connections: ClassVar[int] = 10_000
    #: In seconds: how long a request may take from its first byte to the end of its headers. The
    #: first one has no longer since the connection was made.
    header_seconds: ClassVar[float] = 10.0
    #: In seconds: how long to listen to a client that was refused and is still sending. Else it may
    #: find the connection reset before it has read why.
    linger_seconds: ClassVar[float] = 2.0

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **options)
        self._waiting = _WAITING.setdefault(self.server_state, {})
        self._deadline: asyncio.TimerHandle | None = None
        self._is_refused = False
        self._is_too_large = False
        self._in_headers = False
        self._header_bytes = 0  # of the parts that are complete
        self._bytes_since = 0  # of all that came while headers were incomplete

    # --- connections ---

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or make room, or close at once if there is none."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            longest = next(iter(self._waiting), self)
            longest.transport.abort()
            self._waiting.pop(longest, None)
            if longest is self:
                return
        self._waiting[self] = None
        self._set_deadline(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._waiting.pop(self, None)
        self._unset_deadline()
        self._unset_keepalive_if_required()  # uvicorn forgets it if the connection broke
        super().connection_lost(exc)

    def break_off(self) -> None:
        """End a connection that is too slow to end by itself, unless it can still be answered."""
        if (
            self.cycle is None
            or self.cycle.response_started
            or self.pipeline  # it is not the one that is being answered
            or self.flow.write_paused
        ):
            self.transport.abort()

    def _set_deadline(self, seconds: float) -> None:
        self._unset_deadline()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _unset_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    # --- requests ---

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._is_refused:
            return
        self._bytes_since += len(data)
        super().data_received(data)
        if self._is_refused or self.transport.is_closing():
            return
        if self._in_headers and self._bytes_since > MOST_HEADER_BYTES:
            self._is_too_large = True
            self.send_400_response("")
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._set_deadline(self.header_seconds)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = self._bytes_since = 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the URL."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > MOST_HEADER_BYTES or len(self.headers) >= MOST_HEADERS:
            self._is_too_large = True
            raise ValueError("too many headers")  # which the parser hands on as an error of its own

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        super().on_headers_complete()
        self._in_headers = False
        self._waiting.pop(self, None)
        self._unset_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self.cycle.response_complete and self in self.connections:
            self._waiting[self] = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        super()._start_asgi_task(cycle, _breakable(cycle, app))

    # --- refusals ---

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, as a problem."""
        if self._is_too_large:
            detail = f"URL and headers may have {MOST_HEADER_BYTES} bytes and {MOST_HEADERS} lines"
            answer = _answer(_TOO_LARGE, detail)
        else:
            answer = _answer(_UNREADABLE, "the request cannot be read as HTTP/1.1")
        self._is_refused = True
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            if cycle.response_started or self.pipeline:  # it would be taken for a part of that
                self.transport.abort()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        content = [STATUS_LINE[answer.status_code]]
        for name, value in (*self.server_state.default_headers, *answer.raw_headers):
            content += name, b": ", value, b"\r\n"
        self.transport.write(b"".join((*content, b"\r\n", answer.body)))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._set_deadline(self.linger_seconds)


def _answer(kind: Kind, detail: str) -> Response:
    """Return an answer that no application has seen."""
    headers = {
        "Connection": "close",
        "X-Content-Type-Options": "nosniff",
        "X-Request-ID": secrets.token_hex(8),
    }
    return problem(kind, detail, headers=headers)


def _breakable(cycle: RequestResponseCycle, app: ASGI3Application) -> ASGI3Application:
    """Return an application that ends in good order when the server cancels it."""

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if cycle.response_started or cycle.transport.is_closing():
                cycle.transport.abort()
                cycle.disconnected = True
            else:
                stopping = _answer(_STOPPING, "the service stops, and did not come to an answer")
                await stopping(scope, receive, send)  # type: ignore[arg-type]

    return answer
