"""What `go` asks for, as each kind of player understands it."""

from datetime import timedelta

import pytest

from agents.uci.limits import MAX_TIME, Limit
from app.uci.commands import Go
from app.uci.limits import Bounds, bounds_of
from engine import Color

NO_LIMIT = Limit()


def ms(number):
    return timedelta(milliseconds=number)


def bounds(go, player="team:default", turn=Color.WHITE, own=NO_LIMIT) -> Bounds:
    return bounds_of(go, turn, player=player, own=own, overhead=ms(100))


CLOCKS = Go(
    white_time=ms(60_000),
    black_time=ms(30_000),
    white_increment=ms(1000),
    black_increment=ms(2000),
)


@pytest.mark.parametrize("player", ["team:default", "stockfish:8", "classical", "random"])
def test_without_limits_there_is_an_answer_when_there_is_one(player):
    assert bounds(Go(), player) == Bounds()


@pytest.mark.parametrize(
    ("go", "turn", "due"),
    [
        (CLOCKS, Color.WHITE, 59_900 / 4 + 1000),
        (CLOCKS, Color.BLACK, 29_900 / 4 + 2000),
        (Go(white_time=ms(8100), moves_to_go=2), Color.WHITE, 4000),
        (Go(white_time=ms(8100), moves_to_go=1), Color.WHITE, 8000),
        (Go(white_time=ms(8100), moves_to_go=40), Color.WHITE, 2000),
        (Go(white_time=ms(8100), white_increment=ms(60_000)), Color.WHITE, 4000),
        (Go(white_time=ms(8100), move_time=ms(600)), Color.WHITE, 500),
        (Go(move_time=ms(600)), Color.BLACK, 500),
        (Go(move_time=ms(60)), Color.BLACK, 30),  # half of it at least
        (Go(move_time=ms(0)), Color.BLACK, 1),
        (Go(white_time=ms(0)), Color.WHITE, 0.25),
        (Go(white_time=ms(5000)), Color.BLACK, None),  # whose clock nobody knows
        (Go(infinite=True, white_time=ms(5000)), Color.WHITE, None),
        (Go(depth=5), Color.WHITE, None),
    ],
)
def test_a_team_may_use_up_a_part_of_its_clock(go, turn, due):
    found = bounds(go, turn=turn)
    assert found.due == (None if due is None else ms(due))
    assert found.limit is None


@pytest.mark.parametrize("player", ["stockfish:8", "uci:toga2", "classical"])
def test_who_keeps_time_has_all_of_its_clock(player):
    assert bounds(CLOCKS, player).due == ms(59_900)


def test_a_player_is_shown_both_clocks():
    clock = bounds(CLOCKS, turn=Color.BLACK).clock
    assert clock.remaining(Color.WHITE) == ms(60_000)
    assert clock.remaining(Color.BLACK) == ms(29_900)
    assert clock.period(Color.BLACK).bonus == ms(2000)
    assert clock.moves_to_go(Color.BLACK) is None
    alone = bounds(Go(white_time=ms(1100), moves_to_go=3)).clock
    assert alone.remaining(Color.WHITE) == alone.remaining(Color.BLACK) == ms(1000)
    assert alone.moves_to_go(Color.WHITE) == 3


def test_a_time_for_the_move_is_shown_as_such():
    clock = bounds(Go(move_time=ms(600))).clock
    assert clock.control.is_per_move
    assert clock.budget(Color.WHITE) == ms(500)


@pytest.mark.parametrize(
    ("player", "go", "own", "limit"),
    [
        ("stockfish:8", Go(depth=5), Limit(), Limit(depth=5)),
        ("stockfish:8", Go(nodes=7), Limit(), Limit(nodes=7)),
        ("stockfish:8", Go(depth=5, nodes=7), Limit(depth=3, nodes=9), Limit(depth=3, nodes=7)),
        ("stockfish:8", Go(), Limit(nodes=9), Limit(nodes=9)),
        ("stockfish:8", Go(mate=3), Limit(), Limit(depth=6)),
        ("stockfish:8", Go(depth=10**15), Limit(), Limit(depth=200)),
        ("stockfish:8", Go(infinite=True), Limit(), Limit(time=MAX_TIME)),
        ("stockfish:8", Go(infinite=True), Limit(nodes=5), Limit(nodes=5)),
        ("stockfish:8", CLOCKS, Limit(), None),
        ("uci:toga2", Go(depth=5), Limit(), Limit(depth=5)),
        # A level is what it is: it may think less, but not more.
        ("stockfish:3", Go(depth=20), Limit(), Limit(depth=1)),
        ("stockfish:7", Go(depth=2), Limit(), Limit(depth=2)),
        ("stockfish:7", Go(infinite=True), Limit(), Limit(depth=5)),
        ("stockfish:7", Go(), Limit(nodes=1), Limit(nodes=1)),
        ("classical", Go(nodes=50), Limit(), Limit(nodes=50)),
        ("classical", Go(nodes=50), Limit(nodes=20), Limit(nodes=20)),
        ("classical", Go(nodes=10**15), Limit(), Limit(nodes=5_000_000)),
        ("classical", Go(move_time=ms(2100)), Limit(), Limit(time=ms(2000))),
        ("classical", Go(move_time=ms(2100)), Limit(time=ms(5)), Limit(time=ms(5))),
        ("classical", Go(move_time=timedelta(days=3)), Limit(), Limit(time=timedelta(hours=1))),
        ("classical", Go(infinite=True), Limit(), None),
        ("random", Go(depth=5), Limit(), None),
    ],
)
def test_who_searches_is_told_how_far(player, go, own, limit):
    assert bounds(go, player, own=own).limit == limit


@pytest.mark.parametrize(
    ("player", "go", "told"),
    [
        ("team:default", Go(depth=5), "team:default thinks neither to a depth nor by nodes"),
        ("random", Go(nodes=5), "random thinks neither to a depth nor by nodes"),
        ("classical", Go(depth=5), "classical thinks by nodes or time, not to a depth"),
        ("classical", Go(mate=5), "classical thinks by nodes or time, not to a depth"),
        ("classical", Go(nodes=5), ""),
        ("stockfish:8", Go(depth=5), ""),
    ],
)
def test_what_means_nothing_to_a_player_is_told(player, go, told):
    assert bounds(go, player).ignored == told
