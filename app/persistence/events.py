"""Events in the database: the log of each match, and the order of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from app.persistence.records import EventRecord
from app.persistence.tables import Event

#: What Postgres wakes other processes by; the table is the truth.
CHANNEL = "kibitz_events"

#: Whoever appends events holds it until the commit: the order of positions is that of commits.
_ORDER_LOCK = 0x4B69627A_00000002
IN_TURN = f"SELECT pg_advisory_xact_lock({_ORDER_LOCK}), pg_notify('{CHANNEL}', '')"

_COLUMNS = [getattr(Event, field.name) for field in fields(EventRecord)]
_LAST_POSITION = select(func.coalesce(func.max(Event.position), 0))
_APPEND = insert(Event)
_OF_MATCH = (
    select(*_COLUMNS)
    .where(Event.match_id == bindparam("match"), Event.sequence > bindparam("after"))
    .order_by(Event.sequence)
    .limit(bindparam("most"))
)
_AFTER = (
    select(*_COLUMNS)
    .where(Event.position > bindparam("after"))
    .order_by(Event.position)
    .limit(bindparam("most"))
)


def take_turn(connection: Connection) -> None:
    """Be the only one to append events until the commit, which then wakes other processes.

    To be called first in a transaction that appends. On SQLite there is only one that writes.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(IN_TURN)


def append(connection: Connection, events: Iterable[EventRecord]) -> tuple[EventRecord, ...]:
    """Store events in their order, after `take_turn`, and return them with their positions."""
    last = last_position(connection)
    stored = tuple(
        replace(event, position=position) for position, event in enumerate(events, last + 1)
    )
    if stored:
        connection.execute(_APPEND, [_row(event) for event in stored])
    return stored


def events_of(connection: Connection, match_id: str, after: int, limit: int) -> list[EventRecord]:
    """Return the events of a match that follow a sequence number, in order."""
    found = connection.execute(_OF_MATCH, {"match": match_id, "after": after, "most": limit})
    return _records(found.all())


def events_after(connection: Connection, position: int, limit: int) -> list[EventRecord]:
    """Return the events of all matches that follow a position, in order."""
    return _records(connection.execute(_AFTER, {"after": position, "most": limit}).all())


def last_position(connection: Connection) -> int:
    """Return the position of the last event of all matches, or 0."""
    last: int = connection.execute(_LAST_POSITION).scalar_one()
    return last


def _row(event: EventRecord) -> dict[str, Any]:
    return {
        "match_id": event.match_id,
        "sequence": event.sequence,
        "type": event.type,
        "data": event.data,
        "at": event.at,
        "position": event.position,
    }


def _records(rows: Sequence[Any]) -> list[EventRecord]:
    return [EventRecord(*row) for row in rows]
