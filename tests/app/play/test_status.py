"""What is always to be seen of a game: sides, clocks, and what is going on."""

from datetime import UTC, datetime, timedelta

import pytest

from app.matches.match import Match
from app.matches.settings import MatchSettings, PlayerSettings
from app.play.status import Voices, status_lines, time_left
from engine import Color

AT = datetime(2026, 1, 2, 3, tzinfo=UTC)
WHITE, BLACK = Color.WHITE, Color.BLACK


def begun(control="600+5", black="stockfish:3", **more):
    settings = MatchSettings(
        PlayerSettings("human"), PlayerSettings(black), time_control=control, **more
    )
    match = Match.create("m", settings, AT)
    match.start(AT)
    return match


def after(seconds):
    return AT + timedelta(seconds=seconds)


def lines(match, width=80, seconds=0.0):
    return list(status_lines(match, Voices(), after(seconds), width))


def test_the_clock_of_the_mover_runs():
    match = begun()
    assert lines(match) == [">White human 10:00   Black stockfish:3 10:00"]
    assert lines(match, seconds=61) == [">White human 08:59   Black stockfish:3 10:00"]
    match.play("e4", after(61), source="human")
    assert lines(match, seconds=62) == [" White human 09:04  >Black stockfish:3 09:59  thinking"]


def test_without_clocks_there_are_none():
    assert lines(begun(None)) == [">White human   Black stockfish:3"]


@pytest.mark.parametrize("width", [1, 8, 20, 39, 50])
def test_in_a_narrow_window_nothing_is_too_long(width):
    match = begun()
    match.play("e4", after(1), source="human")
    voices = Voices()
    voices.hear("tactical", "the knight on f3 is pinned")
    told = status_lines(match, voices, AT, width)
    assert all(len(line) <= width for line in told)
    if width == 39:
        assert told[:3] == [" White human 10:04", ">Black stockfish:3 10:00", "thinking"]


def test_what_is_going_on():
    match = begun()
    match.pause(after(1))
    assert lines(match)[0].endswith("  paused")
    match.resume(after(2))
    for move in ("f3", "e5", "g4"):
        match.play(move, after(3), source="human")
    match.play("Qh4", after(4), source="human")
    assert lines(match)[0].endswith("Black wins by checkmate")
    assert ">" not in lines(match)[0]


def test_a_check_is_told():
    match = begun(black="human", initial_fen="4k3/8/8/8/8/8/8/R3K3 w - - 0 1")
    match.play("Ra8", AT, source="human")
    assert lines(match)[0].endswith("  in check")


def test_a_delay_comes_before_what_stands_on_the_clock():
    match = begun("60d5")
    assert time_left(match, WHITE, after(4)) == timedelta(seconds=60)
    assert time_left(match, WHITE, after(7)) == timedelta(seconds=58)
    assert time_left(match, BLACK, after(7)) == timedelta(seconds=60)


@pytest.mark.parametrize(("control", "seconds", "left"), [("60", 7, 53), ("60d5", 7, 58)])
def test_what_was_spent_of_the_last_turn_is_off_the_clock_when_it_is_over(control, seconds, left):
    match = begun(control)
    match.resign(WHITE, after(seconds))
    assert time_left(match, WHITE, after(1000)) == timedelta(seconds=left)
    assert time_left(match, BLACK, after(1000)) == timedelta(seconds=60)


@pytest.mark.parametrize("control", ["60", "60d5", "60b5", "10s", "1/60+5"])
def test_nothing_is_left_to_whoever_has_lost_on_time(control):
    match = begun(control)
    match.lose_on_time(after(70))
    assert time_left(match, WHITE, after(70)) == timedelta(0)
    assert lines(match)[0].startswith(" White human 00:00")


def test_those_who_spoke_last_are_heard():
    voices = Voices()
    for name in "abcd":
        voices.hear(name, f"I am {name}")
    assert list(voices.lines(40)) == ["b: I am b", "c: I am c", "d: I am d"]
    voices.hear("b", " and more")
    voices.hush("c")
    assert list(voices.lines(40)) == ["a: I am a", "d: I am d", "b: I am b and more"]
    voices.hush()
    assert list(voices.lines(40)) == []
