"""Why a stream cannot be opened, as types.

StreamError
├── InvalidEventId     not a number, or of an event that has not happened
├── NoSuchFormat       the client takes none of the formats there are
└── FeedClosed         the service is about to stop
"""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AppError


class StreamError(AppError):
    """The root of the errors of streams."""


@dataclass(eq=False)
class InvalidEventId(StreamError):
    """A Last-Event-ID after which nothing can be sent."""

    given: str
    #: The id of the last event, if `given` is a number.
    last: int | None = None

    def __str__(self) -> str:
        if self.last is None:
            return "the id of the last event should be a whole number, 0 or more"
        return f"there is no event {self.given} yet: the last one is {self.last}"


@dataclass(eq=False)
class NoSuchFormat(StreamError):
    """An Accept header that allows none of the formats."""

    formats: tuple[str, ...]
    what: str = "a stream"

    def __str__(self) -> str:
        return f"{self.what} comes as {' or '.join(self.formats)}"


class FeedClosed(StreamError):
    """The service is about to stop, and opens no more streams."""

    def __str__(self) -> str:
        return "the service is about to stop; connect again in a moment"
