"""The watchers' side of `benchmarks.streaming`: many sockets in one process, and next to no work.

What comes is only kept, with the time, and looked through when everything is over. So the watchers
do not take the time that is measured.
"""

from __future__ import annotations

import asyncio
import pickle
import re
import sys
from bisect import bisect_left
from itertools import accumulate
from time import monotonic
from typing import Any

import uvloop

_ID = re.compile(rb"\nid: (\d+)\nevent: ([a-z.]+)\n[^\n]*\n\n")
#: How many connect at a time.
_ABREAST = 50


class Watcher(asyncio.Protocol):
    """One stream, kept as it comes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.times: list[float] = []
        self.parts: list[bytes] = []
        loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: Any) -> None:
        """Ask for the stream, and that the connection ends with it."""
        request = f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        transport.write(request.encode())

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self.times.append(monotonic())
        self.parts.append(data)
        if not self.begun.done() and b"event: snapshot" in data:
            self.begun.set_result(None)

    def connection_lost(self, _: Exception | None) -> None:
        """Note the end."""
        if not self.begun.done():
            self.begun.set_exception(ConnectionError("the stream ended before it began"))
        self.ended.set_result(None)

    def received(self) -> list[tuple[int, float]]:
        """Return the number of each event, and when it was there whole."""
        ends = list(accumulate(map(len, self.parts)))
        text = b"".join(self.parts)
        return [
            (int(match[1]), self.times[bisect_left(ends, match.end())])
            for match in _ID.finditer(re.sub(rb"\r\n[0-9a-f]+\r\n", _blank, text))
            if match[2] != b"snapshot"
        ]


def _blank(chunk: re.Match[bytes]) -> bytes:
    """Return the border of two chunks as so many line ends, so that nothing is moved."""
    return b"\n" * len(chunk[0])


async def watch(port: int, matches: list[str], count: int) -> list[tuple[str, list]]:
    """Watch, each watcher the next match in turn, and return what each received."""
    loop = asyncio.get_running_loop()
    watchers: list[tuple[str, Watcher]] = []
    for first in range(0, count, _ABREAST):
        group = []
        for number in range(first, min(first + _ABREAST, count)):
            match_id = matches[number % len(matches)]
            watcher = Watcher(f"/api/matches/{match_id}/events")
            await loop.create_connection(lambda watcher=watcher: watcher, "127.0.0.1", port)
            group.append((match_id, watcher))
        await asyncio.gather(*[watcher.begun for _, watcher in group])
        watchers += group
    print("ready", flush=True)
    await asyncio.gather(*[watcher.ended for _, watcher in watchers])
    return [(match_id, watcher.received()) for match_id, watcher in watchers]


def main() -> None:
    """Watch, and leave what was received in a file."""
    port, count, file, *matches = sys.argv[1:]
    seen = uvloop.run(watch(int(port), matches, int(count)))
    with open(file, "wb") as output:  # noqa: PTH123
        pickle.dump(seen, output)


if __name__ == "__main__":
    main()
