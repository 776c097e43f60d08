"""Pairing: which two players should meet next, so that ratings become known soonest.

A game tells the more the nearer its players are, and the less is known of them; and a long one
costs more than a short one. So the pair is chosen whose game promises most for its time, by what is
known so far: guesses at first, then the games. Only effort depends on it: the ratings themselves
are worked out without guesses, by `bradley_terry`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from app.evaluations.bradley_terry import NATURAL, Floats, Tally

#: How far off a guess may be: one standard deviation, in Elo.
DOUBT = 300.0
_SURE = 0.1
_STEPS = 25
_PRECISION = 1e-3


def choose_pair(
    guesses: Mapping[str, float],
    fixed: Collection[str],
    tallies: Sequence[Tally],
    seconds: Mapping[str, float],
) -> tuple[str, str]:
    """Return the two players whose game promises to tell most for its time.

    `guesses` are of all players, the `fixed` ones certain; `seconds` is what each takes for a game.
    """
    names = list(guesses)
    ratings, covariance = _estimate(guesses, fixed, tallies)
    cost = np.array([seconds[name] for name in names])
    # One more game between two players shrinks the sum of all variances by so much.
    spread = covariance[:, :, None] - covariance[:, None, :]
    chances = _chance(ratings[:, None] - ratings[None, :])
    weights = chances * (1 - chances)
    variances = np.diag(covariance)
    between = variances[:, None] + variances[None, :] - 2 * covariance
    gain = weights * (spread**2).sum(axis=0) / (1 + weights * between)
    promise = np.triu(gain / (cost[:, None] + cost[None, :]), k=1)
    first, second = np.unravel_index(int(promise.argmax()), promise.shape)
    return names[int(first)], names[int(second)]


def _estimate(
    guesses: Mapping[str, float], fixed: Collection[str], tallies: Sequence[Tally]
) -> tuple[Floats, Floats]:
    """Return ratings and their covariance, in natural units, by games and guesses together."""
    names = list(guesses)
    place = {name: index for index, name in enumerate(names)}
    games = np.zeros((len(names), len(names)))
    points = np.zeros_like(games)  # of the row's player against the column's
    for tally in tallies:
        first, second = place[tally.first], place[tally.second]
        games[first, second] += tally.games
        games[second, first] += tally.games
        points[first, second] += tally.wins + tally.draws / 2
        points[second, first] += tally.losses + tally.draws / 2
    guessed: Floats = np.array([guesses[name] * NATURAL for name in names])
    certainty = (np.array([_SURE if name in fixed else DOUBT for name in names]) * NATURAL) ** -2
    ratings: Floats = guessed.copy()
    for _ in range(_STEPS):
        chances = _chance(ratings[:, None] - ratings[None, :])
        weights = games * chances * (1 - chances)
        information = np.diag(certainty + weights.sum(axis=1)) - weights
        surplus = (points - games * chances).sum(axis=1) + certainty * (guessed - ratings)
        step = np.linalg.solve(information, surplus)
        ratings += step / max(1.0, float(np.abs(step).max()))  # no leaps where the curve is flat
        if np.abs(step).max() < _PRECISION:
            break
    return ratings, np.asarray(np.linalg.inv(information), dtype=np.float64)


def _chance(difference: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-difference)))
