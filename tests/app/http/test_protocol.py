"""The protocol: what is refused, or ended, before there is a request for the application."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.responses import StreamingResponse

from app.http.protocol import MOST_HEADER_BYTES, MOST_HEADERS, BoundedProtocol
from tests.app.http.conftest import Parts, application
from tests.support.processes import HANGS_AFTER
from tests.support.servers import Served, serving

ASK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextmanager
def bounded(*routers: APIRouter, **bounds: Any) -> Iterator[Served]:
    """Serve the application under some bounds."""
    protocol = type("Protocol", (BoundedProtocol,), bounds)
    with serving(application(Parts(), *routers), http=protocol) as served:
        yield served


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with bounded() as served:
        yield served


@pytest.fixture(scope="module")
def hasty() -> Iterator[Served]:
    with bounded(header_seconds=0.1) as served:
        yield served


def check_problem(answer: bytes, status: int, kind: str) -> None:
    """Check that an answer is a problem, and nothing else."""
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *headers = head.decode().lower().split("\r\n")
    assert line.startswith(f"http/1.1 {status} ")
    assert "content-type: application/problem+json" in headers
    assert "connection: close" in headers
    assert any(each.startswith("x-request-id: ") for each in headers)
    content = json.loads(body)
    assert (content["type"], content["status"]) == (f"/problems/{kind}", status)
    assert content["title"]
    assert content["detail"]


def read_answer(connection: socket.socket) -> bytes:
    """Read an answer of a connection that stays open."""
    answer = b""
    while not answer.endswith(b"}"):
        part = connection.recv(65536)
        assert part, answer
        answer += part
    return answer


def is_closed(connection: socket.socket) -> bool:
    """Wait for the end of a connection on which nothing comes."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


# --- what cannot be read ---


@pytest.mark.parametrize(
    "request_",
    [
        b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/matches HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        b"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["method", "length", "path", "connect", "tls"],
)
def test_what_is_not_http_is_a_problem(server, request_):
    check_problem(server.exchange(request_), 400, "unreadable-request")


def test_garbage_does_not_get_into_an_answer_under_way():
    router = APIRouter()

    @router.get("/endless")
    async def endless() -> StreamingResponse:
        async def lines() -> Any:
            yield "begun\n"
            await asyncio.Event().wait()

        return StreamingResponse(lines())

    with bounded(router) as server, server.connect() as connection:
        connection.sendall(ASK.replace(b"/healthz", b"/endless"))
        got = b""
        while b"begun" not in got:
            got += connection.recv(65536)
        connection.sendall(b"garbage\r\n\r\n")
        assert is_closed(connection)


# --- headers ---


def lines(count: int, size: int) -> bytes:
    return b"".join(b"X-%d: %s\r\n" % (number, b"x" * size) for number in range(count))


@pytest.mark.parametrize(
    "request_",
    [
        ASK[:-2] + lines(1, MOST_HEADER_BYTES) + b"\r\n",
        ASK[:-2] + lines(70, 1000) + b"\r\n",
        ASK[:-2] + lines(MOST_HEADERS, 1) + b"\r\n",
        ASK[:-2] + b"X-Endless: " + b"x" * 1_000_000,
        ASK.replace(b"/healthz", b"/healthz?" + b"x" * MOST_HEADER_BYTES),
        ASK[:-2] + lines(70, 1000) + b"Content-Length: 3000000\r\n\r\n" + b"x" * 3_000_000,
    ],
    ids=["one", "several", "many", "endless", "url", "with a body"],
)
def test_headers_are_bounded(server, request_):
    check_problem(server.exchange(request_), 431, "headers-too-large")


def test_each_request_of_a_connection_may_have_large_headers(server):
    large = ASK[:-2] + lines(190, 300) + b"\r\n"
    with server.connect() as connection:
        for _ in range(3):
            connection.sendall(large)
            assert read_answer(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(large + large)
        both = read_answer(connection)
        while both.count(b"HTTP/1.1 200 ") < 2:
            both += read_answer(connection)


def test_a_body_does_not_count_as_headers(server):
    body = b'{"moves": [' + b" " * 200_000 + b"]}"
    head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with server.connect() as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body + ASK)
        got = read_answer(connection)
        while b"alive" not in got:
            got += read_answer(connection)
    assert got.startswith(b"HTTP/1.1 404 ")


# --- waiting ---


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"GET /hea", ASK[:-2]])
def test_a_request_has_to_come_in_time(hasty, begun):
    with hasty.connect() as connection:
        connection.sendall(begun)
        assert is_closed(connection)


@pytest.mark.parametrize("begun", [b"\r\n", b"GET /hea", ASK[:-2]])
def test_so_has_the_next_one(hasty, begun):
    with hasty.connect() as connection:
        connection.sendall(ASK)
        assert read_answer(connection).startswith(b"HTTP/1.1 200 ")
        connection.settimeout(3)  # else it would be closed after 5 s, as one that is idle
        connection.sendall(begun)
        assert is_closed(connection)


def test_an_answer_may_take_longer():
    router = APIRouter()

    @router.get("/slow")
    async def slow() -> dict[str, str]:
        await asyncio.sleep(0.3)
        return {"status": "late"}

    with bounded(router, header_seconds=0.1) as server, server.connect() as connection:
        connection.sendall(ASK.replace(b"/healthz", b"/slow"))
        assert b"late" in read_answer(connection)
        connection.sendall(ASK)
        assert b"alive" in read_answer(connection)


# --- many connections ---


def test_over_the_bound_the_one_goes_that_has_waited_longest():
    with bounded(most_connections=3) as server, ExitStack() as stack:
        first, second, third = (stack.enter_context(server.connect()) for _ in range(3))
        for connection in (first, second, third):
            connection.sendall(ASK)
            assert read_answer(connection)
        first.sendall(ASK)
        assert read_answer(first)
        fourth = stack.enter_context(server.connect())
        fourth.sendall(ASK)
        assert b"alive" in read_answer(fourth)
        assert is_closed(second)
        for connection in (first, third):
            connection.sendall(ASK)
            assert b"alive" in read_answer(connection)


def test_requests_in_hand_make_no_room():
    router, gate, begun = APIRouter(), threading.Event(), threading.Semaphore(0)

    @router.get("/wait")
    def wait() -> dict[str, str]:
        begun.release()
        gate.wait()
        return {"status": "done"}

    with bounded(router, most_connections=2) as server, ExitStack() as stack:
        busy = [stack.enter_context(server.connect()) for _ in range(2)]
        stack.callback(gate.set)
        for connection in busy:
            connection.sendall(ASK.replace(b"/healthz", b"/wait"))
            assert begun.acquire(timeout=HANGS_AFTER)
        with server.connect() as another:
            assert is_closed(another)
        gate.set()
        for connection in busy:
            assert b"done" in read_answer(connection)
        with server.connect() as another:
            another.sendall(ASK)
            assert b"alive" in read_answer(another)
