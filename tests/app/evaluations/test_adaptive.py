"""Which anchor comes next, when it is enough, and whether the interval still holds then."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluations.adaptive import Anchor, NoAnchorsToChooseFrom, choose_anchor, is_reached
from app.evaluations.ratings import AnchorResult, Estimate, estimate

LADDER = [Anchor(str(elo), elo) for elo in range(400, 2401, 200)]


def against(elo, wins, draws, losses, se=0.0):
    return AnchorResult(elo, wins, draws, losses, se, anchor=str(elo))


def test_it_begins_in_the_middle():
    assert choose_anchor(LADDER, []).elo == 1400


@pytest.mark.parametrize(
    ("results", "low", "high"),
    [
        ([against(1400, 2, 0, 0)], 1600, 2400),
        ([against(1400, 0, 0, 2)], 400, 1200),
        ([against(1400, 1, 0, 1)], 1400, 1400),
        ([against(1400, 10, 0, 10)], 1400, 1400),
        ([against(1400, 0, 2, 18), against(1000, 9, 2, 9)], 1000, 1000),
        ([against(400, 0, 0, 8)], 400, 400),
        ([against(2400, 8, 0, 0)], 2400, 2400),
    ],
)
def test_it_goes_where_games_are_open(results, low, high):
    assert low <= choose_anchor(LADDER, results).elo <= high


def test_games_under_way_count():
    lost = [against(1400, 0, 0, 2)]
    chosen: Counter[str] = Counter()
    for _ in range(6):
        chosen[choose_anchor(LADDER, lost, chosen).label] += 2
    assert len(chosen) > 1  # not all eggs in one basket, while hardly anything is known
    sure = [against(1400, 50, 0, 50)]
    assert {choose_anchor(LADDER, sure, {"1400": count}).elo for count in (0, 2, 40)} == {1400}


def test_an_uncertain_anchor_is_played_until_it_has_told_what_it_knows():
    anchors = [Anchor("1400", 1400, 80.0), Anchor("1250", 1250)]
    assert choose_anchor(anchors, []).label == "1250"
    anchors = [Anchor("1400", 1400, 80.0), Anchor("800", 800)]
    results = [against(1400, 1, 0, 1, 80.0)]
    assert choose_anchor(anchors, results).label == "1400"
    results = [against(1400, 40, 0, 40, 80.0)]
    assert choose_anchor(anchors, results).label == "800"


def test_many_games_against_an_uncertain_anchor_do_not_settle_where_the_agent_is():
    anchors = [Anchor("unsure", 1400, 400.0), Anchor("1400", 1400), Anchor("1000", 1000)]
    few = AnchorResult(1000, 1, 0, 3, anchor="1000")
    many = AnchorResult(1400, 200, 0, 200, 400.0, anchor="unsure")
    assert choose_anchor(anchors, [few, many]).label == "1000"
    as_sure = AnchorResult(1400, 200, 0, 200, anchor="1400")
    assert choose_anchor(anchors, [few, as_sure]).label == "1400"


def test_the_first_of_equals_is_chosen():
    twins = [Anchor("a", 1200), Anchor("b", 1200), Anchor("c", 1200)]
    assert choose_anchor(twins, []).label == "a"
    assert choose_anchor(twins, [AnchorResult(1200, 3, 0, 3, anchor="a")]).label == "a"


def test_one_anchor_is_the_only_choice():
    assert choose_anchor(LADDER[:1], [against(400, 9, 0, 0)]) == LADDER[0]
    far = [Anchor("x", 900_000), Anchor("y", -900_000)]
    assert choose_anchor(far, [AnchorResult(900_000, 5, 0, 0, anchor="x")]) in far


def test_nobody_can_be_chosen_from_nobody():
    with pytest.raises(NoAnchorsToChooseFrom, match=r"^there is no anchor to choose from$"):
        choose_anchor([], [])


COUNT = st.integers(0, 6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LADDER), COUNT, COUNT, COUNT), max_size=6), st.randoms())
def test_neither_order_nor_splitting_of_results_matter(drawn, dice):
    results = [against(anchor.elo, *counts) for anchor, *counts in drawn]
    split = [
        part
        for each in results
        for part in (
            against(each.elo, each.wins, 0, 0),
            against(each.elo, 0, each.draws, each.losses),
        )
    ]
    dice.shuffle(split)
    assert choose_anchor(LADDER, split) == choose_anchor(LADDER, results)


def test_a_margin_is_reached_by_the_draw_aware_interval():
    open_on_one_side = estimate([AnchorResult(1200, 10, 0, 0)])
    assert not is_reached(open_on_one_side, 10_000)
    found = estimate([AnchorResult(1200, 12, 16, 12)])
    assert found.draw_aware_margin < 100 < found.margin
    assert is_reached(found, 100)
    assert not is_reached(found, found.draw_aware_margin - 0.01)
    of_a_pool = Estimate(1200, 1100, 1300, None, None, None, 40, 20)
    assert is_reached(of_a_pool, 100)
    assert not is_reached(of_a_pool, 99)


# --- the whole, played through ---


def play(strength, anchor, draws, dice):
    chance = 1 / (1 + 10 ** ((anchor - strength) / 400))
    tie = min(draws, 2 * chance, 2 - 2 * chance)
    at = dice.random()
    return 0 if at < chance - tie / 2 else 1 if at < chance + tie / 2 else 2


def evaluate(strength, anchors, truths, margin, dice, draws=0.12, in_turn=False):
    """Play pairs until the margin is reached, and return the rating."""
    counts = [[0, 0, 0] for _ in anchors]
    for pair in range(10_000):
        results = [
            AnchorResult(anchor.elo, *each, anchor.se, anchor=anchor.label)
            for anchor, each in zip(anchors, counts, strict=True)
            if any(each)
        ]
        if pair:
            found = estimate(results)
            if is_reached(found, margin):
                return found
        index = pair % len(anchors) if in_turn else anchors.index(choose_anchor(anchors, results))
        for _ in range(2):
            counts[index][play(strength, truths[index], draws, dice)] += 1
    raise AssertionError("it never ended")


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("se", [0.0, 60.0])
def test_the_interval_holds_the_truth_though_we_stop_when_we_like_it(se):
    dice = random.Random(11)
    anchors = [Anchor(each.label, each.elo, se) for each in LADDER]
    runs, held, games = 240, 0, 0
    for run in range(runs):
        strength = (300, 900, 1300, 2000)[run % 4]
        truths = [dice.gauss(anchor.elo, se) for anchor in anchors]
        found = evaluate(strength, anchors, truths, 150, dice)
        held += found.draw_aware_low <= strength <= found.draw_aware_high
        games += found.games
    assert 0.91 <= held / runs <= 0.985  # 95 %, and twice and a half its own error
    assert games / runs < (30 if se == 0 else 40)


@pytest.mark.usefixtures("without_coverage")
def test_choosing_takes_less_than_half_the_games_of_all_in_turn():
    dice = random.Random(12)
    games = {
        in_turn: sum(
            evaluate(
                strength, LADDER, [each.elo for each in LADDER], 150, dice, 0.12, in_turn
            ).games
            for strength in (500, 1000, 1500, 2300) * 3
        )
        for in_turn in (True, False)
    }
    assert games[False] < 0.45 * games[True]
