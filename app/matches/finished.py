"""Finished: the games of matches that have ended, from the database alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sqlalchemy import Connection

from app.matches.match import MatchStatus
from app.matches.storing import read_match
from app.persistence.database import Database
from app.persistence.events import events_of
from app.persistence.matches import MatchFilter, find_match, list_matches
from app.persistence.records import EventRecord, MatchRecord
from engine import Game

_PAGE = 500
_ALL = 2**31 - 1


async def finished_games(database: Database, variant: str = "standard") -> AsyncIterator[Game]:
    """Yield the game of every match of a variant that was played to its end, the oldest first.

    Raises `StorageUnavailable`.
    """
    for match_id in await _finished(database, variant):

        def query(
            connection: Connection, match_id: str = match_id
        ) -> tuple[MatchRecord | None, list[EventRecord]]:
            return find_match(connection, match_id), events_of(connection, match_id, 0, _ALL)

        record, events = await database.read(query)
        if record is not None:
            yield (await asyncio.to_thread(read_match, record, events)).game


async def _finished(database: Database, variant: str) -> list[str]:
    """Return the ids of these matches, the oldest first."""
    wanted = MatchFilter(status=MatchStatus.ENDED.value, variant=variant)
    found: list[str] = []
    while True:
        before = found[-1] if found else None

        def query(connection: Connection, before: str | None = before) -> list[MatchRecord]:
            return list_matches(connection, wanted, before, _PAGE)

        page = await database.read(query)
        found += [record.id for record in page]
        if len(page) < _PAGE:
            return found[::-1]
