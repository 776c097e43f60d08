"""OpenAiChat: models over the chat completions protocol, as OpenAI and many others speak it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import fields, replace
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agents.models.answers import ErrorAnswer
from agents.models.dialects import Dialect
from agents.models.errors import (
    BrokenReply,
    ConnectionLost,
    ModelError,
    ModelNotConfigured,
    ProviderFault,
    ProviderSilent,
    mark_unsent,
)
from agents.models.event_stream import MAX_EVENT_BYTES, Event, EventStream, EventTooLarge
from agents.models.model import Again, Heard, ModelReply, ModelRequest, at_once
from agents.models.pace import Pace
from agents.models.partial_reply import MalformedChunk, PartialReply
from agents.models.providers import Provider
from agents.models.secrecy import Overheard

if TYPE_CHECKING:
    import httpx

    from agents.models.openai_client import OpenAiClient

#: How long the usage may take that follows a reply, and the end of an answer that is over: a
#: connection whose answer was read to the end can be used again.
_USAGE_LINGER = 5.0
_END_LINGER = 0.1
#: Who has said nothing for so long when time is short is taken to have fallen silent; in seconds.
_STALL = 1.0


class OpenAiChat:
    """The models of one provider. One event loop uses it; `aclose` ends it."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._client: OpenAiClient | None = None
        #: What has worked, by model.
        self._dialects: dict[str, Dialect] = {}

    async def aclose(self) -> None:
        """Close every connection. Safe to call twice."""
        if self._client is not None:
            await self._client.close()

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        """Return the reply to one request; it is made again only where the server cannot read it.

        What `again` takes is no part of the request's time. Raises `ModelError`, which has in
        `usage` what was spent for nothing.
        """
        try:
            client = await self._ready(request)
        except asyncio.CancelledError as error:
            mark_unsent(error)
            raise
        exchange = _Exchange(client, request, heard)
        try:
            return await self._understood(exchange, request, again)
        except asyncio.CancelledError as error:
            if not client.has_sent:
                mark_unsent(error)
            raise

    async def _understood(
        self, exchange: _Exchange, request: ModelRequest, again: Again
    ) -> ModelReply:
        """Return the reply to a request, in the first words that the server can read."""
        model = request.model.partition("/")[2]
        dialect = self._dialects.get(model) or Dialect.hoped_for(self.provider)
        unnamed: ErrorAnswer | None = None
        while True:
            body = dialect.body(request, model, include_usage=self.provider.include_usage)
            try:
                reply = await exchange.run(body, dialect)
            except ErrorAnswer as answer:
                easier, is_named = dialect.after(answer, body)
                if not is_named and unnamed is None:
                    unnamed = answer
                if easier is None or exchange.partial.has_begun:
                    # If nothing helped, the first complaint that we did not understand is the one.
                    raise exchange.failed(unnamed or answer) from None
                dialect = easier
                await exchange.wait(again)
            else:
                self._dialects[model] = dialect
                return reply

    async def _ready(self, request: ModelRequest) -> OpenAiClient:
        if not request.model.partition("/")[2]:
            raise ModelNotConfigured(request.model, "its name is not `provider/model`")
        if self._client is None:
            await warm()
            from agents.models.openai_client import OpenAiClient

            try:
                self._client = self._client or OpenAiClient(self.provider)
            except (ValueError, ImportError):
                # The text may hold the proxy's password.
                reason = "the proxy or the certificates of the environment cannot be used"
                raise ModelNotConfigured(request.model, reason) from None
        return self._client


async def warm() -> None:
    """Import the client's library, which takes a second, where it keeps nobody waiting."""
    await asyncio.to_thread(import_module, "agents.models.openai_client")


class _Exchange:
    """One request under way, in whatever words it is made, until its time is over."""

    def __init__(self, client: OpenAiClient, request: ModelRequest, heard: Heard) -> None:
        self.partial = PartialReply(0)
        self._client = client
        self._provider = client.provider
        self._request = request
        self._overheard = Overheard(self._provider.secrets, heard)
        self._loop = asyncio.get_running_loop()
        self._began_at = self._loop.time()
        self._whole_at: float | None = None

    async def run(self, body: Mapping[str, Any], dialect: Dialect) -> ModelReply:
        """Send a request once, and return the reply; raises `ErrorAnswer` or a `ModelError`."""
        self.partial = partial = PartialReply(sum(len(m["content"]) for m in body["messages"]))
        patience = self._request.timeout
        try:
            async with (
                asyncio.timeout_at(self._began_at + patience.total_seconds()) as limit,
                asyncio.timeout_at(self._silent_at) as stall,
            ):
                response = await self._client.answer(body)
                try:
                    await self._read(response, limit, stall)
                except ConnectionLost as lost:
                    if not partial.is_whole:
                        lost.usage = partial.usage_so_far  # words may have been under way
                        raise
                finally:
                    await response.aclose()
        except TimeoutError:
            if not limit.expired() and not stall.expired():
                raise  # whoever hears has failed, not the provider
            if not partial.is_whole:
                raise self._silent(is_hurried=not limit.expired()) from None
        except ProviderFault as fault:
            raise self._charged(fault) from None
        self._overheard.end()
        ended_at = self._whole_at or self._loop.time()
        latency = timedelta(seconds=ended_at - self._began_at)
        return self._without_secrets(partial.reply(latency, dialect.form_of(self._request)))

    async def wait(self, again: Again) -> None:
        """Wait until it may be sent once more; meanwhile its time stands still."""
        since = self._loop.time()
        await again()
        self._began_at += self._loop.time() - since

    def failed(self, answer: ErrorAnswer) -> ModelError:
        """Return the typed error for an answer that was one."""
        return self._charged(answer.error(self._provider))

    def _without_secrets(self, reply: ModelReply) -> ModelReply:
        """Return a reply that can be stored and shown: a server knows the key, and may say it."""
        texts: dict[str, Any] = {
            each.name: self._provider.without_secrets(told)
            for each in fields(reply)
            if type(told := getattr(reply, each.name)) is str
        }
        return replace(reply, **texts)

    @property
    def _silent_at(self) -> float | None:
        """When it is too late for a server that says nothing, if that is before all is over."""
        silence = self._request.silence
        if silence is None or silence >= self._request.timeout:
            return None
        return self._began_at + silence.total_seconds()

    async def _read(
        self, response: httpx.Response, limit: asyncio.Timeout, stall: asyncio.Timeout
    ) -> None:
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type == "application/json":
            await self._read_at_once(response)
        elif content_type == "text/html":
            raise self._broken("a page of HTML")
        else:
            is_stream = content_type == "text/event-stream"  # not everybody says so
            await self._read_events(response, limit, stall, is_stream=is_stream)

    async def _read_events(
        self,
        response: httpx.Response,
        limit: asyncio.Timeout,
        stall: asyncio.Timeout,
        *,
        is_stream: bool,
    ) -> None:
        stream = EventStream()
        pace = Pace()
        async with aclosing(self._client.pieces(response)) as pieces:
            async for piece in pieces:
                if self.partial.is_done:
                    continue  # what comes after the end is read, and that is all
                self._take(self._events(stream, piece))
                if self.partial.is_cut_off:
                    return
                if self.partial.is_whole:
                    self._hurry(limit)
                else:
                    self._note_life(stall)
                    await pace.keep(len(piece))
        self._take(stream.end())
        if not self.partial.has_begun and not is_stream:
            raise self._broken("not a stream of events")
        if not self.partial.is_whole:
            raise ConnectionLost(self._provider.name, "the reply ended in the middle")

    async def _read_at_once(self, response: httpx.Response) -> None:
        """Read an answer of a server that does not stream."""
        body = bytearray()
        async with aclosing(self._client.pieces(response)) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > MAX_EVENT_BYTES:
                    raise self._broken("it is larger than any reply")
        self._take([Event("data", body.decode("utf-8", "replace"))])
        if not self.partial.has_choices:
            raise self._broken("there are no choices")
        self.partial.is_done = True

    def _events(self, stream: EventStream, piece: bytes) -> list[Event]:
        try:
            return stream.feed(piece)
        except EventTooLarge:
            raise self._broken("an event is larger than any reply") from None

    def _take(self, events: list[Event]) -> None:
        """Take events in, and pass on what is said in them."""
        for event in events:
            if self.partial.is_done or self.partial.is_cut_off:
                return
            if event.kind == "error":
                raise ErrorAnswer.in_stream(_json_or_text(event.data))
            try:
                words = self.partial.take(event.data)
            except MalformedChunk as error:
                raise self._broken(str(error)) from None
            self._overheard.feed(words)

    def _note_life(self, stall: asyncio.Timeout) -> None:
        """Let a server go on that speaks: then it is the player's own time."""
        if self._silent_at is not None and not stall.expired():
            stall.reschedule(max(self._silent_at, self._loop.time() + _STALL))

    def _hurry(self, limit: asyncio.Timeout) -> None:
        """Wait no longer than is worth it for what follows a reply."""
        now = self._loop.time()
        if self._whole_at is None:
            self._whole_at = now
        linger = _END_LINGER if self.partial.is_done else _USAGE_LINGER
        deadline = limit.when()
        if deadline is not None and not limit.expired():
            limit.reschedule(min(deadline, now + linger))

    def _silent(self, *, is_hurried: bool) -> ProviderSilent:
        request = self._request
        after = (request.silence if is_hurried else None) or request.timeout
        fault = ProviderSilent(self._provider.name, after)
        fault.is_hurried = is_hurried
        if self._client.has_sent:  # it may be at work, and bill it
            fault.usage = self.partial.usage_so_far
            fault.may_be_thinking = not self.partial.has_begun
        return fault

    def _broken(self, detail: str) -> BrokenReply:
        return BrokenReply(self._provider.name, detail)

    def _charged(self, error: ModelError) -> ModelError:
        """Return an error that knows what was spent before it."""
        if error.usage is not None or self.partial.has_begun:
            error.usage = self.partial.usage_so_far
        return error


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
