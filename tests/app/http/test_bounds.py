"""Bounds: bodies, streams and rates, and that nobody else pays for them."""

from __future__ import annotations

import asyncio
import json
import threading
import tracemalloc
from collections.abc import Iterator

import httpx
import pytest
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from app.http.bounds import BodyBound, Places, StartRate
from app.http.errors import Refusal
from app.settings import Settings
from tests.app.http.conftest import Parts, check_problem, served
from tests.support.processes import HANGS_AFTER
from tests.support.servers import Served, serving

LIMIT = 10_000
CHUNK = b"x" * 65536
MEGABYTES_100 = 100 * 2**20
JSON = {"content-type": "application/json"}


class Watch:
    """A stream that the tests lead step by step."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()

    async def parts(self):
        yield b"first"
        await asyncio.to_thread(self.may_go_on.wait, HANGS_AFTER)
        yield b"second"


WATCH = Watch()


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    router = APIRouter()

    @router.post("/length")
    async def length(request: Request) -> int:
        return len(await request.body())

    @router.post("/swallow")
    async def swallow(request: Request) -> str:
        try:
            await request.body()
        except Exception as error:
            return f"swallowed {error}"
        return "read"

    @router.post("/ignore")
    async def ignore() -> str:
        return "ignored"

    @router.get("/watch")
    async def watch() -> StreamingResponse:
        return StreamingResponse(WATCH.parts())

    with served(Parts(Settings(max_body_bytes=LIMIT)), router) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def chunks(size: int) -> Iterator[bytes]:
    while size > 0:
        yield CHUNK[:size]
        size -= len(CHUNK)


# --- bodies ---


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
@pytest.mark.parametrize("path", ["/length", "/swallow", "/ignore"])
def test_bodies_within_the_bound(client, size, path):
    for content in (bytes(size), chunks(size)):
        response = client.post(path, content=content)
        assert response.status_code == 200
        assert response.json() in (size, "read", "ignored")


@pytest.mark.parametrize("size", [LIMIT + 1, 2 * LIMIT, 10 * 2**20])
@pytest.mark.parametrize("path", ["/length", "/swallow", "/api/positions/moves"])
def test_bodies_over_the_bound(client, size, path):
    for content in (bytes(size), chunks(size)):
        response = client.post(path, content=content, headers=JSON)
        assert check_problem(response, 413, "body-too-large")["limit"] == LIMIT
        assert response.headers["connection"] == "close"
    assert client.post("/length", content=b"abc").json() == 3


def test_a_length_alone_is_refused_at_once(server):
    answer = server.exchange(
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n"
        b"Expect: 100-continue\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["type"] == "/problems/body-too-large"


@pytest.mark.parametrize("length", [b"9" * 30, b"9" * 5000])
def test_a_length_that_is_no_number_of_this_world(server, length):
    answer = server.exchange(
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        b"Content-Length: " + length + b"\r\n\r\n"
    )
    assert answer.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))


@pytest.mark.parametrize("is_chunked", [True, False])
def test_100_megabytes_are_never_in_memory(client, is_chunked):
    headers = JSON if is_chunked else JSON | {"content-length": str(MEGABYTES_100)}
    tracemalloc.start()
    try:
        response = client.post(
            "/api/positions/moves", content=chunks(MEGABYTES_100), headers=headers
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    check_problem(response, 413, "body-too-large")
    assert peak < 10 * 2**20


def refused(*headers: tuple[bytes, bytes]) -> tuple[list[int], int, int]:
    """Send an endless body straight to the middleware, and count what it receives and sends."""
    received = sent = 0
    statuses: list[int] = []

    async def receive():
        nonlocal received
        received += 1
        await asyncio.sleep(0)
        return {"type": "http.request", "body": CHUNK, "more_body": True}

    async def send(message):
        nonlocal sent
        sent += 1
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    scope = {"type": "http", "method": "POST", "headers": list(headers)}
    bound = BodyBound(app, LIMIT, linger_seconds=0.01)
    asyncio.run(asyncio.wait_for(bound(scope, receive, send), HANGS_AFTER))
    return statuses, received, sent


def test_an_endless_body_is_not_listened_to_for_ever():
    statuses, received, sent = refused((b"transfer-encoding", b"chunked"))
    assert statuses == [413]
    assert sent == 3  # the start, the problem, and the end after some listening
    assert received > 1


def test_who_asked_for_leave_is_not_listened_to():
    statuses, received, _ = refused((b"content-length", b"99999"), (b"expect", b"100-continue"))
    assert (statuses, received) == ([413], 0)


def test_a_body_that_does_not_come(server):
    async def app(scope, receive, send):
        if scope["type"] == "http":
            while (await receive()).get("more_body"):
                pass

    bound = BodyBound(app, LIMIT, most_seconds=0.05, linger_seconds=0.01)
    with serving(bound, lifespan="off") as slow:
        answer = slow.exchange(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"
        )
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"/problems/body-too-slow" in answer


def test_whoever_goes_away_while_sending_leaves_nothing(server, client, caplog):
    with server.connect() as connection:
        connection.sendall(
            b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"
        )
    assert client.post("/length", content=b"abc").json() == 3


# --- streams are not slowed ---


def test_a_stream_comes_as_it_is_sent(client):
    WATCH.may_go_on.clear()
    with client.stream("GET", "/watch") as response:
        parts = response.iter_raw()
        assert next(parts) == b"first"
        WATCH.may_go_on.set()  # the second is not even made before the first is here
        assert next(parts) == b"second"


# --- places ---


def refusal_of(action) -> Refusal:
    with pytest.raises(Refusal) as caught:
        action()
    assert caught.value.kind.status == 429
    return caught.value


def test_places_of_one_client():
    places = Places("streams", total=10, per_client=2)
    first, _ = places.take("a"), places.take("a")
    refusal = refusal_of(lambda: places.take("a"))
    assert refusal.kind.type == "/problems/too-many-streams"
    assert refusal.response().headers["retry-after"] == "5"
    assert str(refusal) == "a client may have 2 streams at a time"
    places.take("b")
    first()
    first()  # once more changes nothing
    assert places.taken == 2
    places.take("a")
    refusal_of(lambda: places.take("a"))


def test_places_in_total():
    places = Places("streams", total=2, per_client=2)
    with places.taking("a"), places.taking("b"):
        assert str(refusal_of(lambda: places.take("c"))) == "there may be 2 streams at a time"
    assert places.taken == 0
    with pytest.raises(ZeroDivisionError), places.taking("c"):
        raise ZeroDivisionError
    assert places.taken == 0


def test_places_of_clients_that_have_gone_are_forgotten():
    places = Places("streams", total=10, per_client=2)
    for number in range(1000):
        with places.taking(str(number)):
            pass
    assert not places._by_client


# --- rates ---


def test_a_client_may_start_so_many_at_once():
    starts = StartRate("matches", per_minute=30)
    for _ in range(30):
        starts.check("a")
    refusal = refusal_of(lambda: starts.check("a"))
    assert refusal.kind.type == "/problems/too-many-matches"
    assert str(refusal) == "a client may start 30 matches in a minute"
    assert 1 <= int(refusal.response().headers["retry-after"]) <= 2  # one each two seconds
    starts.check("b")


def test_a_slow_rate_says_how_long_to_wait():
    starts = StartRate("matches", per_minute=1)
    starts.check("a")
    refusal = refusal_of(lambda: starts.check("a"))
    assert 50 <= int(refusal.response().headers["retry-after"]) <= 60


def test_only_so_many_clients_are_remembered():
    starts = StartRate("matches", per_minute=1, most_clients=2)
    starts.check("a")
    starts.check("b")
    refusal_of(lambda: starts.check("a"))  # which was seen last now
    starts.check("c")  # instead of b
    refusal_of(lambda: starts.check("a"))
    starts.check("b")


def test_bounds_are_those_of_the_settings():
    settings = Settings(max_streams=7, max_streams_per_client=1, starts_per_minute=1)
    from app.http.dependencies import Gates

    gates = Gates(settings)
    gates.streams.take("a")
    refusal_of(lambda: gates.streams.take("a"))
    gates.starts.check("a")
    refusal_of(lambda: gates.starts.check("a"))
    for number in range(6):
        gates.streams.take(str(number))
    refusal_of(lambda: gates.streams.take("z"))
