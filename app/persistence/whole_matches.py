"""Whole matches in the database: those that come with all that has happened in them, many at once.

A client's idempotency key tells whether a match is there already.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from app.persistence import events as event_log
from app.persistence import plies as ply_table
from app.persistence.matches import insert_records, keys_of
from app.persistence.records import WholeMatch


def store(connection: Connection, client: str, matches: Sequence[WholeMatch]) -> int:
    """Store matches of a client that are not there yet, and return how many those are."""
    event_log.take_turn(connection)  # so nobody else stores one of them in between
    new = _new(connection, client, matches)
    if new:
        insert_records(connection, [each.record for each in new])
        event_log.append(connection, (event for each in new for event in each.events))
        ply_table.append(connection, (ply for each in new for ply in each.plies))
    return len(new)


def _new(
    connection: Connection, client: str, matches: Sequence[WholeMatch]
) -> Sequence[WholeMatch]:
    by_key: dict[str, WholeMatch] = {}
    for each in matches:
        by_key.setdefault(str(each.record.idempotency_key), each)
    there = keys_of(connection, client, by_key.keys())
    return [each for key, each in by_key.items() if key not in there]
