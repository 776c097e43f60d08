"""Glicko-2: Glickman's published example, and what must always hold."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluations.glicko import GlickoGame, GlickoRating, InvalidGlicko, rate_period

PLAYER = GlickoRating(1500, 200, 0.06)
GAMES = [
    GlickoGame(GlickoRating(1400, 30), 1),
    GlickoGame(GlickoRating(1550, 100), 0),
    GlickoGame(GlickoRating(1700, 300), 0),
]


def test_glickmans_example():
    after = rate_period(PLAYER, GAMES)
    assert after.rating == pytest.approx(1464.0507, abs=5e-5)
    assert after.deviation == pytest.approx(151.5165, abs=5e-5)
    assert after.volatility == pytest.approx(0.0599960, abs=5e-8)


def test_without_games_only_the_deviation_grows():
    after = rate_period(PLAYER, [])
    grown = math.hypot(200, 0.06 * 173.7178)
    assert after == GlickoRating(1500, pytest.approx(grown), 0.06)


def test_a_game_that_tells_nothing_is_none():
    far = GlickoGame(GlickoRating(1_000_000, 0), 0)
    assert rate_period(PLAYER, [far]) == rate_period(PLAYER, [])


def test_games_against_one_opponent_may_be_added_up():
    one = GlickoGame(GlickoRating(1600, 50), 2.5, 4)
    each = [GlickoGame(GlickoRating(1600, 50), score) for score in (1, 0.5, 1, 0)]
    for name in ("rating", "deviation", "volatility"):
        alone = getattr(rate_period(PLAYER, [one]), name)
        assert alone == pytest.approx(getattr(rate_period(PLAYER, each), name))


def condition(volatility, player, games, tau):
    """Glickman's f of the volatility, written out anew; it is zero at the new one."""
    phi, mu = player.deviation / 173.7178, (player.rating - 1500) / 173.7178
    inverse, total = 0.0, 0.0
    for game in games:
        other = game.opponent.deviation / 173.7178
        g = 1 / math.sqrt(1 + 3 * other**2 / math.pi**2)
        e = 1 / (1 + math.exp(-g * (mu - (game.opponent.rating - 1500) / 173.7178)))
        inverse += g * g * e * (1 - e) * game.games
        total += g * (game.score - game.games * e)
    v, delta = 1 / inverse, total / inverse
    x, a = math.log(volatility**2), math.log(player.volatility**2)
    above = math.exp(x) * (delta**2 - phi**2 - v - math.exp(x))
    return above / (2 * (phi**2 + v + math.exp(x)) ** 2) - (x - a) / tau**2


@settings(max_examples=80, deadline=None)
@given(
    st.integers(-30, 1230), st.integers(30, 400), st.sampled_from([0.03, 0.06, 0.2]),
    st.lists(st.tuples(st.integers(600, 2400), st.integers(0, 350), st.integers(0, 8)), min_size=1,
             max_size=6),
    st.sampled_from([0.3, 0.5, 1.2]),
)  # fmt: skip
def test_the_new_volatility_solves_glickmans_equation(over, deviation, volatility, played, tau):
    player = GlickoRating(1000 + over, deviation, volatility)
    games = [GlickoGame(GlickoRating(elo, rd), half / 2, 4) for elo, rd, half in played]
    after = rate_period(player, games, tau)
    assert condition(after.volatility, player, games, tau) == pytest.approx(0, abs=1e-8)
    assert after.deviation > 0


@settings(max_examples=40, deadline=None)
@given(st.integers(500, 2500), st.integers(0, 10))
def test_turning_the_results_round_turns_the_rating_round(elo, score):
    mine = rate_period(PLAYER, [GlickoGame(GlickoRating(elo, 60), score, 10)])
    other = rate_period(PLAYER, [GlickoGame(GlickoRating(3000 - elo, 60), 10 - score, 10)])
    assert mine.rating - 1500 == pytest.approx(1500 - other.rating, abs=1e-6)
    assert mine.deviation == pytest.approx(other.deviation)


def test_whoever_is_sure_of_a_rating_moves_little():
    sure = rate_period(GlickoRating(1500, 30), GAMES)
    unsure = rate_period(GlickoRating(1500, 350), GAMES)
    assert abs(sure.rating - 1500) < 10 < abs(unsure.rating - 1500)


MISTAKES = [
    (PLAYER, [GlickoGame(PLAYER, 2)], 0.5,
     "the score must be between 0 and the number of games, not 2"),
    (PLAYER, [GlickoGame(PLAYER, 0, -1)], 0.5,
     "the number of games must not be negative, not -1"),
    (GlickoRating(math.nan), GAMES, 0.5, "the rating must be a finite number of points, not nan"),
    (GlickoRating(1500, -1), GAMES, 0.5, "the deviation must not be negative, not -1"),
    (GlickoRating(1500, 0), GAMES, 0.5, "the deviation of the player must be positive, not 0"),
    (GlickoRating(1500, 50, 0), GAMES, 0.5, "the volatility must be between 0 and 10, not 0"),
    (PLAYER, GAMES, 0, "the tau must be a positive number, not 0"),
]  # fmt: skip


@pytest.mark.parametrize(("player", "games", "tau", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence(player, games, tau, sentence):
    with pytest.raises(InvalidGlicko) as caught:
        rate_period(player, games, tau)
    assert str(caught.value) == sentence
