"""Pairing: the game that promises most for its time comes next."""

from __future__ import annotations

import random

import pytest

from app.evaluations.bradley_terry import NATURAL, Tally
from app.evaluations.pairing import DOUBT, _estimate, choose_pair

LADDER = {"low": 1000.0, "anchor": 1300.0, "high": 1600.0, "top": 3000.0}
EQUAL_TIME = dict.fromkeys(LADDER, 1.0)


def chosen(guesses=LADDER, tallies=(), seconds=EQUAL_TIME):
    return set(choose_pair(guesses, {"anchor"}, list(tallies), seconds))


def test_players_near_each_other_meet_first():
    assert "top" not in chosen()


def test_a_lopsided_game_is_not_worth_its_time():
    assert chosen({"anchor": 1300.0, "near": 1350.0, "far": 3000.0}, seconds=dict.fromkeys(
        ("anchor", "near", "far"), 1.0)) == {"anchor", "near"}  # fmt: skip


def test_what_is_known_well_is_not_asked_again():
    guesses = {"anchor": 1300.0, "known": 1300.0, "unknown": 1300.0}
    played = [Tally("anchor", "known", 500, 0, 500)]
    pair = chosen(guesses, played, dict.fromkeys(guesses, 1.0))
    assert "unknown" in pair


def test_a_cheap_game_comes_before_an_equally_telling_one():
    guesses = {"anchor": 1300.0, "cheap": 1300.0, "dear": 1300.0}
    seconds = {"anchor": 1.0, "cheap": 1.0, "dear": 50.0}
    assert chosen(guesses, seconds=seconds) == {"anchor", "cheap"}


def test_results_correct_a_wrong_guess():
    guesses = {"anchor": 1300.0, "sleeper": 1300.0, "strong": 1900.0}
    won = [Tally("sleeper", "anchor", 30, 1, 0)]
    assert chosen(guesses, won, dict.fromkeys(guesses, 1.0)) == {"sleeper", "strong"}


@pytest.mark.parametrize("seed", range(3))
def test_choosing_so_learns_more_than_choosing_blindly(seed):
    """Play simulated games both ways, and compare how far off the estimates are in the end."""
    dice = random.Random(seed)
    truth = {"anchor": 1300.0} | {f"p{n}": 1300.0 + 250 * n for n in range(-4, 7) if n}
    guesses = {name: elo + dice.gauss(0, DOUBT / 2) * (name != "anchor")
               for name, elo in truth.items()}  # fmt: skip
    seconds = dict.fromkeys(truth, 1.0)

    def remaining_doubt(choose) -> float:
        games = random.Random(seed)
        tallies: dict[tuple[str, str], list[int]] = {}

        def listed():
            return [Tally(*pair, won, 0, lost) for pair, (won, lost) in tallies.items()]

        for _ in range(300):
            first, second = choose(listed())
            chance = 1 / (1 + 10 ** ((truth[second] - truth[first]) / 400))
            counts = tallies.setdefault((first, second), [0, 0])
            counts[games.random() >= chance] += 1
        _, covariance = _estimate(guesses, {"anchor"}, listed())
        return float(covariance.trace()) / NATURAL**2

    names = list(truth)
    blind = random.Random(seed + 1)
    clever = remaining_doubt(lambda known: choose_pair(guesses, {"anchor"}, known, seconds))
    assert clever < 0.7 * remaining_doubt(lambda known: tuple(blind.sample(names, 2)))
