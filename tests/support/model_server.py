"""A provider of models on loopback: the OpenAI protocol over real HTTP, good and bad by script.

In the event loop of a test:

    async with ModelServer(Says("e4")) as server:
        provider = Provider("test", server.base_url)
        ...
        await server.received(2)              # once two requests have come
        server.requests[0].body["model"]      # all that came, in order

For another process, or a test without an event loop, in a thread of its own:

    with model_server_in_thread(AnswersSchema()) as server:
        subprocess.run([..., server.base_url])
        server.received(1)

And in a process of its own, which prints its base URL, for benchmarks:

    python -m tests.support.model_server --delay-ms 20 --tokens 60

What it does with a request is told by a *behaviour* (all of them are in `model_behaviours`, and
can be imported from here: `Says`, `AnswersSchema`, `Fails`, `Hangs`, ...). It is given one for all
requests, several (one per request, the last for all that follow), or a function that chooses one
by the request. `server.behave(...)` changes it later.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from tests.support.model_behaviours import (
    BROKEN_JSON,
    EMPTY,
    FILTERED,
    HTML,
    REFUSES,
    AnswersSchema,
    Cuts,
    Fails,
    FailsInStream,
    Floods,
    Hangs,
    Moment,
    Refuses,
    Says,
    SaysAtOnce,
    Streams,
    rate_limited,
    streams,
)
from tests.support.model_wire import Asked, Behaviour, Wire

__all__ = [
    "BROKEN_JSON", "EMPTY", "FILTERED", "HTML", "REFUSES", "AnswersSchema", "Asked", "Behaviour",
    "Cuts", "Fails", "FailsInStream", "Floods", "Hangs", "ModelServer", "Moment", "Refuses", "Says",
    "SaysAtOnce", "Script", "Streams", "ThreadedModelServer", "Wire", "model_server_in_thread",
    "rate_limited", "streams",
]  # fmt: skip

#: What takes so many seconds hangs, however slow the machine.
_HANGS_AFTER = 60.0
#: One for all, one for each, or a function that chooses.
Script: TypeAlias = "Behaviour | Sequence[Behaviour] | Callable[[Asked], Behaviour]"


# --- the server ---


class ModelServer:
    """Serves behaviours on a free port of loopback, in the event loop of whoever enters it."""

    def __init__(self, script: Script) -> None:
        #: All that came, in order.
        self.requests: list[Asked] = []
        #: How many of them the client did not wait for.
        self.abandoned = 0
        #: How many connections were made.
        self.connections = 0
        self.behave(script)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()

    def behave(self, script: Script) -> None:
        """Do something else from now on."""
        self._choose = _chooser(script)

    @property
    def base_url(self) -> str:
        """Where clients ask."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def received(self, count: int = 1) -> Asked:
        """Return the last request, once so many have come."""
        await self._until(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def was_abandoned(self, count: int = 1) -> None:
        """Return once the client has closed so many connections that were being answered."""
        await self._until(lambda: self.abandoned >= count)

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _until(self, has_come: Callable[[], bool]) -> None:
        async with asyncio.timeout(_HANGS_AFTER), self._changed:
            await self._changed.wait_for(has_come)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        number = self.connections
        self.connections += 1
        try:
            while await self._serve(reader, writer, number):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the server closes: there is nobody to tell
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> bool:
        """Answer one request; return whether another may come over the same connection."""
        asked = await _read_request(reader, number)
        behaviour = self._choose(asked)
        async with self._changed:
            self.requests.append(asked)
            self._changed.notify_all()
        wire = Wire(writer, asked)
        answering = asyncio.ensure_future(behaviour.answer(wire))
        # Nobody sends anything during an answer, so what comes is the end of the connection.
        watching = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([answering, watching], return_when=asyncio.FIRST_COMPLETED)
            is_abandoned = not answering.done()
            if answering.done() and (error := answering.exception()) is not None:
                if not isinstance(error, ConnectionError):
                    raise error
                is_abandoned = True
            if is_abandoned:
                async with self._changed:
                    self.abandoned += 1
                    self._changed.notify_all()
                return False
            return wire.is_over and not watching.done()
        finally:
            for task in (answering, watching):
                task.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)


@dataclass
class ThreadedModelServer:
    """A server in a thread of its own, to be used without an event loop."""

    server: ModelServer
    base_url: str
    _loop: asyncio.AbstractEventLoop

    @property
    def requests(self) -> list[Asked]:
        """All that came, in order."""
        return self.server.requests

    def behave(self, script: Script) -> None:
        """Do something else from now on."""
        self.server.behave(script)

    def received(self, count: int = 1) -> Asked:
        """Return the last request, once so many have come."""
        return self._wait(self.server.received(count))

    def _wait(self, awaited: Awaitable[Asked]) -> Asked:
        async def wait() -> Asked:
            return await awaited

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result(_HANGS_AFTER)


@contextmanager
def model_server_in_thread(script: Script) -> Iterator[ThreadedModelServer]:
    """Serve in a thread, and close it in the end."""
    ready = threading.Event()
    started: list[ThreadedModelServer] = []
    closing = asyncio.Event()

    async def serve() -> None:
        async with ModelServer(script) as server:
            started.append(ThreadedModelServer(server, server.base_url, asyncio.get_running_loop()))
            ready.set()
            await closing.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="model-server")
    thread.start()
    try:
        assert ready.wait(_HANGS_AFTER)
        yield started[0]
    finally:
        if started:
            started[0]._loop.call_soon_threadsafe(closing.set)
        thread.join(_HANGS_AFTER)
        assert not thread.is_alive()


async def _read_request(reader: asyncio.StreamReader, number: int) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, json.loads(body or b"{}"), number)


def _chooser(script: Script) -> Callable[[Asked], Behaviour]:
    if isinstance(script, Sequence):
        queue = list(script)
        return lambda asked: queue.pop(0) if len(queue) > 1 else queue[0]
    if hasattr(script, "answer"):
        return lambda asked: script
    assert callable(script)
    return script


async def _serve_for_ever(behaviour: Behaviour) -> None:
    async with ModelServer(behaviour) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until killed, and print the base URL: a reply of so many tokens, so long apart."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--delay-ms", type=float, default=0, help="before the reply begins")
    parser.add_argument("--pause-ms", type=float, default=0, help="between two tokens")
    parser.add_argument("--tokens", type=int, default=60)
    parser.add_argument("--schema", action="store_true", help="reply by the schema instead")
    told = parser.parse_args()
    delay = timedelta(milliseconds=told.delay_ms)
    behaviour: Behaviour = AnswersSchema(delay=delay)
    if not told.schema:
        pause = timedelta(milliseconds=told.pause_ms)
        behaviour = Says("word " * told.tokens, told.tokens, delay=delay, pause=pause)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_for_ever(behaviour))


if __name__ == "__main__":
    main()
