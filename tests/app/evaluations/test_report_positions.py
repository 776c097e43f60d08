"""What a report tells of answers to positions."""

import math

import pytest

from app.evaluations.games import SideRecord
from tests.app.evaluations.reporting import agent_of, reported
from tests.support.evaluation_data import (
    answer,
    evaluation,
)


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
