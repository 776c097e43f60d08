"""Model: the port to a language model. A request goes in, a reply comes out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol


class Role(StrEnum):
    """Who says a message of a conversation."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class ReplySchema:
    """The JSON that is asked for: a strict JSON schema, with a name of letters and underscores."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """What a model is asked. Two requests with the same digest ask the same.

    The times are how long to wait, and no part of what is asked; nor is that it was asked before.
    """

    #: As `provider/model`, such as `openai/gpt-5-mini`.
    model: str
    messages: tuple[Message, ...]
    #: The most that it may write, hidden reasoning included.
    max_tokens: int
    schema: ReplySchema | None = None
    temperature: float | None = None
    #: How hard to think, where a model can be told: `low`, `medium`, `high`, ...
    effort: str | None = None
    seed: int | None = None
    #: Which of several samples of the same question this is.
    sample: int = 0
    #: How long the whole reply may take.
    timeout: timedelta = timedelta(minutes=2)
    #: How long until the server begins to answer at all; None: as long as the whole may take.
    silence: timedelta | None = None
    #: Whether the same was asked in this turn before, and came to nothing.
    is_again: bool = False

    @cached_property
    def content(self) -> dict[str, Any]:
        """What is asked, as plain data."""
        return {
            "model": self.model,
            "messages": [{"role": m.role.value, "content": m.content} for m in self.messages],
            "max_tokens": self.max_tokens,
            "schema": None
            if self.schema is None
            else {"name": self.schema.name, "schema": dict(self.schema.schema)},
            "temperature": self.temperature,
            "effort": self.effort,
            "seed": self.seed,
            "sample": self.sample,
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is asked."""
        return digest_of(self.content)


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of what is asked, given as plain data."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Usage:
    """What a reply took. Cached tokens are among the prompt's, reasoning among the completion's."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    completion_tokens: int = 0
    #: What the provider says that it cost, if it does.
    cost_usd: Decimal | None = None
    #: Whether nobody counted, and we had to guess.
    is_estimated: bool = False

    @property
    def tokens(self) -> int:
        """All that were read and written."""
        return self.prompt_tokens + self.completion_tokens


class ReplyForm(StrEnum):
    """How a reply was asked to be written: the rungs of a ladder, the strictest first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


@dataclass(frozen=True)
class ModelReply:
    """What a model said, whole."""

    text: str
    usage: Usage
    latency: timedelta
    #: `stop`, `length`, `content_filter`, ... as the provider says it.
    finish_reason: str = "stop"
    #: Why it would not answer, where the provider says so apart from the text.
    refusal: str = ""
    #: The name by which the provider calls what answered.
    model: str = ""
    form: ReplyForm = ReplyForm.TEXT


#: Called with the words of a reply as they arrive, and with none when there are only thoughts yet.
Heard = Callable[[str], None]
#: Awaited before one more request is sent for the same reply.
Again = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Let one more request be sent."""


class Model(Protocol):
    """Whoever answers requests."""

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        """Return the reply to one request, made once: nothing is tried again here.

        Only where a server cannot read it, it is made in other words, when `again` has returned.
        Raises `ModelError`.
        """
