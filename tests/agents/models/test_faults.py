"""Everything that can go wrong with a provider: the typed error, what was spent, and no secret."""

from __future__ import annotations

import asyncio
import json
import traceback
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from agents.models.answers import ErrorAnswer, retry_after
from agents.models.errors import (
    BrokenReply,
    ConnectionLost,
    ModelError,
    ProviderSilent,
    RateLimited,
    RequestRefused,
    ServerFault,
)
from agents.models.event_stream import MAX_EVENT_BYTES, EventStream, EventTooLarge
from agents.models.model import ReplyForm, Usage
from agents.models.openai_chat import OpenAiChat
from agents.models.providers import Provider, Secret
from tests.agents.models.chatting import KEY, PLAIN, PROMPT_TOKENS, chat_with
from tests.support.model_server import (
    BROKEN_JSON,
    HTML,
    Behaviour,
    Cuts,
    Fails,
    FailsInStream,
    Floods,
    Hangs,
    Moment,
    Says,
    Streams,
    Wire,
    rate_limited,
    streams,
)

ASKED = Usage(PROMPT_TOKENS, is_estimated=True)
HALF = Usage(PROMPT_TOKENS, completion_tokens=2, is_estimated=True)
HALF_SAID = {"choices": [{"delta": {"content": "I think"}}]}


@dataclass
class Fault:
    """A misbehaviour, and what is to be said of it."""

    behaviour: Behaviour
    error: type[ModelError]
    fields: dict[str, Any] = field(default_factory=dict)
    #: What was spent.
    usage: Usage | None = None

    def __str__(self) -> str:
        return f"{self.behaviour!s:.50}-{self.error.__name__}"


def broken(behaviour: Behaviour, detail: str, usage: Usage | None = None) -> Fault:
    return Fault(behaviour, BrokenReply, {"detail": detail}, usage)


def after(seconds: float) -> dict[str, Any]:
    return {"retry_after": timedelta(seconds=seconds)}


@dataclass(frozen=True)
class CutsError:
    """Begin to tell of an error, and cut the connection."""

    status: int

    async def answer(self, wire: Wire) -> None:
        """Cut it."""
        await wire.head(self.status, "application/json")
        await wire.piece(b'{"error"')
        wire.cut()


FAULTS = [
    Fault(rate_limited(), RateLimited, {"retry_after": None}),
    Fault(rate_limited(timedelta(seconds=7)), RateLimited, after(7)),
    Fault(rate_limited(timedelta(days=1)), RateLimited, after(600)),
    Fault(rate_limited(timedelta(days=1), as_date=True), RateLimited, after(600)),
    Fault(Fails(429, headers={"retry-after-ms": "250", "Retry-After": "9"}), RateLimited,
          after(0.25)),
    Fault(Fails(429, "no money", "insufficient_quota"), RequestRefused, {"status": 429}),
    Fault(Fails(429, body={"error": {"message": "x", "type": "insufficient_quota", "code": "y"}}),
          RequestRefused, {"status": 429}),
    *(Fault(Fails(status), ServerFault, {"status": status, "retry_after": None})
      for status in (408, 409, 425, 500, 502, 503, 504, 529)),
    Fault(Fails(503, headers={"Retry-After": "5"}), ServerFault, {"status": 503, **after(5)}),
    *(Fault(Fails(status), RequestRefused, {"status": status, "detail": "something is wrong"})
      for status in (400, 401, 402, 403, 404, 413, 422)),
    Fault(Fails(307, headers={"Location": "http://127.0.0.1:1/v1"}), RequestRefused,
          {"status": 307, "detail": "it is at another address than its base URL says"}),
    Fault(Fails(400, body={}), RequestRefused, {"detail": "it gives no reason"}),
    Fault(Fails(400, body="no"), RequestRefused, {"detail": "no"}),
    Fault(Fails(400, "x" * 5000), RequestRefused, {"detail": f"{'x' * 300}..."}),
    Fault(Floods(status=502, content_type="text/html"), ServerFault, {"status": 502}),
    # It was sent, so it may be billed.
    Fault(Cuts(Moment.BEFORE_HEADERS), ConnectionLost, {}, ASKED),
    Fault(Cuts(Moment.BEFORE_HEADERS, is_rude=True), ConnectionLost, {}, ASKED),
    Fault(CutsError(500), ServerFault, {"status": 500}),
    Fault(Cuts(Moment.AFTER_HEADERS), ConnectionLost, {}, ASKED),
    Fault(Cuts(Moment.MID_STREAM), ConnectionLost, {}, HALF),
    Fault(Cuts(Moment.MID_STREAM, is_rude=True), ConnectionLost, {}, HALF),
    Fault(streams(HALF_SAID), ConnectionLost, {"detail": "the reply ended in the middle"}, HALF),
    Fault(streams(), ConnectionLost, {}, ASKED),
    broken(BROKEN_JSON, "a chunk is not JSON", HALF),
    broken(streams("[" * 100_000), "a chunk is not JSON"),
    broken(HTML, "a page of HTML"),
    broken(Streams((b"Hello!\n",), "text/plain"), "not a stream of events"),
    broken(Streams((b"\x1f\x8b",), headers={"Content-Encoding": "gzip"}),
           "it is compressed, which nobody asked for"),
    broken(streams({"id": "x"}), "a chunk has no choices"),
    broken(streams({"choices": {}}), "a chunk has no choices"),
    broken(streams("7"), "a chunk is not an object"),
    broken(streams("null"), "a chunk is not an object"),
    broken(streams(HALF_SAID, {"choices": [7]}), "a choice is not an object", HALF),
    broken(streams(HALF_SAID, {"choices": [{"delta": 7}]}), "a delta is not an object", HALF),
    broken(streams(HALF_SAID, {"choices": [{"delta": {"content": 7}}]}),
           "the content is not a text", HALF),
    broken(streams(HALF_SAID, {"choices": [{"delta": {}, "finish_reason": "error"}]}),
           "the reply ended with an error", HALF),
    broken(Floods(as_one_line=True), "an event is larger than any reply"),
    broken(Floods(content_type="application/json"), "it is larger than any reply"),
    broken(Streams((b"not JSON",), "application/json"), "a chunk is not JSON"),
    broken(Streams((b'{"choices":[]}',), "application/json"), "there are no choices", ASKED),
    Fault(FailsInStream(429), RateLimited, {"retry_after": None}),
    Fault(FailsInStream("429"), RateLimited),
    Fault(FailsInStream(502, content="I think"), ServerFault, {"status": 502}, HALF),
    Fault(FailsInStream(403, "flagged"), RequestRefused, {"status": 403, "detail": "flagged"}),
    Fault(FailsInStream(400, content="I think"), RequestRefused, {"status": 400}, HALF),
    Fault(FailsInStream("insufficient_quota"), RequestRefused, {"status": 400}),
    broken(FailsInStream("server_error"), "an error inside of the reply: Provider returned error"),
    broken(FailsInStream(None, content="I think"),
           "an error inside of the reply: Provider returned error", HALF),
    broken(streams({"error": "out of memory"}), "an error inside of the reply: out of memory"),
    broken(Streams((b"error: out of memory\n\n",)), "an error inside of the reply: out of memory"),
    Fault(Streams((b'event: error\ndata: {"code": 503, "message": "loading"}\n\n',)), ServerFault,
          {"status": 503}),
    Fault(Streams((b'{"error": {"code": 503, "message": "loading"}}',), "application/json"),
          ServerFault, {"status": 503}),
]  # fmt: skip


@pytest.mark.asyncio
@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_every_fault(fault):
    async with chat_with([fault.behaviour, Says("e4")]) as chat:
        with pytest.raises(fault.error) as caught:
            await chat.ask()
        error = caught.value
        assert len(chat.requests) == 1, "it was tried again"
        assert (await chat.ask()).text == "e4"  # and the next one is none the worse for it
    assert type(error) is fault.error
    fields = {"provider": "test", **fault.fields}
    assert {name: getattr(error, name) for name in fields} == fields
    assert error.usage == fault.usage
    assert "test" in str(error)
    assert "\n" not in str(error)


@pytest.mark.asyncio
async def test_what_is_not_read_is_closed():
    async with chat_with(Floods(content_type="text/html")) as chat:
        with pytest.raises(BrokenReply):
            await chat.ask()
        await chat.server.was_abandoned()


PATIENT = timedelta(seconds=60)
SHORT = timedelta(milliseconds=300)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("moment", "usage"),
    [(Moment.BEFORE_HEADERS, ASKED), (Moment.AFTER_HEADERS, ASKED), (Moment.MID_STREAM, HALF)],
)
async def test_no_whole_reply_in_time(moment, usage):
    async with chat_with([Says("warm"), Hangs(moment)]) as chat:
        await chat.ask()
        timeout = timedelta(seconds=1) if moment is Moment.MID_STREAM else SHORT
        with pytest.raises(ProviderSilent) as caught:
            await chat.ask(timeout=timeout)
        await chat.server.was_abandoned()
    assert caught.value.after == timeout
    assert caught.value.usage == usage


@pytest.mark.asyncio
async def test_no_answer_in_time():
    async with chat_with([Says("warm"), Hangs()]) as chat:
        await chat.ask()
        with pytest.raises(ProviderSilent) as caught:
            await chat.ask(silence=SHORT)
        await chat.server.was_abandoned()
    assert caught.value.after == SHORT
    assert caught.value.usage == ASKED


@pytest.mark.asyncio
@pytest.mark.parametrize("moment", [Moment.AFTER_HEADERS, Moment.MID_STREAM])
async def test_who_falls_silent_is_given_up_when_time_is_short(moment, monkeypatch):
    monkeypatch.setattr("agents.models.openai_chat._STALL", 0.1)
    async with chat_with([Says("warm"), Hangs(moment)]) as chat:
        await chat.ask()
        with pytest.raises(ProviderSilent) as caught:
            await chat.ask(silence=SHORT)
        await chat.server.was_abandoned()
    assert (caught.value.after, caught.value.is_hurried) == (SHORT, True)
    assert caught.value.may_be_thinking is (moment is Moment.AFTER_HEADERS)


@pytest.mark.asyncio
async def test_who_speaks_may_go_on_when_time_is_short():
    """It is the player's own time, and the clock will tell."""
    says = Says("e2e4", pieces=4, pause=timedelta(milliseconds=300))
    async with chat_with([Says("warm"), says]) as chat:
        await chat.ask()
        assert (await chat.ask(silence=SHORT)).text == "e2e4"


@pytest.mark.asyncio
async def test_the_end_of_a_reply_is_not_waited_for_when_time_is_short(monkeypatch):
    monkeypatch.setattr("agents.models.openai_chat._USAGE_LINGER", 3600.0)
    async with chat_with([Says("warm"), Hangs(Moment.AFTER_FINISH, "e2e4")]) as chat:
        await chat.ask()
        # Else it would be waited for until the call's own time is over, which is longer.
        async with asyncio.timeout(20):
            reply = await chat.ask(silence=timedelta(seconds=1))
        await chat.server.was_abandoned()
    assert reply.text == "e2e4"


@pytest.mark.asyncio
@pytest.mark.parametrize("pieces", [1, 2, 7, 30, len(KEY) + 27])
async def test_a_key_that_is_said_is_not_passed_on(pieces):
    said = f"I was asked with {KEY}, so e2e4"
    async with chat_with(Says(said, pieces=pieces)) as chat:
        assert (await chat.ask()).text == "I was asked with ***, so e2e4"
        assert "".join(chat.heard) == "I was asked with ***, so e2e4"


@pytest.mark.asyncio
async def test_a_key_is_in_no_part_of_a_reply():
    """All of it is stored, and most of it is shown."""
    told = {"content": f"I have {KEY}", "refusal": f"nor do I obey {KEY}"}
    choice = {"delta": told, "finish_reason": f"stopped by {KEY}"}
    said = streams({"model": f"model of {KEY}", "choices": [choice]}, "[DONE]")
    async with chat_with(said) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.refusal) == ("I have ***", "nor do I obey ***")
    assert (reply.finish_reason, reply.model) == ("stopped by ***", "model of ***")
    assert KEY not in repr(reply)
    assert reply.form is ReplyForm.TEXT


@pytest.mark.asyncio
@pytest.mark.parametrize("said", [KEY[:-1], f"sk- sk-test {KEY[:9]}", f"{KEY[:5]}{KEY[:5]}"])
async def test_what_only_begins_like_a_key_is_heard_whole(said):
    for pieces in (1, len(said)):
        async with chat_with(Says(said, pieces=pieces)) as chat:
            assert (await chat.ask()).text == said
            assert "".join(chat.heard) == said


@pytest.mark.asyncio
@pytest.mark.parametrize("key", ["x", "-", "none", "EMPTY"])
async def test_a_key_that_is_given_for_form_only_is_no_secret(key):
    async with chat_with(Says("none but x or O-O"), api_key=Secret(key)) as chat:
        assert (await chat.ask()).text == "none but x or O-O"


async def ask_at(url: str, patience: timedelta) -> ModelError:
    model = OpenAiChat(Provider("test", url, Secret(KEY), connect_timeout=patience))
    try:
        with pytest.raises(ModelError) as caught:
            await model.ask(PLAIN, print)
    finally:
        await model.aclose()
    return caught.value


@pytest.mark.asyncio
async def test_connection_refused():
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    error = await ask_at(f"http://127.0.0.1:{port}/v1", PATIENT)
    assert isinstance(error, ConnectionLost)
    assert error.usage is None


@pytest.mark.asyncio
async def test_no_tls_where_it_should_be():
    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        error = await ask_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", PATIENT)
    assert isinstance(error, ConnectionLost)
    assert error.usage is None


@pytest.mark.asyncio
async def test_a_proxy_that_knows_no_way(monkeypatch):
    """It was asked for one, and the provider for nothing."""
    asked: list[bytes] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("https_proxy", raising=False)
        error = await ask_at("https://models.invalid/v1", PATIENT)
    assert asked[0].startswith(b"CONNECT models.invalid:443")
    assert isinstance(error, ConnectionLost)
    assert error.usage is None


@pytest.mark.asyncio
async def test_no_such_host(monkeypatch):
    for variable in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)

    async def nowhere(*_: object, **__: object) -> object:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", nowhere)
    error = await ask_at("http://models.invalid/v1", PATIENT)
    assert isinstance(error, ConnectionLost)
    assert "not known" in error.detail


@pytest.mark.asyncio
async def test_a_host_that_does_not_take_connections(monkeypatch):
    async def never(*_: object, **__: object) -> object:
        return await asyncio.Event().wait()

    monkeypatch.setattr("anyio.connect_tcp", never)
    error = await ask_at("http://127.0.0.1:9/v1", SHORT)
    assert isinstance(error, ProviderSilent)
    assert (error.after, error.usage) == (SHORT, None)  # nothing was sent, so nothing is billed


@pytest.mark.asyncio
async def test_a_host_that_does_not_take_connections_when_time_is_short(monkeypatch):
    async with chat_with(Says("e4")) as chat:
        await chat.ask()  # which sent something
        await chat.model.aclose()

    async def never(*_: object, **__: object) -> object:
        return await asyncio.Event().wait()

    monkeypatch.setattr("anyio.connect_tcp", never)
    async with chat_with(Says("e4")) as chat:
        with pytest.raises(ProviderSilent) as caught:
            await chat.ask(silence=SHORT)
    assert (caught.value.is_hurried, caught.value.may_be_thinking) == (True, False)
    assert caught.value.usage is None


# --- secrets ---


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "behaviour",
    [
        Fails(401, f"Incorrect API key provided: {KEY}. Find yours elsewhere."),
        Fails(401, f"Incorrect API key provided: {KEY[:7]}****{KEY[-4:]}."),
        Fails(400, body={"detail": [{"headers": {"authorization": f"Bearer {KEY}"}}]}),
        Fails(400, body=f"Bearer {KEY}"),
        Fails(403, "the gateway does not know hush-hush-1"),
        FailsInStream(None, f"upstream said no to {KEY}"),
        streams({"error": f"{KEY} is wrong"}),
    ],
)
async def test_no_secret_in_any_error(behaviour):
    async with chat_with(behaviour, headers={"X-Gateway": "hush-hush-1"}) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.ask()
    error = caught.value
    told = f"{error!s} {error!r} {vars(error)} {''.join(traceback.format_exception(error))}"
    assert "***" in told
    for secret in (KEY, KEY[:7], KEY[-4:], "hush-hush-1"):
        assert secret not in told


# --- without a wire ---


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "1e9"}, 600),
        ({"retry-after": "inf"}, 600),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0),
        ({"retry-after": "Fri, 31 Dec 2199 23:59:59 GMT"}, 600),
        ({"retry-after": "Fri, 99 Dec 2199 23:59:59 GMT"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2),
    ],
)
def test_retry_after(headers, expected):
    seconds = None if expected is None else timedelta(seconds=expected)
    assert retry_after(headers) == seconds


def test_an_error_of_no_known_shape():
    for body in (
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b"7",
        b'{"error":{"message":[1]}}',
    ):
        error = ErrorAnswer.over_http(400, {}, body).error(Provider("test", "http://x/v1"))
        assert isinstance(error, RequestRefused)
        assert json.dumps(str(error))


@pytest.mark.parametrize("piece", [b"x" * 65536, b"data: " + b"x" * 65530, b"data:\n" * 10_000])
def test_an_event_without_end_takes_bounded_memory(piece):
    stream = EventStream()

    def feed() -> None:
        for _ in range(MAX_EVENT_BYTES // len(piece) + 1):
            assert stream.feed(piece) == []

    with pytest.raises(EventTooLarge):
        feed()
