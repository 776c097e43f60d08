"""Requests as the operator sees them: each has an id, a line in the log, and an answer.

The answer carries the id as `X-Request-ID`, and what browsers should know for safety.
"""

from __future__ import annotations

import logging
import secrets
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from app.http.errors import INTERNAL, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The id of the request that is being answered; empty outside of requests.
request_id: ContextVar[str] = ContextVar("request_id", default="")

#: Nothing from elsewhere, no frame around it. `/docs` has one of its own.
_CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
}
#: Asked for every few seconds by those who watch over the service.
_QUIET = frozenset(("/healthz", "/readyz", "/metrics"))

_log = logging.getLogger(__name__)


class RequestIds(logging.Filter):
    """Adds `request_id` to every record that is logged while a request is answered."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add it, and let the record pass."""
        if not hasattr(record, "request_id") and (current := request_id.get()):
            record.request_id = current
        return True


class Requests:
    """Middleware, the outermost: names, logs and answers every request, whatever happens in it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        name = secrets.token_hex(8)
        token = request_id.set(name)
        status = 0

        async def mark(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = name
                for key, value in _HEADERS.items():
                    headers.setdefault(key, value)
                if scope["path"].startswith("/api"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self._app(scope, receive, mark)
        except Exception:
            _log.exception("%s failed", _line(scope))
            if status:
                raise  # too late for an answer: the server closes the connection
            answer = problem(INTERNAL, str(INTERNAL.detail), members={"request_id": name})
            await answer(scope, receive, mark)
        finally:
            _note(scope, status, time.perf_counter() - began)
            request_id.reset(token)


def _note(scope: Scope, status: int, seconds: float) -> None:
    level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
    if _log.isEnabledFor(level):
        extra = {"status": status, "duration_ms": round(seconds * 1000, 1)}
        _log.log(level, "%s: %d", _line(scope), status, extra=extra)


def _line(scope: Scope) -> str:
    """Return method and path as they came, without the query."""
    path = scope.get("raw_path") or scope["path"].encode()
    return f"{scope['method']} {path.decode('ascii', 'backslashreplace')}"
