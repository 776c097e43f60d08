"""Screening: what an agent's answers to the positions of a suite tell of its strength.

It is meant for finding out with a hundred turns whether paid games are worth it. Answers are rated
as games are, by maximum likelihood, with every position as an anchor of its own (see `solving`).
Players of the same strength in games differ in how well they solve positions, so the interval is
wider than chance alone would have it: by `TRANSFER_ERROR`, as it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from app.evaluations.ratings import WALD, AnchorResult, Estimate
from app.evaluations.scores import wilson
from app.evaluations.suites.solving import rate_solving

#: How far ratings by positions are off those by games: one standard deviation, in Elo.
TRANSFER_ERROR = 150.0
#: How far out 5 % of a normal distribution begin on one side, in standard deviations.
_ONE_SIDED = 1.644854


class Answer(Protocol):
    """What somebody answered to one position of a suite."""

    @property
    def position_id(self) -> str:
        """Which one; answers to the same share its error."""

    @property
    def difficulty(self) -> float | None:
        """How hard it is; None if that was not measured."""

    @property
    def difficulty_se(self) -> float | None:
        """The standard error of the difficulty."""

    @property
    def is_right(self) -> bool:
        """Whether the answer is a best move."""


@dataclass(frozen=True, slots=True)
class Screening:
    """How many positions somebody solved, and how strong that makes them."""

    asked: int
    solved: int
    #: The 95 % interval of the share, by Wilson.
    low: float
    high: float
    #: By the positions of known difficulty; None if there are none.
    rating: Estimate | None

    @property
    def share(self) -> float:
        """The share of positions that were solved."""
        return self.solved / self.asked if self.asked else 0.0

    def __str__(self) -> str:
        shares = f"{self.share:.0%}, {self.low:.0%} to {self.high:.0%}"
        rating = "" if self.rating is None else f": {self.rating}"
        return f"{self.solved} of {self.asked} solved ({shares}){rating}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "asked": self.asked,
            "solved": self.solved,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "rating": None if self.rating is None else self.rating.to_json(),
        }


def screen(answers: Iterable[Answer]) -> Screening:
    """Return what the answers tell. Without any, all that can be said is from 0 to 100 %."""
    given = list(answers)
    solved = sum(each.is_right for each in given)
    rated = [result for each in given if (result := _result(each)) is not None]
    low, high = wilson(solved, len(given))
    return Screening(len(given), solved, low, high, rate_answers(rated) if rated else None)


def rate_answers(results: Iterable[AnchorResult]) -> Estimate:
    """Return the rating of who scored that against positions, in an interval for games.

    Raises what `ratings.estimate` raises.
    """
    found = rate_solving(results)
    if found.low is not None and found.high is not None:
        return replace(
            found,
            low=found.elo - math.hypot(found.elo - found.low, WALD * TRANSFER_ERROR),
            high=found.elo + math.hypot(found.high - found.elo, WALD * TRANSFER_ERROR),
            draw_aware_low=None,
            draw_aware_high=None,
        )
    step = _ONE_SIDED * TRANSFER_ERROR * (-1 if found.bound == "lower" else 1)
    low, high = (None if end is None else end + step for end in (found.low, found.high))
    return replace(found, elo=found.elo + step, low=low, high=high)


def _result(answer: Answer) -> AnchorResult | None:
    if answer.difficulty is None:
        return None
    return AnchorResult(
        answer.difficulty,
        wins=int(answer.is_right),
        draws=0,
        losses=int(not answer.is_right),
        elo_se=answer.difficulty_se or 0.0,
        anchor=answer.position_id,
    )
