"""The stream of a match as it is read, and read on where it broke off."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.timekeeping import now
from app.cli.remote import event_stream
from app.cli.remote.event_stream import (
    Manners,
    NonsenseSent,
    SentEvent,
    SseParser,
    StreamBroken,
    retry_after,
    sent_at,
    watch,
)
from tests.support.processes import HANGS_AFTER
from tests.support.servers import serving

# --- reading ---


@pytest.mark.parametrize(
    ("sent", "events"),
    [
        (b'id: 3\nevent: a\ndata: {"b":1}\n\n', [SentEvent("3", "a", {"b": 1})]),
        (b'id:3\r\nevent:a\r\ndata:{"b":1}\r\n\r\n', [SentEvent("3", "a", {"b": 1})]),
        (b'id: 3\revent: a\rdata: {"b":1}\r\r:', [SentEvent("3", "a", {"b": 1})]),
        (b"retry: 2000\n\n: keep-alive\n\n", []),
        (b'data: {"b":\ndata: 1}\n\n', [SentEvent("", "", {"b": 1})]),
        (b"id: 1\ndata: {}\n\ndata: {}\n\n", [SentEvent("1", "", {})] * 2),
        (b"\xef\xbb\xbfid: 1\ndata: {}\n\n", [SentEvent("1", "", {})]),
        (b"id: 1\ndata: {}\n", []),  # it is not whole
        # Python would end a line in the middle of this.
        ('data: "a\u2028\u0085b"\n\n'.encode(), [SentEvent("", "", "a\u2028\u0085b")]),
    ],
)
def test_events_are_read_as_the_standard_has_it(sent, events):
    assert SseParser().feed(sent) == events
    parser = SseParser()
    one_by_one = [each for byte in sent for each in parser.feed(bytes([byte]))]
    assert one_by_one == events


texts = st.dictionaries(st.text(max_size=3), st.text(max_size=9), max_size=3)
ends = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(st.integers(1, 99), texts)), ends, st.data())
@settings(deadline=None)
def test_however_the_bytes_are_cut_the_events_are_the_same(sent, end, data):
    text = "".join(
        f"id: {number}{end}event: e{end}data: {json.dumps(each, ensure_ascii=False)}{end}{end}"
        for number, each in sent
    )
    whole = (text + ":").encode("utf-8", "surrogatepass")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    parser, found = SseParser(), []
    for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += parser.feed(whole[start:stop])
    assert found == [SentEvent(str(number), "e", each) for number, each in sent]


class Cut:
    """A service whose streams break off after every other event."""

    def __init__(self, count, statuses=()):
        self.count = count
        self.statuses = list(statuses)
        self.asked = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        headers = dict(scope["headers"])
        assert headers[b"accept"] == b"text/event-stream"
        last = int(headers[b"last-event-id"])
        self.asked.append(last)
        status = self.statuses.pop(0) if self.statuses else 200
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body = b"retry: 2000\n\n: keep-alive\n\n" if status == 200 else b""
        for number in range(last + 1, min(last + 2, self.count) + 1 if status == 200 else 0):
            kind = "match.ended" if number == self.count else "ply.played"
            body += b'id: %d\nevent: %s\ndata: {"n":%d}\n\n' % (number, kind.encode(), number)
        more = b"id: 99\nevent: half of one"
        await send({"type": "http.response.body", "body": body + more, "more_body": True})
        if last % 4 and status == 200:
            raise ConnectionResetError  # in the middle of the answer
        await send({"type": "http.response.body", "body": b""})


async def collect(address, manners=None):
    async with httpx.AsyncClient(base_url=address, trust_env=False, verify=False) as client:
        return [each.data["n"] async for each in watch(client, "/events", manners)]


def collected(app, manners=None):
    with serving(app) as served:
        return asyncio.run(asyncio.wait_for(collect(served.url, manners), HANGS_AFTER))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(event_stream, "FIRST_PAUSE", 0.0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_stream_that_breaks_off_is_resumed_where_it_was():
    app = Cut(9, statuses=[200, 503, 429, 500])
    assert collected(app) == list(range(1, 10))
    assert app.asked == [0, 2, 2, 2, 2, 4, 6, 8]


def test_a_stream_that_never_goes_on_is_given_up():
    app = Cut(9, statuses=[503] * 50)
    with pytest.raises(StreamBroken, match="the stream of the match broke off"):
        collected(app)
    assert len(app.asked) == event_stream.TRIES + 1


def test_progress_counts():
    """As many tries as it takes, as long as something comes each time."""
    assert len(collected(Cut(40))) == 40


def test_a_service_that_refuses_is_not_asked_again():
    app = Cut(9, statuses=[404])
    with pytest.raises(StreamBroken, match="404"):
        collected(app)
    assert app.asked == [0]


def test_a_service_out_of_reach_is_given_up():
    with serving(Cut(1)) as served:
        address = served.url
    with pytest.raises(StreamBroken, match="broke off"):
        asyncio.run(collect(address))


# --- patience ---


class Says:
    """A service that answers each request with what it is told to, and then closes."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.asked.append(int(dict(scope["headers"])[b"last-event-id"]))
        status, headers, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        named = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": named})
        await send({"type": "http.response.body", "body": body})


STREAM = {"content-type": "text/event-stream"}


def sse(*events):
    return b"".join(
        (b"" if number is None else b"id: %s\n" % str(number).encode())
        + b"event: %s\ndata: %s\n\n" % (kind.encode(), json.dumps({"n": number}).encode())
        for number, kind in events
    )


def stream(*events):
    return 200, STREAM, sse(*events)


def test_whoever_waits_as_long_as_it_takes_waits_longer_than_a_demonstration():
    busy = (503, {}, b"")
    app = Says(*[busy] * 20, stream((1, "match.ended")))
    assert collected(app, Manners(tries=None)) == [1]
    assert len(app.asked) == 21


def test_who_watches_hears_that_the_connection_is_lost_and_that_it_is_back():
    told = []
    app = Says(stream((1, "a")), (503, {}, b""), stream((2, "match.ended")))
    assert collected(app, Manners(tries=None, tell=told.append)) == [1, 2]
    assert told[0] == told[-1] == ""
    lost = [words for words in told if words]
    assert len(lost) == 2
    assert "it ended too early" in lost[0]
    assert "the service answers 503" in lost[1]


def test_somebody_who_gives_up_does_so_once_that_time_is_over():
    app = Says((503, {"retry-after": "1"}, b""))
    with pytest.raises(StreamBroken, match="broke off: the service answers 503"):
        collected(app, Manners(tries=None, give_up=timedelta(milliseconds=200)))
    assert app.asked == [0]  # who waits for a second comes back too late


def test_a_service_may_say_when_to_come_back():
    class Enough(Exception):
        """Nobody waits for so long here."""

    def tell(words):
        if "in 7 s" in words:
            raise Enough

    app = Says((429, {}, b""), (503, {"retry-after": "0"}, b""), (429, {"retry-after": "7"}, b""))
    with pytest.raises(Enough):
        collected(app, Manners(tries=None, tell=tell))
    assert len(app.asked) == 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("3", 3),
        ("999999999", 3600),
        ("-5", 0),
        ("soon", 0),
        ("\u0663", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 2999 23:59:59 GMT", 3600),
        ("Fri, 31 Dec 2999 23:59:59 -0000", 0),
    ],
)
def test_when_to_come_back(text, seconds):
    assert retry_after(text) == seconds


def test_what_time_it_is_there():
    told = httpx.Response(200, headers={"Date": "Thu, 19 Nov 2026 01:00:00 GMT"})
    assert sent_at(told) == datetime(2026, 11, 19, 1, tzinfo=UTC)
    for date in ({}, {"Date": "noon"}):
        assert abs(sent_at(httpx.Response(200, headers=date)) - now()) < timedelta(minutes=1)


# --- without a gap or a repeat ---


def test_what_comes_twice_is_given_once():
    app = Says(stream((1, "a"), (2, "a")), stream((1, "a"), (2, "a"), (3, "match.ended")))
    assert collected(app) == [1, 2, 3]


def test_a_stream_that_only_repeats_itself_is_given_up():
    app = Says(stream((1, "a")))
    with pytest.raises(StreamBroken, match="it ended too early"):
        collected(app)
    assert len(app.asked) == event_stream.TRIES + 1


def test_words_that_are_in_no_log_come_in_between():
    app = Says(stream((1, "a"), (None, "advice.delta"), (None, "advice.delta"), (2, "match.ended")))
    assert collected(app) == [1, None, None, 2]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (stream((1, "a"), (3, "a")), "what comes after event 1 is left out"),
        (stream(("\x1b[2J", "a")), "the id of an event is no number"),
        (stream(("9" * 30, "a")), "the id of an event is no number"),
        ((200, STREAM, b"id: 1\ndata: {\n\n"), "an event of the stream is no JSON"),
        ((200, STREAM, b"id: 1\ndata: " + b"[" * 200_000 + b"\n\n"), "is no JSON"),
        ((200, STREAM, b"data: " + b"x" * (5 * 1024 * 1024)), "an event is larger than 4 MiB"),
        ((200, STREAM, (b"data: " + b"x" * 1000 + b"\n") * 5000), "an event is larger than 4 MiB"),
        ((200, {"content-type": "text/html"}, b"<html>"), "is no stream of events"),
        ((204, {}, b""), "nothing follows event 0"),
    ],
)
def test_nonsense_is_no_reason_to_try_again(answer, said):
    app = Says(answer)
    with pytest.raises(NonsenseSent, match=said) as raised:
        collected(app)
    assert str(raised.value).isprintable()
    assert len(app.asked) == 1


def test_a_refusal_is_put_into_words_by_whoever_knows():
    async def refuse(response):
        return PermissionError(response.status_code)

    with pytest.raises(PermissionError, match="401"):
        collected(Says((401, {}, b"")), Manners(refuse=refuse))
