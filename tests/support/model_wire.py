"""What comes to a model server, and the connection over which it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

#: Served under the name that was asked for, dated, as providers do.
_SUFFIX = "-2026"


@dataclass(frozen=True)
class Asked:
    """One request that came."""

    method: str
    path: str
    #: By name in lower case.
    headers: Mapping[str, str]
    #: The JSON of it.
    body: Mapping[str, Any]
    #: Over which connection it came; the first is 0.
    connection: int = 0

    @property
    def form(self) -> str:
        """How the reply is wanted: `json_schema`, `json_object` or `text`."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema, where one came apart from the words."""
        described = self.body.get("response_format", {}).get("json_schema", {})
        schema: Mapping[str, Any] | None = described.get("schema")
        return schema

    @property
    def prompt(self) -> str:
        """All that was said, on lines of their own."""
        return "\n".join(message["content"] for message in self.body.get("messages", []))

    def enum(self, name: str) -> list[str]:
        """Return the values that the schema allows for a property, wherever it is within."""
        return _enum(self.schema or {}, name)


class Wire:
    """The connection over which one answer is written."""

    def __init__(self, writer: asyncio.StreamWriter, asked: Asked) -> None:
        self._writer = writer
        self._is_chunked = False
        self.asked = asked
        self.is_over = False

    async def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def head(
        self,
        status: int = 200,
        content_type: str = "text/event-stream",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Begin an answer whose body comes in pieces."""
        self._is_chunked = True
        lines = {"content-type": content_type, "transfer-encoding": "chunked", **(headers or {})}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.send(f"HTTP/1.1 {status} Status\r\n{text}\r\n".encode("latin-1"))

    async def piece(self, data: bytes) -> None:
        """Write a piece of the body."""
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(self, data: object) -> None:
        """Write one server-sent event: a text as it is, anything else as JSON."""
        text = data if isinstance(data, str) else json.dumps(data)
        await self.piece(f"data: {text}\n\n".encode())

    async def delta(self, finish_reason: str | None = None, **delta: Any) -> None:
        """Write one chunk of a reply."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        await self.event(self.chunk(choices=[choice]))

    def chunk(self, **fields: Any) -> dict[str, Any]:
        """Return a chunk of a reply."""
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": f"{self.asked.body.get('model')}{_SUFFIX}",
            **fields,
        }

    async def end(self) -> None:
        """End the body; the connection can be used again."""
        await self.send(b"0\r\n\r\n")
        self.is_over = True

    async def whole(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Write a whole answer."""
        await self.head(status, content_type, headers)
        await self.piece(body)
        await self.end()

    def cut(self) -> None:
        """Cut the connection rudely."""
        self._writer.transport.abort()


class Behaviour(Protocol):
    """What the server does with a request."""

    async def answer(self, wire: Wire) -> None:
        """Answer `wire.asked`. The connection is closed after it unless the answer was ended."""


def _enum(schema: object, name: str) -> list[str]:
    if isinstance(schema, Mapping):
        described = schema.get("properties", {})
        if isinstance(described, Mapping) and "enum" in (found := described.get(name, {})):
            return list(found["enum"])
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            if values := _enum(each, name):
                return values
    return []
