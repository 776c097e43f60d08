"""Dollars: sums as people write them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, InvalidOperation

from app.errors import AppError
from engine.errors import shown

#: More nobody means.
_MOST = 1_000_000
_MILLIONTH = Decimal("0.000001")


@dataclass(eq=False)
class NotDollars(AppError):
    """A text that is no sum that a budget can have."""

    text: str

    def __str__(self) -> str:
        return f"{shown(self.text)} is no sum in dollars, such as 0.50"


def read_dollars(text: str) -> Decimal:
    """Return a sum in dollars, to the millionth; raises `NotDollars`."""
    try:
        dollars = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        raise NotDollars(text) from None
    if not dollars.is_finite() or not 0 <= dollars <= _MOST:
        raise NotDollars(text)
    return dollars.quantize(_MILLIONTH, ROUND_DOWN)
