"""Watchers that do not give up: each reads a log to its end, over as many crashes as there are."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

#: What a client meets when a process dies: no connection, or the end in the middle of something.
LOST = (OSError, asyncio.IncompleteReadError)


class Bell:
    """Wakes those who wait for something to become true."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        #: How often it was rung.
        self.count = 0

    def ring(self) -> None:
        """Have everyone look again."""
        self.count += 1
        self._rung.set()

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so."""
        while not is_so():
            self._rung.clear()
            await self._rung.wait()


class Place:
    """Where the service is just now, if it is."""

    def __init__(self) -> None:
        self._up = asyncio.Event()
        self._port = 0

    def is_at(self, port: int) -> None:
        """Tell everyone that it is there."""
        self._port = port
        self._up.set()

    def is_gone(self) -> None:
        """Have everyone wait for the next."""
        self._up.clear()

    async def port(self) -> int:
        """Wait until it is somewhere."""
        await self._up.wait()
        return self._port


@dataclass(frozen=True)
class Seen:
    """One event, as it came: the data are bytes."""

    id: int
    type: str
    data: bytes


@dataclass
class Watcher:
    """Follows a log: of a match, or of all of them; from its start, or from a state on."""

    path: str
    place: Place
    bell: Bell
    is_ndjson: bool = False
    #: The first thing is a state, and not the first event.
    wants_state: bool = False
    events: list[Seen] = field(default_factory=list)
    states: list[Seen] = field(default_factory=list)
    #: How often a stream broke off, and how often it was ended in good order before the log was.
    broken: int = 0
    ended: int = 0
    is_over: bool = False

    @property
    def last(self) -> int:
        """The last event that it knows of."""
        return (self.events or self.states)[-1].id if self.events or self.states else 0

    async def run(self) -> None:
        """Watch until the log is over. Whatever a server should not do fails the test."""
        while not self.is_over:
            port = await self.place.port()
            try:
                await self._watch(port)
            except LOST:
                self.broken += 1
            await asyncio.sleep(0)

    async def _watch(self, port: int) -> None:
        first = self.wants_state and not self.states
        headers = {} if first else {"Last-Event-ID": str(self.last)}
        headers["Accept"] = "application/x-ndjson" if self.is_ndjson else "text/event-stream"
        async with _get(port, self.path, headers) as (status, reader):
            if status == 204:  # it is over, and we have it all
                self.is_over = True
                self.bell.ring()
                return
            if status == 503:  # it is about to stop
                return
            assert status == 200, f"{status} for {self.path} after {self.last}"
            async for part in _parts(reader, b"\n" if self.is_ndjson else b"\n\n"):
                self._take(part)
        self.is_over = bool(self.events) and self.events[-1].type == "match.ended"
        self.ended += not self.is_over
        self.bell.ring()

    def _take(self, part: bytes) -> None:
        seen = _from_line(part) if self.is_ndjson else _from_block(part)
        if seen is None:
            return
        if seen.type == "snapshot":
            assert self.wants_state
            assert self.states == []
            self.states.append(seen)
        elif self.path == "/api/events":
            assert seen.id > self.last, f"{seen.id} after {self.last}"
            self.events.append(seen)
        else:
            assert seen.id == self.last + 1, f"{self.path}: {seen.id} after {self.last}"
            self.events.append(seen)
        self.bell.ring()


def _from_block(block: bytes) -> Seen | None:
    fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
    if b"data" not in fields:
        return None  # a comment, or when to connect again
    return Seen(int(fields[b"id"]), fields[b"event"].decode(), fields[b"data"])


def _from_line(line: bytes) -> Seen | None:
    if not line:
        return None
    fields = json.loads(line)
    position = fields.get("position")
    if position is None:
        return Seen(fields["sequence"], fields["type"], line)
    head = f'{{"position":{position},'.encode()
    assert line.startswith(head)
    return Seen(position, fields["type"], b"{" + line.removeprefix(head))


@asynccontextmanager
async def _get(
    port: int, path: str, headers: dict[str, str]
) -> AsyncIterator[tuple[int, asyncio.StreamReader]]:
    """Send a request over a connection of its own, and read the head of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        lines = [f"GET {path} HTTP/1.1", "Host: localhost"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await reader.readuntil(b"\r\n\r\n")
        yield int(head.split()[1]), reader
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _parts(reader: asyncio.StreamReader, end: bytes) -> AsyncIterator[bytes]:
    """Return what comes before each `end`, up to the proper end of the answer.

    What a crash cuts off in the middle is nothing.
    """
    text = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        text += (await reader.readexactly(size + 2))[:-2]
        *whole, text = text.split(end)
        for part in whole:
            yield part
    assert text == b""
