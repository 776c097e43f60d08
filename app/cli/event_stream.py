"""Event stream: reading server-sent events from the service, and going on where they broke off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.errors import AppError

if TYPE_CHECKING:
    import httpx

#: In seconds. The service says something at least every 15.
SILENCE = 45.0
#: In seconds: how long to wait before connecting again, twice as long each time, and how often.
FIRST_PAUSE = 0.2
TRIES = 6

LAST = "match.ended"


class StreamBroken(AppError):
    """The stream broke off, and cannot be resumed."""


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event as it was sent."""

    id: str
    type: str
    data: dict[str, Any]


class SseParser:
    """Takes in bytes as they come, and gives out whole events.

    Lines end as the standard has it, and not with all that Python takes for an end of line.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._type = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[SentEvent]:
        """Return the events that are complete now."""
        text = self._rest + piece
        held = b"\r" if text.endswith(b"\r") else b""  # perhaps half of an end of line
        lines = text.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        return [event for line in lines if (event := self._take(line.decode("utf-8", "replace")))]

    def _take(self, line: str) -> SentEvent | None:
        if not line:
            return self._finish()
        name, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id":
            self._id = value
        return None  # others, and comments, which have no name, say nothing to us

    def _finish(self) -> SentEvent | None:
        kind, data = self._type, self._data
        self._type, self._data = "", []
        return SentEvent(self._id, kind, json.loads("\n".join(data))) if data else None


async def watch(client: httpx.AsyncClient, path: str) -> AsyncIterator[SentEvent]:
    """Give every event of a match from its first to `match.ended`, none twice.

    A stream that breaks off is resumed. Raises `StreamBroken`.
    """
    import httpx

    last, tries = "0", 0
    while True:
        try:
            async for event in _connect(client, path, last):
                tries = 0
                last = event.id or last
                yield event
                if event.type == LAST:
                    return
            problem = "it ended too early"
        except httpx.TransportError as error:
            problem = str(error) or type(error).__name__
        tries += 1
        if tries > TRIES:
            raise StreamBroken(f"the stream of the match broke off: {problem}")
        await asyncio.sleep(FIRST_PAUSE * 2 ** (tries - 1))


async def _connect(client: httpx.AsyncClient, path: str, last: str) -> AsyncIterator[SentEvent]:
    """Give the events after one, until the connection ends."""
    headers = {"Accept": "text/event-stream", "Last-Event-ID": last}
    parser = SseParser()
    async with client.stream("GET", path, headers=headers, timeout=SILENCE) as response:
        if response.is_server_error or response.status_code == 429:
            return  # later, perhaps
        if not response.is_success:
            raise StreamBroken(f"the service does not let us watch: {response.status_code}")
        async for piece in response.aiter_raw():
            for event in parser.feed(piece):
                yield event
