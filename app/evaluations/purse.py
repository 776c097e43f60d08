"""Purse: what an evaluation may spend on model calls, and what of it is lent to its matches.

A match keeps to its own budget, wherever it is played. So an evaluation keeps to its own if it
never lends more than it has: what finished matches spent, and what the others may spend, is gone.
What a match leaves comes back. No game is begun that could not be paid for to its end, as far as
can be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from agents.models.budget import Budget, Spending

#: How much more than what is expected a match is lent, since games differ in length.
_AMPLE = 2
#: The least that is lent at a time, or it would be lent for ever.
_LEAST_USD = Decimal("0.01")
_ZERO = Decimal(0)

T = TypeVar("T", Decimal, int)


@dataclass(frozen=True)
class Purse:
    """The budget of an evaluation, and that of each of its matches by the plan."""

    whole: Budget
    each: Budget = field(default_factory=Budget)

    def left(self, spent: Iterable[Spending], lent: Iterable[Budget]) -> Budget:
        """Return what can still be lent: not what matches spent, nor what others were lent."""
        gone: list[Budget | Spending] = [*spent, *lent]
        whole = self.whole
        usd = sum((each.usd or _ZERO for each in gone), _ZERO)
        tokens = sum(each.tokens or 0 for each in gone)
        calls = sum(each.calls or 0 for each in gone)
        return Budget(_rest(whole.usd, usd), _rest(whole.tokens, tokens), _rest(whole.calls, calls))

    def loan(self, left: Budget, expected: Spending) -> Budget | None:
        """Return what a match that will likely cost so much is lent; None if that is not there."""
        is_covered = (
            _covers(left.usd, expected.usd or _ZERO)
            and _covers(left.tokens, expected.tokens)
            and _covers(left.calls, expected.calls)
        )
        if not is_covered:
            return None
        usd, tokens, calls = _ample(expected)
        own = self.each
        return Budget(
            _least(own.usd, None if left.usd is None else min(left.usd, usd)),
            _least(own.tokens, None if left.tokens is None else min(left.tokens, tokens)),
            _least(own.calls, None if left.calls is None else min(left.calls, calls)),
        )

    def top_up(self, lent: Budget, left: Budget, expected: Spending) -> Budget | None:
        """Return a larger loan for a match that needs more; None if nothing more can be lent."""
        usd, tokens, calls = _ample(expected)
        own = self.each
        larger = Budget(
            _raised(lent.usd, left.usd, usd, own.usd),
            _raised(lent.tokens, left.tokens, tokens, own.tokens),
            _raised(lent.calls, left.calls, calls, own.calls),
        )
        return larger if larger != lent else None


def _rest(amount: T | None, gone: T) -> T | None:
    return None if amount is None else max(amount - gone, amount * 0)


def _covers(left: T | None, expected: T) -> bool:
    return left is None or (left > 0 and left >= expected)


def _ample(expected: Spending) -> tuple[Decimal, int, int]:
    usd = max((expected.usd or _ZERO) * _AMPLE, _LEAST_USD)
    return usd, max(expected.tokens * _AMPLE, 1), max(expected.calls * _AMPLE, 1)


def _least(one: T | None, other: T | None) -> T | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _raised(lent: T | None, left: T | None, more: T, most: T | None) -> T | None:
    """Return a loan with more in it, as far as something is left and the match may have it."""
    if lent is None or left is None:
        return lent
    total = lent + min(left, more)
    return total if most is None else min(total, most)
