"""One agent against anchors: published values, searches by brute force, and what always holds."""

import json
import math
import pickle
import random
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.evaluations.bradley_terry import Tally, rate
from app.evaluations.likelihood import Curve, Opponent
from app.evaluations.ratings import (
    AnchorResult,
    InvalidAdvantage,
    InvalidResult,
    NoGames,
    estimate,
)
from engine import Color

THREE = [AnchorResult(800, 7, 1, 2), AnchorResult(1000, 5, 2, 3), AnchorResult(1200, 2, 1, 7)]


# --- values that are known ---


def test_one_agent_against_three_anchors():
    found = estimate(THREE)
    assert found.elo == pytest.approx(1028.276, abs=0.0005)
    assert found.standard_error == pytest.approx(70.167, abs=0.0005)
    assert found.sandwich_error == pytest.approx(64.655, abs=0.0005)
    assert found.low == pytest.approx(890.59, abs=0.005)
    assert found.high == pytest.approx(1167.54, abs=0.005)
    assert (found.games, found.points, found.bound) == (30, 16, None)


def test_ten_wins_against_1200():
    found = estimate([AnchorResult(1200, 10, 0, 0)])
    assert found.elo == pytest.approx(1535.6, abs=0.05)
    assert (found.bound, found.low, found.high) == ("lower", found.elo, None)
    assert (found.standard_error, found.sandwich_error, found.margin) == (None, None, None)


@pytest.mark.parametrize("count", [1, 2, 10, 5000])
def test_who_scored_everything_or_nothing_has_a_bound(count):
    chance = math.exp(-2.7055 / 2 / count)  # 2 ln(chance^count) = -2.7055
    distance = 400 * math.log10(chance / (1 - chance))
    best = estimate([AnchorResult(1200, count, 0, 0)])
    worst = estimate([AnchorResult(1200, 0, 0, count)])
    assert (best.bound, worst.bound) == ("lower", "upper")
    assert best.elo == best.low == pytest.approx(1200 + distance, abs=1e-6)
    assert worst.elo == worst.high == pytest.approx(1200 - distance, abs=1e-6)
    assert (best.high, worst.low) == (None, None)


def test_the_margins_of_a_published_table_come_out():
    # 33 draws with Black against -122.27, White being worth 35: published as -87.27 ± 118.54
    draws = AnchorResult(-122.27, 0, 33, 0, color=Color.BLACK)
    found = estimate([draws], white_advantage=35)
    assert found.elo == pytest.approx(-87.27, abs=0.005)
    assert found.wald_margin == pytest.approx(118.54, abs=0.005)


def test_a_single_draw_is_enough_for_an_interval():
    found = estimate([AnchorResult(1200, 0, 1, 0)])
    # ln(E(1-E)) has fallen from ln(1/4) by 3.8415
    chance = 0.5 + math.sqrt(0.25 - math.exp(-3.8415) / 4)
    distance = 400 * math.log10(chance / (1 - chance))
    assert found.elo == pytest.approx(1200)
    assert (found.low, found.high) == pytest.approx((1200 - distance, 1200 + distance))


# --- searches by brute force ---


def log_likelihood(results, elo, advantage=0.0, off=0.0):
    total = 0.0
    for each in results:
        sign = {None: 0, Color.WHITE: 1, Color.BLACK: -1}[each.color]
        distance = (elo + sign * advantage - each.elo - off) * math.log(10) / 400
        rest = math.log1p(math.exp(-abs(distance)))
        total += (each.wins + each.draws / 2) * (min(distance, 0) - rest)
        total += (each.losses + each.draws / 2) * (min(-distance, 0) - rest)
    return total


def highest(function, low, high, precision=1e-7):
    """Ternary search for where a concave function is largest."""
    while high - low > precision:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if function(left) < function(right) else (low, right)
    return (low + high) / 2


def end(is_inside, inside, outside):
    while abs(outside - inside) > 1e-6:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_inside(middle) else (inside, middle)
    return (inside + outside) / 2


COUNT = st.sampled_from([0, 0, 1, 2, 7, 40])
COLOR = st.sampled_from([None, Color.WHITE, Color.BLACK])


@st.composite
def results(draw, errors=(0.0,)):
    drawn = draw(
        st.lists(
            st.builds(
                AnchorResult,
                st.integers(-500, 3000).map(float), COUNT, COUNT, COUNT,
                st.sampled_from(errors), COLOR,
            ),
            min_size=1, max_size=5,
        )
    )  # fmt: skip
    assume(sum(each.games for each in drawn))
    return drawn


@settings(max_examples=60, deadline=None)
@given(results(), st.sampled_from([0.0, 35.0, -120.0]))
def test_estimates_agree_with_a_search_by_brute_force(played, advantage):
    found = estimate(played, white_advantage=advantage)

    def likelihood(elo):
        return log_likelihood(played, elo, advantage)

    if found.bound:
        sign = 1 if found.bound == "lower" else -1
        bound = end(lambda elo: likelihood(elo) > -2.7055 / 2, sign * 9000, sign * -9000)
        assert found.elo == pytest.approx(bound, abs=1e-4)
        return
    top = likelihood(found.elo)
    assert all(likelihood(found.elo + step) < top for step in (-0.01, 0.01))
    level = top - 3.8415 / 2
    for bound, far in ((found.low, -20_000), (found.high, 20_000)):
        assert bound == pytest.approx(
            end(lambda elo: likelihood(elo) > level, found.elo, far), abs=1e-4
        )


def profile_of(played, advantage=0.0):
    """The likelihood of a rating when every anchor is as far off as suits it best."""
    anchors = {}
    for each in played:
        anchors.setdefault((each.anchor, each.elo, each.elo_se), []).append(each)

    def profile(elo):
        total = 0.0
        for (_, _, se), games in anchors.items():

            def penalised(off, games=games, se=se):
                return log_likelihood(games, elo, advantage, off) - (off / se) ** 2 / 2

            off = highest(penalised, -20 * se, 20 * se, 1e-4) if se else 0.0
            total += log_likelihood(games, elo, advantage, off)
            total -= (off / se) ** 2 / 2 if se else 0.0
        return total

    return profile


UNCERTAIN = {
    "one": [AnchorResult(1000, 6, 2, 4, 80.0)],
    "one of three": [AnchorResult(800, 7, 1, 2), AnchorResult(1000, 5, 2, 3, 150.0),
                     AnchorResult(1200, 2, 1, 7)],
    "contradictory": [AnchorResult(800, 20, 0, 20, 30.0), AnchorResult(1600, 20, 0, 20, 300.0)],
    "shared by colours": [AnchorResult(1000, 6, 2, 4, 80.0, Color.WHITE, "a"),
                          AnchorResult(1000, 3, 2, 7, 80.0, Color.BLACK, "a")],
    "the same rating, not shared": [AnchorResult(1000, 6, 2, 4, 80.0, None, "a"),
                                    AnchorResult(1000, 3, 2, 7, 80.0, None, "b")],
    "far away": [AnchorResult(100, 30, 0, 0, 60.0), AnchorResult(2500, 0, 1, 30, 60.0)],
}  # fmt: skip


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("played", UNCERTAIN.values(), ids=UNCERTAIN)
def test_uncertain_anchors_agree_with_a_search_by_brute_force(played):
    found = estimate(played, white_advantage=40)
    assert found.elo == estimate(sure(played), white_advantage=40).elo
    profile = profile_of(played, 40)
    level = profile(highest(profile, -2000, 4000, 1e-3)) - 3.8415 / 2
    assert found.low <= found.elo <= found.high
    for bound in (found.low, found.high):
        if bound == found.elo:  # it would not be inside but for that
            assert profile(bound) < level
        else:
            assert profile(bound) == pytest.approx(level, abs=1e-5)


def sure(played):
    return [replace(each, elo_se=0.0) for each in played]


def test_the_errors_of_anchors_widen_the_interval_and_change_nothing_else():
    errors = (50.0, 20.0, 80.0)
    plain = estimate(THREE)
    found = estimate(replace(each, elo_se=error) for each, error in zip(THREE, errors, strict=True))
    for name in ("elo", "standard_error", "sandwich_error"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((883.70, 1183.13), abs=0.01)
    assert found.low < plain.low < plain.high < found.high
    assert found.draw_aware_low < plain.draw_aware_low
    assert found.draw_aware_high > plain.draw_aware_high


@settings(max_examples=60, deadline=None)
@given(results((0.0, 40.0, 200.0)))
def test_anchors_are_taken_at_their_word_for_the_rating(played):
    found, plain = estimate(played), estimate(sure(played))
    if found.bound is None:
        for name in ("elo", "standard_error", "sandwich_error"):
            assert getattr(found, name) == pytest.approx(getattr(plain, name), abs=1e-9)


@pytest.mark.parametrize("games", [1, 10, 1000, 10**5, 10**8])
def test_no_number_of_games_makes_up_for_the_anchors_errors(games):
    two = [AnchorResult(1000, games, 0, games, 50.0, anchor=name) for name in "ab"]
    least = math.sqrt(3.8415 / 2) * 50
    assert estimate(two).margin > least
    assert estimate(two).draw_aware_margin > least
    # Nor do sure anchors who tell nothing: they are too far away.
    far = AnchorResult(9000, 0, 0, games)
    assert estimate([*two, far]).margin > 0.999 * least


@pytest.mark.parametrize("direction", [1, -1])
def test_a_bound_carries_the_uncertainty_of_the_anchor(direction):
    counts = (10, 0, 0) if direction > 0 else (0, 0, 10)
    played = [AnchorResult(1200, *counts, 100.0)]
    found = estimate(played)
    assert profile_of(played)(found.elo) == pytest.approx(-2.7055 / 2, abs=1e-5)
    assert direction * (estimate([AnchorResult(1200, *counts)]).elo - found.elo) > 30


def test_many_games_tell_no_more_than_the_anchor_is_worth():
    found = estimate([AnchorResult(1200, 10**6, 0, 10**6, 50.0)])
    assert found.margin == pytest.approx(math.sqrt(3.8415) * 50, rel=1e-3)


def test_draws_make_no_anchor_more_certain():
    found = estimate([AnchorResult(1200, 10**5, 10**6, 10**5, 50.0)])
    assert found.draw_aware_margin == pytest.approx(math.sqrt(3.8415) * 50, rel=1e-3)


def test_an_anchor_of_whom_nothing_is_known_narrows_nothing():
    known = AnchorResult(1200, 5, 2, 8)
    unknown = AnchorResult(1200, 6, 2, 8, 500_000.0, anchor="x")
    alone, both = estimate([known]), estimate([known, unknown])
    assert (both.low, both.high) == pytest.approx((alone.low, alone.high), abs=1e-2)
    lonely = estimate([unknown])
    assert lonely.margin == pytest.approx(math.sqrt(3.8415) * 500_000, rel=1e-3)


def test_an_interval_believes_the_sure_anchor_and_holds_the_rating():
    sure, unsure = AnchorResult(1000, 50, 0, 50), AnchorResult(1400, 50, 0, 50, 200.0)
    alone, together = estimate([sure]), estimate([sure, unsure])
    assert together.low == pytest.approx(alone.low, abs=30)
    assert together.elo == together.high == pytest.approx(1200)  # and not near 1090
    assert together.draw_aware_high == together.elo


@pytest.mark.parametrize("games", [80_509_052, 80_509_053, 10**7, 10**9])
@pytest.mark.parametrize("se", [1e3, 1e6])
def test_millions_of_games_against_an_anchor_of_whom_hardly_anything_is_known(games, se):
    """Of millions of points less millions of points no digit was left, and the slope was 0."""
    found = estimate([AnchorResult(1000, 0, games, 0, se)])
    assert found.margin == pytest.approx(math.sqrt(3.8415) * se, rel=1e-6)
    assert found.high - found.elo == pytest.approx(found.elo - found.low, rel=1e-6)


def test_estimates_agree_with_the_ratings_of_a_pool():
    pool = rate([Tally("x", "a", 7, 1, 2), Tally("x", "b", 2, 1, 7)], {"a": 800, "b": 1200})["x"]
    found = estimate([AnchorResult(800, 7, 1, 2), AnchorResult(1200, 2, 1, 7)])
    assert (found.elo, found.low, found.high) == pytest.approx((pool.elo, pool.low, pool.high))
    assert found.margin == pytest.approx(pool.margin)


def test_the_slope_against_an_uncertain_anchor_keeps_its_digits():
    precision = 1e-8
    curve = Curve((Opponent(precision, ((0.0, 4e7, 4e7),)),))
    for rating in (1.0, 100.0, -11_000.0):
        # so many games: the anchor must be as strong as the agent
        assert curve.at(rating).slope == pytest.approx(-precision * rating, rel=1e-9)


@pytest.mark.parametrize("se", [1e-6, 1e-4, 1e-2])
def test_a_tiny_error_changes_next_to_nothing(se):
    for counts in ((7, 1, 2), (7000, 100, 200), (10**8, 0, 10**7)):
        plain, found = (estimate([AnchorResult(1000, *counts, each)]) for each in (0.0, se))
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=se)


# --- what must hold whatever the games ---

FAR = [
    [AnchorResult(0, 50, 0, 0), AnchorResult(1_000_000, 0, 0, 50)],
    [AnchorResult(0, 0, 0, 50), AnchorResult(1_000_000, 50, 0, 0)],
    [AnchorResult(-1_000_000, 0, 1, 0), AnchorResult(1_000_000, 0, 1, 0)],
    [AnchorResult(0, 50, 0, 0, 1_000_000.0), AnchorResult(1_000_000, 0, 0, 100, 1e-6)],
    [AnchorResult(0, 10**8, 0, 1), AnchorResult(9000, 1, 0, 0)],
    [AnchorResult(5000, 0, 0, 3), AnchorResult(4000, 0, 1, 0), AnchorResult(0, 9000, 0, 0)],
    [AnchorResult(1500, 1, 0, 999_999_998)],
    [AnchorResult(1500, 0, 10**9, 0)],
    [AnchorResult(1500, 3, 0, 0, 1e-9)],
    [AnchorResult(1500, 3, 1, 2, 1e-300), AnchorResult(1500, 3, 1, 2, 1e-6)],
    [AnchorResult(1e6, 3, 0, 0, 1e6)],
]


@pytest.mark.parametrize("played", FAR)
def test_extremes_give_finite_numbers(played):
    found = estimate(played)
    json.dumps(found.to_json(), allow_nan=False)
    if found.bound is None:
        assert found.low < found.high
        assert found.low <= found.draw_aware_low <= found.elo <= found.draw_aware_high <= found.high


def test_wins_below_and_losses_above_meet_in_the_middle():
    for gap in (100, 800, 10_000, 1_000_000):
        found = estimate([AnchorResult(0, 5, 0, 0), AnchorResult(gap, 0, 0, 5)])
        assert found.elo == pytest.approx(gap / 2)
        assert found.high - gap / 2 == pytest.approx(gap / 2 - found.low)


def assert_alike(mine, other):
    theirs = other.to_json()
    for name, value in mine.to_json().items():
        is_number = isinstance(value, float)
        assert theirs[name] == (pytest.approx(value, abs=1e-5) if is_number else value), name


ERRORS = (0.0, 0.0, 40.0, 200.0)
SHARES = [("elo", "elo"), ("low", "high"), ("high", "low"),
          ("draw_aware_low", "draw_aware_high")]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(results(ERRORS))
def test_intervals_hold_their_estimates_and_are_finite(played):
    found = estimate(played)
    json.dumps(found.to_json(), allow_nan=False)
    if found.bound is None:
        assert found.low <= found.draw_aware_low <= found.elo <= found.draw_aware_high <= found.high
        assert found.low < found.high
        if all(each.elo_se == 0 for each in played):
            assert found.draw_aware_low < found.elo < found.draw_aware_high
        if not any(each.draws for each in played):
            assert found.draw_aware_margin == pytest.approx(found.margin, abs=1e-6)
    else:
        assert found.elo == (found.low if found.bound == "lower" else found.high)
        assert (found.draw_aware_low, found.draw_aware_high) == (found.low, found.high)


@settings(max_examples=60, deadline=None)
@given(results(ERRORS), st.randoms(use_true_random=False))
def test_neither_order_nor_splitting_matter(played, dice):
    split = [
        part
        for each in played
        for part in (
            AnchorResult(each.elo, each.wins, 0, 0, each.elo_se, each.color),
            AnchorResult(each.elo, 0, each.draws, each.losses, each.elo_se, each.color),
        )
    ]
    dice.shuffle(split)
    assert_alike(estimate(split), estimate(played))


@settings(max_examples=60, deadline=None)
@given(results(ERRORS))
def test_turning_every_result_round_turns_the_rating_round(played):
    found = estimate(played)
    mirror = estimate(
        AnchorResult(-each.elo, each.losses, each.draws, each.wins, each.elo_se, each.color)
        for each in played
    )
    for mine, other in SHARES:
        value = getattr(mirror, other)
        assert getattr(found, mine) == (value if value is None else pytest.approx(-value, abs=1e-5))


@settings(max_examples=60, deadline=None)
@given(results(ERRORS), st.integers(-3000, 3000))
def test_moving_the_anchors_moves_the_rating(played, by):
    moved = estimate(
        AnchorResult(each.elo + by, each.wins, each.draws, each.losses, each.elo_se, each.color)
        for each in played
    )
    found = estimate(played)
    for name in ("elo", "low", "high", "draw_aware_low", "draw_aware_high"):
        value = getattr(found, name)
        assert getattr(moved, name) == (
            value if value is None else pytest.approx(value + by, abs=1e-5)
        )


@settings(max_examples=60, deadline=None)
@given(COUNT, COUNT, COUNT, st.sampled_from([10.0, 90.0]))
def test_uncertainty_of_the_anchor_widens_the_interval(wins, draws, losses, se):
    assume(wins + draws + losses)
    sure = estimate([AnchorResult(1200, wins, draws, losses)])
    unsure = estimate([AnchorResult(1200, wins, draws, losses, se)])
    if sure.bound is None:
        assert unsure.elo == pytest.approx(sure.elo)
        assert unsure.margin > sure.margin
        assert unsure.draw_aware_margin > sure.draw_aware_margin
    else:
        assert (unsure.elo < sure.elo) is (sure.bound == "lower")


@settings(max_examples=40, deadline=None)
@given(results(), st.sampled_from([35.0, 200.0]))
def test_having_white_is_worth_as_many_points_of_the_anchor(played, advantage):
    sign = {None: 0, Color.WHITE: -1, Color.BLACK: 1}
    same = [
        AnchorResult(each.elo + sign[each.color] * advantage, each.wins, each.draws, each.losses)
        for each in played
    ]
    assert_alike(estimate(played, white_advantage=advantage), estimate(same))


# --- draws ---


def test_the_more_draws_the_narrower_the_draw_aware_interval():
    margins = []
    for draws in range(0, 41, 10):
        side = (40 - draws) // 2
        found = estimate([AnchorResult(1500, side, draws, side)])
        assert found.margin == pytest.approx(estimate([AnchorResult(1500, 20, 0, 20)]).margin)
        margins.append(found.draw_aware_margin)
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] > 0


def test_where_only_one_anchor_was_met_it_is_the_sandwich_nearly():
    found = estimate([AnchorResult(1500, 500, 700, 300)])
    assert found.draw_aware_margin == pytest.approx(1.96 * found.sandwich_error, rel=0.01)
    assert found.margin == pytest.approx(1.96 * found.standard_error, rel=0.01)


def test_draws_against_the_wrong_anchors_narrow_nothing():
    # half a point against each is far from what 1200 should score: scores vary more, not less
    found = estimate([AnchorResult(800, 0, 10, 0), AnchorResult(1600, 0, 10, 0)])
    assert found.sandwich_error > found.standard_error
    assert found.draw_aware_margin == pytest.approx(found.margin)


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("draws", [0.0, 0.3])
def test_95_percent_intervals_hold_the_truth_95_percent_of_the_time(draws):
    dice = random.Random(5)
    held = plain = 0
    runs = 600
    for _ in range(runs):
        truth, played = dice.uniform(900, 1500), []
        for elo, se in ((1000, 50.0), (1200, 0.0), (1400, 80.0)):
            counts = [0, 0, 0]
            chance = 1 / (1 + 10 ** ((dice.gauss(elo, se) - truth) / 400))
            tie = min(draws, 2 * chance, 2 - 2 * chance)
            for _ in range(20):
                at = dice.random()
                counts[0 if at < chance - tie / 2 else 1 if at < chance + tie / 2 else 2] += 1
            played.append(AnchorResult(elo, *counts, se))
        found = estimate(played)
        plain += found.low <= truth <= found.high
        held += found.draw_aware_low <= truth <= found.draw_aware_high
    assert 0.93 <= held / runs <= 0.97
    assert plain >= held


# --- what people see, and their mistakes ---

SHOWN = [
    (THREE, "1028 ± 138"),
    ([AnchorResult(1200, 10, 0, 0)], "> 1536"),
    ([AnchorResult(1200, 0, 0, 10)], "< 864"),
    ([AnchorResult(0, 5, 0, 5)], "0 ± 222"),
]


@pytest.mark.parametrize(("played", "text"), SHOWN)
def test_an_estimate_reads_well(played, text):
    assert str(estimate(played)) == text


def test_json_has_plain_keys():
    data = json.loads(json.dumps(estimate(THREE).to_json()))
    assert set(data) == {
        "elo", "low", "high", "margin", "bound", "standard_error", "sandwich_error", "wald_margin",
        "draw_aware_low", "draw_aware_high", "draw_aware_margin", "games", "points",
    }  # fmt: skip
    assert data["margin"] == (data["high"] - data["low"]) / 2


MISTAKES = [
    ([], {}, NoGames, "a rating needs at least one game"),
    ([AnchorResult(1200, 0, 0, 0)], {}, NoGames, "a rating needs at least one game"),
    ([AnchorResult(1200, 1, -1, 0)], {}, InvalidResult,
     "the result against 1200 cannot be: a count is no number of games"),
    ([AnchorResult(math.nan, 1, 0, 0)], {}, InvalidResult,
     "the result against nan cannot be: the anchor's rating is no number of Elo points"),
    ([AnchorResult(math.inf, 1, 0, 0, anchor="x")], {}, InvalidResult,
     "the result against 'x' cannot be: the anchor's rating is no number of Elo points"),
    ([AnchorResult(1200, 1, 0, 0, -1.0)], {}, InvalidResult,
     "the result against 1200 cannot be: the error of the anchor's rating is no number of Elo "
     "points"),
    ([AnchorResult(1200, 10**9, 0, 1)], {}, InvalidResult,
     "the result against 1200 cannot be: there are more than 1,000,000,000 games"),
    (THREE, {"white_advantage": math.nan}, InvalidAdvantage,
     "the advantage of White must be a number of Elo points, not nan"),
]  # fmt: skip


@pytest.mark.parametrize(("played", "options", "kind", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence(played, options, kind, sentence):
    with pytest.raises(kind) as caught:
        estimate(played, **options)
    assert str(caught.value) == sentence
    assert str(pickle.loads(pickle.dumps(caught.value))) == sentence


def test_results_count_their_games_and_points():
    result = AnchorResult(1200, 3, 2, 1)
    assert (result.games, result.points) == (6, 4.0)
