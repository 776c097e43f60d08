"""What a report tells of a pool, and of differences in one."""

import math

import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.bradley_terry import Tally, rate
from app.evaluations.pool_ratings import rate_pool, tallies_of
from app.evaluations.ratings import AnchorResult, estimate
from tests.app.evaluations.reporting import EXAMPLE_ANCHORS, codes, control_of, reported
from tests.support.evaluation_data import (
    ANCHORS,
    evaluation,
    games_of,
    pool,
)


def test_a_pool_is_rated_with_its_anchors_fixed():
    anchors = (Anchor("y", 1000.0),)
    report = reported(evaluation("pool", ("a",), games_of("a", "y", 15, 0, 5), anchors=anchors))
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["elo"] == pytest.approx(1000 + 400 * math.log10(3), abs=1e-6)
    assert report["scale"] == "anchors"


def test_a_pool_without_anchors_is_rated_by_its_first_agent():
    games = [*games_of("b", "c", 15, 0, 5), *games_of("a", "b", 5, 0, 5, first=21)]
    report = reported(evaluation("pool", ("a", "b", "c"), games))
    a, b, c = (agent["rating"]["as_played"] for agent in report["agents"])
    assert (report["scale"], report["reference"]) == ("relative", "a")
    assert (a["elo"], a["text"]) == (0, "0 (reference)")
    assert b["elo"] == pytest.approx(0, abs=1e-6)
    assert c["elo"] == pytest.approx(-400 * math.log10(3), abs=1e-6)
    assert "relative_scale" in codes(report)


def test_who_has_no_link_to_the_others_is_unrated_and_the_rest_is_not():
    games = [*games_of("a", "b", 2, 0, 2), *games_of("c", "d", 2, 0, 2, first=5)]
    report = reported(evaluation("pool", ("a", "b", "c", "d"), games))
    ratings = [agent["rating"]["as_played"] for agent in report["agents"]]
    assert ratings[1] is not None
    assert ratings[2] is ratings[3] is None
    assert "unrated" in codes(report, "c")


def test_a_crosstable_tells_who_scored_what_against_whom():
    games = [*games_of("a", "b", 4, 1, 1), *games_of("b", "a", 1, first=7)]
    report = reported(evaluation("pool", ("b", "a", "c"), games))
    table = report["crosstable"]
    assert table["players"] == ["a", "b", "c"]
    assert table["rows"][0]["cells"] == [None, {"wins": 4, "draws": 1, "losses": 2}, None]
    assert table["rows"][1]["cells"][0] == {"wins": 2, "draws": 1, "losses": 4}
    assert [row["games"] for row in table["rows"]] == [7, 7, 0]


def test_anchors_errors_widen_the_intervals_of_a_pool():
    """By about as much as the rating would move with the anchors'."""
    data = pool(anchors=ANCHORS[2:5])
    tallies = tallies_of((g.white, g.black, g.score_of(g.white)) for g in data.games)
    elos = {anchor.label: anchor.elo for anchor in data.anchors}
    plain, label = rate(tallies, elos), "team:default"
    own, wide = plain[label], rate_pool(tallies, data.anchors).estimates[label]
    moved = [
        rate(tallies, {**elos, anchor.label: anchor.elo + 0.1})[label].elo - own.elo
        for anchor in data.anchors
    ]
    assert sum(moved) == pytest.approx(0.1, abs=1e-4)
    error = math.hypot(*(10 * by * each.se for by, each in zip(moved, data.anchors, strict=True)))
    assert wide.elo == own.elo
    assert wide.high - wide.low == pytest.approx(
        2 * math.hypot((own.high - own.low) / 2, 1.96 * error), rel=0.02
    )
    # Where players are at their likeliest ratings, this is the inverse of the information.
    assert wide.standard_error == pytest.approx((own.high - own.low) / 2 / 1.96, rel=0.05)


def test_whoever_met_anchors_only_is_rated_the_same_in_a_pool():
    counts = {"x": (7, 1, 2), "y": (5, 2, 3), "z": (2, 1, 7)}
    anchors = [Anchor("x", 800.0, 50.0), Anchor("y", 1000.0, 20.0), Anchor("z", 1200.0, 80.0)]
    inside = rate_pool([Tally("a", label, *wdl) for label, wdl in counts.items()], anchors)
    alone = estimate(AnchorResult(each.elo, *counts[each.label], each.se) for each in anchors)
    for name in ("elo", "low", "high", "standard_error"):
        found = getattr(inside.estimates["a"], name)
        assert found == pytest.approx(getattr(alone, name), abs=1e-5)


def test_an_interval_of_a_pool_holds_its_rating_though_anchors_contradict_each_other():
    anchors = [Anchor("y", 1000.0), Anchor("z", 1400.0, 200.0)]
    found = rate_pool([Tally("a", label, 50, 0, 50) for label in "yz"], anchors).estimates["a"]
    assert found.elo == found.high == pytest.approx(1200)
    assert found.low < 1000


@pytest.mark.parametrize("se", [0.0, 50.0, 300.0])
@pytest.mark.parametrize("wins", [10, 0])
def test_a_bound_of_a_pool_is_that_of_a_ladder(wins, se):
    inside = rate_pool([Tally("a", "y", wins, 0, 10 - wins)], [Anchor("y", 1200.0, se)])
    alone = estimate([AnchorResult(1200.0, wins, 0, 10 - wins, se)])
    found = inside.estimates["a"]
    assert (found.bound, found.elo) == (alone.bound, pytest.approx(alone.elo, abs=1e-5))
    assert (found.low, found.high) == (pytest.approx(alone.low), pytest.approx(alone.high))


def test_pairings_without_games_link_nobody():
    tallies = [Tally("a", "y", 5, 0, 5), Tally("b", "a"), Tally("a", "c"), Tally("b", "c", 3, 0, 1)]
    found = rate_pool(tallies, [Anchor("y", 1000.0)]).estimates
    assert found["a"].elo == pytest.approx(1000)
    assert found["b"] is found["c"] is None


def test_a_skewed_interval_is_not_laid_at_the_door_of_anchors_that_are_sure():
    games = [
        *games_of("a", "b", 60, 0, 0),
        *games_of("a", "y", 6, 0, 0, first=61),
        *games_of("b", "y", 0, 1, 5, first=67),
    ]
    report = reported(evaluation("pool", ("a", "b"), games, anchors=(Anchor("y", 1000.0),)))
    rating = next(each for each in report["agents"] if each["label"] == "b")["rating"]["as_played"]
    assert rating["margin"] > math.sqrt(2) * rating["wald_margin"]
    assert "anchor_uncertainty" not in codes(report)


# --- differences in a pool ---


def pooled(*tallies, anchors=EXAMPLE_ANCHORS[1:2]):
    """Return the difference of a team and its control in a pool with anchors."""
    games = []
    for each in tallies:
        games += games_of(*each, first=len(games) + 1)
    return control_of(evaluation("pool", ("team:x", "solo:x"), games, anchors=anchors))


def test_a_difference_is_no_wider_for_what_both_ratings_have_in_common():
    row = pooled(
        ("team:x", "solo:x", 20, 0, 20), ("team:x", "y", 20, 0, 20), ("solo:x", "y", 20, 0, 20)
    )
    # 1 / (k √15): the information is 10 k² for each pairing
    error = 400 / math.log(10) / math.sqrt(15)
    assert row["difference"]["high"] == pytest.approx(1.96 * error, rel=0.01)
    assert row["difference"]["text"] == "+0 ± 88"


def test_games_against_each_other_tell_a_difference_however_few_tell_the_ratings():
    row = pooled(("team:x", "solo:x", 540, 0, 460), ("team:x", "y", 5, 0, 5))
    alone = control_of(
        evaluation("duel", ("team:x", "solo:x"), games_of("team:x", "solo:x", 540, 0, 460))
    )
    for name in ("elo", "low", "high"):
        assert row["difference"][name] == pytest.approx(alone["difference"][name], abs=1e-4)
    assert row["difference"]["text"] == "+28 ± 22"
    assert "better than its control" in row["text"]


def test_an_anchors_error_counts_in_a_pool_as_far_as_one_leans_on_it_more():
    both = (("team:x", "y", 20, 0, 20), ("solo:x", "y", 20, 0, 20))
    sure, unsure = (
        pooled(*both, anchors=(Anchor("y", 1000.0, se),))["difference"] for se in (0.0, 80.0)
    )
    assert unsure["high"] == pytest.approx(sure["high"], abs=1e-4)
    apart = (("team:x", "y", 20, 0, 20), ("solo:x", "z", 20, 0, 20))
    anchors = tuple(Anchor(name, 1000.0, 60.0) for name in ("y", "z"))
    own = pooled(*apart, anchors=anchors)["difference"]
    assert own["elo"] == pytest.approx(0, abs=1e-6)
    assert own["high"] == pytest.approx(
        math.hypot(sure["high"], 1.96 * 60 * math.sqrt(2)), rel=0.01
    )
    assert own["low"] == pytest.approx(-own["high"], abs=1e-3)


@pytest.mark.parametrize("se", [0.0, 60.0])
def test_a_difference_in_a_pool_may_be_a_bound_or_unknown(se):
    anchors = (Anchor("y", 1000.0, se),)
    row = pooled(("team:x", "y", 10), ("solo:x", "y", 5, 0, 5), anchors=anchors)
    assert (row["difference"]["bound"], row["difference"]["high"]) == ("lower", None)
    assert 250 < row["difference"]["low"] < 335.6  # the control may be better than even
    assert "better than its control" in row["text"]
    turned = pooled(("solo:x", "y", 10), ("team:x", "y", 5, 0, 5), anchors=anchors)
    assert turned["difference"]["bound"] == "upper"
    assert turned["difference"]["high"] == pytest.approx(-row["difference"]["low"], abs=1e-4)
    both = pooled(("team:x", "y", 10), ("solo:x", "y", 10), anchors=anchors)
    assert both["difference"] is None
    assert "do not tell yet" in both["text"]
    assert pooled(("team:x", "y", 10), anchors=anchors)["difference"] is None


def test_who_met_each_other_only_differ_though_no_anchor_tells_their_ratings():
    row = pooled(("team:x", "solo:x", 30, 0, 10))
    assert row["difference"]["elo"] == pytest.approx(400 * math.log10(3), abs=1e-4)
