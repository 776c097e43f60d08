"""Ratings of a whole pool at once: the Bradley-Terry model with the anchors' ratings fixed.

The chance of a point is logistic in the difference of two ratings (Elo's scale), and a draw counts
as half a win for each side. Ratings are those of maximum likelihood, so players do not drift and
the order of the games does not matter. Intervals are those of the profile likelihood ratio: a
rating lies inside unless the games would be much less likely with it, the other players' ratings
being chosen anew.

Games may leave a rating open on one side: whoever won them all may be of any strength above a
bound. Which sides are closed is a matter of who scored something against whom. A rating has a
lower bound if there is a chain of players from it to an anchor, each of whom scored against the
next, and an upper bound if there is such a chain from an anchor to it. Where players are far apart
at the supremum, the games between them are certain and drop out of the likelihood, so that
everything computed here is finite.

    UnratablePool
    ├── NoAnchors             nothing to measure the players by
    ├── InvalidAnchor         an anchor's rating is no number
    ├── InvalidTally          a negative count, or a player paired with itself
    └── UnconnectedPlayers    no chain of games leads from them to an anchor
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.errors import AppError
from engine.errors import shown

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: Natural units of the logistic curve in one point of Elo.
NATURAL = math.log(10) / 400
#: The fall of 2 ln(likelihood) at the ends of a 95 % interval, and at a 95 % bound on one side.
TWO_SIDED = 3.8415
ONE_SIDED = 2.7055
#: The last step of an iteration, in natural units or standard errors: what it leaves is about its
#: square. And how many there may be.
PRECISION = 1e-6
STEPS = 100


class UnratablePool(AppError):
    """The root of all errors of a pool that cannot be rated."""


@dataclass(eq=False)
class NoAnchors(UnratablePool):
    """A pool without any rating to start from."""

    def __str__(self) -> str:
        return "ratings need at least one anchor, whose rating is known"


@dataclass(eq=False)
class InvalidAnchor(UnratablePool):
    """An anchor whose rating is not a finite number."""

    player: str
    elo: float

    def __str__(self) -> str:
        return f"the rating of anchor {shown(self.player)} must be a finite number, not {self.elo}"


@dataclass(eq=False)
class InvalidTally(UnratablePool):
    """Results that no pairing can have."""

    tally: Tally
    reason: str

    def __str__(self) -> str:
        pairing = f"{shown(self.tally.first)} against {shown(self.tally.second)}"
        return f"the results of {pairing} cannot be: {self.reason}"


@dataclass(eq=False)
class UnconnectedPlayers(UnratablePool):
    """Players whom no chain of games links to an anchor."""

    players: tuple[str, ...]

    def __str__(self) -> str:
        players = ", ".join(shown(player) for player in self.players)
        return f"no chain of games leads to an anchor from {players}"


@dataclass(frozen=True)
class Tally:
    """The results of one pairing, from the first player's side."""

    first: str
    second: str
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class Rating:
    """What the games tell of one player's strength.

    `elo` is None where the games leave it open on a side; then one bound at most is given. Neither
    is if no result says anything: one who only lost to somebody who only won may be of any
    strength.
    """

    player: str
    elo: float | None
    #: The ends of the 95 % interval, or the 95 % bound on the one side that is closed.
    low: float | None
    high: float | None
    games: int
    anchored: bool = False

    @property
    def margin(self) -> float | None:
        """Half the width of the interval, or None where it is open."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def __str__(self) -> str:
        if self.anchored:
            return f"{self.elo:z.0f} (anchor)"
        if self.margin is not None:
            return f"{self.elo:z.0f} ± {self.margin:.0f}"
        if self.low is not None:
            return f"> {self.low:z.0f}"
        return "unknown" if self.high is None else f"< {self.high:z.0f}"


def rate(tallies: Iterable[Tally], anchors: Mapping[str, float]) -> dict[str, Rating]:
    """Return the rating of every player and anchor, by name in alphabetical order.

    Raises `NoAnchors`, `InvalidAnchor`, `InvalidTally` or `UnconnectedPlayers`.
    """
    tallies = list(tallies)
    _check(tallies, anchors)
    pool = _Pool.of(tallies, anchors)
    if lost := pool.unconnected():
        raise UnconnectedPlayers(lost)
    return {player: pool.rating(index) for index, player in enumerate(pool.players)}


def _check(tallies: Iterable[Tally], anchors: Mapping[str, float]) -> None:
    if not anchors:
        raise NoAnchors
    for player, elo in anchors.items():
        if not math.isfinite(elo):
            raise InvalidAnchor(player, elo)
    for tally in tallies:
        if tally.first == tally.second:
            raise InvalidTally(tally, "nobody plays against themselves")
        if min(tally.wins, tally.draws, tally.losses) < 0:
            raise InvalidTally(tally, "a count is negative")


@dataclass(frozen=True)
class _Pool:
    """Who scored what against whom. Players are in alphabetical order, whatever that of games."""

    anchors: Mapping[str, float]
    players: tuple[str, ...]
    games: tuple[int, ...]
    #: What the player of the row scored against the player of the column.
    points: Floats
    anchored: Flags
    #: Whether a chain of players, each of whom scored against the next, leads from row to column.
    #: Anchors reach each other, since their difference is known.
    reaches: Flags
    #: Ratings in natural units that make the games within each group likeliest, a group being
    #: players who reach each other. One player holds a group in place that has no anchor.
    peak: Floats

    @classmethod
    def of(cls, tallies: list[Tally], anchors: Mapping[str, float]) -> _Pool:
        names = {name for tally in tallies for name in (tally.first, tally.second)}
        players = tuple(sorted(names.union(anchors)))
        index = {player: number for number, player in enumerate(players)}
        points = np.zeros((len(players), len(players)))
        games = [0] * len(players)
        for tally in tallies:
            first, second = index[tally.first], index[tally.second]
            points[first, second] += tally.wins + tally.draws / 2
            points[second, first] += tally.losses + tally.draws / 2
            games[first] += tally.games
            games[second] += tally.games
        anchored = np.array([player in anchors for player in players])
        reaches = _closure((points > 0) | np.logical_and.outer(anchored, anchored))
        group = reaches & reaches.T
        middle = math.fsum(anchors.values()) / len(anchors)
        known = np.array([anchors.get(player, middle) for player in players]) * NATURAL
        is_first_of_group = group.argmax(axis=1) == np.arange(len(players))
        is_with_anchor = group[anchored.argmax()]
        free = np.where(is_with_anchor, ~anchored, ~is_first_of_group)
        peak = _climb(points * group, known, free)
        return cls(anchors, players, tuple(games), points, anchored, reaches, peak)

    def unconnected(self) -> tuple[str, ...]:
        linked = _closure(self.reaches | self.reaches.T)[self.anchored.argmax()]
        return tuple(self.players[index] for index in np.flatnonzero(~linked))

    def rating(self, index: int) -> Rating:
        player, games = self.players[index], self.games[index]
        if player in self.anchors:
            elo = float(self.anchors[player])
            return Rating(player, elo, elo, elo, games, anchored=True)
        anchor = int(self.anchored.argmax())
        above = self.reaches[index] & self.reaches[:, anchor]  # the chains that close it below
        below = self.reaches[anchor] & self.reaches[:, index]
        if above[index] and below[index]:
            elo = float(self.peak[index]) / NATURAL
            low = self._bound(index, above, -1, TWO_SIDED)
            return Rating(player, elo, low, self._bound(index, below, +1, TWO_SIDED), games)
        low_only = self._bound(index, above, -1, ONE_SIDED) if above[index] else None
        high_only = self._bound(index, below, +1, ONE_SIDED) if below[index] else None
        return Rating(player, None, low_only, high_only, games)

    def _bound(self, index: int, chains: Flags, direction: int, fall: float) -> float:
        """Return how far down or up a rating can be until 2 ln(likelihood) falls by so much.

        Only games along the chains matter: all other players can keep any distance they like.
        """
        points = self.points * np.logical_and.outer(chains, chains)
        at_peak = _log_likelihood(points * (self.reaches & self.reaches.T), self.peak)
        free = chains & ~self.anchored
        free[index] = False
        ratings = self.peak
        _, information = _derivatives(points, ratings)
        course = _course(information, index, free)
        step = direction * min(1.0, math.sqrt(fall / float(course @ information @ course)))
        is_beyond = False
        for _ in range(STEPS):
            ratings = _climb(points, ratings + step * course, free)
            slope, information = _derivatives(points, ratings)
            course = _course(information, index, free)
            excess = _log_likelihood(points, ratings) - at_peak + fall / 2
            # The profile is concave: from beyond the bound, Newton's steps never pass it again.
            is_beyond = is_beyond or excess <= 0
            step = -excess / float(slope[index]) if is_beyond else 2 * step
            if abs(step) < PRECISION:
                break
        return float(ratings[index] + step) / NATURAL


def _closure(links: Flags) -> Flags:
    """Return which places can be reached from which, by any number of links or none."""
    reached = links | np.eye(len(links), dtype=np.bool_)
    for middle in range(len(links)):
        reached |= np.logical_and.outer(reached[:, middle], reached[middle])
    return reached


def _climb(points: Floats, ratings: Floats, free: Flags) -> Floats:
    """Return the ratings of maximum likelihood, only those that are free being changed.

    Newton's method, each step shortened by how much it changes the difference of two opponents:
    ln(1 + d) instead of d. That is enough for a logistic likelihood to rise with every step.
    """
    played = points + points.T > 0
    for _ in range(STEPS if free.any() else 0):
        slope, information = _derivatives(points, ratings)
        step = np.zeros(len(ratings))
        step[free] = np.linalg.solve(information[np.ix_(free, free)], slope[free])
        change = float(np.abs(np.subtract.outer(step, step))[played].max())
        ratings = ratings + step * (math.log1p(change) / change if change else 1.0)
        if slope @ step < PRECISION**2:  # the square of the step, in standard errors
            break
    return ratings


def _course(information: Floats, index: int, free: Flags) -> Floats:
    """Return how the ratings that are free follow when one player's is moved by 1."""
    course = np.zeros(len(information))
    course[free] = np.linalg.solve(information[np.ix_(free, free)], -information[free, index])
    course[index] = 1.0
    return course


def _log_likelihood(points: Floats, ratings: Floats) -> float:
    return -float((points * np.logaddexp(0.0, -np.subtract.outer(ratings, ratings))).sum())


def _derivatives(points: Floats, ratings: Floats) -> tuple[Floats, Floats]:
    """Return the log-likelihood's slope (points less expected points) and its information."""
    games = points + points.T
    chances = 0.5 + 0.5 * np.tanh(np.subtract.outer(ratings, ratings) / 2)
    # A game between players thousands of points apart tells nothing; a trace of curvature keeps
    # the equations soluble, and makes steps no longer.
    weights = games * np.maximum(chances * chances.T, 1e-10)
    slope = (points - games * chances).sum(axis=1)
    return slope, np.diag(weights.sum(axis=1)) - weights
