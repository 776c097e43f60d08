"""Glicko-2: ratings that follow a player from one rating period to the next.

By Mark Glickman's "Example of the Glicko-2 system". Evaluations do not need it, since an agent that
is measured does not change; it is for those who compare with sites where people play.

    InvalidGlicko    a rating, deviation, volatility or score that cannot be
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.errors import AppError

#: Points of the scale that people see in one of Glicko-2's own, and where that has its zero.
SCALE, MIDDLE = 173.7178, 1500.0
#: How much volatilities may change over time; Glickman has 0.3 to 1.2.
TAU = 0.5
#: Numbers beyond it are mistakes.
_LARGEST = 1_000_000.0
_PRECISION = 1e-12
_STEPS = 200


@dataclass(eq=False)
class InvalidGlicko(AppError):
    """A number that Glicko-2 cannot reckon with."""

    name: str
    value: float
    reason: str

    def __str__(self) -> str:
        return f"the {self.name} {self.reason}, not {self.value:g}"


@dataclass(frozen=True, slots=True)
class GlickoRating:
    """A player's rating, how uncertain it is (RD), and how erratic the player is."""

    rating: float = 1500.0
    deviation: float = 350.0
    volatility: float = 0.06


@dataclass(frozen=True, slots=True)
class GlickoGame:
    """Games against one opponent, or one: what was scored of how many."""

    opponent: GlickoRating
    score: float
    games: int = 1


def rate_period(
    player: GlickoRating, games: Iterable[GlickoGame], tau: float = TAU
) -> GlickoRating:
    """Return a player's rating after one rating period, in which these games were played.

    Without games only the deviation grows. Raises `InvalidGlicko`.
    """
    games = list(games)
    _check(player, games, tau)
    rating, deviation = (player.rating - MIDDLE) / SCALE, player.deviation / SCALE
    information = surplus = 0.0
    for game in games:
        certainty = _certainty(game.opponent.deviation / SCALE)
        distance = certainty * (rating - (game.opponent.rating - MIDDLE) / SCALE)
        won, lost = _chance(distance), _chance(-distance)
        information += game.games * certainty**2 * won * lost
        surplus += certainty * (game.score * lost - (game.games - game.score) * won)
    if not information:  # no game, or none that tells anything
        return GlickoRating(
            player.rating, SCALE * math.hypot(deviation, player.volatility), player.volatility
        )
    volatility = _new_volatility(
        player.volatility, deviation, 1 / information, surplus / information, tau
    )
    precision = 1 / (deviation**2 + volatility**2) + information
    return GlickoRating(
        MIDDLE + SCALE * (rating + surplus / precision), SCALE / math.sqrt(precision), volatility
    )


def _check(player: GlickoRating, games: Sequence[GlickoGame], tau: float) -> None:
    _require("tau", tau, 0 < tau <= _LARGEST, "must be a positive number")
    for each in (player, *(game.opponent for game in games)):
        is_rating = abs(each.rating) <= _LARGEST
        _require("rating", each.rating, is_rating, "must be a finite number of points")
        is_deviation = 0 <= each.deviation <= _LARGEST
        _require("deviation", each.deviation, is_deviation, "must not be negative")
    is_positive = player.deviation > 0
    _require("deviation", player.deviation, is_positive, "of the player must be positive")
    is_volatility = 0 < player.volatility <= 10
    _require("volatility", player.volatility, is_volatility, "must be between 0 and 10")
    for game in games:
        _require("number of games", game.games, game.games >= 0, "must not be negative")
        is_score = 0 <= game.score <= game.games
        _require("score", game.score, is_score, "must be between 0 and the number of games")


def _require(name: str, value: float, holds: bool, reason: str) -> None:
    if not holds:
        raise InvalidGlicko(name, value, reason)


def _certainty(deviation: float) -> float:
    """Return what is left of a game's weight by the opponent's own uncertainty: g of the paper."""
    return 1 / math.sqrt(1 + 3 * deviation**2 / math.pi**2)


def _chance(distance: float) -> float:
    return 0.5 + 0.5 * math.tanh(distance / 2)


def _new_volatility(
    volatility: float, deviation: float, variance: float, improvement: float, tau: float
) -> float:
    """Return the volatility after the period, by the Illinois method as in step 5 of the paper."""
    start = 2 * math.log(volatility)

    def excess(logarithm: float) -> float:
        squared = math.exp(logarithm)
        whole = deviation**2 + variance + squared
        surprise = squared * (improvement**2 - whole) / (2 * whole**2)
        return surprise - (logarithm - start) / tau**2

    here = start
    if improvement**2 > deviation**2 + variance:
        there = math.log(improvement**2 - deviation**2 - variance)
    else:
        there = start - tau
        while excess(there) < 0:
            there -= tau
    at_here, at_there = excess(here), excess(there)
    for _ in range(_STEPS):
        if abs(there - here) <= _PRECISION or at_here == at_there:
            break
        middle = here + (here - there) * at_here / (at_there - at_here)
        at_middle = excess(middle)
        if at_middle * at_there <= 0:
            here, at_here = there, at_there
        else:
            at_here /= 2
        there, at_there = middle, at_middle
    return math.exp(here / 2)
