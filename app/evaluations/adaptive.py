"""Fewer games: which anchor an agent should meet next, and when it has met enough of them.

A game tells most if it is open. So the next anchor is the one with which the agent's rating can be
expected to get most precise: the logarithm of Fisher's information, that of games under way
included, is averaged over how strong the agent may be by what was played. A prior is needed for
that, since at first nothing was played: any strength within reach of the anchors is as likely as
another. The rating itself never uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.errors import AppError
from app.evaluations.bradley_terry import NATURAL
from app.evaluations.ratings import AnchorResult, Estimate

Floats: TypeAlias = NDArray[np.float64]

_NONE_PENDING: Mapping[str, int] = MappingProxyType({})
#: Games are chosen in pairs, with colours swapped.
_PAIR = 2
#: How far beyond the anchors an agent may be, in Elo, and at how many strengths it is looked.
_BEYOND, _STRENGTHS = 800.0, 201
#: What is known at first counts as much as an even pair. If it were nothing, strengths far from all
#: anchors would decide, of which little can be learned.
_PRIOR = _PAIR / 4
#: How far off an uncertain anchor may be, in standard errors: as likely each.
_OFF = np.array([NormalDist().inv_cdf((number + 0.5) / 15) for number in range(15)])


@dataclass(eq=False)
class NoAnchorsToChooseFrom(AppError):
    """A choice without any anchor."""

    def __str__(self) -> str:
        return "there is no anchor to choose from"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A player of known rating, with that rating's standard error."""

    label: str
    elo: float
    se: float = 0.0


def choose_anchor(
    anchors: Sequence[Anchor],
    results: Sequence[AnchorResult],
    pending: Mapping[str, int] = _NONE_PENDING,
) -> Anchor:
    """Return the anchor whose next pair of games promises most; the first one of equals.

    Results are told apart by `AnchorResult.anchor`, which is the anchor's label, and so are pending
    games. Raises `NoAnchorsToChooseFrom`.
    """
    if not anchors:
        raise NoAnchorsToChooseFrom
    strengths = _strengths(anchors, results)
    # What a game tells at each strength (rows) against each anchor (columns).
    elos = np.array([anchor.elo for anchor in anchors]) * NATURAL
    told = 1 / (2 + 2 * np.cosh(np.clip(np.subtract.outer(strengths, elos), -700, 700)))
    variances = (np.array([anchor.se for anchor in anchors]) * NATURAL) ** 2
    games = np.array([_games_against(anchor, results, pending) for anchor in anchors])
    before = _worth(told * games, variances)
    gains = _worth(told * (games + _PAIR), variances) - before
    whole = before.sum(axis=1) + _PRIOR
    promise = _posterior(strengths, results) @ np.log1p(gains / whole[:, np.newaxis])
    # Rounded, so that of anchors that promise the same the first is chosen on every machine.
    return anchors[int(np.round(promise, 9).argmax())]


def is_reached(estimate: Estimate, margin: float) -> bool:
    """Tell whether the 95 % interval is closed, and half of its width no more than the margin.

    It is the draw-aware interval: the plain one promises less than the games have told.
    """
    reached = estimate.draw_aware_margin
    if reached is None:
        reached = estimate.margin
    return reached is not None and reached <= margin


def _strengths(anchors: Sequence[Anchor], results: Sequence[AnchorResult]) -> Floats:
    elos = [anchor.elo for anchor in anchors] + [result.elo for result in results]
    low, high = min(elos) - _BEYOND, max(elos) + _BEYOND
    return np.linspace(low * NATURAL, high * NATURAL, _STRENGTHS)


def _games_against(
    anchor: Anchor, results: Sequence[AnchorResult], pending: Mapping[str, int]
) -> int:
    played = sum(result.games for result in results if result.anchor == anchor.label)
    return played + pending.get(anchor.label, 0)


def _worth(information: Floats, variances: Floats) -> Floats:
    """Return how much of the games' information is left by the anchors' own uncertainty."""
    return np.asarray(information / (1 + information * variances))


def _posterior(strengths: Floats, results: Sequence[AnchorResult]) -> Floats:
    """Return how likely each strength is by what was played."""
    logarithm = np.zeros(len(strengths))
    for (_, elo, se), (own, other) in _scored(results).items():
        off = _OFF * se if se else np.zeros(1)
        distance = np.subtract.outer(strengths, (elo + off) * NATURAL)
        likelihood = -own * np.logaddexp(0.0, -distance) - other * np.logaddexp(0.0, distance)
        best = likelihood.max(axis=1)
        mean = np.exp(likelihood - best[:, np.newaxis]).mean(axis=1)
        logarithm += best + np.log(mean)
    weights = np.exp(logarithm - logarithm.max())
    return np.asarray(weights / weights.sum())


def _scored(results: Sequence[AnchorResult]) -> dict[tuple[str, float, float], tuple[float, float]]:
    """Return the points of either side, anchor by anchor."""
    scored: dict[tuple[str, float, float], tuple[float, float]] = {}
    for result in results:
        key = result.anchor, result.elo, result.elo_se
        own, other = scored.get(key, (0.0, 0.0))
        scored[key] = own + result.points, other + result.games - result.points
    return scored
