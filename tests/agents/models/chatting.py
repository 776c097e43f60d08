"""Asking a scripted server one thing, and whatever came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from agents.models.model import Message, ModelReply, ModelRequest, ReplySchema, Role
from agents.models.openai_chat import OpenAiChat
from agents.models.providers import Provider, Secret
from tests.support.model_server import Asked, ModelServer, Script

KEY = "sk-test-0123456789abcdef"
SCHEMA = ReplySchema(
    "move",
    {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "move": {"type": "string", "enum": ["e2e4", "d2d4"]},
        },
        "required": ["reason", "move"],
        "additionalProperties": False,
    },
)
PLAIN = ModelRequest(
    "test/some/model",
    (Message(Role.SYSTEM, "You play chess."), Message(Role.USER, "Your move?")),
    max_tokens=100,
    timeout=timedelta(seconds=60),
)
STRUCTURED = replace(PLAIN, schema=SCHEMA)
#: A quarter of the characters of what is asked.
PROMPT_TOKENS = 7


@dataclass
class Chat:
    """A client of a scripted server."""

    server: ModelServer
    model: OpenAiChat
    #: What was heard of all replies.
    heard: list[str] = field(default_factory=list)
    #: How often something came that had no words for us.
    signs_of_life: int = 0

    async def ask(self, request: ModelRequest = PLAIN, **changes: Any) -> ModelReply:
        return await self.model.ask(replace(request, **changes), self._hear)

    def _hear(self, words: str) -> None:
        if words:
            self.heard.append(words)
        else:
            self.signs_of_life += 1

    @property
    def requests(self) -> list[Asked]:
        return self.server.requests

    @property
    def forms(self) -> list[str]:
        return [asked.form for asked in self.requests]


@asynccontextmanager
async def chat_with(script: Script, **provider: Any) -> AsyncIterator[Chat]:
    """Serve a script, and give a client of it."""
    async with ModelServer(script) as server:
        settings = {"api_key": Secret(KEY), **provider}
        model = OpenAiChat(Provider("test", server.base_url, **settings))
        try:
            yield Chat(server, model)
        finally:
            await model.aclose()
