"""Exporting: matches of the database as PGN, JSON or CSV, piece by piece, the oldest first.

There is a page of matches in memory at a time. Nothing that is told is a secret.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from app.errors import AppError
from app.evaluations.reports.cells import Cell, safe
from app.matches.events import EventType
from app.matches.service import state_of
from app.matches.storing import read_match, settings_of
from app.matches.told import call_json, ply_json, totals_json
from app.persistence.database import Database
from app.persistence.events import events_of
from app.persistence.ledger import calls_of, ledger_of
from app.persistence.plies import plies_of
from app.persistence.records import EventRecord, LedgerTotals, MatchRecord
from app.persistence.selection import (
    Selection,
    evaluations_beginning,
    last_events,
    matches_beginning,
    select_after,
    start_of,
)
from engine.errors import shown

#: How many matches are read at a time.
_PAGE = 100
_ALL = 2**31 - 1
#: How many ids are named of those that may be meant.
_NAMED = 3


class Format(StrEnum):
    """What matches can be written as."""

    PGN = "pgn"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Details:
    """What JSON tells of a match besides its plies."""

    events: bool = False
    ledger: bool = False


_SEVERAL = {"match": "matches", "evaluation": "evaluations"}


@dataclass(eq=False)
class UnknownId(AppError):
    """Text with which no id begins, or several do."""

    what: str
    text: str
    meant: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.meant:
            return f"no {self.what} has an id that begins with {shown(self.text)}"
        return (
            f"{shown(self.text)} may be any of several {_SEVERAL[self.what]}, such as"
            f" {', '.join(self.meant[:_NAMED])}: write more of the id"
        )


async def find_matches(database: Database, beginnings: Iterable[str]) -> list[str]:
    """Return the ids of matches of which the beginnings are given, or raise `UnknownId`."""
    return [await _find(database, matches_beginning, "match", each) for each in beginnings]


async def find_evaluation(database: Database, beginning: str) -> str:
    """Return the id of the evaluation of which the beginning is given, or raise `UnknownId`."""
    return await _find(database, evaluations_beginning, "evaluation", beginning)


async def _find(
    database: Database,
    query: Callable[[Connection, str, int], list[str]],
    what: str,
    text: str,
) -> str:
    beginning = text.strip().lower()
    found = await database.read(lambda connection: query(connection, beginning, _NAMED + 1))
    if len(found) != 1 or not beginning:
        raise UnknownId(what, text, tuple(found) if beginning else ())
    return found[0]


async def export(
    database: Database, selection: Selection, format_: Format, details: Details | None = None
) -> AsyncGenerator[str, None]:
    """Yield matches as the pieces of a text; none at all if none is chosen.

    Raises what `Database.read` raises.
    """
    match format_:
        case Format.PGN:
            pieces = _pgn(database, selection)
        case Format.CSV:
            pieces = _csv(database, selection)
        case Format.NDJSON:
            pieces = _ndjson(database, selection, details or Details())
        case Format.JSON:
            pieces = _json(database, selection, details or Details())
    async for piece in pieces:
        yield piece


async def _pages(
    database: Database, selection: Selection
) -> AsyncGenerator[list[MatchRecord], None]:
    after = await database.read(lambda connection: start_of(connection, selection))
    while True:

        def query(connection: Connection, after: str = after) -> list[MatchRecord]:
            return select_after(connection, selection, after, _PAGE)

        page = await database.read(query)
        if page:
            yield page
        if len(page) < _PAGE:
            return
        after = page[-1].id


# --- PGN ---


async def _pgn(database: Database, selection: Selection) -> AsyncGenerator[str, None]:
    between = ""
    async for page in _pages(database, selection):

        def query(connection: Connection, page: list[MatchRecord] = page) -> dict[str, EventRecord]:
            return {event.match_id: event for event in last_events(connection, page)}

        ends = await database.read(query)
        for record in page:
            yield between + await _game(database, record, ends.get(record.id))
            between = "\n"


async def _game(database: Database, record: MatchRecord, end: EventRecord | None) -> str:
    """Return the game of a match, which its end tells; or, where it goes on, the game so far."""
    if end is not None and end.type == EventType.ENDED:
        pgn: str = json.loads(end.data)["pgn"]
        return pgn
    events = await database.read(lambda connection: events_of(connection, record.id, 0, _ALL))
    return await asyncio.to_thread(lambda: read_match(record, events).game.pgn())


# --- JSON ---


async def _ndjson(
    database: Database, selection: Selection, details: Details
) -> AsyncGenerator[str, None]:
    async for page in _pages(database, selection):
        for record in page:
            yield f"{_encoded(await _told(database, record, details))}\n"


async def _json(
    database: Database, selection: Selection, details: Details
) -> AsyncGenerator[str, None]:
    before = '{"matches": [\n'
    async for line in _ndjson(database, selection, details):
        yield before + line.removesuffix("\n")
        before = ",\n"
    if before == ",\n":
        yield "\n]}\n"


async def _told(database: Database, record: MatchRecord, details: Details) -> dict[str, Any]:
    def query(connection: Connection) -> dict[str, Any]:
        told: dict[str, Any] = {
            "ledger": totals_json(ledger_of(connection, record.id)),
            "plies": [ply_json(ply) for ply in plies_of(connection, record.id)],
        }
        if details.events:
            events = events_of(connection, record.id, 0, _ALL)
            told["events"] = [json.loads(event.data) for event in events]
        if details.ledger:
            told["calls"] = [
                call_json(call) for call in calls_of(connection, record.id, limit=_ALL)
            ]
        return told

    start_fen = settings_of(record).start.fen()
    about = {**state_of(record, with_moves=False), "start_fen": start_fen}
    return about | await database.read(query)


def _encoded(data: Mapping[str, Any]) -> str:
    # In ASCII, so that nothing in it is a command to a terminal.
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


# --- CSV ---


async def _csv(database: Database, selection: Selection) -> AsyncGenerator[str, None]:
    header = _line(COLUMNS)
    async for page in _pages(database, selection):

        def query(connection: Connection, page: list[MatchRecord] = page) -> list[LedgerTotals]:
            return [ledger_of(connection, record.id) for record in page]

        ledgers = await database.read(query)
        rows = [_line(_row(*each)) for each in zip(page, ledgers, strict=True)]
        yield header + "".join(rows)
        header = ""


COLUMNS = (
    "id",
    "created_at",
    "ended_at",
    "variant",
    "white",
    "black",
    "white_title",
    "black_title",
    "status",
    "result",
    "termination",
    "plies",
    "time_control",
    "calls",
    "tokens",
    "cost_usd",
    "evaluation_id",
    "tags",
)


def _row(record: MatchRecord, ledger: LedgerTotals) -> list[Cell]:
    state, totals = state_of(record, with_moves=False), totals_json(ledger)
    told = state | {
        "white": record.white,
        "black": record.black,
        "white_title": state["white"]["title"],
        "black_title": state["black"]["title"],
        "termination": record.termination,
        "plies": record.ply_count,
        "calls": totals["calls"],
        "tokens": totals["prompt_tokens"] + totals["completion_tokens"],
        "cost_usd": totals["cost_usd"],
        "tags": " ".join(record.tags),
    }
    return [told[name] for name in COLUMNS]


def _line(cells: Iterable[Cell]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerow([safe(cell) for cell in cells])
    return text.getvalue()
