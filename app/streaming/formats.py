"""Formats: how a log goes over the wire, and which one a client asks for."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from app.streaming.errors import NoSuchFormat
from app.streaming.frame import Frame


class Format(Enum):
    """Server-sent events, or one JSON object per line. The first is preferred."""

    SSE = "text/event-stream"
    NDJSON = "application/x-ndjson"

    @property
    def preamble(self) -> bytes:
        """What a stream begins with: after how many milliseconds to connect again."""
        return b"retry: 2000\n\n" if self is Format.SSE else b""

    def encode(self, frames: Sequence[Frame]) -> bytes:
        """Return frames as they are sent."""
        if self is Format.SSE:
            # Mostly it is one, and then nothing is copied.
            return frames[0].sse if len(frames) == 1 else b"".join([each.sse for each in frames])
        return b"".join([each.line for each in frames])


def format_for(accept: str | None) -> Format:
    """Return the format that an Accept header likes best, or raise `NoSuchFormat`."""
    if not accept or not accept.strip():
        return Format.SSE
    ranges = [_parse(each) for each in accept.split(",")]
    # `max` keeps the first of equals.
    best = max(Format, key=lambda each: _quality(each, ranges))
    if not _quality(best, ranges):
        raise NoSuchFormat(tuple(each.value for each in Format))
    return best


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


def _quality(offered: Format, ranges: Sequence[tuple[str, float]]) -> float:
    """Return how much a format is liked: what is said of it by name counts before `*/*`."""
    media = offered.value
    for pattern in (media, f"{media.partition('/')[0]}/*", "*/*"):
        qualities = [quality for each, quality in ranges if each == pattern]
        if qualities:
            return max(qualities)
    return 0.0
