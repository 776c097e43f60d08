"""Solving: the chance that a player of some rating finds the best move in a position.

A position is an opponent whose difficulty is its rating, but the chance rises with the rating of
who solves it only a third as steeply as that of a point does in a game: forty decisions make a
game, and what is plain to one player is hidden from another of the same strength. So ratings are
told on a scale of 1200 instead of 400, and a position tells a ninth of what an even game tells.

The third was measured: see docs/reference/suites.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.evaluations.ratings import AnchorResult, Estimate, estimate

#: How steeply the chance rises with the rating, beside a game's.
SLOPE = 1 / 3


def solving_chance(rating: float, difficulty: float) -> float:
    """Return the chance that a player of this rating solves a position of this difficulty."""
    exponent = min(max(SLOPE * (difficulty - rating) / 400, -300.0), 300.0)
    return float(1 / (1 + 10**exponent))


def rate_solving(results: Iterable[AnchorResult]) -> Estimate:
    """Return the rating with which the results are likeliest: of a player, or of a position.

    A player wins against the positions that it solves, and a position against the players who do
    not solve it. Raises what `estimate` raises.
    """
    steep = (replace(each, elo=SLOPE * each.elo, elo_se=SLOPE * each.elo_se) for each in results)
    found = estimate(steep)
    return replace(
        found,
        elo=found.elo / SLOPE,
        low=_stretched(found.low),
        high=_stretched(found.high),
        standard_error=_stretched(found.standard_error),
        sandwich_error=_stretched(found.sandwich_error),
        draw_aware_low=_stretched(found.draw_aware_low),
        draw_aware_high=_stretched(found.draw_aware_high),
    )


def _stretched(elo: float | None) -> float | None:
    return None if elo is None else elo / SLOPE
