"""OpenAiClient: the `openai` package's client, kept to one provider and to bounded memory.

Only `openai_chat` imports this, and late: the package takes a second to import.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, AsyncStream, Omit

from agents.models.answers import ErrorAnswer
from agents.models.errors import BrokenReply, ConnectionLost, ProviderSilent
from agents.models.model import Usage
from agents.models.providers import Provider

#: How much of an answer that is an error is looked at.
_MAX_ERROR_BYTES = 64 * 1024
_MAX_DETAIL = 200
#: How soon it shows that there is nobody at the end of a kept connection; in seconds.
_AT_ONCE = 1.0
#: All that a lost connection may look like; the last two slip through where TLS ends rudely.
_LOST = (httpx.RequestError, httpx.StreamError, ssl.SSLError, anyio.EndOfStream)
#: What the end of a connection looks like to a request that has no answer yet.
_CLOSED = (httpx.NetworkError, httpx.RemoteProtocolError)
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=30)


class OpenAiClient(AsyncOpenAI):
    """Sends chat completions to a provider, and gives back the answer before its body is read."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        key = provider.api_key.reveal() if provider.api_key else ""
        self._own_headers: dict[str, str | Omit] = {
            "Accept": "text/event-stream, application/json",
            # A compressed answer could grow without bound when it is unpacked.
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "kibitz",
            **provider.headers,
        }
        has_own_authorization = any(name.lower() == "authorization" for name in provider.headers)
        self._own_options: dict[str, Any] = {}
        if not key and not has_own_authorization:
            self._own_options["headers"] = {"Authorization": Omit()}
        super().__init__(
            api_key=key or "none",  # never sent; without one, the package takes OpenAI's own
            base_url=provider.base_url,
            max_retries=0,
            # Whoever asks has an eye on the time; only they know how much there is.
            timeout=cast(
                Any, httpx.Timeout(None, connect=provider.connect_timeout.total_seconds())
            ),
            # With httpx itself the client works under every version of the package that we take.
            http_client=cast(Any, _http_client(provider)),
        )

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        """What is sent; nothing that the package finds in OPENAI_* variables of the environment."""
        return self._own_headers

    async def answer(self, body: Mapping[str, Any]) -> httpx.Response:
        """Return the answer to a chat completion, of which the body has not been read yet.

        Raises `ErrorAnswer` or a `ModelError`. A connection that is lost once the request was sent
        is one that may be billed: then `usage` is not None.
        """
        response = None
        _latest.set(None)
        while response is None:
            response = await self._sent(body)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise BrokenReply(self.provider.name, "it is compressed, which nobody asked for")
        return response

    @property
    def has_sent(self) -> bool:
        """Whether any of what the task asked last went out to the provider."""
        steps = _latest.get()
        return steps is not None and steps.has_sent

    async def _sent(self, body: Mapping[str, Any]) -> httpx.Response | None:
        """Return the answer; None if there was nobody any more at the end of a kept connection.

        Servers close those when they like, and llama.cpp's does so after each stream, though it
        promises not to. Each such connection is gone then, so that in the end there is a new one.
        One that ends later may have been at work on the request, and bill it.
        """
        began = time.monotonic()
        try:
            # The package's own stream makes a pydantic object of every chunk, which costs 12 ms of
            # CPU for a reply of 60 tokens. The bare response costs nothing, and bounds its memory.
            response = await self.post(
                "/chat/completions",
                body=body,
                cast_to=cast(Any, httpx.Response),
                options=cast(Any, self._own_options),
                stream=True,
                stream_cls=AsyncStream[Any],
            )
        except APITimeoutError:
            # The only time that the client itself is told to keep: nothing was sent yet.
            raise ProviderSilent(self.provider.name, self.provider.connect_timeout) from None
        except APIConnectionError as error:
            cause, steps = error.__cause__ or error, _Steps.of(cast(Any, error.request))
            is_at_once = time.monotonic() - began < _AT_ONCE
            if is_at_once and isinstance(cause, _CLOSED) and steps.used_kept_connection:
                return None
            lost = self.lost(cause)
            if steps.has_sent:
                lost.usage = Usage(is_estimated=True)
            raise lost from None
        return cast(httpx.Response, response)

    async def pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Give the body of an answer as it comes; raises `ConnectionLost`."""
        try:
            async for piece in response.aiter_raw():
                yield piece
        except _LOST as error:
            raise self.lost(error) from None

    def lost(self, error: BaseException) -> ConnectionLost:
        """Return what a fault of the connection means."""
        detail = self.provider.without_secrets(str(error)) or type(error).__name__
        return ConnectionLost(self.provider.name, detail[:_MAX_DETAIL])


def _http_client(provider: Provider) -> httpx.AsyncClient:
    """Return a client that goes through the environment's proxies, but to this machine itself."""
    hooks: dict[str, list[Callable[..., Any]]] = {
        "request": [_Steps.watch],
        "response": [_raise_error_answer],
    }
    if not provider.is_on_loopback:
        return httpx.AsyncClient(limits=_LIMITS, event_hooks=hooks)
    is_plain = urlsplit(provider.base_url).scheme == "http"
    # Reading the authorities takes 20 ms, and without TLS it is for nothing: trust nobody then.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx.create_ssl_context()
    return httpx.AsyncClient(limits=_LIMITS, event_hooks=hooks, verify=verify, trust_env=False)


_SENDS = "http11.send_request_headers.started"
#: Of the request that was made last, by whoever asks.
_latest: ContextVar[_Steps | None] = ContextVar("latest", default=None)


class _Steps:
    """By which steps a request was made, as httpx tells: how it began, and if it was sent."""

    def __init__(self) -> None:
        self._first = ""
        #: Whether any of it went out, so that the provider may be at work on it.
        self.has_sent = False

    async def __call__(self, step: str, told: Mapping[str, Any]) -> None:
        self._first = self._first or step
        # A proxy is asked for a way to the provider first, and that is free.
        if step == _SENDS and told["request"].method != b"CONNECT":
            self.has_sent = True

    @property
    def used_kept_connection(self) -> bool:
        """Whether it was sent without any ado, such as connecting to the host or to a proxy."""
        return self._first == _SENDS

    @classmethod
    def of(cls, request: httpx.Request) -> _Steps:
        """Return those of a request."""
        return cast(_Steps, request.extensions.get("trace")) or cls()

    @classmethod
    async def watch(cls, request: httpx.Request) -> None:
        """Have those of a request known."""
        request.extensions["trace"] = steps = cls()
        _latest.set(steps)


async def _raise_error_answer(response: httpx.Response) -> None:
    """Read no more of an error than is of use: the package would read it all, however long."""
    if response.is_success:
        return
    body = bytearray()
    with suppress(*_LOST):  # that it is an error is known, however much of it comes
        async for piece in response.aiter_raw():
            body += piece
            if len(body) >= _MAX_ERROR_BYTES:
                break
    raise ErrorAnswer.over_http(
        response.status_code, response.headers, bytes(body[:_MAX_ERROR_BYTES])
    )
