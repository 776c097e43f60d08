"""Storing: what a match has to write down, and how it is read again."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from app.matches.events import Event, dumps, milliseconds, outcome_json, timestamp
from app.matches.match import Match, NewPly
from app.matches.settings import OPENING, MatchSettings, budget_json
from app.persistence.records import Change, EventRecord, MatchRecord, PlyRecord


def state_json(match: Match) -> str:
    """Return where a match stands, as every watcher may know it."""
    line = match.game.line
    last = None
    if line.moves:
        before, move = line.positions[-2], line.moves[-1]
        last = {"uci": move.uci(), "san": before.san(move)}
    outcome = outcome_json(match.outcome)
    state: dict[str, Any] = {
        "turn": match.color.value,
        "check": match.game.position.is_check(),
        "last_move": last,
        "clocks": match.clocks(),
        "turn_started_at": None if match.turn_at is None else timestamp(match.turn_at),
        "spent_ms": milliseconds(match.spent),
        "draw_offer": None if match.draw_offer is None else match.draw_offer.value,
        "takeback": None if match.takeback is None else match.takeback.value,
        "outcome": outcome,
        "detail": match.ending or match.pause_reason,
        "pause_cause": None if match.pause_cause is None else match.pause_cause.value,
        "started_at": None if match.started_at is None else timestamp(match.started_at),
        "ended_at": None if match.ended_at is None else timestamp(match.ended_at),
    }
    if match.budget != match.settings.budget:
        state["budget"] = budget_json(match.budget)
    return dumps(state)


def take_change(match: Match, epoch: int, owner: str | None) -> Change:
    """Return what is new in a match, to be written by its owner; after that, nothing is new."""
    events = tuple(map(_event_record, match.new_events))
    plies = tuple(map(_ply_record, match.new_plies))
    outcome = match.outcome
    change = Change(
        match_id=match.id,
        epoch=epoch,
        base_sequence=match.sequence - len(events),
        status=match.status.value,
        state=state_json(match),
        fen=match.game.position.fen(),
        ply_count=len(match.game.line),
        winner=outcome.winner.value if outcome is not None and outcome.winner else None,
        termination=None if outcome is None else outcome.termination.value,
        result="*" if outcome is None else outcome.result,
        updated_at=match.updated_at,
        owner=owner,
        events=events,
        plies=plies,
        keep_plies=match.keep_plies,
    )
    match.new_events, match.new_plies, match.keep_plies = [], [], None
    return change


def new_record(
    match: Match,
    *,
    client: str,
    owner: str | None = None,
    epoch: int = 0,
    evaluation_id: str | None = None,
    idempotency_key: str | None = None,
    request_digest: str | None = None,
    white_token_hash: str | None = None,
    black_token_hash: str | None = None,
) -> tuple[MatchRecord, tuple[EventRecord, ...], tuple[PlyRecord, ...]]:
    """Return the record of a match of which nothing is stored yet, its events, and its plies."""
    settings, outcome = match.settings, match.outcome
    record = MatchRecord(
        id=match.id,
        created_at=match.created_at,
        updated_at=match.updated_at,
        status=match.status.value,
        variant=settings.variant,
        white=settings.white.name,
        black=settings.black.name,
        settings=dumps(settings.to_json()),
        state=state_json(match),
        fen=match.game.position.fen(),
        ply_count=len(match.game.line),
        last_sequence=match.sequence,
        winner=outcome.winner.value if outcome is not None and outcome.winner else None,
        termination=None if outcome is None else outcome.termination.value,
        result="*" if outcome is None else outcome.result,
        owner=owner,
        epoch=epoch,
        evaluation_id=evaluation_id,
        client=client,
        idempotency_key=idempotency_key,
        request_digest=request_digest,
        white_token_hash=white_token_hash,
        black_token_hash=black_token_hash,
        tags=settings.tags,
    )
    events = tuple(map(_event_record, match.new_events))
    plies = (*_opening_records(match), *map(_ply_record, match.new_plies))
    match.new_events, match.new_plies = [], []
    return record, events, plies


def settings_of(record: MatchRecord) -> MatchSettings:
    """Return the settings that a match was created with."""
    return MatchSettings.from_json(json.loads(record.settings))


def ending_of(record: MatchRecord) -> str:
    """Return how a match ended, in a sentence."""
    return str(json.loads(record.state)["detail"])


def turn_began_at(record: MatchRecord) -> datetime | None:
    """Return when the turn began, or went on; None if none is under way."""
    began = json.loads(record.state)["turn_started_at"]
    return None if began is None else datetime.fromisoformat(began)


def read_match(record: MatchRecord, events: list[EventRecord]) -> Match:
    """Return a match as its log tells it."""
    return Match.replay(settings_of(record), (Event.decode(each.data) for each in events))


def _event_record(event: Event) -> EventRecord:
    return EventRecord(event.match_id, event.sequence, event.type.value, event.encode(), event.at)


def _ply_record(new: NewPly) -> PlyRecord:
    event, fields = new.event, new.event.fields
    clocks, color = fields["clocks"], fields["color"]
    return PlyRecord(
        match_id=event.match_id,
        number=fields["ply"],
        color=color,
        uci=fields["uci"],
        san=fields["san"],
        fen=fields["fen"],
        elapsed_ms=fields["elapsed_ms"],
        clock_ms=None if clocks is None else clocks[f"{color}_ms"],
        evaluation=_optional(fields["evaluation"]),
        source=fields["source"],
        played_at=event.at,
        advice=_optional(new.advice),
        attempts=_optional(new.attempts),
    )


def _opening_records(match: Match) -> tuple[PlyRecord, ...]:
    return tuple(
        PlyRecord(
            match_id=match.id,
            number=ply.number,
            color=ply.before.turn.value,
            uci=ply.move.uci(),
            san=ply.before.san(ply.move),
            fen=ply.after.fen(),
            elapsed_ms=None,
            clock_ms=None,
            evaluation=None,
            source=OPENING,
            played_at=match.created_at,
            advice=None,
            attempts=None,
        )
        for ply in match.game.plies[: match.opening_plies]
    )


def _optional(data: object) -> str | None:
    return dumps(data) if data else None
