"""The ratings of a whole pool as estimates, with the uncertainty of the anchors carried in.

`bradley_terry` takes the anchors' ratings for certain. Here their errors widen every interval by as
much as the rating would move with them: at the likeliest ratings a player's follows those of its
opponents as a weighted mean, games against near opponents weighing most.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.evaluations.adaptive import Anchor
from app.evaluations.bradley_terry import NATURAL, Floats, Rating, Tally, rate
from app.evaluations.ratings import WALD, Estimate
from app.evaluations.scores import expected_score

#: How far below the middle of a normal distribution 5 % of it begin, in standard deviations.
_ONE_SIDED = 1.644854


@dataclass(frozen=True, slots=True)
class PoolRatings:
    """What all games of a pool tell of its players."""

    #: By label, anchors included. None for whom no game tells anything: no chain of games leads to
    #: an anchor, or it only lost to somebody who only won.
    estimates: Mapping[str, Estimate | None]
    #: By how much a player's rating rises with an anchor's, by player and anchor.
    leanings: Mapping[str, Mapping[str, float]]


def rate_pool(tallies: Iterable[Tally], anchors: Sequence[Anchor]) -> PoolRatings:
    """Return the ratings of everybody who played, and of the anchors; `anchors` are not empty.

    Raises `UnratablePool` if results or anchors cannot be.
    """
    everything = list(tallies)
    known = {anchor.label: anchor for anchor in anchors}
    connected = _connected(everything, known)
    inside = [each for each in everything if each.first in connected]
    ratings = rate(inside, {label: anchor.elo for label, anchor in known.items()})
    points = _points(inside)
    leanings, errors = _linear(inside, ratings)
    estimates: dict[str, Estimate | None] = {}
    for each in everything:  # in the order of their games, and who is unknown, too
        estimates.update(dict.fromkeys((each.first, each.second)))
    for label, rating in ratings.items():
        leaning = leanings.get(label, {})
        anchors_error = math.hypot(*(leaning[each] * known[each].se for each in leaning))
        if rating.anchored:
            estimates[label] = anchor_estimate(known[label], rating.games, points.get(label, 0.0))
        else:
            estimates[label] = _estimate(rating, anchors_error, errors.get(label), points[label])
    return PoolRatings(estimates, leanings)


def tallies_of(results: Iterable[tuple[str, str, float]]) -> list[Tally]:
    """Return tallies of single games: White, Black, and what White scored."""
    counts: dict[tuple[str, str], list[int]] = {}
    for white, black, score in results:
        pair = (white, black) if white <= black else (black, white)
        own = score if pair[0] == white else 1 - score
        counts.setdefault(pair, [0, 0, 0])[round(2 - 2 * own)] += 1
    return [Tally(*pair, *wdl) for pair, wdl in sorted(counts.items())]


def anchor_estimate(anchor: Anchor, games: int = 0, points: float = 0.0) -> Estimate:
    """Return what is known of an anchor, as if it had been measured."""
    low, high = anchor.elo - WALD * anchor.se, anchor.elo + WALD * anchor.se
    return Estimate(anchor.elo, low, high, anchor.se, None, None, games, points, None, None)


def _connected(tallies: Iterable[Tally], anchors: Collection[str]) -> set[str]:
    """Return whom a chain of games links to an anchor."""
    opponents: dict[str, set[str]] = {}
    for each in tallies:
        opponents.setdefault(each.first, set()).add(each.second)
        opponents.setdefault(each.second, set()).add(each.first)
    found, unseen = set(anchors), list(anchors)
    while unseen:
        new = opponents.get(unseen.pop(), set()) - found
        found |= new
        unseen.extend(new)
    return found


def _points(tallies: Iterable[Tally]) -> dict[str, float]:
    points: dict[str, float] = {}
    for each in tallies:
        points[each.first] = points.get(each.first, 0.0) + each.wins + each.draws / 2
        points[each.second] = points.get(each.second, 0.0) + each.losses + each.draws / 2
    return points


def _estimate(
    rating: Rating, anchors_error: float, error: float | None, points: float
) -> Estimate | None:
    low, high = rating.low, rating.high
    if rating.elo is not None and low is not None and high is not None:
        low = rating.elo - math.hypot(rating.elo - low, WALD * anchors_error)
        high = rating.elo + math.hypot(high - rating.elo, WALD * anchors_error)
        return Estimate(rating.elo, low, high, error, None, None, rating.games, points, None, None)
    if low is not None:
        low -= _ONE_SIDED * anchors_error
        return Estimate(low, low, None, None, None, "lower", rating.games, points, None, None)
    if high is not None:
        high += _ONE_SIDED * anchors_error
        return Estimate(high, None, high, None, None, "upper", rating.games, points, None, None)
    return None


def _linear(
    tallies: Sequence[Tally], ratings: Mapping[str, Rating]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return how ratings lean on the anchors', and their standard errors, to first order.

    Whoever has but a bound is taken to be there.
    """
    elos = {label: _somewhere(rating) for label, rating in ratings.items()}
    anchors = [label for label, rating in ratings.items() if rating.anchored]
    free = [label for label, elo in elos.items() if elo is not None and label not in anchors]
    if not free:
        return {}, {}
    place = {label: index for index, label in enumerate((*free, *anchors))}
    information = np.zeros((len(place), len(place)))
    for each in tallies:
        first, second = elos.get(each.first), elos.get(each.second)
        if first is None or second is None:
            continue
        row, column = place[each.first], place[each.second]
        chance = expected_score(first, second)
        weight = each.games * chance * (1 - chance)
        information[row, column] -= weight
        information[column, row] -= weight
        information[row, row] += weight
        information[column, column] += weight
    inner: Floats = information[: len(free), : len(free)]
    inverse = np.linalg.pinv(inner, hermitian=True)
    shares = -inverse @ information[: len(free), len(free) :]
    leanings = {
        label: {
            anchor: float(shares[row, column])
            for column, anchor in enumerate(anchors)
            if shares[row, column]
        }
        for row, label in enumerate(free)
    }
    errors = {
        label: math.sqrt(max(0.0, float(inverse[row, row]))) / NATURAL
        for row, label in enumerate(free)
        if ratings[label].elo is not None
    }
    return leanings, errors


def _somewhere(rating: Rating) -> float | None:
    if rating.elo is not None:
        return rating.elo
    return rating.high if rating.low is None else rating.low
