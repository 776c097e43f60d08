"""The likelihood of one rating, given what was scored against opponents of known ratings.

In natural units: a difference of 1 is odds of e. An opponent's rating may be uncertain; then it is
a parameter as well, over which the likelihood is maximised: a profile likelihood. Nothing here is
infinite, though ratings may lie so far apart that chances are too small for a number: where these
matter, their logarithms are reckoned with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.evaluations.bradley_terry import ONE_SIDED, TWO_SIDED

#: The last step of an iteration.
_PRECISION = 1e-10
#: Far more than are needed: halving alone gets from a million points to the precision in half.
_MOST_STEPS = 200

#: A function's value and slope.
_Function: TypeAlias = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Opponent:
    """An anchor in natural units: its precision (infinite if it is sure), and what was scored.

    A series is the rating met (with White's advantage in it), and the points of either side.
    """

    precision: float
    series: tuple[tuple[float, float, float], ...]

    def correction(self, rating: float) -> float:
        """Return how far off this anchor's rating is, most likely, if the agent's is so much."""
        if math.isinf(self.precision):
            return 0.0

        def pull(correction: float) -> tuple[float, float]:
            value, slope = -self.precision * correction, -self.precision
            for met, own, other in self.series:
                chance = chance_of(rating - met - correction)
                value += other * chance - own * chance_of(met + correction - rating)
                slope -= (own + other) * chance * (1 - chance)
            return value, slope

        highest = sum(other for _, _, other in self.series) / self.precision
        lowest = -sum(own for _, own, _ in self.series) / self.precision
        return _falling_root(pull, lowest, highest, 0.0)

    def penalty(self, correction: float) -> float:
        """Return by how much a correction lowers the logarithm of the likelihood."""
        return self.precision * correction**2 / 2 if correction else 0.0

    def share(self, information: float) -> float:
        """Return how much of the games' information is left by the anchor's own uncertainty."""
        if math.isinf(self.precision):
            return 1.0
        return self.precision / (self.precision + information)


@dataclass(frozen=True, slots=True)
class Point:
    """The logarithm of the profile likelihood at one rating, with its slope and curvature."""

    value: float
    slope: float
    information: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The profile likelihood of an agent's rating. Its logarithm is concave."""

    opponents: tuple[Opponent, ...]

    def at(self, rating: float) -> Point:
        """Return the curve's value at a rating, with its slope and curvature."""
        value = slope = information = 0.0
        for opponent in self.opponents:
            correction = opponent.correction(rating)
            own_slope = own_information = 0.0
            for met, own, other in opponent.series:
                won, lost = _log_chances(rating - met - correction)
                value += own * won + other * lost
                own_slope += own * math.exp(lost) - other * math.exp(won)
                own_information += (own + other) * math.exp(won + lost)
            value -= opponent.penalty(correction)
            # The correction is where the games pull as hard as the penalty, which tells the slope
            # better: of millions of points less millions of points few digits are left.
            is_sure = math.isinf(opponent.precision)
            slope += own_slope if is_sure else -opponent.precision * correction
            information += own_information * opponent.share(own_information)
        return Point(value, slope, information)

    def balance(self, rating: float) -> tuple[float, float]:
        """Return the logarithm of what pulls the rating up by what pulls it down, and its slope.

        It is zero at the peak as the slope is, and nearly straight: far from all anchors, too,
        where the slope vanishes.
        """
        up: list[tuple[float, float]] = []
        down: list[tuple[float, float]] = []
        for opponent in self.opponents:
            correction = opponent.correction(rating)
            chances = [_log_chances(rating - met - correction) for met, _, _ in opponent.series]
            share = opponent.share(
                sum(
                    (own + other) * math.exp(won + lost)
                    for (_, own, other), (won, lost) in zip(opponent.series, chances, strict=True)
                )
            )
            for (_, own, other), (won, lost) in zip(opponent.series, chances, strict=True):
                if own:
                    up.append((math.log(own) + lost, math.exp(won) * share))
                if other:
                    down.append((math.log(other) + won, math.exp(lost) * share))
        rise, rise_slope = _log_sum(up)
        fall, fall_slope = _log_sum(down)
        return rise - fall, -rise_slope - fall_slope

    def peak(self) -> float:
        """Return the rating of maximum likelihood, where something was scored, and not all."""
        met = [met for each in self.opponents for met, _, _ in each.series]
        own = sum(own for each in self.opponents for _, own, _ in each.series)
        other = sum(other for each in self.opponents for _, _, other in each.series)
        low, high = (end(met) + math.log(own / other) for end in (min, max))
        reach = 1.0
        while self.balance(low)[0] < 0:
            low, reach = low - reach, 2 * reach
        while self.balance(high)[0] > 0:
            high, reach = high + reach, 2 * reach
        return _falling_root(self.balance, low, high, (low + high) / 2)

    def dispersed(self, dispersion: float) -> Curve:
        """Return the curve of scores that vary less: times the dispersion, to keep numbers alike.

        Only the anchors' own uncertainty, which does not vary less, has another weight in it.
        """
        return Curve(
            tuple(
                Opponent(opponent.precision * dispersion, opponent.series)
                for opponent in self.opponents
            )
        )

    def two_sided(self, peak: float, dispersion: float = 1.0) -> tuple[float, float]:
        """Return the ends of the 95 % interval, given the peak, or a rating near it."""
        top = self.at(peak)
        fall = TWO_SIDED * dispersion
        width = math.sqrt(fall / top.information) if top.information else math.inf
        step, level = min(width, 1.0), top.value - fall / 2
        return self._descend(peak, -step, level), self._descend(peak, step, level)

    def one_sided(self, bound: Literal["lower", "upper"]) -> float:
        """Return the 95 % bound of who scored everything (a lower one) or nothing."""
        met = [met for each in self.opponents for met, _, _ in each.series]
        start, step = (min(met), -1.0) if bound == "lower" else (max(met), 1.0)
        return self._descend(start, step, -ONE_SIDED / 2)

    def _descend(self, rating: float, step: float, level: float) -> float:
        """Return where the curve falls to a level, from a rating on, first by steps of this size.

        It is concave: from below the level, Newton's steps never pass it again.
        """
        point = self.at(rating)
        while point.value > level:
            rating, step = rating + step, 2 * step
            point = self.at(rating)
        for _ in range(_MOST_STEPS):
            if point.slope * step >= 0:  # rounding has left no digit of it
                break
            change = (level - point.value) / point.slope
            rating += change
            if abs(change) <= _PRECISION * max(1.0, abs(rating)):
                break
            point = self.at(rating)
        return rating


def _falling_root(function: _Function, low: float, high: float, start: float) -> float:
    """Return where a falling function is zero between two points.

    By Newton's steps; the range is halved where they lead out of it, or do not get shorter.
    """
    point, last = start, 2 * (high - low)
    for _ in range(_MOST_STEPS):
        value, slope = function(point)
        low, high = (point, high) if value > 0 else (low, point)
        step = -value / slope if slope else math.inf
        if abs(step) > last / 2 or not low <= point + step <= high:
            step = (low + high) / 2 - point
        point += step
        last = abs(step)
        if last <= _PRECISION * max(1.0, abs(point)):
            break
    return point


def chance_of(distance: float) -> float:
    """Return the chance of a point, precise where it is tiny, too."""
    if distance >= 0:
        return 1 / (1 + math.exp(-distance))
    odds = math.exp(distance)
    return odds / (1 + odds)


def _log_chances(distance: float) -> tuple[float, float]:
    """Return the logarithms of the chances of either side."""
    rest = math.log1p(math.exp(-abs(distance)))
    return min(distance, 0.0) - rest, min(-distance, 0.0) - rest


def _log_sum(terms: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the logarithm of a sum of exponentials, and the mean of the slopes by their shares."""
    largest = max(logarithm for logarithm, _ in terms)
    weights = [math.exp(logarithm - largest) for logarithm, _ in terms]
    total = sum(weights)
    mean = sum(weight * slope for weight, (_, slope) in zip(weights, terms, strict=True)) / total
    return largest + math.log(total), mean
