"""What the demonstration is made of: the stream it reads, and the board it draws."""

import asyncio
import io
import json
import time
from datetime import timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from app.cli import event_stream, live_board
from app.cli.event_stream import SentEvent, SseParser, StreamBroken, watch
from app.cli.live_board import Board, Lines, Scene, draw, pace
from engine import Color
from tests.support.processes import HANGS_AFTER
from tests.support.servers import serving

# --- reading ---


def event(number, kind="ply.played", reason="", **data):
    if kind == "ply.played":
        data["decision"] = {"reason": reason, "attempts": 1}
    return SentEvent(str(number), kind, data)


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
        await send({"type": "http.response.start", "status": status, "headers": []})
        body = b"retry: 2000\n\n: keep-alive\n\n" if status == 200 else b""
        for number in range(last + 1, min(last + 2, self.count) + 1 if status == 200 else 0):
            kind = "match.ended" if number == self.count else "ply.played"
            body += b'id: %d\nevent: %s\ndata: {"n":%d}\n\n' % (number, kind.encode(), number)
        more = b"id: 99\nevent: half of one"
        await send({"type": "http.response.body", "body": body + more, "more_body": True})
        if last % 4 and status == 200:
            raise ConnectionResetError  # in the middle of the answer
        await send({"type": "http.response.body", "body": b""})


async def collect(address):
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
        return [each.data["n"] async for each in watch(client, "/events")]


def collected(app):
    with serving(app) as served:
        return asyncio.run(asyncio.wait_for(collect(served.url), HANGS_AFTER))


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


# --- drawing ---

AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
E4 = event(3, ply=1, san="e4", uci="e2e4", fen=AFTER_E4, clocks=None)
CLOCKS = {"white_ms": 299_000, "black_ms": 300_000}
ENDED = event(
    9, "match.ended", detail="Black won", outcome={"result": "0-1", "detail": "Black won by mate"}
)


def scene(*events):
    current = Scene("random", "stockfish:2")
    for each in events:
        current = current.after(each)
    return current


def printed(shown, *, color=True, **options):
    system = "truecolor" if color else None
    console = Console(
        file=io.StringIO(), force_terminal=color, color_system=system, width=100, **options
    )
    console.print(shown)
    return console.file.getvalue()


def test_a_scene_follows_the_events():
    assert scene(E4).moves == ((1, Color.WHITE, "e4"),)
    assert scene(E4).position.fen() == AFTER_E4
    assert scene(event(2, "turn.started", clocks=CLOCKS)).clocks == CLOCKS
    assert scene(event(1, "match.created", fen=AFTER_E4)).position.fen() == AFTER_E4
    assert scene(E4, ENDED).ending == "0-1: Black won by mate"
    aborted = event(9, "match.ended", detail="it was aborted", outcome=None)
    assert scene(aborted).ending == "it was aborted"
    assert scene(event(5, "advice.given", by="x")) == scene()


def test_the_board_shows_pieces_players_clocks_and_moves():
    timed = event(3, ply=1, san="e4", uci="e2e4", fen=AFTER_E4, clocks=CLOCKS)
    text = printed(draw(scene(timed), letters=True), color=False)
    assert "8  r  n  b  q  k  b  n  r " in text
    assert "4  ·  ·  ·  ·  P  ·  ·  · " in text
    assert "a  b  c  d  e  f  g  h" in text
    assert "> stockfish:2 (Black)  05:00" in text
    assert "random (White)  04:59" in text
    assert "  1. e4" in text
    assert "\x1b" not in text
    assert "♜" in printed(draw(scene(E4)))


def test_the_last_move_and_a_check_are_marked():
    def grounds(fen, uci):
        moved = event(3, ply=1, san="x", uci=uci, fen=fen, clocks=None)
        shown = draw(scene(moved), letters=True)
        console = Console(force_terminal=True, color_system="truecolor", width=100)
        colors = [str(each.style.bgcolor.name) for each in console.render(shown)
                  if each.style and each.style.bgcolor]  # fmt: skip
        return [colors.count(each) for each in (live_board._MOVED, live_board._CHECKED)]

    assert grounds(AFTER_E4, "e2e4") == [2, 0]
    assert grounds(MATE, "d8h4") == [2, 1]


def test_the_frame_does_not_move_as_the_match_goes_on():
    """Each drawing has as many lines, of the same width, as the one before."""
    sizes = set()
    current = scene()
    for number in range(1, 60):
        fen = f"{AFTER_E4[:-1]}{number}"
        reason = "wins the queen, and then some " * (number % 9)
        moved = event(number, reason=reason, san="Qh4xe1#", uci="d8h4", fen=fen, clocks=CLOCKS)
        current = current.after(moved)
        lines = printed(draw(current), color=False).splitlines()
        sizes.add((len(lines), *map(len, lines)))
    lines = printed(draw(current.after(ENDED)), color=False).splitlines()
    sizes.add((len(lines), *map(len, lines)))
    assert len(sizes) == 1


def show_all(show, *events):
    async def main():
        current = scene()
        with show:
            for each in events:
                current = current.after(each)
                await show.show(current, each)

    asyncio.run(main())


def test_lines_are_one_for_each_move_and_nothing_else(capsys):
    reply = event(4, san="c5", uci="c7c5", fen=AFTER_E4.replace(" b ", " w "), clocks=CLOCKS)
    show_all(Lines(), event(1, "match.created", fen=scene().position.fen()), E4, reply, ENDED)
    assert capsys.readouterr().out == "  1.   e4\n  1... c5      05:00\n"


def test_the_reason_for_a_move_is_told(capsys):
    said = event(3, reason="wins\n a\x1b[2J pawn", san="e4", uci="e2e4", fen=AFTER_E4, clocks=None)
    show_all(Lines(), said)
    assert capsys.readouterr().out == "  1.   e4      wins a[2J pawn\n"
    assert "wins a[2J pawn" in printed(draw(scene(said)), color=False)


@pytest.mark.parametrize(("system", "piece"), [("truecolor", "♜"), (None, " r ")])
def test_a_terminal_without_colours_gets_letters(system, piece, monkeypatch):
    """Both sides' figurines would look the same."""
    monkeypatch.setattr(live_board, "pace", lambda _: timedelta(0))
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    console = Console(file=file, force_terminal=True, color_system=system, width=100, height=40)
    console.no_color = system is None
    show_all(Board(console), E4, ENDED)
    file.seek(0)
    text = file.read()
    assert piece in text
    assert "0-1: Black won by mate" in text
    assert text.rstrip().endswith("\x1b[?25h")  # the cursor is back


def test_a_terminal_without_figurines_gets_letters(monkeypatch):
    file = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="replace")
    console = Console(file=file, force_terminal=True, color_system="standard", width=100)
    show_all(Board(console), E4)
    file.seek(0)
    assert " r " in file.read()


def test_a_person_can_follow_and_the_longest_match_takes_less_than_a_minute():
    assert pace(1) >= timedelta(milliseconds=200)
    assert sum((pace(ply) for ply in range(1, 401)), timedelta()) < timedelta(seconds=50)


def test_a_move_stays_for_its_time(monkeypatch):
    monkeypatch.setattr(live_board, "pace", lambda _: timedelta(milliseconds=30))
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    began = time.monotonic()
    show_all(Board(console), *[E4] * 4)
    assert time.monotonic() - began >= 0.09
