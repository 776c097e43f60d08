"""What a report tells of a duel: games, pairs, and the test."""

import math

import pytest

from app.evaluations.games import SprtSettings
from tests.app.evaluations.reporting import codes, paired, reported
from tests.support.evaluation_data import (
    evaluation,
    game,
    games_of,
)


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
