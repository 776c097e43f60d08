"""Two agents against each other: is one stronger by so much? A sequential probability ratio test.

Results are counted by class, worst first: lost, drawn and won games (three classes), or pairs of
games with colours swapped from one opening (five: the pair's points in halves). Pairs tell more
than single games, since an opening that favours one colour cancels out.

The test is the generalised one: the likelihood is that of the likeliest distribution over the
classes that has the score (logistic Elo) or the score in standard deviations (normalized Elo) which
a hypothesis states. What has not been seen yet counts as a thousandth of a result, so that it is
not held impossible.

    InvalidTest
    ├── InvalidCounts     not three or five counts, or nothing counted
    ├── InvalidBounds     bounds that are no numbers, not in order, or out of reach
    └── InvalidRates      error rates that no test can have
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

from app.errors import AppError

Model: TypeAlias = Literal["logistic", "normalized"]
Decision: TypeAlias = Literal["H0", "H1"]

#: Normalized Elo in one standard deviation of a game.
NORMALIZED = 800 / math.log(10)
#: What a class counts of which there is nothing yet.
UNSEEN = 1e-3
#: A score is held to be no nearer to 0 or 1 when it is turned into Elo, which stays finite so.
NEAREST = 1e-3
#: More results than anybody plays.
MOST_COUNTED = 1e12
#: No difference in strength can be told beyond it.
LARGEST_BOUND = 2000.0

_NORMAL = NormalDist()
_DEVIATIONS = _NORMAL.inv_cdf(0.975)
#: How often a condition is made linear anew, when it has settled, and how near is near enough.
_ITERATIONS, _SETTLED, _CLOSE = 10, 1e-9, 1e-2
#: How often a range is halved at most, and where deviations are tried: from 1/2 down, each finer.
_HALVINGS, _TRIALS, _FINER = 200, 400, 0.96


class InvalidTest(AppError):
    """The root of all errors of a test that cannot be made."""


@dataclass(eq=False)
class InvalidCounts(InvalidTest):
    """Counts of results that cannot be."""

    reason: str

    def __str__(self) -> str:
        return f"the counts of results cannot be: {self.reason}"


@dataclass(eq=False)
class InvalidBounds(InvalidTest):
    """Bounds between which nothing can be tested."""

    bounds: tuple[float, float]
    reason: str

    def __str__(self) -> str:
        return f"the bounds {self.bounds[0]:g} and {self.bounds[1]:g} cannot be: {self.reason}"


@dataclass(eq=False)
class InvalidRates(InvalidTest):
    """Error rates that no test can have."""

    alpha: float
    beta: float

    def __str__(self) -> str:
        rates = f"not {self.alpha:g} and {self.beta:g}"
        return f"alpha and beta must be between 0 and 1 and together less than 1, {rates}"


@dataclass(frozen=True, slots=True)
class DuelStatistics:
    """How two agents fared against each other, as the first one sees it."""

    games: int | float
    score: float
    elo: float
    #: Half the width of the 95 % interval.
    elo_margin: float
    #: How likely it is that the first one is stronger.
    los: float
    nelo: float
    nelo_margin: float
    #: The share of draws; None for pairs, of which it is not known.
    draw_ratio: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SprtVerdict:
    """Where a test stands."""

    llr: float
    lower: float
    upper: float
    #: The hypothesis that is accepted, or None while it is open.
    decision: Decision | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "llr": self.llr,
            "lower_bound": self.lower,
            "upper_bound": self.upper,
            "decision": self.decision,
        }


def statistics_of(counts: Sequence[float]) -> DuelStatistics:
    """Return Elo and the rest, of 3 counts (games) or 5 (pairs); raise `InvalidCounts`."""
    _check_counts(counts)
    games_each = (len(counts) - 1) // 2
    games = sum(counts) * games_each
    shares, total = _shares(counts)
    mean, variance = _moments(shares)
    # Of a game; the games of a pair are worth two single ones with this deviation.
    deviation = math.sqrt(variance * games_each)
    error = math.sqrt(variance / total)
    reach = _DEVIATIONS * error
    return DuelStatistics(
        games=games,
        score=sum(number * count for number, count in enumerate(counts))
        / (len(counts) - 1)
        / sum(counts),
        elo=_elo(mean),
        elo_margin=(_elo(mean + reach) - _elo(mean - reach)) / 2,
        los=_NORMAL.cdf((mean - 0.5) / error),
        nelo=(mean - 0.5) / deviation * NORMALIZED,
        nelo_margin=reach / deviation * NORMALIZED,
        draw_ratio=counts[1] / sum(counts) if games_each == 1 else None,
    )


def are_alike(counts: Sequence[float]) -> bool:
    """Return whether all results are the same, so that nothing can be told by how they vary."""
    return sum(map(bool, counts)) == 1


def llr(counts: Sequence[float], bounds: tuple[float, float], model: Model = "logistic") -> float:
    """Return the logarithm of how much likelier the upper bound makes the results than the lower.

    Raises `InvalidCounts` or `InvalidBounds`.
    """
    _check_counts(counts)
    _check_bounds(bounds)
    shares, total = _shares(counts)
    fits = []
    for bound in bounds:
        if model == "logistic":
            fit = _fit_to_score(shares, 1 / (1 + 10 ** (-bound / 400)))
        else:
            deviations = bound / NORMALIZED * math.sqrt((len(counts) - 1) / 2)
            fit = _fit_to_deviations(shares, deviations)
        if fit is None:
            raise InvalidBounds(bounds, f"no results of this kind can have {bound:g} {model} Elo")
        fits.append(fit)
    lower, upper = fits
    return total * sum(
        share * (math.log(high) - math.log(low))
        for share, low, high in zip(shares, lower, upper, strict=True)
    )


def sprt(
    counts: Sequence[float],
    bounds: tuple[float, float],
    model: Model = "logistic",
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SprtVerdict:
    """Return where a test stands between H0 (the lower bound) and H1 (the upper one).

    Raises `InvalidCounts`, `InvalidBounds` or `InvalidRates`.
    """
    if not (0 < alpha < 1 and 0 < beta < 1 and alpha + beta < 1):
        raise InvalidRates(alpha, beta)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    ratio = llr(counts, bounds, model)
    decision: Decision | None = "H0" if ratio <= lower else "H1" if ratio >= upper else None
    return SprtVerdict(ratio, lower, upper, decision)


def _check_counts(counts: Sequence[float]) -> None:
    if len(counts) not in (3, 5):
        raise InvalidCounts(f"there must be 3 (games) or 5 (pairs), not {len(counts)}")
    if not all(math.isfinite(count) for count in counts):
        raise InvalidCounts("one is no number")
    if min(counts) < 0:
        raise InvalidCounts("one is negative")
    if not any(counts):
        raise InvalidCounts("nothing was played")
    if max(counts) > MOST_COUNTED:
        raise InvalidCounts(f"one is more than {MOST_COUNTED:g}")
    if min(count for count in counts if count) < UNSEEN:
        raise InvalidCounts(f"one is less than {UNSEEN:g}, which counts as none")


def _check_bounds(bounds: tuple[float, float]) -> None:
    if not all(abs(bound) <= LARGEST_BOUND for bound in bounds):
        raise InvalidBounds(bounds, f"they must be numbers within ±{LARGEST_BOUND:g}")
    if not bounds[0] < bounds[1]:
        raise InvalidBounds(bounds, "the first must be the lower one")


def _shares(counts: Sequence[float]) -> tuple[list[float], float]:
    seen = [float(count) or UNSEEN for count in counts]
    total = math.fsum(seen)
    return [count / total for count in seen], total


def _moments(shares: Sequence[float]) -> tuple[float, float]:
    """Return the mean score and its variance; the classes' scores are evenly spaced from 0 to 1."""
    scores = _scores(shares)
    mean = math.fsum(share * score for share, score in zip(shares, scores, strict=True))
    variance = math.fsum(
        share * (score - mean) ** 2 for share, score in zip(shares, scores, strict=True)
    )
    return mean, variance


def _scores(shares: Sequence[float]) -> list[float]:
    return [number / (len(shares) - 1) for number in range(len(shares))]


def _elo(score: float) -> float:
    score = min(max(score, NEAREST), 1 - NEAREST)
    return 0.0 - 400 * math.log10(1 / score - 1)  # and no -0


def _fit_to_score(shares: Sequence[float], score: float) -> list[float] | None:
    """Return the likeliest distribution with this mean score."""
    return _tilted(shares, [each - score for each in _scores(shares)])


def _fit_to_deviations(shares: Sequence[float], deviations: float) -> list[float] | None:
    """Return the likeliest distribution whose score is so many standard deviations above 1/2.

    The condition is not linear in the shares; it is made so at the last fit, over and over. Where
    that does not settle, as with results that are nearly all alike, the deviation is searched for.
    """
    fit = [1 / len(shares)] * len(shares)
    for _ in range(_ITERATIONS):
        mean, variance = _moments(fit)
        following = _fit_near(shares, deviations, mean, math.sqrt(variance))
        if following is None:
            return _searched(shares, deviations)
        change = max(abs(new - old) for new, old in zip(following, fit, strict=True))
        fit = following
        if change < _SETTLED:
            break
    mean, variance = _moments(fit)
    is_close = abs(mean - 0.5 - deviations * math.sqrt(variance)) < _CLOSE * math.sqrt(variance)
    return fit if is_close else _searched(shares, deviations)


def _fit_near(
    shares: Sequence[float], deviations: float, mean: float, deviation: float
) -> list[float] | None:
    """Return the fit under the condition made linear where the moments are these."""
    return _tilted(
        shares,
        [
            score - 0.5 - deviations * (deviation + (score - mean) ** 2 / deviation) / 2
            for score in _scores(shares)
        ],
    )


def _searched(shares: Sequence[float], deviations: float) -> list[float] | None:
    """Return the likeliest of the fits that have the moments at which they were made."""

    def excess(deviation: float) -> float | None:
        mean = 0.5 + deviations * deviation
        fit = _fit_near(shares, deviations, mean, deviation)
        if fit is None:
            return None
        pairs = zip(fit, _scores(shares), strict=True)
        return math.fsum(share * (score - mean) ** 2 for share, score in pairs) / deviation**2 - 1

    found: list[list[float]] = []
    # No score between 0 and 1 deviates by more than 1/2.
    tried = [0.5 * _FINER**number for number in range(_TRIALS)]
    for high, low in itertools.pairwise(tried):
        at_high, at_low = excess(high), excess(low)
        if at_high is None or at_low is None or (at_high > 0) == (at_low > 0):
            continue
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            at_middle = excess(middle)
            if at_middle is None or not low < middle < high:
                break
            low, high = (middle, high) if (at_middle > 0) == (at_low > 0) else (low, middle)
        fit = _fit_near(shares, deviations, 0.5 + deviations * low, low)
        if fit is not None:
            found.append(fit)
    return max(found, key=lambda fit: _log_likelihood(shares, fit), default=None)


def _log_likelihood(shares: Sequence[float], fit: Sequence[float]) -> float:
    return math.fsum(share * math.log(each) for share, each in zip(shares, fit, strict=True))


def _tilted(shares: Sequence[float], values: Sequence[float]) -> list[float] | None:
    """Return the likeliest distribution in which the values average zero; None if there is none.

    It is `share / (1 + tilt * value)`. The tilt is found between nothing and the pole at which the
    largest value's share (or the least one's) would be infinite, and written as its distance from
    there, which may be tiny: `1 + tilt * value = (1 - part) + distance * part`, a part being the
    value by the one at the pole.
    """
    if not min(values) < 0 < max(values):
        return None
    average = math.fsum(share * value for share, value in zip(shares, values, strict=True))
    edge = max(values) if average <= 0 else min(values)
    parts = [value / edge for value in values]
    near, far = 0.0, 1.0
    for _ in range(_HALVINGS):
        distance = (near + far) / 2
        if not near < distance < far:
            break
        pull = math.fsum(
            share * part / ((1 - part) + distance * part)
            for share, part in zip(shares, parts, strict=True)
        )
        near, far = (distance, far) if pull > 0 else (near, distance)
    return [share / ((1 - part) + far * part) for share, part in zip(shares, parts, strict=True)]
