"""The leaderboard: all evaluations together are one pool."""

import json
import math
import random
from dataclasses import replace
from decimal import Decimal

import pytest

from app.evaluations.adaptive import Anchor
from app.evaluations.games import SideRecord
from app.evaluations.ratings import AnchorResult, estimate
from app.evaluations.reports.leaderboard import leaderboard
from app.evaluations.reports.measured import results_of
from engine import Termination
from tests.support.evaluation_data import (
    ANCHORS,
    answer,
    duel,
    evaluation,
    games_of,
    ladder,
    pool,
    positions,
)

ANCHOR = Anchor("y", 1000.0)


def measured(games, agents=("a",), anchors=(ANCHOR,), number=1, identities=None, **changes):
    data = evaluation(
        "ladder", agents, games, anchors=anchors, id=f"evaluation-{number}", **changes
    )
    return results_of(data, identities or {})


def rows_of(*evaluations):
    return {(row.label, row.identity): row for row in leaderboard(evaluations).rows}


def test_games_of_several_evaluations_are_counted_together():
    first = measured(games_of("a", "y", 3, 0, 1), number=1)
    second = measured(games_of("a", "y", 12, 0, 4), number=2)
    row = rows_of(first, second)["a", ""]
    assert row.rating.elo == pytest.approx(1000 + 400 * math.log10(3), abs=1e-6)
    assert str(row.score) == "15-0-5"
    assert row.evaluations == ("evaluation-1", "evaluation-2")
    whole = rows_of(measured(games_of("a", "y", 15, 0, 5)))["a", ""]
    assert row.rating == whole.rating


@pytest.mark.parametrize("se", [0.0, 60.0])
def test_ratings_are_those_of_the_ladder_where_nothing_else_was_played(se):
    """By another way to the same numbers: one agent alone, against the anchors."""
    anchors = tuple(replace(anchor, se=se) for anchor in ANCHORS)
    data = ladder({"a": 1000}, anchors=anchors, pairs=25, analysed=0)
    found = leaderboard([results_of(data)]).rows[0].rating
    results = []
    for anchor in anchors:
        games = [g for g in data.games if anchor.label in (g.white, g.black)]
        scores = [g.score_of("a") for g in games]
        counts = (scores.count(score) for score in (1.0, 0.5, 0.0))
        results.append(AnchorResult(anchor.elo, *counts, se, anchor=anchor.label))
    alone = estimate(results)
    assert found.elo == pytest.approx(alone.elo, abs=1e-5)
    assert found.low == pytest.approx(alone.low, abs=1e-3)
    assert found.high == pytest.approx(alone.high, abs=1e-3)


def test_a_bound_is_that_of_the_ladder():
    games = games_of("a", "y", 10)
    row = rows_of(measured(games, anchors=(Anchor("y", 1200.0, 50.0),)))["a", ""]
    assert (row.rating.bound, row.rating.elo) == ("lower", pytest.approx(1526.72, abs=0.01))


@pytest.mark.parametrize("label", ["a", "z"])
def test_results_are_taken_from_the_right_side(label):
    """Whether a name comes before its opponent's in the alphabet or after it."""
    row = rows_of(measured(games_of(label, "y", 15, 0, 5), (label,)))[label, ""]
    assert row.rating.elo == pytest.approx(1000 + 400 * math.log10(3), abs=1e-6)
    assert str(row.score) == "15-0-5"


def test_who_met_no_anchor_is_rated_through_who_did():
    first = measured(games_of("a", "y", 5, 0, 5))
    second = results_of(evaluation("duel", ("a", "b"), games_of("b", "a", 30, 0, 10)))
    row = rows_of(first, second)["b", ""]
    assert row.rating.elo == pytest.approx(1000 + 400 * math.log10(3), abs=1e-6)


def test_who_has_no_chain_to_an_anchor_is_listed_last_without_a_rating():
    first = measured(games_of("a", "y", 1, 0, 9))
    second = results_of(evaluation("duel", ("b", "c"), games_of("b", "c", 3, 0, 1)))
    board = leaderboard([second, first])
    assert [row.label for row in board.rows] == ["a", "b", "c"]
    assert board.rows[1].rating is None
    assert str(board.rows[1].score) == "3-0-1"
    assert any("b, c" in note for note in board.notes)


def test_without_any_anchor_nobody_is_rated():
    board = leaderboard([results_of(duel())])
    assert all(row.rating is None and row.score.games for row in board.rows)


def test_an_anchor_counts_with_the_rating_its_evaluation_gave_it():
    old = measured(games_of("a", "y", 10, 0, 10), number=1)
    new = measured(games_of("a", "y", 10, 0, 10), anchors=(Anchor("y", 1100.0),), number=2)
    board = leaderboard([old, new])
    assert board.rows[0].rating.elo == pytest.approx(1050, abs=1e-6)
    assert [anchor.elo for anchor in board.anchors] == [1000, 1100]
    assert any(note.startswith("y was rated 1000, 1100 in different") for note in board.notes)
    assert leaderboard([old, old]).notes == ()
    unsure = measured(games_of("a", "y", 10, 0, 10), anchors=(Anchor("y", 1000.0, 30.0),), number=3)
    assert leaderboard([old, unsure]).notes == ()


def test_an_anchor_that_is_measured_itself_is_rated_by_its_own_games():
    data = evaluation(
        agents=("y",), games=games_of("y", "z", 15, 0, 5), anchors=(Anchor("z", 500.0),)
    )
    rows = rows_of(measured(games_of("a", "y", 5, 0, 5)), results_of(data))
    assert rows["y", ""].rating.elo == pytest.approx(500 + 400 * math.log10(3), abs=1e-6)
    assert rows["a", ""].rating.elo == pytest.approx(1000, abs=1e-6)


def test_an_agent_that_has_changed_is_another_one():
    old = measured(games_of("a", "y", 15, 0, 5), identities={"a": "old"}, number=1)
    new = measured(games_of("a", "y", 5, 0, 15), identities={"a": "new"}, number=2)
    board = leaderboard([old, new])
    assert [(row.label, row.identity) for row in board.rows] == [("a", "old"), ("a", "new")]
    assert board.rows[0].rating.elo == pytest.approx(1000 + 400 * math.log10(3), abs=1e-6)
    assert any("a has several rows" in note for note in board.notes)


def test_the_strongest_come_first_and_bounds_among_them():
    games = [
        *games_of("a", "y", 10),
        *games_of("b", "y", 5, 0, 5, first=11),
        *games_of("c", "y", 0, 0, 10, first=21),
    ]
    rows = leaderboard([measured(games, ("c", "b", "a"))]).rows
    assert [row.label for row in rows] == ["a", "b", "c"]
    assert [row.rating.bound for row in rows] == ["lower", None, "upper"]


def test_the_order_of_evaluations_changes_no_rating():
    evaluations = [
        results_of(replace(data, id=str(number)))
        for number, data in enumerate(
            (ladder(pairs=8), duel(pairs=10), pool(anchors=ANCHORS[2:5]), ladder(seed=9, pairs=5))
        )
    ]
    shuffled = list(evaluations)
    random.Random(5).shuffle(shuffled)
    ratings = {key: row.rating for key, row in rows_of(*evaluations).items()}
    again = {key: row.rating for key, row in rows_of(*shuffled).items()}
    assert list(ratings) == list(again)
    for key, rating in ratings.items():
        assert rating.elo == pytest.approx(again[key].elo, abs=1e-4)


def test_conduct_is_summed_up():
    side = SideRecord(plies=10, calls=10, prompt_tokens=100, think_ms=50, cost_usd=Decimal("0.5"))
    lost = games_of("a", "y", 0, 0, 2, white_side=side, termination=Termination.RULES_INFRACTION)
    won = games_of("a", "y", 1, first=3, white_side=side, termination=Termination.TIME_FORFEIT)
    row = rows_of(measured([*lost, *won], number=1), measured(won, number=2))["a", ""]
    assert row.forfeits == 2
    told = row.to_json()
    assert told["per_move"]["cost_usd"] == "0.05"
    assert told["per_move"]["tokens"] == 10
    unpriced = measured(games_of("a", "y", 1, white_side=replace(side, cost_usd=None)), number=3)
    assert rows_of(unpriced, measured(won))["a", ""].to_json()["per_move"]["cost_usd"] is None


def test_accuracy_is_weighted_by_games():
    data = [ladder({"a": 1000}, pairs=pairs, analysed=1.0, seed=pairs) for pairs in (2, 10)]
    few, many = (results_of(each).agents[0] for each in data)
    assert (few.analysed_games, many.analysed_games) == (4, 20)
    row = rows_of(*map(results_of, data))["a", ""]
    assert row.accuracy == pytest.approx((4 * few.accuracy + 20 * many.accuracy) / 24)
    assert row.analysed_games == 24


def test_positions_stand_beside_the_rating_and_not_in_it():
    answers = tuple(
        answer(n, "a", f"p{n}", 600.0, n <= 15, difficulty_se=0.0) for n in range(1, 21)
    )
    solved = results_of(evaluation("positions", ("a",), answers=answers, id="positions"))
    alone = rows_of(solved)["a", ""]
    assert alone.rating is None
    assert (alone.answers, alone.right) == (20, 15)
    assert alone.positions_rating.elo == pytest.approx(600 + 1200 * math.log10(3))
    both = rows_of(solved, measured(games_of("a", "y", 5, 0, 5)))["a", ""]
    assert both.rating.elo == pytest.approx(1000, abs=1e-6)
    assert both.positions_rating == alone.positions_rating


def test_a_leaderboard_is_plain_data():
    board = leaderboard([results_of(ladder(pairs=4)), results_of(positions(count=5, id="p"))])
    told = json.loads(json.dumps(board.to_json(), allow_nan=False))
    assert set(told) == {"rows", "anchors", "notes"}
    row = next(row for row in told["rows"] if row["label"] == "team:default")
    assert row["positions"]["answers"] == 5
    assert row["games"] == row["wins"] + row["draws"] + row["losses"] == 8
    assert row["rating"]["text"]
    assert leaderboard([]).to_json() == {"rows": [], "anchors": [], "notes": []}


def test_positions_count_though_nobody_knows_how_hard_they_are():
    data = positions(count=5)
    unknown = tuple(replace(answer, difficulty=None) for answer in data.answers)
    known, told = (
        leaderboard([results_of(each)]).rows for each in (data, replace(data, answers=unknown))
    )
    assert {row.label: (row.answers, row.right) for row in told} == {
        row.label: (row.answers, row.right) for row in known
    }
    assert all(row.answers == 5 and row.positions_rating is None for row in told)
