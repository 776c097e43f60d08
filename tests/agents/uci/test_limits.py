"""Limits, the `go` commands that tell them, and when an engine is late."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.uci.errors import InvalidLimit
from agents.uci.limits import Limit
from engine import Clock, Color, Move, TimeControl
from engine.clock import Bonus, ClockFace, Period
from fuzz.promises import check_refusal

WHITE, BLACK = Color.WHITE, Color.BLACK
NOTHING = timedelta(0)
DAY_MS = 24 * 3600 * 1000


def ms(number: float) -> timedelta:
    return timedelta(milliseconds=number)


def clock(control: str, white: float | None = None, black: float | None = None) -> Clock:
    """Return a clock that stands at so many milliseconds; a side without any, as at first."""
    start = Clock.start(TimeControl.parse(control))
    faces = [
        face if left is None else ClockFace(ms(left), flagged=left <= 0)
        for face, left in ((start.white, white), (start.black, black))
    ]
    return Clock(start.control, *faces)


def after(control: str, *moves: tuple[Color, float]) -> Clock:
    """Return a clock after moves that took so many milliseconds."""
    result = clock(control)
    for color, elapsed in moves:
        result = result.after_move(color, ms(elapsed))
    return result


# --- bounds ---

VALID = [
    {},
    {"depth": 1},
    {"depth": 200},
    {"nodes": 1},
    {"nodes": 10**15},
    {"time": ms(1)},
    {"time": timedelta(days=1)},
    {"depth": 5, "nodes": 5, "time": ms(5), "clock": clock("300+3")},
    {"clock": clock("-")},
]


@pytest.mark.parametrize("fields", VALID, ids=[", ".join(map(str, each)) for each in VALID])
def test_a_limit_in_bounds(fields):
    limit = Limit(**fields)
    assert {name: getattr(limit, name) for name in fields} == fields


DEPTH = "depth must be a whole number from 1 to 200"
NODES = "nodes must be a whole number from 1 to 1000000000000000"
TIME = "the time for a move must be from 1 ms to a day"

OUT_OF_BOUNDS = [
    ({"depth": 0}, DEPTH),
    ({"depth": -1}, DEPTH),
    ({"depth": 201}, DEPTH),
    ({"depth": True}, DEPTH),
    ({"depth": 5.0}, DEPTH),
    ({"depth": "5"}, DEPTH),
    ({"nodes": 0}, NODES),
    ({"nodes": 10**15 + 1}, NODES),
    ({"nodes": False}, NODES),
    ({"nodes": 1e6}, NODES),
    ({"time": NOTHING}, TIME),
    ({"time": ms(0.999)}, TIME),
    ({"time": ms(-5)}, TIME),
    ({"time": timedelta(days=1, microseconds=1)}, TIME),
    ({"depth": 5, "time": timedelta.max}, TIME),
]


@pytest.mark.parametrize(
    ("fields", "sentence"), OUT_OF_BOUNDS, ids=[str(fields) for fields, _ in OUT_OF_BOUNDS]
)
def test_a_limit_out_of_bounds_is_refused(fields, sentence):
    with pytest.raises(InvalidLimit) as caught:
        Limit(**fields)
    assert str(caught.value) == sentence
    check_refusal(caught.value)


# --- commands ---

#: Limits, and what is said to White and to Black.
COMMANDS = {
    "depth": (Limit(depth=12), "depth 12", "depth 12"),
    "nodes": (Limit(nodes=10**15), "nodes 1000000000000000", "nodes 1000000000000000"),
    "time": (Limit(time=ms(1500)), "movetime 1500", "movetime 1500"),
    "part of a millisecond": (Limit(time=ms(1.9)), "movetime 1", "movetime 1"),
    "a day": (Limit(time=timedelta(days=1)), "movetime 86400000", "movetime 86400000"),
    "all but a clock": (
        Limit(depth=3, nodes=5, time=ms(7)),
        "movetime 7 depth 3 nodes 5",
        "movetime 7 depth 3 nodes 5",
    ),
    "sudden death": (
        Limit(clock=clock("300")),
        "wtime 299970 btime 300000",
        "wtime 300000 btime 299970",
    ),
    "increments": (
        Limit(clock=clock("300+3")),
        "wtime 299970 btime 300000 winc 3000 binc 3000",
        "wtime 300000 btime 299970 winc 3000 binc 3000",
    ),
    "increments only": (
        Limit(clock=clock("0+2")),
        "wtime 1970 btime 2000 winc 2000 binc 2000",
        "wtime 2000 btime 1970 winc 2000 binc 2000",
    ),
    "after a move": (
        Limit(clock=after("300+3", (WHITE, 10_000))),
        "wtime 292970 btime 300000 winc 3000 binc 3000",
        "wtime 293000 btime 299970 winc 3000 binc 3000",
    ),
    # Bronstein gives back afterwards; a delay can be used before the flag falls.
    "Bronstein": (
        Limit(clock=clock("300b3")),
        "wtime 299970 btime 300000 winc 3000 binc 3000",
        "wtime 300000 btime 299970 winc 3000 binc 3000",
    ),
    "delay": (
        Limit(clock=clock("300d3")),
        "wtime 302970 btime 300000 winc 3000 binc 3000",
        "wtime 300000 btime 302970 winc 3000 binc 3000",
    ),
    "delay only": (
        Limit(clock=clock("0d3")),
        "wtime 2970 btime 1 winc 3000 binc 3000",
        "wtime 1 btime 2970 winc 3000 binc 3000",
    ),
    "periods": (
        Limit(clock=clock("40/5400+30:1800")),
        "wtime 5399970 btime 5400000 winc 30000 binc 30000 movestogo 40",
        "wtime 5400000 btime 5399970 winc 30000 binc 30000 movestogo 40",
    ),
    "each side is in its own period": (
        Limit(clock=after("2/60+5:600", (WHITE, 5000), (BLACK, 5000), (WHITE, 5000))),
        "wtime 659970 btime 60000 binc 5000",
        "wtime 660000 btime 59970 binc 5000 movestogo 1",
    ),
    "a period that repeats": (
        Limit(clock=after("3/60", *[(WHITE, 1000)] * 4)),
        "wtime 115970 btime 60000 movestogo 2",
        "wtime 116000 btime 59970 movestogo 3",
    ),
    "for each move": (Limit(clock=clock("10s")), "movetime 9970", "movetime 9970"),
    "for each move, and less": (
        Limit(time=ms(500), clock=clock("10s")),
        "movetime 500",
        "movetime 500",
    ),
    "for each move, and more": (
        Limit(time=ms(20_000), clock=clock("10s")),
        "movetime 9970",
        "movetime 9970",
    ),
    "a clock and all else": (
        Limit(depth=3, nodes=5, time=ms(7), clock=clock("300+3")),
        "wtime 299970 btime 300000 winc 3000 binc 3000 movetime 7 depth 3 nodes 5",
        "wtime 300000 btime 299970 winc 3000 binc 3000 movetime 7 depth 3 nodes 5",
    ),
    "untimed": (Limit(depth=3, clock=clock("-")), "depth 3", "depth 3"),
    "untimed, but for the move": (
        Limit(time=ms(7), clock=clock("-")),
        "movetime 7",
        "movetime 7",
    ),
    # what is kept back
    "a tenth, if that is less": (
        Limit(clock=clock("300", white=100, black=200)),
        "wtime 90 btime 200",
        "wtime 100 btime 180",
    ),
    "a tenth and no more": (
        Limit(clock=clock("300", white=300, black=310)),
        "wtime 270 btime 310",
        "wtime 300 btime 280",
    ),
    # what has been spent
    "spent": (
        Limit(clock=clock("300+3"), spent=ms(2000)),
        "wtime 297970 btime 300000 winc 3000 binc 3000",
        "wtime 300000 btime 297970 winc 3000 binc 3000",
    ),
    "spent of a delay": (
        Limit(clock=clock("300d3"), spent=ms(2000)),
        "wtime 300970 btime 300000 winc 3000 binc 3000",
        "wtime 300000 btime 300970 winc 3000 binc 3000",
    ),
    "spent of each move": (
        Limit(clock=clock("10s"), spent=ms(2000)),
        "movetime 7970",
        "movetime 7970",
    ),
    "all spent": (
        Limit(clock=clock("10"), spent=ms(10_000)),
        "wtime 1 btime 10000",
        "wtime 10000 btime 1",
    ),
    "more than all spent": (
        Limit(clock=clock("10s"), spent=ms(60_000)),
        "movetime 1",
        "movetime 1",
    ),
    # nearly nothing
    "a microsecond": (
        Limit(clock=clock("0.000001")),
        "wtime 1 btime 1",
        "wtime 1 btime 1",
    ),
    "flagged": (
        Limit(clock=clock("10", white=0, black=0)),
        "wtime 1 btime 1",
        "wtime 1 btime 1",
    ),
    "flagged, with a bonus": (
        Limit(clock=clock("10d5", white=0, black=0)),
        "wtime 1 btime 1 winc 5000 binc 5000",
        "wtime 1 btime 1 winc 5000 binc 5000",
    ),
    "a bonus under a millisecond": (
        Limit(clock=clock("10+0.0001")),
        "wtime 9970 btime 10000 winc 1 binc 1",
        "wtime 10000 btime 9970 winc 1 binc 1",
    ),
    # Ethereal and Glaurung count in 32 bits: with more they would move at once.
    "correspondence": (
        Limit(clock=clock("1000h+1000h")),
        "wtime 86400000 btime 86400000 winc 86400000 binc 86400000",
        "wtime 86400000 btime 86400000 winc 86400000 binc 86400000",
    ),
    "three days for each move": (
        Limit(clock=clock("72h/move")),
        "movetime 86400000",
        "movetime 86400000",
    ),
}


@pytest.mark.parametrize(("limit", "white", "black"), COMMANDS.values(), ids=COMMANDS)
def test_an_engine_is_told(limit, white, black):
    assert limit.is_set
    assert limit.command(WHITE) == f"go {white}"
    assert limit.command(BLACK) == f"go {black}"


@pytest.mark.parametrize(
    "limit",
    [Limit(), Limit(clock=clock("-")), Limit(spent=ms(5))],
    ids=["none", "untimed", "spent"],
)
def test_a_search_without_end_is_refused(limit):
    assert not limit.is_set
    with pytest.raises(InvalidLimit, match="a search needs a limit: depth, nodes, time or a clock"):
        limit.command(WHITE)


# --- deadlines ---

#: In milliseconds; told to stop then, an engine can still answer before the flag falls.
DEADLINES = {
    "depth": (Limit(depth=12), None, None),
    "nodes, untimed": (Limit(nodes=12, clock=clock("-")), None, None),
    "time": (Limit(time=ms(1000)), 1250, 1250),
    "clock": (Limit(clock=clock("300+3", white=5000)), 4985, 299_985),
    "delay": (Limit(clock=clock("300d3", white=5000)), 7985, 302_985),
    "for each move": (Limit(clock=clock("10s")), 9985, 9985),
    "for each short move": (Limit(clock=clock("0.2s")), 190, 190),
    "time before the flag": (Limit(time=ms(1000), clock=clock("300", white=1100)), 1085, 1250),
    "spent": (Limit(clock=clock("300", white=5000), spent=ms(2000)), 2985, 297_985),
    "spent, not of the time": (Limit(time=ms(1000), clock=clock("300"), spent=ms(99)), 1250, 1250),
    "all spent": (Limit(clock=clock("10"), spent=ms(10_000)), 1, 1),
    "more than all spent": (Limit(clock=clock("10"), spent=ms(20_000)), 1, 1),
    "flagged": (Limit(clock=clock("10", white=0)), 1, 9985),
}


@pytest.mark.parametrize(("limit", "white", "black"), DEADLINES.values(), ids=DEADLINES)
def test_an_engine_is_late(limit, white, black):
    assert limit.deadline(WHITE) == (None if white is None else ms(white))
    assert limit.deadline(BLACK) == (None if black is None else ms(black))


# --- effort ---

EFFORTS = {
    "nothing": (Limit(), False),
    "depth": (Limit(depth=1), True),
    "nodes": (Limit(nodes=1), True),
    "both": (Limit(depth=1, nodes=1), True),
    "untimed": (Limit(depth=1, clock=clock("-")), True),
    "only untimed": (Limit(clock=clock("-")), False),
    "time": (Limit(time=ms(1)), False),
    "time, too": (Limit(depth=1, time=ms(1)), False),
    "clock": (Limit(clock=clock("300")), False),
    "clock, too": (Limit(nodes=1, clock=clock("300")), False),
    "for each move, too": (Limit(nodes=1, clock=clock("10s")), False),
}


@pytest.mark.parametrize(("limit", "is_effort"), EFFORTS.values(), ids=EFFORTS)
def test_only_the_work_is_limited(limit, is_effort):
    assert limit.is_effort is is_effort


# --- any clock ---

times = st.timedeltas(timedelta(microseconds=1), timedelta(hours=1000)) | st.integers(
    1, 300_000
).map(ms)
bonuses = st.just(NOTHING) | times
periods = st.builds(Period, st.integers(1, 60), times, bonuses, st.sampled_from(Bonus))
last_periods = st.builds(
    Period, st.none() | st.integers(1, 60), times, bonuses, st.sampled_from(Bonus)
)
controls = st.builds(
    lambda first, last: TimeControl((*first, last)), st.lists(periods, max_size=1), last_periods
) | st.builds(lambda each: TimeControl(per_move=each), times)
thinking = st.lists(st.tuples(st.sampled_from((WHITE, BLACK)), times), max_size=5)


@settings(deadline=None)
@given(controls, thinking, st.just(NOTHING) | times, st.none() | times, st.sampled_from(Color))
def test_no_clock_gives_time_that_is_not_there(control, moves, spent, time, turn):
    face = Clock.start(control)
    for color, elapsed in moves:
        face = face.after_move(color, elapsed)
    time = None if time is None else min(time + ms(1), timedelta(days=1))
    limit = Limit(time=time, clock=face, spent=spent)

    words = limit.command(turn).split()
    told = {key: int(value) for key, value in zip(words[1::2], words[2::2], strict=True)}
    assert all(1 <= number <= DAY_MS for number in told.values())
    budget = face.budget(turn)
    assert budget is not None
    left = max(1, (budget - spent) // ms(1))
    key = "movetime" if control.is_per_move else f"{'w' if turn is WHITE else 'b'}time"
    assert told[key] <= left

    deadline = limit.deadline(turn)
    assert deadline is not None
    assert ms(1) <= deadline <= max(budget - spent, ms(1))


def test_an_engine_is_told_which_moves_are_wanted():
    moves = [Move.from_uci("a2a3"), Move.from_uci("h7h8q")]
    assert Limit(depth=3).command(WHITE, moves) == "go depth 3 searchmoves a2a3 h7h8q"
