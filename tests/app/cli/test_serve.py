"""`kibitz serve` as a process: under too many connections, and when it is told to stop."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.persistence.database import Database
from app.persistence.tables import Match, Worker
from tests.support.processes import HANGS_AFTER, LINUX
from tests.support.services import Machine, Service

pytestmark = [
    pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc"),
    pytest.mark.usefixtures("measured_processes"),
]

_FILES = 200
_CROWDED = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, {_FILES}))
from app.cli import main
main()
"""
#: It waits for requests longer than the clock of a match has time, which is enough to start one.
_PATIENT = """
import importlib
from app.cli import main
importlib.import_module("app.cli.serve")._FAREWELL = 5.5
main()
"""


def _run(test: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(2 * HANGS_AFTER):
            await test

    asyncio.run(bounded())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, f"sqlite:///{tmp_path / 'kibitz.db'}")


@asynccontextmanager
async def _serving(machine: Machine, program: str) -> AsyncIterator[tuple[Service, int]]:
    async with machine:
        process = await machine.execute("-c", program, *machine.serve)
        service = Service(process.pid, process, machine.complaints)
        yield service, await service.ready()


async def _connect(port: int) -> tuple[StreamReader, StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


def test_silent_connections_keep_nobody_out(machine):
    """There may be fewer files than there are connections; nobody is told of it by a traceback."""

    async def ask(port: int) -> bytes:
        reader, writer = await _connect(port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer

    async def test() -> None:
        async with _serving(machine, _CROWDED) as (service, port):
            limits = resource.prlimit(service.pid, resource.RLIMIT_NOFILE)
            assert limits == (_FILES, _FILES)
            silent = await asyncio.gather(*(_connect(port) for _ in range(230)))
            for _ in range(3):
                assert (await ask(port)).endswith(b'{"status":"alive"}')
            for _, writer in silent:
                writer.close()
            await service.stop()
        assert machine.complaints.read_text() == ""

    _run(test())


def test_clocks_stand_while_requests_end(machine):
    """There is a request that never ends, and an answer that nobody reads.

    They are waited for longer than the clock has time, and broken off without any fuss.
    """

    async def stored() -> tuple[Any, ...]:
        async with await Database.open(machine.database_url) as database:
            matches = await database.read(lambda each: each.execute(select(Match.status)).all())
            stopped = await database.read(lambda each: each.scalar(select(Worker.stopped_at)))
        return *(status for (status,) in matches), stopped is not None

    async def test() -> None:
        async with _serving(machine, _PATIENT) as (service, port):
            unread, asking = await _connect(port)
            asking.write(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400)
            await unread.readexactly(1)  # and not much more of many megabytes
            reader, writer = await _connect(port)
            writer.write(
                b"POST /api/matches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
                b"Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n"
            )
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            async with httpx.AsyncClient(trust_env=False, verify=False) as client:
                body = {"white": "human", "black": "human", "time_control": "5+0"}
                answer = await client.post(f"http://127.0.0.1:{port}/api/matches", json=body)
                assert answer.status_code == 201, answer.text
            service.send(signal.SIGTERM)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503 ")
            problem = json.loads(await reader.read())
            assert problem["type"] == "/problems/stopping"
            assert await service.wait() == 0
            for each in (writer, asking):
                each.close()
        assert await stored() == ("running", True)
        assert machine.complaints.read_text() == ""

    _run(test())


def test_whoever_watches_an_evaluation_does_not_keep_it_from_stopping(machine):
    """The stream ends, and goes on with the next start, from the state that the client has."""
    plan = {
        "kind": "duel",
        "agents": ["random", "uci:slow"],
        "games": 1000,  # it is not over before we are
        "openings": "none",
        "match": {"max_plies": 10},
        "analysis": {"nodes": 0},
    }

    async def revisions(answer: httpx.Response) -> AsyncIterator[int]:
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                yield int(line.removeprefix("id: "))

    async def test() -> None:
        async with (
            machine,
            httpx.AsyncClient(trust_env=False, verify=False, timeout=HANGS_AFTER) as client,
        ):
            service = await machine.start()
            base = f"http://127.0.0.1:{await service.ready()}/api/evaluations"
            started = await client.post(base, json=plan)
            assert started.status_code == 201, started.text
            path = f"{started.json()['id']}/events"
            async with client.stream("GET", f"{base}/{path}") as answer:
                seen = revisions(answer)
                first = await anext(seen)
                service.send(signal.SIGTERM)
                last = max([first, *[each async for each in seen]])  # to the proper end
            assert await service.wait() == 0
            service = await machine.start()
            base = f"http://127.0.0.1:{await service.ready()}/api/evaluations"
            headers = {"Last-Event-ID": str(last)}
            async with client.stream("GET", f"{base}/{path}", headers=headers) as answer:
                seen = revisions(answer)
                after = [await anext(seen)]
                cancelled = await client.post(f"{base}/{started.json()['id']}/cancel")
                assert cancelled.json()["status"] == "cancelled", cancelled.text
                after += [each async for each in seen]
            assert last < after[0]
            assert after[-1] == after[-2] == cancelled.json()["revision"]  # its state, and the end
            await service.stop()
        assert machine.complaints.read_text() == ""

    _run(test())
