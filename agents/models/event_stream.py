"""EventStream: the server-sent events of a reply, out of bytes. No I/O; memory is bounded."""

from __future__ import annotations

from dataclasses import dataclass

#: The most that one event, or the line that is under way, may hold.
MAX_EVENT_BYTES = 4 * 1024 * 1024

#: What a line takes besides its text: an event of countless empty lines is large too.
_LINE_BYTES = 64


class EventTooLarge(Exception):
    """An event that is larger than any reply."""


@dataclass(frozen=True)
class Event:
    """What came under one heading: `data` as a rule, `error` from some servers."""

    kind: str
    data: str


class EventStream:
    """Takes bytes as they come, and gives the events that are whole.

    At most `MAX_EVENT_BYTES` of an event wait here for the rest of it, plus the piece that was fed
    last (the HTTP library reads 64 KiB at a time).
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._kind = "data"

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that end in a piece; raises `EventTooLarge`."""
        if b"\n" not in piece:
            self._line += piece
            self._refuse_too_much()
            return []
        head, *lines = piece.split(b"\n")
        self._line += head
        lines.insert(0, bytes(self._line))
        self._line = bytearray(lines.pop())
        events: list[Event] = []
        for line in lines:
            self._take(line.removesuffix(b"\r"), events)
        self._refuse_too_much()
        return events

    def end(self) -> list[Event]:
        """Return the last event, if it came without the empty line that should follow it."""
        events: list[Event] = []
        self._take(bytes(self._line).removesuffix(b"\r"), events)
        self._take(b"", events)
        self._line.clear()
        return events

    def _take(self, line: bytes, events: list[Event]) -> None:
        if not line:
            if self._data:
                text = b"\n".join(self._data).decode("utf-8", "replace")
                events.append(Event(self._kind, text))
            self._data, self._size, self._kind = [], 0, "data"
        elif line.startswith(b"data:"):
            self._add(line[5:])
        elif line.startswith(b"error:"):  # as older servers of llama.cpp write it
            self._kind = "error"
            self._add(line[6:])
        elif line.startswith(b"event:"):
            self._kind = "error" if line[6:].strip() == b"error" else "data"

    def _add(self, data: bytes) -> None:
        self._data.append(data.strip())
        self._size += len(data) + _LINE_BYTES
        self._refuse_too_much()

    def _refuse_too_much(self) -> None:
        if self._size + len(self._line) > MAX_EVENT_BYTES:
            raise EventTooLarge
