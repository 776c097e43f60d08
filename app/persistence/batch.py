"""Batch: the changes of many matches, written in one transaction.

Every ply of every match comes through here, so this speaks to the drivers themselves, which takes a
third of the time that it takes through SQLAlchemy. On Postgres all statements are sent at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection

from app.persistence.errors import LostOwnership
from app.persistence.events import IN_TURN
from app.persistence.records import Change, EventRecord
from app.persistence.tables import stored_time

# Of each statement the parameters are named as the records name them, the time first: SQLite keeps
# it as text.
_MOVED = (
    "updated_at", "status", "state", "fen", "ply_count", "winner", "termination", "result",
    "owner", "last_sequence", "match_id", "epoch", "base_sequence",
)  # fmt: skip
_PLY = (
    "played_at", "match_id", "number", "color", "uci", "san", "fen", "elapsed_ms", "clock_ms",
    "evaluation", "source", "advice", "attempts",
)  # fmt: skip
_EVENT = ("at", "match_id", "sequence", "type", "data")

#: A former owner's epoch is past, so that its write changes no row.
_MOVE_ON = (
    "UPDATE matches SET updated_at = ?, status = ?, state = ?, fen = ?, ply_count = ?,"
    " winner = ?, termination = ?, result = ?, owner = ?, last_sequence = ?"
    " WHERE id = ? AND epoch = ? AND last_sequence = ?"
)
_TAKE_BACK = "DELETE FROM plies WHERE match_id = ? AND number > ?"
_ADD_PLY = f"INSERT INTO plies ({', '.join(_PLY)}) VALUES ({', '.join('?' * len(_PLY))})"  # noqa: S608
_LAST_POSITION = "SELECT coalesce(max(position), 0) FROM events"
_ADD_EVENT = f"INSERT INTO events ({', '.join(_EVENT)}, position) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
_ADD_NEXT_EVENT = _ADD_EVENT.removesuffix("?)") + f"({_LAST_POSITION}) + 1) RETURNING position"

_Row = tuple[Any, ...]
_moved: Callable[[Change], _Row] = attrgetter(*_MOVED)
_ply: Callable[[object], _Row] = attrgetter(*_PLY)
_event: Callable[[EventRecord], _Row] = attrgetter(*_EVENT)


def store(connection: Connection, changes: Sequence[Change]) -> list[Change]:
    """Write changes, each only if epoch and sequence of its match are as it says.

    Returns them with the positions of their events. Raises `LostOwnership` if not all could be
    written: then the transaction must be rolled back. A gap in the events is a `ValueError`.
    """
    for change in changes:
        if change.events and change.events[-1].sequence != change.last_sequence:
            raise ValueError(f"the events of match {change.match_id} would have a gap")
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "postgresql":
        first = _store_in_postgres(driver, changes)
    else:
        first = _store_in_sqlite(driver, changes)
    return _positioned(changes, first)


def _store_in_sqlite(driver: Any, changes: Sequence[Change]) -> int:  # noqa: ANN401 - a driver's
    """Write changes, and return the position of the first event."""
    moved = driver.executemany(_MOVE_ON, [_timed(_moved(change)) for change in changes])
    if moved.rowcount != len(changes):
        raise LostOwnership(changes[0].match_id)
    if taken_back := _taken_back(changes):
        driver.executemany(_TAKE_BACK, taken_back)
    plies = [_timed(_ply(ply)) for change in changes for ply in change.plies]
    if plies:
        driver.executemany(_ADD_PLY, plies)
    first: int = driver.execute(_LAST_POSITION).fetchone()[0] + 1
    events = [_event(event) for change in changes for event in change.events]
    driver.executemany(
        _ADD_EVENT, [(*_timed(row), position) for position, row in enumerate(events, first)]
    )
    return first


_MOVE_ON_POSTGRES, _TAKE_BACK_POSTGRES, _ADD_PLY_POSTGRES, _ADD_EVENT_POSTGRES = (
    sql.replace("?", "%s") for sql in (_MOVE_ON, _TAKE_BACK, _ADD_PLY, _ADD_NEXT_EVENT)
)


def _store_in_postgres(driver: Any, changes: Sequence[Change]) -> int:  # noqa: ANN401
    """Do the same. What is sent is only answered at the end of the pipeline."""
    moved, appended = driver.cursor(), driver.cursor()
    matches = [_zoned(_moved(change)) for change in changes]
    plies = [_zoned(_ply(ply)) for change in changes for ply in change.plies]
    events = [_zoned(_event(event)) for change in changes for event in change.events]
    try:
        with driver.pipeline():
            driver.execute(IN_TURN)
            moved.executemany(_MOVE_ON_POSTGRES, matches)
            if taken_back := _taken_back(changes):
                driver.cursor().executemany(_TAKE_BACK_POSTGRES, taken_back)
            if plies:
                driver.cursor().executemany(_ADD_PLY_POSTGRES, plies)
            if events:
                appended.executemany(_ADD_EVENT_POSTGRES, events, returning=True)
    except driver.IntegrityError as error:
        # What a former owner would add is there already: then that is not what is wrong.
        if error.diag.table_name != "matches" and moved.rowcount != len(changes):
            raise LostOwnership(changes[0].match_id) from None
        raise
    if moved.rowcount != len(changes):
        raise LostOwnership(changes[0].match_id)
    # The others follow it: it is our turn until the commit.
    first: int = appended.fetchone()[0] if events else 0
    return first


def _timed(row: _Row) -> _Row:
    return (stored_time(row[0]), *row[1:])


def _zoned(row: _Row) -> _Row:
    if row[0].tzinfo is None:
        raise ValueError(f"{row[0]} has no time zone")
    return row


def _taken_back(changes: Sequence[Change]) -> list[tuple[str, int]]:
    return [
        (change.match_id, change.keep_plies) for change in changes if change.keep_plies is not None
    ]


def _positioned(changes: Sequence[Change], first: int) -> list[Change]:
    return [
        replace(change, events=tuple(_numbered(change.events, first + before)))
        for change, before in zip(changes, _events_before(changes), strict=True)
    ]


def _events_before(changes: Sequence[Change]) -> Iterator[int]:
    before = 0
    for change in changes:
        yield before
        before += len(change.events)


def _numbered(events: Sequence[EventRecord], first: int) -> Iterator[EventRecord]:
    for position, each in enumerate(events, first):
        # Spelt out, since `replace` takes several times as long.
        yield EventRecord(each.match_id, each.sequence, each.type, each.data, each.at, position)
