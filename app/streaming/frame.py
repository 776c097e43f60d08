"""Frame: an event as it goes over the wire, encoded once for all of its watchers."""

from __future__ import annotations

from typing import Protocol

from app.matches.events import EventType, dumps
from app.persistence.records import EventRecord

#: Greater than every id: a frame without an id is in no log, and repeats nothing.
NO_ID = 1 << 63

SNAPSHOT = "snapshot"
DELTA = "advice.delta"


class Snapshot(Protocol):
    """A state, and the last event that is in it."""

    @property
    def sequence(self) -> int:
        """The sequence number in the log of a match; in that of all matches, the position."""

    @property
    def is_over(self) -> bool:
        """Whether nothing can come after it."""

    @property
    def data(self) -> str:
        """The state as JSON on one line."""


class Frame:
    """One event, as the bytes of both formats. Whoever first needs the second one encodes it."""

    __slots__ = ("_line", "_text", "id", "is_last", "size", "sse")

    def __init__(
        self, event_id: int, sse: bytes, text: str, line: bytes | None = None, *, is_last: bool
    ) -> None:
        self.id = event_id
        self.sse = sse
        self.size = len(sse)
        #: Nothing comes after it.
        self.is_last = is_last
        self._text = text
        self._line = line

    @property
    def line(self) -> bytes:
        """The frame as a line of NDJSON."""
        if self._line is None:
            self._line = f"{self._text}\n".encode()
        return self._line


#: Says nothing, but keeps proxies awake. As a line it is empty, as lichess has it.
KEEP_ALIVE = Frame(NO_ID, b": keep-alive\n\n", "", is_last=False)


def of_match(event: EventRecord) -> Frame:
    """Return an event as the watchers of its match get it."""
    sse = f"id: {event.sequence}\nevent: {event.type}\ndata: {event.data}\n\n"
    is_last = event.type == EventType.ENDED
    return Frame(event.sequence, sse.encode(), event.data, is_last=is_last)


def of_all(event: EventRecord) -> Frame:
    """Return an event as the watchers of all matches get it, with its position as the id."""
    sse = f"id: {event.position}\nevent: {event.type}\ndata: {event.data}\n\n"
    # A line has no id beside its data, and who wants to resume needs the position.
    text = f'{{"position":{event.position},{event.data[1:]}'
    return Frame(event.position, sse.encode(), text, is_last=False)


def of_snapshot(snapshot: Snapshot, id_name: str) -> Frame:
    """Return a state as the first event of a stream."""
    number, data = snapshot.sequence, snapshot.data
    sse = f"id: {number}\nevent: {SNAPSHOT}\ndata: {data}\n\n"
    text = f'{{"{id_name}":{number},"type":"{SNAPSHOT}","state":{data}}}'
    return Frame(number, sse.encode(), text, is_last=snapshot.is_over)


def of_delta(match_id: str, data: dict[str, object]) -> Frame:
    """Return words of a specialist who is still speaking; they have no id."""
    text = dumps({"type": DELTA, "match_id": match_id} | data)
    return Frame(NO_ID, f"event: {DELTA}\ndata: {text}\n\n".encode(), text, is_last=False)
