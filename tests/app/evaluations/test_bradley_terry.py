"""Ratings of a pool: published values, other methods, and what must hold whatever the games."""

import itertools
import math
import pickle
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.evaluations.bradley_terry import (
    InvalidAnchor,
    InvalidTally,
    NoAnchors,
    Rating,
    Tally,
    UnconnectedPlayers,
    UnratablePool,
    rate,
)


def expected(own, other):
    return 1 / (1 + 10 ** ((other - own) / 400))


# --- values that are known ---


def test_one_agent_against_three_anchors():
    tallies = [Tally("x", "a", 7, 1, 2), Tally("x", "b", 5, 2, 3), Tally("x", "c", 2, 1, 7)]
    rating = rate(tallies, {"a": 800, "b": 1000, "c": 1200})["x"]
    assert rating.elo == pytest.approx(1028.276, abs=0.001)
    assert rating.low == pytest.approx(890.59, abs=0.01)
    assert rating.high == pytest.approx(1167.54, abs=0.01)
    assert rating.games == 30
    assert not rating.anchored


@pytest.mark.parametrize("count", [1, 3, 10, 200])
def test_who_won_or_lost_everything_has_a_bound_on_one_side(count):
    # the chance of such a score is p^n, and 2 ln(p^n) = -2.7055 at the bound
    chance = math.exp(-2.7055 / 2 / count)
    distance = 400 * math.log10(chance / (1 - chance))
    ratings = rate([Tally("best", "a", wins=count), Tally("worst", "a", losses=count)], {"a": 1200})
    best, worst = ratings["best"], ratings["worst"]
    assert (best.elo, best.high, best.margin) == (None, None, None)
    assert best.low == pytest.approx(1200 + distance, abs=1e-6)
    assert (worst.elo, worst.low, worst.margin) == (None, None, None)
    assert worst.high == pytest.approx(1200 - distance, abs=1e-6)


def test_ten_wins_against_1200():
    assert rate([Tally("x", "a", 10)], {"a": 1200})["x"].low == pytest.approx(1535.6, abs=0.05)


def test_winning_against_one_anchor_and_losing_to_another_is_closed_on_both_sides():
    rating = rate([Tally("x", "low", 5), Tally("x", "high", 0, 0, 5)], {"low": 800, "high": 1600})[
        "x"
    ]
    assert rating.elo == pytest.approx(1200)
    assert rating.high - 1200 == pytest.approx(1200 - rating.low)


def test_true_ratings_come_back_from_expected_scores():
    truth = {"a": 1000.0, "b": 1130.0, "c": 1345.0, "d": 777.0, "e": 1600.0}
    games = 10**9
    tallies = []
    for first, second in itertools.combinations(truth, 2):
        wins = round(games * expected(truth[first], truth[second]))
        tallies.append(Tally(first, second, wins, 0, games - wins))
    ratings = rate(tallies, {"a": 1000})
    for player, elo in truth.items():
        assert ratings[player].elo == pytest.approx(elo, abs=1e-4)
        assert ratings[player].margin < 0.1


# --- other methods, written differently ---


def by_minorisation(tallies, anchors):
    """Hunter's MM iteration: strengths are points over games per sum of strengths."""
    players = {player for tally in tallies for player in (tally.first, tally.second)}
    strength = {player: 10 ** (anchors.get(player, 1000) / 400) for player in players}
    for _ in range(20_000):
        before = dict(strength)
        for player in players - set(anchors):
            points, weight = 0.0, 0.0
            for tally in tallies:
                if player in (tally.first, tally.second):
                    wins = tally.wins if player == tally.first else tally.losses
                    points += wins + tally.draws / 2
                    weight += tally.games / (strength[tally.first] + strength[tally.second])
            strength[player] = points / weight
        if all(abs(strength[player] / before[player] - 1) < 1e-13 for player in players):
            break
    return {player: 400 * math.log10(strength[player]) for player in players}


@pytest.mark.parametrize("seed", range(5))
def test_estimates_agree_with_minorisation(seed):
    dice = random.Random(seed)
    players = ["a", "b", "c", "d", "e", "f"]
    tallies = [
        Tally(first, second, dice.randint(1, 9), dice.randint(0, 5), dice.randint(1, 9))
        for first, second in itertools.combinations(players, 2)
        if dice.random() < 0.7 or second == "f"
    ]
    anchors = {"c": 1100.0, "f": 1250.0}
    ratings = rate(tallies, anchors)
    for player, elo in by_minorisation(tallies, anchors).items():
        assert ratings[player].elo == pytest.approx(elo, abs=1e-5)


FAR = 8000  # as good as infinity: a certain game is certain to 20 digits


def best(function, low, high):
    """Golden-section search for the largest value of a concave function."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-4:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return max(at_left, at_right)


def end(is_inside, inside, outside):
    while abs(outside - inside) > 1e-3:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_inside(middle) else (inside, middle)
    return (inside + outside) / 2


def log_likelihood(tallies, ratings):
    total = 0.0
    for tally in tallies:
        distance = (ratings[tally.first] - ratings[tally.second]) * math.log(10) / 400
        lost = max(distance, 0) + math.log1p(math.exp(-abs(distance)))  # -ln(chance of second)
        total -= (tally.wins + tally.draws / 2) * (lost - distance)
        total -= (tally.losses + tally.draws / 2) * lost
    return total


BRUTE = {
    "both closed": [
        Tally("x", "a", 3, 1, 2), Tally("y", "a", 1, 0, 4), Tally("x", "y", 2, 2, 3),
    ],
    "one closed by the other": [Tally("x", "a", 3, 1, 2), Tally("y", "x", 5, 0, 1)],
    "two anchors": [
        Tally("x", "a", 6), Tally("x", "b", 0, 0, 3), Tally("y", "b", 1, 1, 1),
        Tally("x", "y", 0, 1),
    ],
    "one only draw each": [Tally("x", "a", draws=1), Tally("x", "y", draws=1)],
    "a group above": [Tally("x", "a", 10), Tally("y", "a", 10), Tally("x", "y", 6, 0, 4)],
    "a group below": [Tally("a", "x", 4), Tally("a", "y", 2), Tally("x", "y", 1, 5, 4)],
    "a staircase": [Tally("x", "a", 4), Tally("y", "x", 3)],
    "a staircase with a side door": [Tally("x", "a", 4), Tally("y", "x", 3), Tally("y", "b", 2)],
    "one above, one closed": [Tally("x", "a", 3, 2, 5), Tally("y", "x", 7), Tally("y", "a", 2)],
    "one above, one below": [Tally("x", "a", 3), Tally("a", "y", 5), Tally("x", "y", 9)],
}  # fmt: skip


@pytest.mark.parametrize("tallies", BRUTE.values(), ids=BRUTE)
def test_intervals_agree_with_a_search_by_brute_force(tallies):
    anchors = {"a": 1000, "b": 1500}
    ratings = rate(tallies, anchors)
    for player, other in ("xy", "yx"):
        rating = ratings[player]

        def profile(elo, player=player, other=other):
            def fixed(rest):
                return log_likelihood(tallies, anchors | {player: elo, other: rest})

            return best(fixed, -2 * FAR, 2 * FAR)

        fall = 2.7055 if rating.elo is None else 3.8415
        target = best(profile, -FAR, FAR) - fall / 2
        centre = next(each for each in (rating.elo, rating.low, rating.high) if each is not None)
        for bound, far in ((rating.low, -FAR), (rating.high, FAR)):
            if bound is None:
                assert profile(far) > target
            else:
                opposite = centre if rating.elo is not None else -far
                found = end(lambda elo, target=target: profile(elo) > target, opposite, far)
                assert bound == pytest.approx(found, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "closed"),
    [
        ("both closed", {"x": "both", "y": "both"}),
        ("a group above", {"x": "low", "y": "low"}),
        ("a group below", {"x": "high", "y": "high"}),
        ("a staircase", {"x": "low", "y": "low"}),
        ("one above, one closed", {"x": "both", "y": "low"}),
        ("one above, one below", {"x": "low", "y": "high"}),
    ],
)
def test_which_sides_are_closed(kind, closed):
    ratings = rate(BRUTE[kind], {"a": 1000, "b": 1500})
    for player, sides in closed.items():
        rating = ratings[player]
        assert (rating.elo is not None) == (sides == "both")
        assert (rating.low is not None) == (sides in {"both", "low"})
        assert (rating.high is not None) == (sides in {"both", "high"})


def test_nothing_is_known_of_who_only_lost_to_one_who_only_won():
    ratings = rate([Tally("x", "a", 3), Tally("x", "y", 3)], {"a": 1000})
    assert ratings["y"] == Rating("y", None, None, None, 3)
    assert str(ratings["y"]) == "unknown"


def test_a_certain_result_leaves_the_others_alone():
    tallies = [Tally("x", "a", 3, 1, 2), Tally("x", "y", 3, 1, 2), Tally("y", "a", 5, 2, 1)]
    before = rate(tallies, {"a": 1000})
    after = rate([*tallies, Tally("z", "x", 5), Tally("z", "y", 9)], {"a": 1000})
    for player in "xy":
        for bound in ("elo", "low", "high"):
            assert getattr(after[player], bound) == pytest.approx(getattr(before[player], bound))


def test_a_long_chain_of_single_draws_is_rated():
    names = [f"{number:02}" for number in range(30)]
    tallies = [Tally(first, second, draws=1) for first, second in itertools.pairwise(names)]
    ratings = rate(tallies, {"00": 1000})
    assert all(rating.elo == pytest.approx(1000) for rating in ratings.values())
    margins = [rating.margin for rating in ratings.values()]
    assert margins == sorted(margins)


@pytest.mark.parametrize("gap", [10_000, 1_000_000])
def test_anchors_absurdly_far_apart_give_finite_numbers(gap):
    tallies = [
        Tally("x", "low", 50), Tally("x", "high", 0, 0, 50), Tally("x", "y", 9, 9, 9),
        Tally("y", "low", 1, 0, 1), Tally("z", "y", 3),
    ]  # fmt: skip
    ratings = rate(tallies, {"low": 0, "high": gap})
    for player in "xy":
        assert -gap < ratings[player].low < ratings[player].elo < ratings[player].high < 2 * gap
    assert ratings["z"].high is None
    assert math.isfinite(ratings["z"].low)


# --- what holds whatever the games ---

COUNT = st.sampled_from([0, 0, 1, 2, 7])


@st.composite
def pools(draw):
    players = "abcdef"[: draw(st.integers(2, 6))]
    pairs = list(itertools.combinations(players, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8))
    tallies = [Tally(*pair, draw(COUNT), draw(COUNT), draw(COUNT)) for pair in chosen]
    anchored = draw(st.sets(st.sampled_from(players), min_size=1, max_size=2))
    anchors = {name: draw(st.integers(0, 2000)) for name in sorted(anchored)}
    try:
        return tallies, anchors, rate(tallies, anchors)
    except UnconnectedPlayers:
        assume(False)


def swapped(tally):
    return Tally(tally.second, tally.first, tally.losses, tally.draws, tally.wins)


@pytest.mark.usefixtures("without_coverage")
@settings(max_examples=40, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
def test_neither_order_nor_sides_nor_splitting_matter(pool, dice):
    tallies, anchors, ratings = pool
    again = [swapped(tally) if dice.random() < 0.5 else tally for tally in tallies]
    split = [
        part
        for tally in again
        for part in (
            Tally(tally.first, tally.second, wins=tally.wins),
            Tally(tally.first, tally.second, draws=tally.draws, losses=tally.losses),
        )
    ]
    dice.shuffle(split)
    assert rate(split, dict(reversed(anchors.items()))) == ratings


@settings(max_examples=40, deadline=None)
@given(pools(), st.integers(-500, 500))
def test_moving_the_anchors_moves_everyone(pool, by):
    tallies, anchors, ratings = pool
    for player, moved in rate(tallies, {name: elo + by for name, elo in anchors.items()}).items():
        for bound in ("elo", "low", "high"):
            before, after = getattr(ratings[player], bound), getattr(moved, bound)
            assert after == (None if before is None else pytest.approx(before + by, abs=1e-3))


@settings(max_examples=40, deadline=None)
@given(pools())
def test_turning_every_result_round_turns_the_ratings_round(pool):
    tallies, anchors, ratings = pool
    turned = [
        Tally(each.second, each.first, each.wins, each.draws, each.losses) for each in tallies
    ]
    for player, mirror in rate(turned, {name: -elo for name, elo in anchors.items()}).items():
        rating = ratings[player]
        for mine, other in (
            (rating.elo, mirror.elo), (rating.low, mirror.high), (rating.high, mirror.low),
        ):  # fmt: skip
            assert mine == (None if other is None else pytest.approx(-other, abs=1e-3))


@settings(max_examples=40, deadline=None)
@given(pools())
def test_intervals_hold_their_estimates(pool):
    tallies, anchors, ratings = pool
    assert list(ratings) == sorted(ratings)
    for player, rating in ratings.items():
        assert rating.player == player
        assert rating.games == sum(
            tally.games for tally in tallies if player in (tally.first, tally.second)
        )
        if player in anchors:
            assert rating.anchored
            assert rating.elo == rating.low == rating.high == anchors[player]
        elif rating.elo is not None:
            assert rating.low < rating.elo < rating.high
        else:
            assert rating.low is None or rating.high is None


@pytest.mark.usefixtures("without_coverage")
def test_95_percent_intervals_hold_the_truth_95_percent_of_the_time():
    dice = random.Random(20)
    inside = total = 0
    for _ in range(300):
        truth = {name: dice.uniform(800, 1600) for name in "abcde"}
        tallies = [
            Tally(first, second, *simulated(truth[first], truth[second], 40, dice))
            for first, second in itertools.combinations(truth, 2)
        ]
        for player, rating in rate(tallies, {"a": truth["a"]}).items():
            if not rating.anchored:
                total += 1
                low = -math.inf if rating.low is None else rating.low
                high = math.inf if rating.high is None else rating.high
                inside += low <= truth[player] <= high
    assert 0.92 <= inside / total <= 0.98


def simulated(own, other, games, dice):
    chance = expected(own, other)
    draw = 0.2 * min(chance, 1 - chance)
    results = dice.choices(
        ("win", "draw", "loss"), (chance - draw / 2, draw, 1 - chance - draw / 2), k=games
    )
    return results.count("win"), results.count("draw"), results.count("loss")


# --- what people see ---

SHOWN = [
    (Rating("x", 1680.4, 1600.0, 1780.0, 30), "1680 ± 90"),
    (Rating("x", -0.2, -89.6, 89.6, 30), "0 ± 90"),
    (Rating("x", None, 2400.0, None, 10), "> 2400"),
    (Rating("x", None, None, 300.0, 10), "< 300"),
    (Rating("x", 1320.0, 1320.0, 1320.0, 10, anchored=True), "1320 (anchor)"),
]


@pytest.mark.parametrize(("rating", "text"), SHOWN)
def test_ratings_read_well(rating, text):
    assert str(rating) == text


def test_an_anchor_needs_no_games():
    assert rate([], {"a": 1200}) == {"a": Rating("a", 1200, 1200, 1200, 0, anchored=True)}


WRONG = [
    ([Tally("x", "a", 1)], {}, NoAnchors, "at least one anchor"),
    ([Tally("x", "a", 1)], {"a": math.nan}, InvalidAnchor, "'a' must be a finite number, not nan"),
    ([Tally("x", "a", 1)], {"a": math.inf}, InvalidAnchor, "'a' must be a finite number, not inf"),
    ([Tally("x", "a", -1)], {"a": 1}, InvalidTally, "'x' against 'a' .* a count is negative"),
    ([Tally("x", "a", 1, -1)], {"a": 1}, InvalidTally, "a count is negative"),
    ([Tally("x", "a", 1, 0, -1)], {"a": 1}, InvalidTally, "a count is negative"),
    ([Tally("a", "a", 1)], {"a": 1}, InvalidTally, "nobody plays against themselves"),
    ([Tally("x", "y", 1)], {"a": 1}, UnconnectedPlayers, "an anchor from 'x', 'y'$"),
    ([Tally("x", "a")], {"a": 1}, UnconnectedPlayers, "an anchor from 'x'$"),
    (
        [Tally("x", "a", 1), Tally("y", "z", 1, 1)],
        {"a": 1, "b": 2},
        UnconnectedPlayers,
        "'y', 'z'$",
    ),
]


@pytest.mark.parametrize(("tallies", "anchors", "error", "sentence"), WRONG)
def test_what_cannot_be_rated_is_refused_in_one_sentence(tallies, anchors, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        rate(tallies, anchors)
    assert isinstance(caught.value, UnratablePool)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


def test_errors_made_with_keywords_travel_between_processes():
    error = pickle.loads(pickle.dumps(InvalidAnchor(player="a", elo=math.inf)))
    assert (error.player, error.elo) == ("a", math.inf)
