"""Matches, events, plies and changes to store."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from uuid_utils.compat import uuid7

from app.persistence.database import Database
from app.persistence.matches import insert_match
from app.persistence.records import (
    Change,
    EventRecord,
    MatchRecord,
    ModelCallRecord,
    PlyRecord,
)

FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#: Not in UTC, and not of whole milliseconds.
NOON = datetime(2025, 3, 9, 12, 0, 0, 123456, tzinfo=UTC)


def new_id() -> str:
    return str(uuid7())


def a_match(**fields: Any) -> MatchRecord:
    """Return a match that was just created, with one event."""
    record = MatchRecord(
        id=new_id(),
        created_at=NOON,
        updated_at=NOON,
        status="running",
        variant="standard",
        white="random",
        black="stockfish:2",
        settings="{}",
        state='{"turn":"white"}',
        fen=FEN,
        ply_count=0,
        last_sequence=1,
        winner=None,
        termination=None,
        result="*",
        owner=None,
        epoch=0,
        evaluation_id=None,
        client="local",
        idempotency_key=None,
        request_digest=None,
        white_token_hash=None,
        black_token_hash=None,
    )
    return replace(record, **fields)


def an_event(match_id: str, sequence: int = 1, kind: str = "match.created") -> EventRecord:
    data = json.dumps({"sequence": sequence, "type": kind, "match_id": match_id, "text": "É♞"})
    return EventRecord(match_id, sequence, kind, data, NOON)


def a_ply(match_id: str, number: int = 1, **fields: Any) -> PlyRecord:
    ply = PlyRecord(
        match_id=match_id,
        number=number,
        color="white" if number % 2 else "black",
        uci="e2e4",
        san="e4",
        fen=FEN,
        elapsed_ms=12,
        clock_ms=300_000,
        evaluation='{"cp":20}',
        source="random",
        played_at=NOON,
        advice=None,
        attempts=None,
    )
    return replace(ply, **fields)


def a_change(match_id: str, base: int = 1, number: int = 1, **fields: Any) -> Change:
    """Return the change that a ply makes: two events follow those up to `base`."""
    change = Change(
        match_id=match_id,
        epoch=0,
        base_sequence=base,
        status="running",
        state='{"turn":"black"}',
        fen=FEN,
        ply_count=number,
        winner=None,
        termination=None,
        result="*",
        updated_at=NOON + timedelta(seconds=number),
        owner=None,
        events=(
            an_event(match_id, base + 1, "ply.played"),
            an_event(match_id, base + 2, "turn.started"),
        ),
        plies=(a_ply(match_id, number),),
    )
    return replace(change, **fields)


def a_call(match_id: str | None = None, **fields: Any) -> ModelCallRecord:
    call = ModelCallRecord(
        id=new_id(),
        match_id=match_id,
        evaluation_id=None,
        ply_number=1,
        role="selector",
        model="some-model",
        attempt=1,
        prompt_tokens=100,
        cached_tokens=40,
        reasoning_tokens=0,
        completion_tokens=7,
        latency_ms=400,
        cost_usd=Decimal("0.0000375"),
        request_digest="abc",
        outcome="answered",
        at=NOON,
    )
    return replace(call, **fields)


async def inserted(database: Database, **fields: Any) -> MatchRecord:
    """Store a match with its first event."""
    record = a_match(**fields)
    events = [an_event(record.id, number) for number in range(1, record.last_sequence + 1)]
    await database.write(lambda connection: insert_match(connection, record, events))
    return record
