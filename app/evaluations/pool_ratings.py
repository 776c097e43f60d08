"""The ratings of a whole pool as estimates, with the uncertainty of the anchors carried in.

It is carried in as for one agent alone (see `ratings`): whoever met anchors only has the same
rating, interval or bound by either way.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.evaluations.adaptive import Anchor
from app.evaluations.bradley_terry import NATURAL, Rating, Tally, compare, rate
from app.evaluations.ratings import WALD, Estimate
from app.evaluations.scores import expected_score


@dataclass(frozen=True, slots=True)
class PoolRatings:
    """What all games of a pool tell of its players."""

    #: By label, anchors included. None for whom no game tells anything: no chain of games leads to
    #: an anchor, or it only lost to somebody who only won.
    estimates: Mapping[str, Estimate | None]


def rate_pool(tallies: Iterable[Tally], anchors: Sequence[Anchor]) -> PoolRatings:
    """Return the ratings of everybody who played, and of the anchors; `anchors` are not empty.

    Raises `UnratablePool` if results or anchors cannot be.
    """
    everything = list(tallies)
    known = {anchor.label: anchor for anchor in anchors}
    connected = _connected(everything, known)
    inside = [each for each in everything if each.games and each.first in connected]
    ratings = rate(inside, *_elos_and_errors(anchors))
    points = _points(inside)
    errors = _standard_errors(inside, ratings)
    estimates: dict[str, Estimate | None] = {}
    for each in everything:  # in the order of their games, and who is unknown, too
        estimates.update(dict.fromkeys((each.first, each.second)))
    for label, rating in ratings.items():
        if rating.anchored:
            estimates[label] = anchor_estimate(known[label], rating.games, points.get(label, 0.0))
        else:
            estimates[label] = _estimate(rating, errors.get(label), points[label])
    return PoolRatings(estimates)


def rate_difference(
    tallies: Iterable[Tally], anchors: Sequence[Anchor], first: str, second: str
) -> Estimate | None:
    """Return by how much one player is better than another, neither an anchor; None if unknown.

    What both ratings have in common is not in it: an anchor's error counts only as far as one leans
    on that anchor more than the other. Raises `UnratablePool` if results or anchors cannot be.
    """
    elos, errors = _elos_and_errors(anchors)
    return _estimate(compare(tallies, elos, first, second, errors), None, 0.0)


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
        if not each.games:  # a pairing that is planned links nobody
            continue
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


def _elos_and_errors(anchors: Iterable[Anchor]) -> tuple[dict[str, float], dict[str, float]]:
    known = list(anchors)
    return {each.label: each.elo for each in known}, {each.label: each.se for each in known}


def _estimate(rating: Rating, error: float | None, points: float) -> Estimate | None:
    low, high, games = rating.low, rating.high, rating.games
    if rating.elo is not None:
        return Estimate(rating.elo, low, high, error, None, None, games, points, None, None)
    if low is not None:
        return Estimate(low, low, None, None, None, "lower", games, points, None, None)
    if high is not None:
        return Estimate(high, None, high, None, None, "upper", games, points, None, None)
    return None


def _standard_errors(tallies: Sequence[Tally], ratings: Mapping[str, Rating]) -> dict[str, float]:
    """Return the standard errors of ratings by the games alone, to first order.

    Whoever has but a bound is taken to be there.
    """
    elos = {label: _somewhere(rating) for label, rating in ratings.items()}
    free = [label for label, elo in elos.items() if elo is not None and not ratings[label].anchored]
    place = {label: index for index, label in enumerate(free)}
    information = np.zeros((len(free), len(free)))
    for each in tallies:
        first, second = elos.get(each.first), elos.get(each.second)
        if first is None or second is None:
            continue
        chance = expected_score(first, second)
        weight = each.games * chance * (1 - chance)
        row, column = place.get(each.first), place.get(each.second)
        for index in (row, column):
            if index is not None:
                information[index, index] += weight
        if row is not None and column is not None:
            information[row, column] -= weight
            information[column, row] -= weight
    inverse = np.linalg.pinv(information, hermitian=True)
    return {
        label: math.sqrt(max(0.0, float(inverse[row, row]))) / NATURAL
        for row, label in enumerate(free)
        if ratings[label].elo is not None
    }


def _somewhere(rating: Rating) -> float | None:
    if rating.elo is not None:
        return rating.elo
    return rating.high if rating.low is None else rating.low
