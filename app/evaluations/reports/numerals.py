"""Numerals: how numbers are written for readers. What is not there is a dash."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

NOTHING = "–"
_NEGATIVE = re.compile(r"(?<![\w-])-(?=\d)")
_SECOND, _MINUTE = 1000, 60_000


def proper_signs(text: str) -> str:
    """Return text with a minus where a number is negative, and margins that stay with numbers."""
    return _NEGATIVE.sub("\N{MINUS SIGN}", text).replace(
        " ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
    )


def number(value: float | None, digits: int = 0) -> str:
    """Return a number with so many digits after the point, and thousands apart."""
    return NOTHING if value is None else proper_signs(f"{value:z,.{digits}f}")


def elo(value: float | None, sign: bool = False) -> str:
    """Return a rating or, with a sign, a difference of two."""
    if value is None:
        return NOTHING
    return proper_signs(f"{value:+z.0f}" if sign else f"{value:z.0f}")


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share from 0 to 1 in percent."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %"


def likelihood(share: float) -> str:
    """Return how likely something is, which is never certain."""
    told = f"{100 * share:.1f}"
    return {"100.0": "> 99.9 %", "0.0": "< 0.1 %"}.get(told, f"{told} %")


def ends(rating: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the ends of the interval that is shown: the draw-aware one, if there is one."""
    low, high = rating.get("draw_aware_low"), rating.get("draw_aware_high")
    return (rating["low"], rating["high"]) if low is None or high is None else (low, high)


def margin(rating: Mapping[str, Any]) -> float | None:
    """Return half of the interval that is shown; None where it is open."""
    narrow: float | None = rating.get("draw_aware_margin")
    wide: float | None = rating["margin"]
    return wide if narrow is None else narrow


def rating(found: Mapping[str, Any], sign: bool = False) -> str:
    """Return a rating with its margin, such as `1028 ± 138`, or `> 1536` if it is a bound.

    It is for terminals, too: `proper_signs` makes it fit for a page.
    """
    told = f"{found['elo']:+z.0f}" if sign else f"{found['elo']:z.0f}"
    half = margin(found)
    if half is not None:
        return f"{told} ± {half:.0f}"
    return f"{'>' if found['bound'] == 'lower' else '<'} {told}"


def is_narrowed(report: Mapping[str, Any]) -> bool:
    """Return whether draws make any interval narrower that is shown."""
    ratings = (
        agent["rating"][which]
        for agent in report["agents"]
        for which in ("as_played", "without_forfeits")
    )
    return any(each is not None and margin(each) != each["margin"] for each in ratings)


def interval_kind(report: Mapping[str, Any]) -> str:
    """Return of which kind the intervals are that are shown."""
    return "draws taken into account" if is_narrowed(report) else "by the likelihood ratio"


def interval(rating: Mapping[str, Any] | None, sign: bool = False) -> str:
    """Return the 95 % interval of a rating, or its one end that is known."""
    if rating is None:
        return NOTHING
    low, high = ends(rating)
    if low is not None and high is not None:
        return f"{elo(low, sign)} to {elo(high, sign)}"
    return f"over {elo(low, sign)}" if low is not None else f"under {elo(high, sign)}"


def share_interval(row: Mapping[str, Any]) -> str:
    """Return the 95 % interval of a share."""
    return f"{100 * row['low']:.0f} to {100 * row['high']:.0f} %"


def results(row: Mapping[str, Any]) -> str:
    """Return games won, drawn and lost."""
    return f"{row['wins']}-{row['draws']}-{row['losses']}"


def points(value: float | None) -> str:
    """Return points, which come in halves."""
    return NOTHING if value is None else f"{value:g}"


def dollars(amount: str | None) -> str:
    """Return money as precisely as it matters; what nobody knows is not 0."""
    if amount is None:
        return "unknown"
    value = Decimal(amount)
    if not value:
        return "$0"
    if value >= 1:
        return f"${value:,.2f}"
    return f"${value:.2g}" if value >= Decimal("0.0001") else f"${value:.2e}"


def duration(milliseconds: float | None) -> str:
    """Return a time in the unit that suits it."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    return f"{milliseconds / _MINUTE:.1f} min"


def moment(text: str | None) -> str:
    """Return a time of ISO 8601 for people, in UTC."""
    if text is None:
        return NOTHING
    when = datetime.fromisoformat(text).astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def many(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural if need be."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
