"""Time controls read and printed, and clocks that charge what they should."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.clock import Bonus, Clock, ClockFace, Period, Stopwatch, TimeControl, format_clock
from engine.errors import InvalidTimeControl
from engine.pieces import Color

WHITE, BLACK = Color.WHITE, Color.BLACK


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def periods(*args: Period) -> TimeControl:
    return TimeControl(periods=args)


def sudden_death(base: float, bonus: float = 0, kind: Bonus = Bonus.INCREMENT) -> TimeControl:
    return periods(Period(None, seconds(base), seconds(bonus), kind))


def each_move(number: float) -> TimeControl:
    return TimeControl(per_move=seconds(number))


def clock(text: str) -> Clock:
    return Clock.start(TimeControl.parse(text))


def played(start: Clock, thinking_times: Iterable[float], color: Color = WHITE) -> Clock:
    for thinking_time in thinking_times:
        start = start.after_move(color, seconds(thinking_time))
    return start


FORMS = [
    # base and increment
    ("300+3", sudden_death(300, 3), "300+3"),
    ("300", sudden_death(300), "300"),
    ("300+0", sudden_death(300), "300"),
    ("5m+3s", sudden_death(300, 3), "300+3"),
    ("5m+3", sudden_death(300, 3), "300+3"),
    ("1h30m+30s", sudden_death(5400, 30), "5400+30"),
    ("1.5h", sudden_death(5400), "5400"),
    ("90m", sudden_death(5400), "5400"),
    ("5m", sudden_death(300), "300"),
    ("1m30s", sudden_death(90), "90"),
    ("1h0m5s", sudden_death(3605), "3605"),
    ("0.5+0.1", sudden_death(0.5, 0.1), "0.5+0.1"),
    ("3+.5", sudden_death(3, 0.5), "3+0.5"),
    ("0+3", sudden_death(0, 3), "0+3"),
    ("0.000001", sudden_death(0.000001), "0.000001"),
    ("  300 + 3\t", sudden_death(300, 3), "300+3"),
    ("1H30M+30S", sudden_death(5400, 30), "5400+30"),
    ("007", sudden_death(7), "7"),
    ("1000h", sudden_death(3_600_000), "3600000"),
    # periods
    (
        "40/5400+30:1800",
        periods(Period(40, seconds(5400), seconds(30)), Period(None, seconds(1800))),
        "40/5400+30:1800",
    ),
    (
        "40/7200:20/3600:900+30",
        periods(
            Period(40, seconds(7200)),
            Period(20, seconds(3600)),
            Period(None, seconds(900), seconds(30)),
        ),
        "40/7200:20/3600:900+30",
    ),
    (
        " 40/90m+30s : 30m d 5",
        periods(
            Period(40, seconds(5400), seconds(30)),
            Period(None, seconds(1800), seconds(5), Bonus.DELAY),
        ),
        "40/5400+30:1800d5",
    ),
    ("40/100s", periods(Period(40, seconds(100))), "40/100"),
    ("1/10", periods(Period(1, seconds(10))), "1/10"),
    ("1000/10", periods(Period(1000, seconds(10))), "1000/10"),
    ("5/10:10s", periods(Period(5, seconds(10)), Period(None, seconds(10))), "5/10:10"),
    (":".join(["1/1"] * 8), periods(*[Period(1, seconds(1))] * 8), ":".join(["1/1"] * 8)),
    # for each move
    ("10s", each_move(10), "10s"),
    ("0.5s", each_move(0.5), "0.5s"),
    ("10s/move", each_move(10), "10s"),
    ("10/Move", each_move(10), "10s"),
    ("1m /move", each_move(60), "60s"),
    ("10s+0", sudden_death(10), "10"),
    # delay and Bronstein
    ("300d3", sudden_death(300, 3, Bonus.DELAY), "300d3"),
    ("300+3 delay", sudden_death(300, 3, Bonus.DELAY), "300d3"),
    ("5m+3sDELAY", sudden_death(300, 3, Bonus.DELAY), "300d3"),
    ("0d3", sudden_death(0, 3, Bonus.DELAY), "0d3"),
    ("300d0", sudden_death(300), "300"),
    ("300b3", sudden_death(300, 3, Bonus.BRONSTEIN), "300b3"),
    ("300+3 Bronstein", sudden_death(300, 3, Bonus.BRONSTEIN), "300b3"),
    # untimed
    ("-", TimeControl(), "-"),
    ("none", TimeControl(), "-"),
    ("Unlimited", TimeControl(), "-"),
    (" ∞ ", TimeControl(), "-"),
]


@pytest.mark.parametrize(("text", "control", "printed"), FORMS)
def test_every_form_is_read_and_printed_in_seconds(
    text: str, control: TimeControl, printed: str
) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == printed
    assert TimeControl.parse(printed) == control


@pytest.mark.parametrize(
    ("text", "is_timed", "is_per_move"),
    [("300+3", True, False), ("40/60", True, False), ("10s", True, True), ("-", False, False)],
)
def test_a_control_says_what_it_is(text: str, is_timed: bool, is_per_move: bool) -> None:
    control = TimeControl.parse(text)
    assert (control.is_timed, control.is_per_move) == (is_timed, is_per_move)


UNREADABLE = "cannot be read; write 300+3"
NO_TIME = "is no time"
OUT_OF_BOUNDS = "a time is from 0 to 1000 hours"
GIVES_NOTHING = "it gives no time at all"
BAD_MOVES = "a period has 1 to 1000 moves"

REFUSED = [
    ("", UNREADABLE),
    ("  ", UNREADABLE),
    ("?", UNREADABLE),
    ("blitz", UNREADABLE),
    ("-5", UNREADABLE),
    ("300+-3", UNREADABLE),
    ("300-3", UNREADABLE),
    ("+3", UNREADABLE),
    ("300+", UNREADABLE),
    ("300++3", UNREADABLE),
    ("300+3+3", UNREADABLE),
    ("nan", UNREADABLE),
    ("inf", UNREADABLE),
    ("300+inf", UNREADABLE),
    ("1e3", UNREADABLE),
    ("0x10", UNREADABLE),
    ("1_000", UNREADABLE),
    ("3 0 0", UNREADABLE),
    ("\u0663\u0660\u0660", UNREADABLE),
    ("\uff13\uff10\uff10", UNREADABLE),
    ("3\u00b2", UNREADABLE),
    ("\x00\xff\ud800", UNREADABLE),
    ("300d3 bronstein", UNREADABLE),
    ("300 delay", UNREADABLE),
    ("40/", UNREADABLE),
    ("/300", UNREADABLE),
    ("1.5/300", UNREADABLE),
    ("40/300:", UNREADABLE),
    (":300", UNREADABLE),
    ("40/60:-", UNREADABLE),
    ("1h30", NO_TIME),
    ("30s5m", NO_TIME),
    ("5mm", NO_TIME),
    ("1.2.3", NO_TIME),
    ("5.", NO_TIME),
    ("h", NO_TIME),
    ("300+s", NO_TIME),
    ("/move", NO_TIME),
    ("fast/move", NO_TIME),
    ("0.0000001", "has more than six decimals"),
    ("0", GIVES_NOTHING),
    ("0+0", GIVES_NOTHING),
    ("0d0", GIVES_NOTHING),
    ("0s", GIVES_NOTHING),
    ("0h0m", GIVES_NOTHING),
    ("40/300:0", GIVES_NOTHING),
    ("1001h", OUT_OF_BOUNDS),
    ("3600000.000001", OUT_OF_BOUNDS),
    ("1+1001h", OUT_OF_BOUNDS),
    ("3600001s", OUT_OF_BOUNDS),
    ("9" * 100, OUT_OF_BOUNDS),
    ("9" * 99 + "h", OUT_OF_BOUNDS),
    ("0/300", BAD_MOVES),
    ("1001/300", BAD_MOVES),
    ("9" * 90 + "/300", BAD_MOVES),
    ("300:40/300", "only the last period may leave out its moves"),
    (":".join(["1/1"] * 9), "it has more than 8 periods"),
    ("1" * 101, "it is longer than 100 characters"),
    (" " * 98 + "300", "it is longer than 100 characters"),
    ("9" * 1_000_000, "it is longer than 100 characters"),
    (":".join(["1/9h+9h"] * 8), "it takes over 100 characters to print"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_anything_else_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidTimeControl) as refusal:
        TimeControl.parse(text)
    assert refusal.value.text == text
    assert reason in refusal.value.reason
    assert len(str(refusal.value)) < 400


def test_reading_the_longest_junk_is_fast() -> None:
    junk = ["1" * 100, "." * 100, "1." * 50, "1m" * 50, "1:" * 50, "1 " * 50, "1+" * 50, "1/" * 50]
    started = time.perf_counter()
    for text in junk * 10:
        with pytest.raises(InvalidTimeControl):
            TimeControl.parse(text)
    assert time.perf_counter() - started < 1


def test_what_cannot_be_written_cannot_be_built() -> None:
    with pytest.raises(InvalidTimeControl, match=OUT_OF_BOUNDS):
        Period(None, seconds(-1))
    with pytest.raises(InvalidTimeControl, match=OUT_OF_BOUNDS):
        Period(None, seconds(1), seconds(-1))
    with pytest.raises(InvalidTimeControl, match=OUT_OF_BOUNDS):
        TimeControl(per_move=timedelta.max)
    with pytest.raises(InvalidTimeControl, match="periods and a time for each move"):
        TimeControl((Period(None, seconds(1)),), seconds(1))


# --- laws of reading and printing ---

_times = st.timedeltas(min_value=timedelta(0), max_value=timedelta(hours=1000))
_coarse = st.integers(0, 7200).map(seconds)
_moves = st.integers(1, 3) | st.integers(1, 1000)


@st.composite
def controls(draw: st.DrawFn) -> TimeControl:
    if draw(st.booleans()) and draw(st.booleans()):
        return TimeControl(per_move=draw(st.none() | _times.filter(bool)))
    lengths: list[int | None] = [*draw(st.lists(_moves, max_size=7)), draw(st.none() | _moves)]
    lasting = _coarse if len(lengths) > 2 else _times
    parts = []
    for length in lengths:
        base, bonus = draw(lasting), draw(lasting)
        assume(base or bonus)
        parts.append(Period(length, base, bonus, draw(st.sampled_from(Bonus))))
    assume(len(":".join(map(str, parts))) <= 100)  # the one bound that parts break together
    return TimeControl(tuple(parts))


@given(controls())
def test_printing_then_parsing_is_the_identity(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control
    assert str(TimeControl.parse(str(control))) == str(control)
    assert TimeControl.parse(str(control).upper()) == control


@given(
    st.text(max_size=120)
    | st.text("0123456789.:/+-dbhms ∞", max_size=40)
    | st.lists(
        st.sampled_from(["40/", "300", ":", "+", "3", "d", "b", "s", "m", "h", " delay", "/move"]),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_a_time_control_or_refused(text: str) -> None:
    try:
        control = TimeControl.parse(text)
    except InvalidTimeControl:
        return
    assert TimeControl.parse(str(control)) == control


# --- clocks ---


def test_an_increment_is_given_after_each_move_in_time() -> None:
    start = clock("300+3")
    after = start.after_move(WHITE, seconds(10))
    assert after.remaining(WHITE) == seconds(293)
    assert after.remaining(BLACK) == seconds(300)
    assert after.after_move(BLACK, seconds(0)).remaining(BLACK) == seconds(303)
    assert start.remaining(WHITE) == seconds(300), "a clock is a value: an undo just keeps the old"


def test_the_budget_of_an_increment_clock_is_what_remains() -> None:
    assert clock("300+3").budget(WHITE) == seconds(300)
    assert clock("300b3").budget(WHITE) == seconds(300)


@pytest.mark.parametrize(
    ("text", "thinking_time", "remaining"),
    [
        ("300d3", 2, 300),
        ("300d3", 3, 300),
        ("300d3", 10, 293),
        ("300d3", 302.9, 0.1),
        ("300b3", 0, 300),
        ("300b3", 2, 300),
        ("300b3", 3, 300),
        ("300b3", 10, 293),
        ("300b3", 299.9, 3.1),
        ("300", 10, 290),
        ("0+3", 2, 4),
        ("0b3", 2, 3),
        ("0d3", 2, 0),
    ],
)
def test_one_move_leaves(text: str, thinking_time: float, remaining: float) -> None:
    after = clock(text).after_move(WHITE, seconds(thinking_time))
    assert after.remaining(WHITE) == seconds(remaining)
    assert not after.is_flagged(WHITE)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("300", 300),
        ("300+3", 300),
        ("300b3", 300),
        ("300d3", 303),
        ("0+3", 3),
        ("0b3", 3),
        ("0d3", 3),
        ("10s", 10),
        ("40/60d5:30", 65),
    ],
)
def test_the_flag_falls_when_the_budget_is_used_up(text: str, budget: float) -> None:
    start = clock(text)
    moment = timedelta(microseconds=1)
    assert start.budget(WHITE) == seconds(budget)
    assert not start.is_flagged(WHITE)
    assert not start.is_flagged(WHITE, seconds(budget) - moment)
    assert not start.after_move(WHITE, seconds(budget) - moment).is_flagged(WHITE)
    for elapsed in (seconds(budget), seconds(budget) + moment, timedelta.max):
        assert start.is_flagged(WHITE, elapsed)
        fallen = start.after_move(WHITE, elapsed)
        assert fallen.is_flagged(WHITE)
        assert not fallen.is_flagged(BLACK)
        assert fallen.remaining(WHITE) == fallen.budget(WHITE) == seconds(0)
        assert fallen.moves_to_go(WHITE) == start.moves_to_go(WHITE)
        assert fallen.after_move(WHITE, seconds(0)) == fallen, "a fallen flag stays down"


def test_a_late_move_does_not_reach_the_next_period() -> None:
    fallen = played(clock("2/60+5:1800"), [30, 36])
    assert fallen.is_flagged(WHITE)
    assert fallen.remaining(WHITE) == seconds(0)
    assert fallen.moves_to_go(WHITE) == 1


def test_periods_follow_one_another_with_their_own_bonus() -> None:
    now = clock("2/100+10:1/50d5:20b2")
    seen = [(now.remaining(WHITE), now.moves_to_go(WHITE), now.budget(WHITE))]
    for thinking_time in (30, 40, 15, 1, 5):
        now = now.after_move(WHITE, seconds(thinking_time))
        seen.append((now.remaining(WHITE), now.moves_to_go(WHITE), now.budget(WHITE)))
    assert seen == [
        (seconds(100), 2, seconds(100)),
        (seconds(80), 1, seconds(80)),  # +10
        (seconds(100), 1, seconds(105)),  # +10, and 50 of the second period
        (seconds(110), None, seconds(110)),  # 5 of the 15 are delay, and 20 of the last period
        (seconds(110), None, seconds(110)),  # all given back
        (seconds(107), None, seconds(107)),  # 2 given back
    ]
    assert now.moves_to_go(BLACK) == 2


def test_the_period_in_force_can_be_asked_for() -> None:
    start = clock("1/60+5:30")
    assert start.period(WHITE) == Period(1, seconds(60), seconds(5))
    assert played(start, [1]).period(WHITE) == Period(None, seconds(30))
    assert clock("10s").period(WHITE) is None
    assert clock("-").period(WHITE) is None


def test_a_last_period_that_counts_moves_repeats() -> None:
    now = clock("1/60:2/10")
    to_go = [now.moves_to_go(WHITE)]
    remaining = [now.remaining(WHITE)]
    for _ in range(5):
        now = now.after_move(WHITE, seconds(1))
        to_go.append(now.moves_to_go(WHITE))
        remaining.append(now.remaining(WHITE))
    assert to_go == [1, 2, 1, 2, 1, 2]
    assert remaining == [seconds(number) for number in (60, 69, 68, 77, 76, 85)]


def test_forty_moves_in_ninety_minutes_then_thirty() -> None:
    now = played(clock("40/5400+30:1800"), [60] * 39)
    assert now.moves_to_go(WHITE) == 1
    assert now.remaining(WHITE) == seconds(5400 - 39 * 30)
    now = played(now, [60])
    assert now.moves_to_go(WHITE) is None
    assert now.remaining(WHITE) == seconds(5400 - 40 * 30 + 1800)
    assert played(now, [60]).remaining(WHITE) == seconds(5400 - 40 * 30 + 1800 - 60)


def test_time_for_each_move_starts_afresh() -> None:
    now = played(clock("10s"), [9, 0, 9.5])
    assert now.remaining(WHITE) == seconds(10)
    assert now.moves_to_go(WHITE) is None
    assert now.is_flagged(WHITE, seconds(10))


def test_an_untimed_clock_never_runs_out() -> None:
    now = played(clock("-"), [1e9, 0])
    assert now.remaining(WHITE) is None
    assert now.budget(WHITE) is None
    assert now.moves_to_go(WHITE) is None
    assert not now.is_flagged(WHITE, timedelta.max)


@pytest.mark.parametrize("text", ["300+3", "10s", "-"])
def test_negative_thinking_time_is_a_programming_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"a move cannot take -1\.0 seconds"):
        clock(text).after_move(WHITE, seconds(-1))
    with pytest.raises(ValueError, match=r"a move cannot take -1\.0 seconds"):
        clock(text).is_flagged(BLACK, seconds(-1))


# --- laws of clocks ---

_thinking = st.lists(st.timedeltas(min_value=timedelta(0), max_value=timedelta(hours=2)))


@given(controls().filter(lambda control: bool(control.periods)), _thinking)
def test_no_time_is_made_or_lost(control: TimeControl, thinking: list[timedelta]) -> None:
    # The reference: count moves period by period, with nothing shared with the clock.
    assert control.opening_time is not None
    expected, queue = control.opening_time, list(control.periods)
    period, made = queue.pop(0), 0
    now = Clock.start(control)
    for elapsed in thinking:
        free = min(elapsed, period.bonus)
        is_delay = period.kind is Bonus.DELAY
        charged = elapsed - free if is_delay else elapsed
        late = elapsed >= expected + (period.bonus if is_delay else timedelta(0))
        now = now.after_move(BLACK, elapsed)
        assert now.is_flagged(BLACK) == late
        if late:
            assert now.remaining(BLACK) == timedelta(0)
            break
        expected -= charged
        expected += {
            Bonus.INCREMENT: period.bonus,
            Bonus.DELAY: timedelta(0),
            Bonus.BRONSTEIN: free,
        }[period.kind]
        made += 1
        if made == period.moves:
            made = 0
            period = queue.pop(0) if queue else period
            expected += period.time
        assert now.remaining(BLACK) == expected
        assert now.moves_to_go(BLACK) == (None if period.moves is None else period.moves - made)
    assert now.remaining(WHITE) == control.opening_time


@given(controls(), _thinking)
def test_a_player_in_time_always_has_a_budget(
    control: TimeControl, thinking: list[timedelta]
) -> None:
    now = Clock.start(control)
    for elapsed in thinking:
        budget = now.budget(WHITE)
        assert now.is_flagged(WHITE) == (budget == timedelta(0))
        assert now.is_flagged(WHITE, elapsed) == now.after_move(WHITE, elapsed).is_flagged(WHITE)
        now = now.after_move(WHITE, elapsed)


@given(controls(), _thinking, _thinking)
def test_a_restart_changes_nothing(
    control: TimeControl, white: list[timedelta], black: list[timedelta]
) -> None:
    now = Clock.start(control)
    for color, thinking in ((WHITE, white), (BLACK, black)):
        for elapsed in thinking:
            now = now.after_move(color, elapsed)
    assert Clock.from_json(json.loads(json.dumps(now.to_json()))) == now


# --- saved clocks ---


def test_a_saved_clock_reads_like_this() -> None:
    now = clock("5m+3s").after_move(WHITE, timedelta(seconds=10, microseconds=1))
    now = now.after_move(BLACK, seconds(400))
    assert now.to_json() == {
        "control": "300+3",
        "white": {"remaining_us": 292_999_999, "moves": 1, "flagged": False},
        "black": {"remaining_us": 0, "moves": 0, "flagged": True},
    }
    assert clock("-").to_json()["white"] == {"remaining_us": None, "moves": 0, "flagged": False}


def test_a_restart_keeps_the_place_among_the_periods() -> None:
    now = played(clock("3/60:5/30:10"), [1, 2, 3, 4])
    restored = Clock.from_json(json.loads(json.dumps(now.to_json())))
    assert restored.moves_to_go(WHITE) == 4
    assert played(restored, [5] * 4) == played(now, [5] * 4)


GOOD_FACE: dict[str, object] = {"remaining_us": 1000, "moves": 0, "flagged": False}

DAMAGED: list[object] = [
    None,
    [],
    "300+3",
    {},
    {"control": None},
    {"control": 300},
    {"control": "300+3"},
    {"control": "junk", "white": GOOD_FACE, "black": GOOD_FACE},
    {"control": "300+3", "white": GOOD_FACE},
    {"control": "300+3", "white": None, "black": GOOD_FACE},
    {"control": "-", "white": GOOD_FACE, "black": GOOD_FACE},
    {"control": "10s", "white": GOOD_FACE, "black": GOOD_FACE},
]
DAMAGED_FIELDS: list[dict[str, object]] = [
    {"remaining_us": None},
    {"remaining_us": -1},
    {"remaining_us": 1.5},
    {"remaining_us": float("nan")},
    {"remaining_us": "1000"},
    {"remaining_us": True},
    {"remaining_us": 10**30},
    {"remaining_us": 0},
    {"flagged": True},
    {"flagged": 0},
    {"flagged": None},
    {"moves": -1},
    {"moves": None},
    {"moves": True},
    {"moves": 1.0},
    {"moves": []},
]


def test_the_undamaged_face_is_accepted() -> None:
    saved = {"control": "300+3", "white": GOOD_FACE, "black": GOOD_FACE}
    face = ClockFace(timedelta(milliseconds=1))
    assert Clock.from_json(saved) == Clock(TimeControl.parse("300+3"), face, face)


@pytest.mark.parametrize(
    "data",
    DAMAGED
    + [{"control": "9+9", "white": GOOD_FACE | bad, "black": GOOD_FACE} for bad in DAMAGED_FIELDS]
    + [{"control": "9+9", "white": GOOD_FACE, "black": GOOD_FACE | bad} for bad in DAMAGED_FIELDS],
)
def test_a_damaged_clock_is_refused(data: object) -> None:
    with pytest.raises(InvalidTimeControl):
        Clock.from_json(data)


def test_an_untimed_clock_cannot_have_fallen() -> None:
    face = {"remaining_us": None, "moves": 0, "flagged": True}
    with pytest.raises(InvalidTimeControl, match="damaged"):
        Clock.from_json({"control": "-", "white": face, "black": face})


def test_the_largest_clock_that_can_be_restored_can_still_be_played() -> None:
    largest = (timedelta.max // timedelta(microseconds=1)) // 2
    face = GOOD_FACE | {"remaining_us": largest, "moves": 10**30}
    saved = {"control": "1/1000h:1/1000h+1000h", "white": face, "black": face}
    after = Clock.from_json(saved).after_move(WHITE, seconds(0))
    assert after.remaining(WHITE) == timedelta(microseconds=largest, hours=2000)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["control", "white", "black", "remaining_us", "moves", "flagged"]),
            inner | st.sampled_from(["300+3", "-", "10s"]),
        )
    ),
)


@given(_json)
def test_any_json_is_a_clock_or_refused(data: object) -> None:
    try:
        restored = Clock.from_json(data)
    except InvalidTimeControl:
        return
    assert Clock.from_json(restored.to_json()) == restored


# --- what people see ---


@pytest.mark.parametrize(
    ("remaining", "shown"),
    [
        (600, "10:00"),
        (65, "01:05"),
        (5, "00:05"),
        (5.3, "00:05.3"),
        (5.39, "00:05.3"),
        (5.04, "00:05"),
        (19.99, "00:19.9"),
        (20, "00:20"),
        (20.9, "00:20"),
        (59.999999, "00:59"),
        (60, "01:00"),
        (3599.9, "59:59"),
        (3600, "1:00:00"),
        (5400.5, "1:30:00"),
        (36_061, "10:01:01"),
        (3_600_000, "1000:00:00"),
        (0.1, "00:00.1"),
        (0.05, "00:00.1"),
        (0.000001, "00:00.1"),
        (0, "00:00"),
        (-5, "00:00"),
    ],
)
def test_a_clock_prints_as(remaining: float, shown: str) -> None:
    assert format_clock(seconds(remaining)) == shown


@given(st.timedeltas(min_value=timedelta(milliseconds=100), max_value=timedelta(days=99)))
def test_a_clock_never_shows_more_than_there_is(remaining: timedelta) -> None:
    total = 0.0
    for part in format_clock(remaining).split(":"):
        total = total * 60 + float(part)
    shortfall = remaining - seconds(total)
    assert timedelta(0) <= shortfall < seconds(0.1 if remaining < seconds(20) else 1)


# --- the stopwatch ---


class FakeNanoseconds:
    def __init__(self) -> None:
        self.now = 987_654_321

    def __call__(self) -> int:
        return self.now

    def pass_seconds(self, number: float) -> None:
        self.now += round(number * 1_000_000_000)


def test_a_stopwatch_counts_only_while_it_runs() -> None:
    ticks = FakeNanoseconds()
    watch = Stopwatch(ticks)
    ticks.pass_seconds(5)
    assert watch.elapsed == seconds(0)
    watch.start()
    ticks.pass_seconds(1.5)
    assert watch.elapsed == seconds(1.5)
    watch.start()
    ticks.pass_seconds(1)
    watch.pause()
    ticks.pass_seconds(100)
    watch.pause()
    assert watch.elapsed == seconds(2.5)
    watch.start()
    ticks.pass_seconds(0.000001)
    assert watch.elapsed == seconds(2.500001)


def test_a_stopwatch_ignores_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Stopwatch()
    watch.start()
    monkeypatch.setattr(time, "time", lambda: -1e9)
    monkeypatch.setattr(time, "time_ns", lambda: -(10**18))
    time.sleep(0.01)
    watch.pause()
    assert seconds(0.009) <= watch.elapsed < seconds(60)
