"""Ratings of a whole pool at once: the Bradley-Terry model with the anchors' ratings fixed.

The chance of a point is logistic in the difference of two ratings (Elo's scale), and a draw counts
as half a win for each side. Ratings are those of maximum likelihood, so players do not drift and
the order of the games does not matter. Intervals are those of the profile likelihood ratio: a
rating lies inside unless the games would be much less likely with it, the other players' ratings
being chosen anew.

An anchor's rating may have an error. Ratings are still those of maximum likelihood with the anchors
taken at their word; in the intervals the anchors' ratings are chosen anew as well, each at the cost
of being off by so many of its standard errors. An interval always holds its rating.

Games may leave a rating open on one side: whoever won them all may be of any strength above a
bound. Which sides are closed is a matter of who scored something against whom. A rating has a
lower bound if there is a chain of players from it to an anchor, each of whom scored against the
next, and an upper bound if there is such a chain from an anchor to it. Where players are far apart
at the supremum, the games between them are certain and drop out of the likelihood, so that
everything computed here is finite.

    UnratablePool
    ├── NoAnchors             nothing to measure the players by
    ├── InvalidAnchor         an anchor's rating or its error is no number
    ├── InvalidTally          a negative count, or a player paired with itself
    └── UnconnectedPlayers    no chain of games leads from them to an anchor
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
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

_NO_ERRORS: Mapping[str, float] = MappingProxyType({})
#: An error below it is none.
_LEAST_ERROR = 1e-6


class UnratablePool(AppError):
    """The root of all errors of a pool that cannot be rated."""


@dataclass(eq=False)
class NoAnchors(UnratablePool):
    """A pool without any rating to start from."""

    def __str__(self) -> str:
        return "ratings need at least one anchor, whose rating is known"


@dataclass(eq=False)
class InvalidAnchor(UnratablePool):
    """An anchor whose rating, or the error of that, is not a finite number."""

    player: str
    elo: float
    what: str = "rating"

    def __str__(self) -> str:
        whose = f"the {self.what} of anchor {shown(self.player)}"
        return f"{whose} must be a finite number, not {self.elo}"


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


def rate(
    tallies: Iterable[Tally],
    anchors: Mapping[str, float],
    errors: Mapping[str, float] = _NO_ERRORS,
) -> dict[str, Rating]:
    """Return the rating of every player and anchor, by name in alphabetical order.

    `errors` are the standard errors of anchors' ratings; those that are not named have none. Raises
    `NoAnchors`, `InvalidAnchor`, `InvalidTally` or `UnconnectedPlayers`.
    """
    tallies = list(tallies)
    _check(tallies, anchors, errors)
    pool = _Pool.of(tallies, anchors, errors)
    if lost := pool.unconnected():
        raise UnconnectedPlayers(lost)
    return {player: pool.rating(index) for index, player in enumerate(pool.players)}


def compare(
    tallies: Iterable[Tally],
    anchors: Mapping[str, float],
    first: str,
    second: str,
    errors: Mapping[str, float] = _NO_ERRORS,
) -> Rating:
    """Return the rating of one player as if that of another were 0; neither is an anchor.

    The interval is that of the difference itself: two ratings of a pool rise and fall together, so
    that theirs do not tell it. Raises `NoAnchors`, `InvalidAnchor` or `InvalidTally`.
    """
    tallies = list(tallies)
    _check(tallies, anchors, errors)
    pool = _Pool.of(tallies, anchors, errors)
    if first not in pool.players or second not in pool.players:
        return Rating(first, None, None, None, 0)
    return pool.difference(pool.players.index(first), pool.players.index(second))


def _check(
    tallies: Iterable[Tally], anchors: Mapping[str, float], errors: Mapping[str, float]
) -> None:
    if not anchors:
        raise NoAnchors
    for player, elo in anchors.items():
        if not math.isfinite(elo):
            raise InvalidAnchor(player, elo)
        if not math.isfinite(error := errors.get(player, 0.0)):
            raise InvalidAnchor(player, error, "error")
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
    #: The anchors' ratings in natural units (others' are not looked at), and how sure these are:
    #: the inverse of the error's square. It is 0 for everybody whose rating is not uncertain.
    known: Floats
    precisions: Floats
    #: Whether a chain of players, each of whom scored against the next, leads from row to column.
    #: Anchors reach each other, since their difference is known.
    reaches: Flags
    #: Ratings in natural units that make the games within each group likeliest, a group being
    #: players who reach each other. One player holds a group in place that has no anchor.
    peak: Floats
    #: The same if anchors may be off: what intervals are measured from.
    crest: Floats

    @classmethod
    def of(
        cls, tallies: list[Tally], anchors: Mapping[str, float], errors: Mapping[str, float]
    ) -> _Pool:
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
        uncertain = {player: errors.get(player, 0.0) for player in anchors}
        precisions = np.array([_precision(uncertain.get(player, 0.0)) for player in players])
        is_first_of_group = group.argmax(axis=1) == np.arange(len(players))
        is_with_anchor = group[anchored.argmax()]
        free = np.where(is_with_anchor, ~anchored, ~is_first_of_group)
        likelihood = _Likelihood(points * group, known, precisions)
        every = np.eye(len(players))
        peak = crest = likelihood.climb(known, every[:, free])
        if precisions.any():
            crest = likelihood.climb(peak, every[:, free | (precisions > 0)])
        return cls(
            anchors, players, tuple(games), points, anchored, known, precisions, reaches, peak,
            crest,
        )  # fmt: skip

    def unconnected(self) -> tuple[str, ...]:
        linked = _closure(self.reaches | self.reaches.T)[self.anchored.argmax()]
        return tuple(self.players[index] for index in np.flatnonzero(~linked))

    def rating(self, index: int) -> Rating:
        player = self.players[index]
        if player in self.anchors:
            elo = float(self.anchors[player])
            return Rating(player, elo, elo, elo, self.games[index], anchored=True)
        return self._measured(index, int(self.anchored.argmax()), None)

    def difference(self, first: int, second: int) -> Rating:
        return self._measured(first, second, second)

    def _measured(self, index: int, end: int, reference: int | None) -> Rating:
        """Return a player's rating by the chains to another, as if the reference were 0."""
        player, games = self.players[index], self.games[index]
        above = self.reaches[index] & self.reaches[:, end]  # the chains that close it below
        below = self.reaches[end] & self.reaches[:, index]
        if above[index] and below[index]:
            elo = self._distance(self.peak, index, reference) / NATURAL
            low = self._bound(index, reference, above, -1, TWO_SIDED)
            high = self._bound(index, reference, below, +1, TWO_SIDED)
            # Uncertain anchors that contradict each other could leave it outside.
            return Rating(player, elo, min(low, elo), max(high, elo), games)
        low_only = self._bound(index, reference, above, -1, ONE_SIDED) if above[index] else None
        high_only = self._bound(index, reference, below, +1, ONE_SIDED) if below[index] else None
        return Rating(player, None, low_only, high_only, games)

    def _distance(self, ratings: Floats, index: int, reference: int | None) -> float:
        return float(ratings[index] if reference is None else ratings[index] - ratings[reference])

    def _bound(
        self, index: int, reference: int | None, chains: Flags, direction: int, fall: float
    ) -> float:
        """Return how far down or up a rating can be until 2 ln(likelihood) falls by so much.

        Only games along the chains matter: all other players can keep any distance they like.
        """
        points = self.points * np.logical_and.outer(chains, chains)
        group = self.reaches & self.reaches.T
        at_crest = _Likelihood(points * group, self.known, self.precisions).value(self.crest)
        likelihood = _Likelihood(points, self.known, self.precisions)
        moves = self._moves(index, reference, chains)
        ratings = self.crest
        _, information = likelihood.derivatives(ratings)
        course = _course(information, index, moves)
        step = direction * min(1.0, math.sqrt(fall / float(course @ information @ course)))
        is_beyond = False
        for _ in range(STEPS):
            ratings = likelihood.climb(ratings + step * course, moves)
            slope, information = likelihood.derivatives(ratings)
            course = _course(information, index, moves)
            excess = likelihood.value(ratings) - at_crest + fall / 2
            # The profile is concave: from beyond the bound, Newton's steps never pass it again.
            is_beyond = is_beyond or excess <= 0
            step = -excess / float(slope[index]) if is_beyond else 2 * step
            if abs(step) < PRECISION:
                break
        return (self._distance(ratings, index, reference) + step) / NATURAL

    def _moves(self, index: int, reference: int | None, chains: Flags) -> Floats:
        """Return the ways in which ratings may follow, one in a column, when one is moved."""
        free = chains & ~(self.anchored & (self.precisions == 0))
        free[index] = False
        every = np.eye(len(free))
        if reference is None:
            return every[:, free]
        free[reference] = False
        # Both can move beside the anchors; without any, only their difference means something.
        is_apart = not (chains & self.anchored).any()
        together = every[:, [index]] + every[:, [reference]]
        return every[:, free] if is_apart else np.hstack([every[:, free], together])


@dataclass(frozen=True)
class _Likelihood:
    """The logarithm of the likelihood of ratings: by some games, and by how sure anchors are."""

    points: Floats
    known: Floats
    precisions: Floats

    def value(self, ratings: Floats) -> float:
        games = (self.points * np.logaddexp(0.0, -np.subtract.outer(ratings, ratings))).sum()
        return -float(games + self.precisions @ (ratings - self.known) ** 2 / 2)

    def derivatives(self, ratings: Floats) -> tuple[Floats, Floats]:
        """Return its slope (points less expected points) and its information."""
        games = self.points + self.points.T
        chances = 0.5 + 0.5 * np.tanh(np.subtract.outer(ratings, ratings) / 2)
        # A game between players thousands of points apart tells nothing; a trace of curvature keeps
        # the equations soluble, and makes steps no longer.
        weights = games * np.maximum(chances * chances.T, 1e-10)
        slope = (self.points - games * chances).sum(axis=1)
        slope -= self.precisions * (ratings - self.known)
        return slope, np.diag(weights.sum(axis=1) + self.precisions) - weights

    def climb(self, ratings: Floats, moves: Floats) -> Floats:
        """Return the ratings of maximum likelihood, changed only in these ways.

        Newton's method, each step shortened by how much it changes the difference of two opponents:
        ln(1 + d) instead of d. That is enough for a logistic likelihood to rise with every step.
        """
        played = self.points + self.points.T > 0
        for _ in range(STEPS if moves.size else 0):
            slope, information = self.derivatives(ratings)
            step = moves @ np.linalg.solve(moves.T @ information @ moves, moves.T @ slope)
            apart = np.abs(np.subtract.outer(step, step))[played]
            change = float(apart.max(initial=0.0))
            ratings = ratings + step * (math.log1p(change) / change if change else 1.0)
            if slope @ step < PRECISION**2:  # the square of the step, in standard errors
                break
        return ratings


def _precision(error: float) -> float:
    return 1 / (error * NATURAL) ** 2 if error >= _LEAST_ERROR else 0.0


def _closure(links: Flags) -> Flags:
    """Return which places can be reached from which, by any number of links or none."""
    reached = links | np.eye(len(links), dtype=np.bool_)
    for middle in range(len(links)):
        reached |= np.logical_and.outer(reached[:, middle], reached[middle])
    return reached


def _course(information: Floats, index: int, moves: Floats) -> Floats:
    """Return how ratings follow, in the ways in which they may, when one is moved by 1."""
    course = np.zeros(len(information))
    course[index] = 1.0
    if moves.size:
        across = moves.T @ information
        course -= moves @ np.linalg.solve(across @ moves, across[:, index])
    return course
