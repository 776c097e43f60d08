"""What a report tells: numbers worked out elsewhere, and every kind of evaluation."""

import inspect
import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from agents.models.budget import Spending
from app.cli.evaluation_texts import print_summary
from app.evaluations.adaptive import Anchor
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.bradley_terry import Tally, rate
from app.evaluations.games import SideRecord, SprtSettings, VoidCause, VoidGame
from app.evaluations.pool_ratings import rate_pool, tallies_of
from app.evaluations.ratings import AnchorResult, estimate
from app.evaluations.reports import notes
from app.evaluations.reports.leaderboard import leaderboard
from app.evaluations.reports.measured import results_of
from app.evaluations.reports.report import build_report
from app.evaluations.reports.tables import ANSWER_COLUMNS, GAME_COLUMNS
from app.evaluations.scores import Score, expected_score, wilson
from engine import Color, Evaluation, Termination
from tests.support.evaluation_data import (
    ANCHORS,
    EVERY_KIND,
    analysed_ply,
    answer,
    evaluation,
    game,
    games_of,
    ladder,
    pool,
)

EXAMPLE_ANCHORS = (Anchor("x", 800.0), Anchor("y", 1000.0), Anchor("z", 1200.0))


def example_games():
    """The example of the formulas: 7-1-2, 5-2-3 and 2-1-7 against 800, 1000 and 1200."""
    return [
        *games_of("a", "x", 7, 1, 2),
        *games_of("a", "y", 5, 2, 3, first=11),
        *games_of("a", "z", 2, 1, 7, first=21),
    ]


def reported(data):
    """Return a report as it is read from JSON, in which nothing may be infinite."""
    return json.loads(json.dumps(build_report(data), allow_nan=False))


def agent_of(data, label=None):
    agents = reported(data)["agents"]
    return agents[0] if label is None else next(a for a in agents if a["label"] == label)


def codes(report, agent=None):
    return [note["code"] for note in report["notes"] if agent in (None, note["agent"])]


# --- ladder ---


def test_a_ladder_is_rated_as_the_published_example():
    agent = agent_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    rating = agent["rating"]["as_played"]
    assert rating["elo"] == pytest.approx(1028.276, abs=5e-4)
    assert rating["low"] == pytest.approx(890.59, abs=5e-3)
    assert rating["high"] == pytest.approx(1167.54, abs=5e-3)
    assert rating["margin"] == pytest.approx((1167.54 - 890.59) / 2, abs=5e-3)
    assert agent["rating"]["without_forfeits"] == rating
    assert agent["score"]["points"] == 16
    # At the likeliest rating as much is expected as was scored.
    assert agent["score"]["expected"] == pytest.approx(16)


def test_the_interval_that_is_printed_is_the_one_by_which_a_ladder_stops():
    report = reported(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["text"] == f"1028 ± {rating['draw_aware_margin']:.0f}" != "1028 ± 138"
    row = report["rating_against_cost"][0]
    for name in ("low", "high", "draw_aware_low", "draw_aware_high"):
        assert row[name] == rating[name] is not None
    pooled = reported(evaluation("pool", games=example_games(), anchors=EXAMPLE_ANCHORS))
    assert pooled["agents"][0]["rating"]["as_played"]["text"] == "1028 ± 138"


def test_scores_stand_beside_what_is_expected():
    agent = agent_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS))
    assert [row["opponent"] for row in agent["by_opponent"]] == ["x", "y", "z"]
    first = agent["by_opponent"][0]
    assert (first["wins"], first["draws"], first["losses"]) == (7, 1, 2)
    assert first["expected"] == pytest.approx(10 / (1 + 10 ** ((800 - 1028.276) / 400)), abs=1e-4)
    assert first["share"] == 0.75
    assert agent["by_color"]["white"]["games"] == 30
    assert agent["by_color"]["black"] == {
        "games": 0, "wins": 0, "draws": 0, "losses": 0, "points": 0, "share": None,
        "low": 0, "high": 1, "expected": None, "expected_share": None,
    }  # fmt: skip


def test_having_white_is_worth_what_the_plan_says():
    games = [*games_of("a", "y", 5, 0, 5), *games_of("y", "a", 5, 0, 5, first=11)]
    data = evaluation(games=games, anchors=EXAMPLE_ANCHORS, white_advantage=40.0)
    agent = agent_of(data)
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000.0)
    white, black = (agent["by_color"][color]["expected_share"] for color in ("white", "black"))
    assert white == pytest.approx(1 / (1 + 10 ** (-40 / 400)))
    assert white + black == pytest.approx(1)


def test_who_wins_everything_has_a_bound_and_a_note():
    anchors = (Anchor("y", 1200.0),)
    report = reported(evaluation(games=games_of("a", "y", 10), anchors=anchors))
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["elo"] == rating["low"] == pytest.approx(1535.6, abs=0.05)
    assert (rating["high"], rating["bound"], rating["text"]) == (None, "lower", "> 1536")
    assert "one_sided" in codes(report, "a")
    assert "few_games" in codes(report, "a")


def test_who_loses_everything_has_a_bound_too():
    report = reported(
        evaluation(games=games_of("a", "y", 0, 0, 10), anchors=(Anchor("y", 1200.0),))
    )
    rating = report["agents"][0]["rating"]["as_played"]
    assert rating["elo"] == pytest.approx(1200 - 335.6, abs=0.05)
    assert rating["text"].startswith("< ")


def test_forfeits_are_counted_and_left_out_of_the_second_rating():
    games = [
        *games_of("a", "y", 5, 0, 5),
        *games_of("a", "y", 0, 0, 6, first=11, termination=Termination.RULES_INFRACTION),
        *games_of("a", "y", 0, 0, 3, first=17, termination=Termination.TIME_FORFEIT),
        *games_of("a", "y", 1, first=20, termination=Termination.TIME_FORFEIT),
    ]
    report = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    agent = report["agents"][0]
    assert agent["rating"]["forfeits"] == 10
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000 + 400 * math.log10(6 / 14))
    assert agent["rating"]["without_forfeits"]["elo"] == pytest.approx(1000)
    assert agent["legality"]["forfeits"] == {
        "rules_infraction": 6,
        "time_forfeit": 3,
        "no_answer": 0,
    }
    assert agent["legality"]["won_by_forfeit"] == 1
    assert "forfeits" in codes(report, "a")
    assert agent["terminations"][0] == {
        "termination": "checkmate", "games": 10, "wins": 5, "draws": 0, "losses": 5,
    }  # fmt: skip


def test_games_that_are_all_forfeits_tell_nothing_of_chess():
    games = games_of("a", "y", 0, 0, 4, termination=Termination.RULES_INFRACTION)
    report = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    assert report["agents"][0]["rating"]["without_forfeits"] is None
    (note,) = (note for note in report["notes"] if note["code"] == "forfeits")
    assert "nothing of chess" in note["text"]


def test_the_course_of_a_ladder_ends_where_its_rating_is():
    data = ladder(pairs=30, analysed=0)
    agent = agent_of(data)
    last = agent["course"][-1]
    assert last["games"] == 60
    assert last["elo"] == agent["rating"]["as_played"]["elo"]
    assert last["draw_aware_margin"] == agent["rating"]["as_played"]["draw_aware_margin"]
    assert [point["games"] for point in agent["course"]] == list(range(2, 61, 2))


@pytest.mark.parametrize("count", [0, 1, 81])
def test_the_course_of_any_number_of_games_is_short(count):
    data = evaluation(games=games_of("a", "y", count), anchors=EXAMPLE_ANCHORS)
    course = agent_of(data)["course"]
    assert len(course) <= 41
    assert [point["games"] for point in course][-1:] == ([count] if count else [])


def test_most_of_an_interval_may_be_the_anchors_own():
    games = [*games_of("a", "y", 200, 0, 200), *games_of("y", "a", 200, 0, 200, first=401)]
    sure = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0),)))
    unsure = reported(evaluation(games=games, anchors=(Anchor("y", 1000.0, 60.0),)))
    assert "anchor_uncertainty" not in codes(sure)
    assert "anchor_uncertainty" in codes(unsure, "a")
    assert unsure["agents"][0]["rating"]["as_played"]["margin"] > 110


def test_a_rating_beyond_all_anchors_is_noted():
    data = evaluation(games=games_of("a", "y", 9, 0, 1), anchors=(Anchor("y", 1000.0),))
    assert "extrapolated" in codes(reported(data), "a")


def test_a_score_that_does_not_fit_one_rating_is_noted():
    anchors = (Anchor("weak", 500.0), Anchor("strong", 1500.0))
    odd = [*games_of("a", "weak", 0, 0, 20), *games_of("a", "strong", 20, first=21)]
    report = reported(evaluation(games=odd, anchors=anchors))
    assert codes(report, "a").count("misfit") == 2
    even = [*games_of("a", "weak", 20), *games_of("a", "strong", 0, 0, 20, first=21)]
    assert "misfit" not in codes(reported(evaluation(games=even, anchors=anchors)))


FAULT, AGAIN = VoidGame(is_replayed=False), VoidGame()
BUDGET = VoidGame(VoidCause.BUDGET, is_replayed=False)
CANCELLED = VoidGame(VoidCause.CANCELLED, is_replayed=False)
LOST = "lost to faults of the infrastructure, and not scored"


@pytest.mark.parametrize(
    ("void", "is_over", "texts"),
    [
        ([AGAIN], True, [f"1 game was {LOST}; it was played again."]),
        ([AGAIN] * 2, False, [f"2 games were {LOST}; they were played again."]),
        ([FAULT], False, [f"1 game was {LOST}; it will be played again."]),
        ([AGAIN, FAULT], False, [f"2 games were {LOST}; 1 of them will be played again."]),
        ([FAULT] * 2, True, [f"2 games were {LOST}; they were not played again."]),
        (
            [AGAIN, BUDGET, BUDGET],
            True,
            [
                f"1 game was {LOST}; it was played again.",
                "2 games were broken off since the budget was spent, and not scored.",
            ],
        ),
        (
            [replace(BUDGET, is_replayed=True)],
            True,
            [
                "1 game was broken off since the budget was spent, and not scored; it was played "
                "again."
            ],
        ),
        (
            [CANCELLED],
            True,
            ["1 game was broken off as the evaluation was cancelled, and not scored."],
        ),
    ],
)
@pytest.mark.parametrize("games", [[], [game(1, "a", "y")]])
def test_games_that_do_not_count_are_told_with_their_causes(void, is_over, texts, games):
    data = evaluation(games=games, anchors=EXAMPLE_ANCHORS, void_games=tuple(void))
    if not is_over:
        data = replace(data, ended_at=None)
    report = reported(data)
    told = [note for note in report["notes"] if note["code"] in ("void_games", "broken_off")]
    assert [note["text"] for note in told] == texts
    assert report["counts"]["void_games"] == len(void)


def test_notes_tell_of_the_whole_evaluation():
    data = ladder(analysed=0.5, ended_at=None, status="running", plan={"adaptive": True})
    assert codes(reported(data))[:4] == ["unfinished", "void_games", "not_analysed", "adaptive"]
    quiet = ladder(analysed=1.0, void_games=(), plan={"adaptive": False})
    assert not {"unfinished", "void_games", "not_analysed", "adaptive"} & set(
        codes(reported(quiet))
    )


# --- duel ---


def test_a_duel_of_games_has_the_published_statistics():
    games = games_of("a", "b", 30, 20, 10, pair=None)
    report = reported(evaluation("duel", ("a", "b"), games, sprt=SprtSettings()))
    found = report["duel"]["trinomial"]
    assert found["counts"] == [10, 20, 30]
    assert found["elo"] == pytest.approx(120.4120, abs=5e-5)
    assert found["elo_margin"] == pytest.approx(75.2599, abs=5e-5)
    assert found["los"] == pytest.approx(0.999734, abs=5e-7)
    assert found["nelo"] == pytest.approx(155.3779, abs=5e-5)
    assert report["duel"]["pentanomial"] is None
    assert report["duel"]["unpaired_games"] == 60
    assert "unpaired_games" in codes(report)
    # Without a pair the test has not begun, and its bounds are known all the same.
    assert report["duel"]["sprt"]["llr"] == 0
    assert report["duel"]["sprt"]["upper_bound"] == pytest.approx(2.944439, abs=5e-7)


#: What the first player scores with White and with Black, so that the pairs are 2, 8, 20, 14, 6.
PAIRS = [(0, 0)] * 2 + [(0.5, 0)] * 8 + [(1, 0)] * 15 + [(0.5, 0.5)] * 5 + [(1, 0.5)] * 14
PAIRS += [(1, 1)] * 6


def paired(pairs, first="a", second="b"):
    games = []
    for number, (white, black) in enumerate(pairs, 1):
        place = len(games) + 1
        games.append(game(place, first, second, float(white), pair=number))
        games.append(game(place + 1, second, first, 1.0 - black, pair=number))
    return games


@pytest.mark.parametrize(("model", "llr"), [("logistic", 1.870332), ("normalized", 1.733470)])
def test_a_duel_of_pairs_has_the_published_statistics(model, llr):
    settings = SprtSettings((0.0, 50.0), model)
    report = reported(evaluation("duel", ("a", "b"), paired(PAIRS), sprt=settings))
    found = report["duel"]["pentanomial"]
    assert found["counts"] == [2, 8, 20, 14, 6]
    assert found["elo"] == pytest.approx(48.9626, abs=5e-5)
    assert found["elo_margin"] == pytest.approx(49.5052, abs=5e-5)
    assert found["los"] == pytest.approx(0.976054, abs=5e-7)
    assert found["nelo"] == pytest.approx(68.7338, abs=5e-5)
    assert report["duel"]["sprt"]["llr"] == pytest.approx(llr, abs=5e-7)
    assert report["duel"]["sprt"]["decision"] is None
    assert report["duel"]["course"][-1]["llr"] == pytest.approx(llr, abs=5e-7)
    assert len(report["duel"]["course"]) == 50
    assert "is open" in report["duel"]["sprt"]["text"]


@pytest.mark.parametrize(
    ("pairs", "said", "is_doubtful"),
    [
        ([(1, 1)] * 2, "> +158 Elo; all results are the same, so no likelihood can be told.", True),
        ([(0, 0)] * 2, "< -158 Elo; all results are the same, so no likelihood can be told.", True),
        (
            [(0.5, 0.5)],
            "+0 ± 433 Elo; all results are the same, so no likelihood can be told.",
            True,
        ),
        (
            [(0.5, 0.5)] * 100,
            "+0 ± 7 Elo; all results are the same, so no likelihood can be told.",
            True,
        ),
        (PAIRS, "+49 ± 50 Elo; it is the stronger one with a likelihood of 97.6 %.", False),
        (
            [(1, 1)] * 40 + [(1, 0)] * 10,
            "+382 ± 119 Elo; it is the stronger one with a likelihood of > 99.9 %.",
            False,
        ),
        (
            [(0, 0)] * 40 + [(1, 0)] * 10,
            "-382 ± 119 Elo; it is the stronger one with a likelihood of < 0.1 %.",
            False,
        ),
        # A hair's breadth below 0 is written without a sign of it.
        (
            [(1, 0.5), (0.5, 0)] * 200 + [(0.5, 0)],
            "+0 ± 17 Elo; it is the stronger one with a likelihood of 48.0 %.",
            False,
        ),
        (PAIRS[20:34], None, True),
        ([(1, 1)] * 46 + [(1, 0)] * 4, None, True),
    ],
)
def test_a_duel_says_no_more_than_its_results_do(pairs, said, is_doubtful):
    report = reported(evaluation("duel", ("a", "b"), paired(pairs)))
    if said is not None:
        assert report["duel"]["text"] == f"a against b: {said}"
    assert ("few_pairs" in codes(report)) is is_doubtful


def test_a_duel_without_pairs_is_told_by_its_games():
    few = reported(evaluation("duel", ("a", "b"), games_of("a", "b", 10, 10, 9, pair=None)))
    assert "29 games, too few" in next(
        note["text"] for note in few["notes"] if note["code"] == "few_pairs"
    )
    enough = reported(evaluation("duel", ("a", "b"), games_of("a", "b", 10, 10, 10, pair=None)))
    assert "few_pairs" not in codes(enough)
    assert enough["duel"]["text"].startswith("a against b: +0 ± ")
    nothing = reported(evaluation("duel", ("a", "b")))
    assert nothing["duel"]["text"] == "a against b: nothing is known yet."
    assert "few_pairs" not in codes(nothing)


def test_in_a_duel_each_is_rated_by_the_other():
    report = reported(evaluation("duel", ("a", "b"), games_of("a", "b", 30, 0, 10)))
    first, second = (agent["rating"]["as_played"] for agent in report["agents"])
    assert first["elo"] == pytest.approx(400 * math.log10(3))
    assert second["elo"] == pytest.approx(-first["elo"])
    assert second["low"] == pytest.approx(-first["high"])
    assert (report["scale"], report["reference"]) == ("relative", None)
    assert report["duel"]["sprt"] is None
    assert report["duel"]["course"] == []


def test_a_duel_that_is_decided_warns_of_its_elo():
    report = reported(evaluation("duel", ("a", "b"), paired([(1, 1)] * 40), sprt=SprtSettings()))
    assert report["duel"]["sprt"]["decision"] == "H1"
    assert "accepts 50 Elo (H1) rather than 0" in report["duel"]["sprt"]["text"]
    assert "optional_stopping" in codes(report)
    assert "undecided_again" not in codes(report)


def test_a_test_that_is_open_again_is_noted():
    pairs = [(1, 1)] * 23 + [(0, 0)] * 2
    report = reported(evaluation("duel", ("a", "b"), paired(pairs), sprt=SprtSettings()))
    test = report["duel"]["sprt"]
    assert test["decision"] is None
    assert test["first_decided"]["decision"] == "H1"
    assert test["first_decided"]["pairs"] == 23
    assert "undecided_again" in codes(report)


def test_the_course_of_a_long_duel_is_thinned():
    report = reported(evaluation("duel", ("a", "b"), paired(PAIRS * 9), sprt=SprtSettings()))
    course = report["duel"]["course"]
    assert len(course) <= 200
    assert course[-1]["pairs"] == 450


def test_games_of_one_pair_with_the_same_colours_are_no_pair():
    games = [game(1, "a", "b", pair=1), game(2, "a", "b", pair=1)]
    report = reported(evaluation("duel", ("a", "b"), games))
    assert report["duel"]["unpaired_games"] == 2


# --- pool ---


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


# --- positions ---


def test_positions_are_rated_by_their_difficulties():
    answers = [
        answer(number, "a", f"p{number}", 1000.0, number <= 15, difficulty_se=0.0)
        for number in range(1, 21)
    ]
    report = reported(evaluation("positions", ("a",), answers=tuple(answers)))
    agent = report["agents"][0]
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000 + 1200 * math.log10(3))
    assert agent["positions"]["share"] == 0.75
    (band,) = agent["positions"]["bands"]
    assert (band["from"], band["to"], band["answers"], band["right"]) == (1000, 1200, 20, 15)
    assert band["expected_share"] == pytest.approx(0.75)
    assert report["scale"] == "positions"


def test_positions_are_grouped_by_difficulty():
    answers = [answer(n, "a", str(n), elo, True) for n, elo in enumerate((-50, 399, 400, 420), 1)]
    bands = agent_of(evaluation("positions", ("a",), answers=tuple(answers)))["positions"]["bands"]
    assert [(band["from"], band["answers"]) for band in bands] == [(-200, 1), (200, 1), (400, 2)]


def test_positions_of_unknown_difficulty_do_not_rate():
    known = [answer(n, "a", f"p{n}", 1000.0, n <= 2, difficulty_se=0.0) for n in range(1, 5)]
    unknown = [answer(n, "a", f"p{n}", None, difficulty_se=None) for n in range(5, 9)]
    report = reported(evaluation("positions", ("a",), answers=(*known, *unknown)))
    agent = report["agents"][0]
    assert agent["rating"]["as_played"]["elo"] == pytest.approx(1000)
    assert (agent["positions"]["right"], agent["positions"]["answers"]) == (6, 8)
    assert [band["answers"] for band in agent["positions"]["bands"]] == [4]
    assert "4 positions" in next(
        note["text"] for note in report["notes"] if note["code"] == "unknown_difficulty"
    )
    alone = reported(evaluation("positions", ("a",), answers=tuple(unknown)))["agents"][0]
    assert alone["rating"]["as_played"] is None
    assert alone["positions"]["expected_share"] is None


def test_a_position_without_an_answer_is_a_forfeit():
    answers = (
        answer(1, "a", "p", is_right=False, answer=None, side=SideRecord(illegal=4)),
        answer(2, "a", "q"),
        answer(3, "a", "r", is_right=False),
    )
    report = reported(evaluation("positions", ("a",), answers=answers))
    agent = report["agents"][0]
    assert agent["rating"]["forfeits"] == agent["positions"]["no_answer"] == 1
    assert agent["rating"]["as_played"]["games"] == 3
    assert agent["rating"]["without_forfeits"]["games"] == 2
    assert agent["legality"]["forfeits"]["no_answer"] == 1
    assert (agent["legality"]["plies"], agent["legality"]["turns"]) == (2, 3)
    assert agent["legality"]["illegal_per_1000"] == pytest.approx(4000 / 3)


# --- controls ---


def test_a_team_without_its_control_claims_nothing():
    data = evaluation(
        agents=("team:x",), games=games_of("team:x", "y", 5, 0, 5), anchors=EXAMPLE_ANCHORS
    )
    (row,) = reported(data)["controls"]
    assert (row["is_measured"], row["difference"]) == (False, None)
    assert "No control was measured: solo:x did not take part." in row["text"]
    assert "nothing is claimed" in row["text"]


def control_of(data):
    (row,) = reported(data)["controls"]
    return row


def two_against(anchor, label="solo:x", **changes):
    games = [*games_of("team:x", "y", 30, 0, 10), *games_of(label, "y", 10, 0, 30, first=41)]
    return evaluation(agents=("team:x", label), games=games, anchors=(anchor,), **changes)


def test_a_team_stands_beside_its_control():
    row = control_of(two_against(Anchor("y", 1000.0)))
    assert row["difference"]["elo"] == pytest.approx(800 * math.log10(3))
    data = two_against(Anchor("y", 1000.0))
    team, solo = (each["rating"]["as_played"] for each in reported(data)["agents"])
    down = math.hypot(team["elo"] - team["low"], solo["high"] - solo["elo"])
    assert row["difference"]["low"] == pytest.approx(row["difference"]["elo"] - down)
    assert "better than its control" in row["text"]


def test_the_error_of_an_anchor_that_both_met_cancels_out():
    sure = control_of(two_against(Anchor("y", 1000.0)))["difference"]
    unsure = control_of(two_against(Anchor("y", 1000.0, 80.0)))["difference"]
    width = sure["high"] - sure["low"]
    assert unsure["high"] - unsure["low"] == pytest.approx(width)


def test_the_errors_of_different_anchors_do_not():
    anchors = tuple(Anchor(name, 1000.0, 60.0) for name in ("y", "z"))
    games = [*games_of("team:x", "y", 20, 0, 20), *games_of("solo:x", "z", 20, 0, 20, first=41)]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=anchors)
    difference = control_of(data)["difference"]
    sure = replace(data, anchors=tuple(replace(anchor, se=0.0) for anchor in anchors))
    plain = control_of(sure)["difference"]
    assert difference["high"] == pytest.approx(
        math.hypot(plain["high"], 1.96 * math.hypot(60, 60)), rel=1e-6
    )
    assert "no difference is shown" in control_of(data)["text"]


def test_a_control_is_found_behind_a_title():
    plan = {"agents": [{"name": "team:x", "title": "ours"}, {"name": "solo:x", "title": "alone"}]}
    games = [*games_of("ours", "y", 5, 0, 5), *games_of("alone", "y", 5, 0, 5, first=11)]
    data = evaluation(agents=("ours", "alone"), games=games, anchors=EXAMPLE_ANCHORS, plan=plan)
    row = control_of(data)
    assert (row["team"], row["control"], row["is_measured"]) == ("ours", "alone", True)


def test_a_duel_with_the_control_is_the_difference_itself():
    row = control_of(
        evaluation("duel", ("solo:x", "team:x"), games_of("team:x", "solo:x", 30, 0, 10))
    )
    assert row["difference"]["elo"] == pytest.approx(400 * math.log10(3))


def test_in_a_pool_without_anchors_the_control_is_the_reference():
    games = [*games_of("a", "solo:x", 5, 0, 5), *games_of("team:x", "solo:x", 30, 0, 10, first=11)]
    data = evaluation("pool", ("a", "team:x", "solo:x"), games)
    turned = replace(data, agents=("solo:x", "team:x", "a"))
    expected = agent_of(turned, "team:x")["rating"]["as_played"]
    difference = control_of(data)["difference"]
    assert difference["elo"] == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert (difference["low"], difference["high"]) == (expected["low"], expected["high"])


def test_a_difference_may_be_a_bound_or_unknown():
    games = [*games_of("team:x", "y", 10), *games_of("solo:x", "y", 0, 0, 10, first=11)]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=(Anchor("y", 1000.0),))
    difference = control_of(data)["difference"]
    assert (difference["bound"], difference["high"]) == ("lower", None)
    assert difference["low"] == pytest.approx(2 * 335.6, abs=0.1)
    both = [*games_of("team:x", "y", 10), *games_of("solo:x", "y", 10, first=11)]
    row = control_of(replace(data, games=tuple(both)))
    assert row["difference"] is None
    assert "do not tell yet" in row["text"]


def test_a_bound_of_a_difference_is_wider_by_what_anchors_leave_open():
    games = [*games_of("team:x", "y", 0, 0, 10), *games_of("solo:x", "z", 30, 0, 10, first=11)]
    anchors = (Anchor("y", 1000.0, 60.0), Anchor("z", 1000.0))
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=anchors)
    row = control_of(data)
    sure = replace(data, anchors=(Anchor("y", 1000.0), Anchor("z", 1000.0)))
    plain = control_of(sure)["difference"]
    assert (row["difference"]["bound"], row["difference"]["low"]) == ("upper", None)
    assert row["difference"]["high"] - plain["high"] == pytest.approx(1.645 * 60, abs=0.1)
    assert "worse than its control" in row["text"]


def test_a_control_that_has_not_played_in_a_pool_tells_nothing():
    data = evaluation("pool", ("team:x", "solo:x", "a"), games_of("team:x", "a", 3, 0, 1))
    row = control_of(data)
    assert (row["is_measured"], row["difference"]) == (True, None)


def test_a_control_with_other_tokens_is_called_no_equal_match():
    side = SideRecord(plies=10, calls=10, prompt_tokens=900, completion_tokens=100)
    twice = replace(side, prompt_tokens=1900)
    games = [
        *games_of("team:x", "y", 5, 0, 5, white_side=side),
        *games_of("solo:x", "y", 5, 0, 5, first=11, white_side=twice),
    ]
    data = evaluation(agents=("team:x", "solo:x"), games=games, anchors=EXAMPLE_ANCHORS)
    row = control_of(data)
    assert row["token_ratio"] == 2
    assert "no equal match" in row["text"]


# --- conduct ---


def test_money_is_exact_and_unknown_money_is_not_zero():
    paid = SideRecord(
        plies=3, calls=3, prompt_tokens=600, completion_tokens=60, cost_usd=Decimal("0.10"),
        think_ms=600, latency_ms=900, illegal=1, unreadable=2,
    )  # fmt: skip
    games = games_of("a", "y", 2, white_side=paid)
    agent = agent_of(evaluation(games=games, anchors=EXAMPLE_ANCHORS))
    assert agent["usage"]["cost_usd"] == "0.20"
    assert agent["usage"]["per_move"] == {
        "calls": 1, "tokens": 220, "cost_usd": "0.0333333", "latency_ms": 300, "think_ms": 200,
    }  # fmt: skip
    assert agent["usage"]["latency_ms_per_call"] == 300
    assert agent["legality"]["illegal_per_1000"] == pytest.approx(1000 / 3)
    assert agent["legality"]["unreadable_per_1000"] == pytest.approx(2000 / 3)
    unpaid = games_of("a", "y", 1, first=3, white_side=replace(paid, cost_usd=None))
    report = reported(evaluation(games=[*games, *unpaid], anchors=EXAMPLE_ANCHORS))
    usage = report["agents"][0]["usage"]
    assert usage["cost_usd"] is usage["per_move"]["cost_usd"] is None
    assert "unknown_price" in codes(report, "a")
    row = report["rating_against_cost"][0]
    assert (row["cost_usd_per_move"], row["tokens_per_move"]) == (None, 220)


def test_who_forfeits_on_the_first_turn_has_its_illegal_attempts_counted():
    """Nothing was played, so there is no ply to count them by; there were four turns."""
    side = SideRecord(illegal=4, unreadable=1)
    games = games_of("a", "y", 0, 0, 4, white_side=side, termination=Termination.RULES_INFRACTION)
    legality = agent_of(evaluation(games=games, anchors=EXAMPLE_ANCHORS))["legality"]
    assert (legality["plies"], legality["turns"], legality["illegal"]) == (0, 4, 16)
    assert (legality["illegal_per_1000"], legality["unreadable_per_1000"]) == (4000, 1000)
    # Who wins so has had no such turn, and who loses on time had one that was legal or none.
    won = games_of("y", "a", 0, 0, 2, termination=Termination.RULES_INFRACTION)
    late = games_of("a", "y", 0, 0, 1, first=3, termination=Termination.TIME_FORFEIT)
    legality = agent_of(evaluation(games=[*won, *late], anchors=EXAMPLE_ANCHORS))["legality"]
    assert legality["turns"] == legality["plies"] == 108


def test_what_the_whole_evaluation_took_is_told():
    spent, void = Spending(Decimal("1.386"), 9000, 70), Spending(Decimal("0.216"), 1000, 10)
    data = evaluation(spent=spent, void_spent=void)
    assert reported(data)["spent"] == {
        "calls": 70, "tokens": 9000, "cost_usd": "1.386",
        "void": {"calls": 10, "tokens": 1000, "cost_usd": "0.216"},
    }  # fmt: skip
    unknown = reported(replace(data, spent=replace(spent, usd=None)))["spent"]
    assert (unknown["cost_usd"], unknown["void"]["cost_usd"]) == (None, "0.216")


# --- in the terminal ---


def summary_of(data, capsys):
    print_summary(reported(data))
    return capsys.readouterr().out


def test_the_terminal_tells_the_interval_by_which_a_ladder_stops(capsys):
    told = summary_of(evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS), capsys)
    assert "1028 ± 128" in told
    assert "1028 ± 138" not in told
    assert "± is half the 95 % interval, draws taken into account." in told
    decisive = evaluation(games=games_of("a", "y", 5, 0, 5), anchors=EXAMPLE_ANCHORS)
    assert "± is half the 95 % interval, by the likelihood ratio." in summary_of(decisive, capsys)
    won = evaluation(games=games_of("a", "y", 5), anchors=EXAMPLE_ANCHORS)
    assert "±" not in summary_of(won, capsys)


def test_the_terminal_tells_what_was_spent_in_all(capsys):
    data = evaluation(games=example_games(), anchors=EXAMPLE_ANCHORS)
    assert "Spent" not in summary_of(data, capsys)
    data = replace(data, spent=Spending(Decimal("1.386"), 9000, 70))
    assert "Spent in all: $1.39, 70 calls, 9,000 tokens.\n" in summary_of(data, capsys)
    data = replace(data, void_spent=Spending(None, 1000, 10))
    assert (
        "9,000 tokens; of it in games that do not count: $?, 10 calls, 1,000 tokens.\n"
        in summary_of(data, capsys)
    )


def test_the_terminal_says_of_a_sweep_what_the_table_says(capsys):
    told = summary_of(evaluation("duel", ("a", "b"), paired([(1, 1)] * 2)), capsys)
    assert "> 158" in told
    assert "a against b: > +158 Elo; all results" in told
    assert "1161" not in told
    assert "100.0 %" not in told


@pytest.mark.parametrize(
    ("cost", "plies", "told"), [("100", 1, "100"), ("0", 7, "0"), ("0.0000001", 4, "0.000000025")]
)
def test_the_cost_of_a_move_has_no_exponent(cost, plies, told):
    side = SideRecord(plies=plies, calls=1, cost_usd=Decimal(cost))
    data = evaluation(games=games_of("a", "y", 1, white_side=side), anchors=EXAMPLE_ANCHORS)
    assert agent_of(data)["usage"]["per_move"]["cost_usd"] == told


def test_anchors_stand_among_the_costs_with_their_own_errors():
    report = reported(evaluation(games=example_games(), anchors=(*EXAMPLE_ANCHORS, ANCHORS[0])))
    rows = report["rating_against_cost"]
    assert [row["label"] for row in rows] == ["a", "x", "y", "z", "stockfish:2"]
    assert [row["is_anchor"] for row in rows] == [False, True, True, True, True]
    assert rows[4]["high"] == pytest.approx(358 + 1.96 * 50)
    assert rows[4]["think_ms_per_move"] is None


# --- quality ---


def test_quality_is_told_of_the_games_that_were_analysed():
    plies = [analysed_ply(1, 15, 20), analysed_ply(2, 20, 320), analysed_ply(3, 320, 20)]
    analysis = GameAnalysis(None, None, 0, 0, Evaluation(15), tuple(plies))
    games = [*games_of("a", "y", 1), *games_of("y", "a", 1, first=2)]
    data = evaluation(
        games=games, anchors=EXAMPLE_ANCHORS, analyses={"match-1": analysis, "other": analysis}
    )
    quality = agent_of(data)["quality"]
    assert (quality["analysed_games"], quality["of_games"], quality["moves"]) == (1, 2, 2)
    assert quality["acpl"] == 150
    assert quality["blunders"] == 1
    black = agent_of(replace(data, analyses={"match-2": analysis}))["quality"]
    assert (black["moves"], black["acpl"]) == (1, 300)


def test_regret_and_specialists_are_told_of_teams():
    quality = agent_of(ladder(), "team:default")["quality"]
    assert quality["regret"]["plies"] == quality["moves"] > 0
    assert [each["name"] for each in quality["specialists"]] == ["positional", "tactical"]


def test_answers_to_positions_are_judged_for_the_side_to_move():
    """The moves of a position's match are the agent's, whichever colour it has."""
    plies = (analysed_ply(2, 20, 320),)
    analysis = GameAnalysis(None, None, 0, 0, Evaluation(20), plies)
    own = answer(1, fen="6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1")
    data = evaluation("positions", ("a",), answers=(own,), analyses={"match-1": analysis})
    assert agent_of(data)["quality"]["moves"] == 1


# --- all kinds ---


@pytest.mark.parametrize("name", EVERY_KIND)
def test_every_evaluation_has_a_report_with_the_same_keys(name):
    report = reported(EVERY_KIND[name]())
    full = reported(ladder(pairs=4))
    assert list(report) == list(full)
    for agent in report["agents"]:
        assert list(agent) == list(full["agents"][0])
        for key in ("rating", "score", "by_color", "quality", "legality", "usage"):
            assert list(agent[key]) == list(full["agents"][0][key]), key
        rating = agent["rating"]["as_played"]
        if rating is not None:
            assert rating["elo"] is not None
            assert {rating["low"], rating["high"]} != {None}
    assert all(note["text"] and note["code"] for note in report["notes"])


@pytest.mark.parametrize("kind", ["ladder", "duel", "pool", "positions"])
def test_an_evaluation_without_anything_says_so(kind):
    report = reported(evaluation(kind, ("team:x", "solo:x"), anchors=()))
    assert "nothing_played" in codes(report)
    assert all(agent["rating"]["as_played"] is None for agent in report["agents"])
    assert "do not tell yet" in report["controls"][0]["text"]


def test_plan_and_manifest_are_included_as_they_are():
    manifest = {"seeds": [1, 2], "deep": {"er": None}}
    report = reported(evaluation(manifest=manifest, plan={"kind": "ladder"}))
    assert report["manifest"] == manifest
    assert report["plan"] == {"kind": "ladder"}


def test_the_order_of_games_changes_no_rating():
    data = pool(anchors=ANCHORS[2:5])
    turned = replace(data, games=tuple(reversed(data.games)))
    for one, other in zip(reported(data)["agents"], reported(turned)["agents"], strict=True):
        assert one["rating"] == other["rating"]


# --- scores ---


@pytest.mark.parametrize(
    ("points", "games", "low", "high"),
    [  # as published tables of Wilson's interval have them
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilsons_interval(points, games, low, high):
    assert wilson(points, games) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_score_is_counted_from_the_players_side():
    games = [game(1, "a", "b", 1.0), game(2, "b", "a", 1.0), game(3, "b", "a", 0.5)]
    assert str(Score.of("a", games)) == "1-1-1"
    assert Score.of("b", games).points == 1.5
    with pytest.raises(KeyError):
        Score.of("c", games)


def test_expected_scores_are_finite_and_add_up():
    assert expected_score(1400, 1000) == pytest.approx(10 / 11)
    assert expected_score(1e9, -1e9) == 1
    assert expected_score(0, 0, Color.BLACK, 100) + expected_score(
        0, 0, Color.WHITE, 100
    ) == pytest.approx(1)


# --- the reference is complete ---


def keys_in(data):
    """Return all keys of plain data but those of the plan and the manifest, which are free."""
    if isinstance(data, list):
        return {key for each in data for key in keys_in(each)}
    if not isinstance(data, dict):
        return set()
    inner = (keys_in(each) for key, each in data.items() if key not in ("plan", "manifest"))
    return set(data).union(*inner)


def told_on_the_page():
    page = (Path(__file__).parents[3] / "docs/reference/reports.md").read_text()
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", page))))


def test_every_key_and_note_is_told():
    reports = [reported(make()) for make in EVERY_KIND.values()]
    quality = (Path(__file__).parents[3] / "docs/reference/move-quality.md").read_text()
    keys = set().union(*map(keys_in, reports))
    of_quality = keys_in(agent_of(ladder())["quality"])
    assert keys - told_on_the_page() - {key for key in of_quality if key in quality} == set()
    codes_seen = {note["code"] for report in reports for note in report["notes"]}
    source = inspect.getsource(notes)
    codes_there_are = set(re.findall(r'Note\(\s*"(\w+)"', source))
    assert codes_seen <= codes_there_are <= told_on_the_page()


def test_every_column_and_plot_is_told():
    told = told_on_the_page()
    sides = {f"{color.value}_" for color in Color}
    for column in (*GAME_COLUMNS, *ANSWER_COLUMNS):
        bare = column.removeprefix("white_").removeprefix("black_")
        assert bare in told, column
    assert sides <= told
    board = leaderboard([results_of(make()) for make in EVERY_KIND.values()]).to_json()
    assert keys_in(board) <= told
