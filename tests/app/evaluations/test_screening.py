"""Screening: ratings by positions, checked by brute force and by simulation."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluations.games import PositionAnswer, SideRecord
from app.evaluations.ratings import AnchorResult, estimate
from app.evaluations.suites.screening import TRANSFER_ERROR, rate_answers, screen
from app.evaluations.suites.solving import SLOPE, rate_solving, solving_chance

ELOS = st.floats(-1_000, 4_000)


@dataclass(frozen=True)
class Given:
    position_id: str
    difficulty: float | None
    difficulty_se: float | None
    is_right: bool


def results(*pairs: tuple[float, int, int]) -> list[AnchorResult]:
    return [AnchorResult(elo, right, 0, wrong) for elo, right, wrong in pairs]


@pytest.mark.parametrize(
    ("ahead", "chance"),
    [(0, 1 / 2), (1200, 10 / 11), (-1200, 1 / 11), (2400, 100 / 101), (400, 0.6829860)],
)
def test_the_chance_rises_by_a_factor_of_ten_every_1200_points(ahead, chance):
    assert solving_chance(900.0 + ahead, 900.0) == pytest.approx(chance)


@given(ELOS, ELOS, ELOS)
def test_chances_are_chances_and_rise_with_the_rating(first, second, difficulty):
    low, high = sorted((first, second))
    assert 0 < solving_chance(low, difficulty) <= solving_chance(high, difficulty) < 1
    both = solving_chance(first, difficulty) + solving_chance(difficulty, first)
    assert both == pytest.approx(1.0)


def test_no_distance_is_too_far():
    assert solving_chance(1e9, 0.0) == pytest.approx(1.0)
    assert solving_chance(-1e9, 0.0) == pytest.approx(0.0)


def log_likelihood(rating: float, played: list[AnchorResult]) -> float:
    return sum(
        each.wins * math.log(solving_chance(rating, each.elo))
        + each.losses * math.log(1 - solving_chance(rating, each.elo))
        for each in played
    )


def test_the_rating_is_the_likeliest_and_its_interval_ends_where_it_should():
    played = results((400.0, 9, 3), (900.0, 7, 6), (1500.0, 2, 8))
    found = rate_solving(played)
    by_force = max(range(-500, 3000), key=lambda rating: log_likelihood(rating, played))
    assert found.elo == pytest.approx(by_force, abs=0.51)
    peak = log_likelihood(found.elo, played)
    assert found.low is not None
    assert found.high is not None
    for end in (found.low, found.high):
        assert 2 * (peak - log_likelihood(end, played)) == pytest.approx(3.8415, rel=1e-6)
    assert found.low < found.elo < found.high


def test_a_position_tells_a_ninth_of_a_game():
    played = results((1000.0, 50, 50))
    of_games, of_positions = estimate(played), rate_solving(played)
    assert of_games.standard_error is not None
    assert of_positions.standard_error == pytest.approx(of_games.standard_error / SLOPE)
    assert of_positions.standard_error == pytest.approx(3 * 34.744, rel=1e-4)


def test_the_interval_has_the_transfer_in_it():
    played = results((1000.0, 50, 50))
    narrow, wide = rate_solving(played), rate_answers(played)
    assert wide.elo == narrow.elo
    assert wide.margin == pytest.approx(math.hypot(narrow.margin or 0.0, 1.96 * TRANSFER_ERROR))
    many = rate_answers(results((1000.0, 500_000, 500_000)))
    assert many.margin == pytest.approx(1.96 * TRANSFER_ERROR, rel=0.01)


@pytest.mark.parametrize(("right", "wrong", "bound"), [(20, 0, "lower"), (0, 20, "upper")])
def test_all_or_nothing_gives_a_bound_that_is_further_out(right, wrong, bound):
    played = results((1000.0, right, wrong))
    narrow, wide = rate_solving(played), rate_answers(played)
    outwards = -1 if bound == "lower" else 1
    assert wide.bound == narrow.bound == bound
    assert (wide.elo - narrow.elo) * outwards == pytest.approx(1.644854 * TRANSFER_ERROR)
    assert (wide.low if bound == "lower" else wide.high) == wide.elo
    assert (wide.high if bound == "lower" else wide.low) is None


def test_without_difficulties_there_is_a_share_and_no_rating():
    screening = screen(Given(str(number), None, None, number < 7) for number in range(10))
    assert (screening.asked, screening.solved, screening.share) == (10, 7, 0.7)
    assert (screening.low, screening.high) == pytest.approx((0.3968, 0.8922), abs=1e-4)  # Wilson
    assert screening.rating is None
    assert str(screening) == "7 of 10 solved (70%, 40% to 89%)"
    assert screening.to_json()["rating"] is None


def test_positions_without_difficulty_count_for_the_share_only():
    known = [Given(f"known {number}", 1000.0, 50.0, number % 2 == 0) for number in range(40)]
    unknown = [Given(f"unknown {number}", None, None, True) for number in range(10)]
    screening = screen(known + unknown)
    assert (screening.asked, screening.solved) == (50, 30)
    assert screening.rating is not None
    assert screening.rating.elo == pytest.approx(1000.0, abs=1.0)
    assert screening.rating.games == 40
    assert str(screening).endswith(f": {screening.rating}")


def test_the_answers_of_an_evaluation_are_answers():
    answers = [
        PositionAnswer(
            number, "m", "agent", f"p{number}", "fen", ("e2e4",), 800.0, 100.0, "e2e4",
            number % 4 == 0, SideRecord(),
        )
        for number in range(40)
    ]  # fmt: skip
    screening = screen(answers)
    assert screening.solved == 10
    assert screening.rating is not None
    assert 0 < screening.rating.elo < 400


def test_nobody_asked_is_no_error():
    screening = screen([])
    assert (screening.asked, screening.share, screening.low, screening.high) == (0, 0.0, 0.0, 1.0)
    assert screening.rating is None


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("rating", [300.0, 900.0, 1800.0])
def test_the_interval_covers_the_rating_as_often_as_it_says(rating):
    dice = random.Random(f"coverage {rating}")
    covered = 0
    trials = 120
    for _ in range(trials):
        solves_like = rating + dice.gauss(0.0, TRANSFER_ERROR)
        answers = []
        for number in range(60):
            difficulty = dice.uniform(-300.0, 2_000.0)
            right = dice.random() < solving_chance(solves_like, difficulty)
            told = difficulty + dice.gauss(0.0, 130.0)
            answers.append(Given(str(number), told, 130.0, right))
        found = screen(answers).rating
        assert found is not None
        low = -math.inf if found.low is None else found.low
        high = math.inf if found.high is None else found.high
        covered += low <= rating <= high
    assert 0.89 <= covered / trials <= 1.0
