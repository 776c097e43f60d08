"""Log: what a stream is of: the events of one match, or those of all matches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from app.matches.errors import MatchNotFound
from app.matches.events import EventType
from app.persistence.database import Database
from app.persistence.events import events_after, events_of, last_position
from app.persistence.matches import find_match
from app.persistence.records import EventRecord
from app.streaming import frame as frames
from app.streaming.errors import InvalidEventId
from app.streaming.feed import PAGE, is_of_all
from app.streaming.frame import Frame, Snapshot

#: Returns the state of a match; raises `MatchNotFound`.
TakeSnapshot = Callable[[str], Awaitable[Snapshot]]
#: Returns the unfinished matches and, of the same moment, the position of the last event.
TakeOverview = Callable[[], Awaitable[Snapshot]]

#: No match has more events, and no database would compare a sequence number with more.
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Page:
    """Events after some id, in order."""

    frames: Sequence[Frame]
    #: The id of the last event that was read.
    last: int
    #: There may be more to read.
    is_full: bool
    #: Nothing will ever come after these.
    is_end: bool


class Log(Protocol):
    """The events of a match or of all matches, by their ids."""

    @property
    def subject(self) -> str | None:
        """What it is about, as the feed knows it: the id of a match; None for all matches."""

    async def first(self) -> Frame:
        """Return the state as it is now, which a stream can begin with."""

    async def page(self, after: int) -> Page:
        """Return events after an id, which is that of an event, or 0.

        Raises `InvalidEventId` or `MatchNotFound`.
        """


class MatchLog:
    """The events of one match. Their ids are its sequence numbers."""

    def __init__(self, database: Database, match_id: str, take: TakeSnapshot) -> None:
        self._database = database
        self._match_id = match_id
        self._take = take

    @property
    def subject(self) -> str:
        """The match."""
        return self._match_id

    async def first(self) -> Frame:
        """Return the state of the match, or raise `MatchNotFound`."""
        return frames.of_snapshot(await self._take(self._match_id), "sequence")

    async def page(self, after: int) -> Page:
        """Return the events after a sequence number."""
        events = await self._database.read(lambda connection: self._read(connection, after))
        is_end = bool(events) and events[-1].type == EventType.ENDED
        last = events[-1].sequence if events else after
        new = events[1:] if events and events[0].sequence == after else events
        return Page([frames.of_match(each) for each in new], last, len(new) >= PAGE, is_end)

    def _read(self, connection: Connection, after: int) -> list[EventRecord]:
        # From the one before, which tells that it is there, and whether it was the end.
        before = min(max(after - 1, 0), _MOST)
        if events := events_of(connection, self._match_id, before, PAGE + 1):
            return events
        match = find_match(connection, self._match_id)
        if match is None:
            raise MatchNotFound(self._match_id)
        if after > match.last_sequence:
            raise InvalidEventId(str(after), match.last_sequence)
        return []


class GlobalLog:
    """The events of all matches that are of general interest. Their ids are positions."""

    subject = None

    def __init__(self, database: Database, take: TakeOverview) -> None:
        self._database = database
        self._take = take

    async def first(self) -> Frame:
        """Return the matches that are not over."""
        return frames.of_snapshot(await self._take(), "position")

    async def page(self, after: int) -> Page:
        """Return the events after a position."""
        events = await self._database.read(lambda connection: self._read(connection, after))
        new = [frames.of_all(each) for each in events if is_of_all(each)]
        last = events[-1].position if events else after
        return Page(new, last, len(events) >= PAGE, is_end=False)

    def _read(self, connection: Connection, after: int) -> list[EventRecord]:
        if events := events_after(connection, after, PAGE):
            return events
        last = last_position(connection)
        if after > last:
            raise InvalidEventId(str(after), last)
        return []
