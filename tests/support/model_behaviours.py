"""What a model server can do with a request: good behaviour, and bad."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import StrEnum
from typing import Any

from tests.support.model_wire import Asked, Behaviour, Wire

# --- good behaviour ---


@dataclass(frozen=True)
class Says:
    """Stream a reply: in so many pieces, after a delay, with so long a pause between pieces."""

    content: str
    pieces: int = 4
    #: None: 10 tokens for the prompt, and one for each word.
    usage: Mapping[str, Any] | None = None
    tells_usage: bool = True
    finish_reason: str | None = "stop"
    #: Thoughts that come before, under this name.
    thoughts: str = ""
    thoughts_name: str = "reasoning_content"
    refusal: str = ""
    is_done: bool = True
    delay: timedelta = timedelta()
    pause: timedelta = timedelta()

    async def answer(self, wire: Wire) -> None:
        """Stream it."""
        if self.delay:
            await asyncio.sleep(self.delay.total_seconds())
        await wire.head()
        await wire.delta(role="assistant", content="")
        if self.thoughts:
            await wire.delta(**{self.thoughts_name: self.thoughts})
        for piece in _split(self.content, self.pieces):
            await wire.delta(content=piece)
            if self.pause:
                await asyncio.sleep(self.pause.total_seconds())
        if self.refusal:
            await wire.delta(refusal=self.refusal)
        if self.finish_reason:
            await wire.delta(self.finish_reason)
        if self.tells_usage and wire.asked.body.get("stream_options"):
            await wire.event(wire.chunk(choices=[], usage=self._usage()))
        if self.is_done:
            await wire.event("[DONE]")
        await wire.end()

    def _usage(self) -> Mapping[str, Any]:
        if self.usage is not None:
            return self.usage
        written = len(self.content.split())
        return {"prompt_tokens": 10, "completion_tokens": written, "total_tokens": 10 + written}


@dataclass(frozen=True)
class AnswersSchema:
    """Reply with JSON that follows the schema of the request, or with what a function makes.

    By default every enum takes its first value, and every text is "because". Without a schema the
    reply is `default`.
    """

    choose: Callable[[Asked], object] | None = None
    default: str = "{}"
    delay: timedelta = timedelta()
    usage: Mapping[str, Any] | None = None

    async def answer(self, wire: Wire) -> None:
        """Stream it."""
        if self.choose is not None:
            text = json.dumps(self.choose(wire.asked))
        elif wire.asked.schema is not None:
            text = json.dumps(_example(wire.asked.schema))
        else:
            text = self.default
        await Says(text, usage=self.usage, delay=self.delay).answer(wire)


@dataclass(frozen=True)
class SaysAtOnce:
    """Reply with one JSON object, as servers do that ignore `stream`."""

    content: str | None
    finish_reason: str = "stop"
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 3, "completion_tokens": 2}
    )

    async def answer(self, wire: Wire) -> None:
        """Write it."""
        message = {"role": "assistant", "content": self.content, "tool_calls": [{"id": "x"}]}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        body = wire.chunk(object="chat.completion", choices=[choice], usage=self.usage)
        await wire.whole(200, json.dumps(body).encode())


EMPTY = Says("", finish_reason="stop")
FILTERED = Says("Well, ", finish_reason="content_filter")
REFUSES = Says("", refusal="I will not play chess.")


# --- bad behaviour ---


@dataclass(frozen=True)
class Fails:
    """Answer with a status, and an error as OpenAI writes it."""

    status: int
    message: str = "something is wrong"
    code: str | int | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: In place of all that: any JSON.
    body: object = None

    async def answer(self, wire: Wire) -> None:
        """Write it."""
        error = {"message": self.message, "type": "x", "param": self.param, "code": self.code}
        body = json.dumps({"error": error} if self.body is None else self.body)
        await wire.whole(self.status, body.encode(), headers=self.headers)


def rate_limited(after: timedelta | None = None, *, as_date: bool = False) -> Fails:
    """Return a 429, with a `Retry-After` in seconds or as a date."""
    headers = {}
    if after is not None:
        date = format_datetime(datetime.now(UTC) + after, usegmt=True)
        headers["Retry-After"] = date if as_date else f"{after.total_seconds():g}"
    return Fails(429, "slow down", "rate_limit_exceeded", headers=headers)


@dataclass(frozen=True)
class Refuses:
    """Answer 400 to requests with some parameters, naming the parameter, and pass the others on.

    A parameter may be `response_format`, or a form of it, such as `json_schema`.
    """

    parameters: tuple[str, ...]
    then: Behaviour
    status: int = 400
    #: Whether the parameter is named; else the message says nothing.
    is_named: bool = True

    async def answer(self, wire: Wire) -> None:
        """Write it."""
        asked = wire.asked
        for name in self.parameters:
            if name in asked.body or name == asked.form:
                param = name if name in asked.body else "response_format"
                refusal = Fails(
                    self.status,
                    f"Unsupported parameter: '{name}'" if self.is_named else "bad request",
                    "unsupported_parameter" if self.is_named else None,
                    param if self.is_named else None,
                )
                await refusal.answer(wire)
                return
        await self.then.answer(wire)


class Moment(StrEnum):
    """When something happens to an answer."""

    BEFORE_HEADERS = "before_headers"
    AFTER_HEADERS = "after_headers"
    MID_STREAM = "mid_stream"
    #: All was said, but neither usage nor end has come.
    AFTER_FINISH = "after_finish"
    #: `[DONE]` has come, but the body does not end.
    AFTER_DONE = "after_done"


async def _up_to(wire: Wire, moment: Moment, content: str) -> None:
    if moment is Moment.BEFORE_HEADERS:
        return
    await wire.head()
    if moment is Moment.AFTER_HEADERS:
        return
    await wire.delta(role="assistant", content=content)
    if moment is Moment.MID_STREAM:
        return
    await wire.delta("stop")
    if moment is Moment.AFTER_DONE:
        await wire.event("[DONE]")


@dataclass(frozen=True)
class Hangs:
    """Say nothing more from some moment on, until the client gives up or the server closes."""

    when: Moment = Moment.BEFORE_HEADERS
    content: str = "I think"

    async def answer(self, wire: Wire) -> None:
        """Hang."""
        await _up_to(wire, self.when, self.content)
        await asyncio.Event().wait()


@dataclass(frozen=True)
class Cuts:
    """Cut the connection at some moment: rudely, or as if the body simply had no end."""

    when: Moment = Moment.MID_STREAM
    content: str = "I think"
    is_rude: bool = False

    async def answer(self, wire: Wire) -> None:
        """Cut it."""
        await _up_to(wire, self.when, self.content)
        if self.is_rude:
            wire.cut()


@dataclass(frozen=True)
class Streams:
    """Write pieces as they are into a stream that ends well: whatever else can be wrong."""

    pieces: tuple[bytes, ...]
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, wire: Wire) -> None:
        """Write them."""
        await wire.head(200, self.content_type, self.headers)
        for piece in self.pieces:
            await wire.piece(piece)
        await wire.end()


def streams(*events: object, content_type: str = "text/event-stream") -> Streams:
    """Return a stream of events: texts as they are, anything else as JSON."""
    texts = (each if isinstance(each, str) else json.dumps(each) for each in events)
    return Streams(tuple(f"data: {text}\n\n".encode() for text in texts), content_type)


@dataclass(frozen=True)
class FailsInStream:
    """Say something, and then that there is an error, as OpenRouter does."""

    code: int | str | None
    message: str = "Provider returned error"
    content: str = ""

    async def answer(self, wire: Wire) -> None:
        """Write it."""
        await wire.head()
        if self.content:
            await wire.delta(content=self.content)
        error = {"code": self.code, "message": self.message}
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        await wire.event(wire.chunk(error=error, choices=[choice]))
        await wire.end()


@dataclass(frozen=True)
class Floods:
    """Write without end until the client has had enough: many pieces, or one line of them."""

    as_one_line: bool = False
    #: Of an answer that is an error.
    status: int = 200
    content_type: str = "text/event-stream"
    piece: str = "x" * 20_000

    async def answer(self, wire: Wire) -> None:
        """Write it."""
        await wire.head(self.status, self.content_type)
        if self.as_one_line:
            await wire.piece(b'data: {"choices":[{"delta":{"content":"')
        while True:
            if self.as_one_line:
                await wire.piece(self.piece.encode())
            else:
                await wire.delta(content=self.piece)


BROKEN_JSON = streams({"choices": [{"delta": {"content": "Let me"}}]}, '{"choices":[{"delta":')
HTML = Streams((b"<html><body>Please log in</body></html>",), "text/html; charset=utf-8")


def _split(text: str, pieces: int) -> list[str]:
    size = max(math.ceil(len(text) / max(pieces, 1)), 1)
    return [text[start : start + size] for start in range(0, len(text), size)]


def _example(schema: Mapping[str, Any]) -> object:
    """Return the simplest JSON that follows a schema of the simple kind that we ask with."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return {name: _example(each) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [_example(schema["items"])] * schema.get("minItems", 1)
    examples: dict[object, object] = {"string": "because", "integer": 1, "number": 1.0}
    return examples.get(kind, False if kind == "boolean" else None)
