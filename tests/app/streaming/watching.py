"""A watcher over a real socket, and what it saw."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Seen:
    """One event, as a client gets it."""

    id: int | None
    type: str
    data: Any


class Connection:
    """One GET over a socket of its own, read by hand: chunks, and then blocks or lines."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._is_read = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self._text = b""
        self._is_over = False

    @classmethod
    async def open(
        cls,
        port: int,
        path: str,
        *,
        last_event_id: object = None,
        accept: str | None = None,
        reads: bool = True,
    ) -> Self:
        """Send the request, and read the head of the answer; nothing at all if not `reads`."""
        sock = socket.socket()
        connection = cls(sock)
        if not reads:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        lines = [f"GET {path} HTTP/1.1", "Host: localhost"]
        lines += [f"Accept: {accept}"] if accept is not None else []
        lines += [f"Last-Event-ID: {last_event_id}"] if last_event_id is not None else []
        loop = asyncio.get_running_loop()
        await loop.sock_connect(sock, ("127.0.0.1", port))
        await loop.sock_sendall(sock, ("\r\n".join(lines) + "\r\n\r\n").encode())
        if reads:
            await connection.begin()
        return connection

    async def begin(self) -> None:
        """Begin to read."""
        self.reader, self.writer = await asyncio.open_connection(sock=self._socket, limit=1 << 20)
        self._is_read = True
        status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        self.status = int(status.split()[1])
        pairs = (line.partition(":") for line in lines if line)
        self.headers = {name.lower(): value.strip() for name, _, value in pairs}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if not self._is_read:
            self._socket.close()
            return
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    async def _chunk(self) -> bytes:
        """Return the next chunk; nothing at the proper end of the response."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        chunk = await self.reader.readexactly(size + 2)
        self._is_over = not size
        return chunk[:-2]

    async def until(self, end: bytes) -> bytes | None:
        """Return what comes before the next `end`; None at the proper end of the response."""
        while end not in self._text:
            if self._is_over:
                assert self._text == b""
                return None
            self._text += await self._chunk()
        found, _, self._text = self._text.partition(end)
        return found

    async def block(self) -> str | None:
        """Return the next block of an SSE stream."""
        block = await self.until(b"\n\n")
        return None if block is None else block.decode()

    async def event(self) -> Seen | None:
        """Return the next event; None at the end."""
        while (block := await self.block()) is not None:
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if "data" in fields:
                number = fields.get("id")
                data = json.loads(fields["data"])
                return Seen(None if number is None else int(number), fields["event"], data)
        return None

    async def events(self) -> list[Seen]:
        """Return all that is to come."""
        return [event async for event in self]

    async def __aiter__(self):
        while (event := await self.event()) is not None:
            yield event

    async def line(self) -> Any:
        """Return the next line of an NDJSON stream, or "" for an empty one."""
        line = await self.until(b"\n")
        return None if line is None else json.loads(line) if line else ""

    async def body(self) -> Any:
        """Return a body of known length."""
        return json.loads(await self.reader.readexactly(int(self.headers["content-length"])))
