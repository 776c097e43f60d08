"""Media types: which of several an `Accept` header likes best, as RFC 9110 has it."""

from __future__ import annotations

from collections.abc import Sequence


def preferred(accept: str | None, offered: Sequence[str]) -> str | None:
    """Return the media type that is liked best, of equals the first; None if none is liked.

    Whoever does not say gets the first.
    """
    if not accept or not accept.strip():
        return offered[0]
    ranges = [_parse(each) for each in accept.split(",")]
    # `max` keeps the first of equals.
    best = max(offered, key=lambda each: _quality(each, ranges))
    return best if _quality(best, ranges) else None


def _parse(text: str) -> tuple[str, float]:
    """Return a media range and its quality, which is 0 if nobody can read it."""
    media, *parameters = (part.strip().lower() for part in text.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return media, min(max(float(value), 0.0), 1.0)
            except ValueError:
                return media, 0.0
    return media, 1.0


def _quality(media: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return how much a type is liked: what is said of it by name counts before `*/*`."""
    for pattern in (media, f"{media.partition('/')[0]}/*", "*/*"):
        qualities = [quality for each, quality in ranges if each == pattern]
        if qualities:
            return max(qualities)
    return 0.0
