"""Schedules: pure functions of the games so far, so simulated games show what they do."""

import random
from dataclasses import replace

import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.games import SprtSettings
from app.evaluations.plan import label_of
from app.evaluations.schedules.duel import Duel
from app.evaluations.schedules.ladder import Ladder, RatedOpponent
from app.evaluations.schedules.pool import Pool
from app.evaluations.schedules.positions import Positions
from app.evaluations.schedules.schedule import Slot, Standing
from app.matches.settings import PlayerSettings
from engine import Color

ELOS = {f"anchor {elo}": float(elo) for elo in range(400, 2401, 200)}
OPPONENTS = tuple(
    RatedOpponent(Anchor(label, elo), PlayerSettings(label)) for label, elo in ELOS.items()
)
ONE, TWO, THREE = (PlayerSettings(name) for name in ("one", "two", "three"))


def simulate(schedule, strengths, seed=1, at_a_time=1, draws=0.12):
    """Play games of known strengths until the schedule has enough; return them."""
    dice = random.Random(seed)
    games = []
    while schedule.verdict(games) is None or any(not game.is_scored for game in games):
        playing = [place for place, game in enumerate(games) if not game.is_scored]
        slot = schedule.next_slot(games) if len(playing) < at_a_time else None
        if slot is not None:
            games.append(Standing(slot, "playing"))
            continue
        assert playing, "nothing is played, and nothing is enough"
        place = dice.choice(playing)
        games[place] = finished(games[place], strengths, dice, draws)
    return games


def finished(game, strengths, dice, draws):
    white, black = (strengths[label] for label in game.slot.labels)
    expected = 1 / (1 + 10 ** ((black - white) / 400))
    draw = 2 * min(expected, 1 - expected) * draws
    lot = dice.random()
    winner = None
    if lot >= draw:
        winner = Color.WHITE if lot < draw + expected - draw / 2 else Color.BLACK
    return replace(game, status="scored", winner=winner)


def check_numbers_and_pairs(games):
    assert [game.slot.number for game in games] == list(range(1, len(games) + 1))
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.slot.labels == second.slot.labels[::-1]
        assert first.slot.round == second.slot.round
        assert first.slot.pair == second.slot.pair == second.slot.number // 2


def test_a_slot_is_the_same_after_it_was_stored():
    slot = Slot(3, ONE, replace(TWO, nodes=5), round=2, pair=2)
    assert Slot.from_json(slot.to_json()) == slot
    assert slot.labels == ("one", "two at 5 nodes")
    assert slot.color_of("two at 5 nodes") is Color.BLACK
    assert slot.color_of("three") is None


# --- ladder ---


@pytest.mark.parametrize("at_a_time", [1, 2, 5])
def test_a_ladder_rates_its_agents_to_the_margin(at_a_time):
    ladder = Ladder((ONE, TWO), OPPONENTS, margin=150, most_games=400)
    strengths = ELOS | {"one": 1300.0, "two": 700.0}
    games = simulate(ladder, strengths, at_a_time=at_a_time)
    check_numbers_and_pairs(games)
    assert ladder.verdict(games) == "every rating is known to ±150"
    for label in ("one", "two"):
        known = ladder.estimate_of(label, games)
        assert abs(known.elo - strengths[label]) < 300
        assert known.games == sum(label in game.slot.labels for game in games)
    assert ladder.next_slot(games) is None
    assert ladder.expected(games) == len(games)


def test_a_ladder_that_is_taken_up_again_goes_on_alike():
    ladder = Ladder((ONE, TWO), OPPONENTS, margin=150, most_games=400)
    games = simulate(ladder, ELOS | {"one": 1300.0, "two": 700.0})
    for number in range(len(games)):
        assert ladder.next_slot(games[:number]) == games[number].slot


def test_a_ladder_meets_anchors_near_its_agent():
    ladder = Ladder((ONE,), OPPONENTS, margin=100, most_games=400)
    games = simulate(ladder, ELOS | {"one": 900.0})
    late = [
        ELOS[next(label for label in game.slot.labels if label != "one")] for game in games[20:]
    ]
    assert late
    assert all(400 <= elo <= 1400 for elo in late)


def test_a_uniform_ladder_meets_every_anchor_in_its_turn():
    ladder = Ladder((ONE,), OPPONENTS, margin=5, most_games=44, is_adaptive=False)
    games = simulate(ladder, ELOS | {"one": 900.0})
    met = [game.slot.labels[1] for game in games[::2]]
    assert met == [*ELOS, *ELOS]
    assert ladder.verdict(games) == (
        "0 of 1 ratings are known to ±5; the others have played 44 games"
    )


def test_agents_of_a_ladder_take_turns_from_the_same_openings():
    ladder = Ladder((ONE, TWO, THREE), OPPONENTS, margin=5, most_games=8)
    games = simulate(ladder, ELOS | {"one": 500.0, "two": 900.0, "three": 2000.0})
    for label in ("one", "two", "three"):
        own = [game for game in games if label in game.slot.labels]
        assert [game.slot.round for game in own] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_one_who_never_wins_plays_as_many_games_as_it_may():
    ladder = Ladder((ONE,), OPPONENTS[:1], margin=100, most_games=10)
    games = simulate(ladder, ELOS | {"one": -5000.0})
    assert len(games) == 10
    assert ladder.estimate_of("one", games).bound == "upper"


def test_colours_are_told_to_the_rating():
    ladder = Ladder((ONE,), OPPONENTS[:1], 100, 10, white_advantage=200.0)
    slot = ladder.next_slot([])
    won = Standing(slot, "scored", Color.WHITE)
    lost = Standing(slot.returned(), "scored", Color.WHITE)
    results = ladder.results_of("one", [won, lost])
    assert {(each.color, each.wins, each.losses) for each in results} == {
        (Color.WHITE, 1, 0),
        (Color.BLACK, 0, 1),
    }
    assert ladder.estimate_of("one", [won, lost]).elo == pytest.approx(400.0)


# --- duel ---


def test_a_duel_of_fixed_games_plays_them_all():
    duel = Duel(ONE, TWO, most_games=10)
    games = simulate(duel, {"one": 0.0, "two": 100.0}, at_a_time=3)
    check_numbers_and_pairs(games)
    assert len(games) == 10
    assert [game.slot.round for game in games[::2]] == [1, 2, 3, 4, 5]
    assert sum(duel.pairs(games)) == 5
    assert duel.verdict(games) == "all 10 games were played"
    assert duel.tested(games) is None


@pytest.mark.parametrize(("difference", "accepted"), [(150.0, "H1"), (-100.0, "H0")])
def test_a_test_ends_a_duel_when_it_is_decided(difference, accepted):
    duel = Duel(ONE, TWO, 2000, SprtSettings((0.0, 50.0)))
    games = simulate(duel, {"one": difference, "two": 0.0}, at_a_time=4)
    check_numbers_and_pairs(games)
    assert len(games) < 600
    assert f"accepts {accepted}" in duel.verdict(games)
    assert duel.tested(games).decision == accepted
    assert duel.next_slot(games) is None
    assert duel.expected(games) == len(games)


def test_a_test_may_not_decide():
    duel = Duel(ONE, TWO, 10, SprtSettings((0.0, 5.0)))
    games = simulate(duel, {"one": 0.0, "two": 0.0})
    assert duel.verdict(games) == "10 games were not enough for the test to decide"


def test_pairs_are_counted_by_the_points_of_the_first():
    duel = Duel(ONE, TWO, 10)
    winners = [
        (Color.WHITE, Color.BLACK),  # one wins both
        (Color.WHITE, None),
        (Color.WHITE, Color.WHITE),
        (None, None),
        (None, Color.WHITE),
    ]
    games = []
    for pair in winners:
        for winner in pair:
            games.append(Standing(duel.next_slot(games), "scored", winner))
    assert duel.pairs(games) == (0, 1, 2, 1, 1)
    games[-1] = replace(games[-1], status="playing")
    assert duel.pairs(games) == (0, 0, 2, 1, 1)


# --- pool and positions ---


def test_in_a_pool_everybody_meets_everybody_but_anchors_each_other():
    anchors = (PlayerSettings("anchor 400"), PlayerSettings("anchor 600"))
    pool = Pool((ONE, TWO, THREE), anchors, rounds=2)
    strengths = ELOS | {"one": 500.0, "two": 900.0, "three": 2000.0}
    games = simulate(pool, strengths, at_a_time=3)
    check_numbers_and_pairs(games)
    met = [frozenset(game.slot.labels) for game in games]
    assert len(set(met)) == 3 + 3 * 2
    assert all(met.count(each) == 4 for each in met)
    assert frozenset(label_of(each) for each in anchors) not in met
    # A round is over before the next one begins.
    assert [game.slot.round for game in games] == [1] * 18 + [2] * 18
    assert pool.verdict(games) == "all 36 games were played"


def test_every_agent_is_asked_every_position_from_the_side_to_move():
    suite = Positions((ONE, TWO), (Color.WHITE, Color.BLACK, Color.WHITE))
    games = []
    while slot := suite.next_slot(games):
        games.append(Standing(slot, "scored"))
    asked = [
        (game.slot.position, game.slot.color_of("one"), game.slot.color_of("two")) for game in games
    ]
    white, black = Color.WHITE, Color.BLACK
    assert asked == [
        (0, white, None),
        (0, None, white),
        (1, black, None),
        (1, None, black),
        (2, white, None),
        (2, None, white),
    ]
    assert [game.slot.number for game in games] == [1, 2, 3, 4, 5, 6]
    assert suite.verdict(games) == "all 3 positions were asked"
    assert suite.verdict(games[:-1]) is None
