"""Formats: how a log goes over the wire, and which one a client asks for."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from app.media_types import preferred
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
    offered = tuple(each.value for each in Format)
    best = preferred(accept, offered)
    if best is None:
        raise NoSuchFormat(offered)
    return Format(best)
