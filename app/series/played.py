"""Played: what a private match has come to, as statistics of games take it."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from agents.timekeeping import now
from app.evaluations.games import PlayedGame, SideRecord
from app.evaluations.schedules.schedule import Slot
from app.matches.events import EventType
from app.matches.private import PrivateMatch
from app.persistence.records import ModelCallRecord
from engine import Color

_ILLEGAL = "IllegalMove"


def played_game(slot: Slot, private: PrivateMatch) -> PlayedGame:
    """Return a match that has ended as a game that counts."""
    match = private.match
    outcome = match.outcome
    if outcome is None:
        raise ValueError(f"game {slot.number} has no outcome")
    white, black = slot.labels
    settings = match.settings
    known = settings.known_opening
    return PlayedGame(
        number=slot.number,
        match_id=match.id,
        white=white,
        black=black,
        opening=(known.name if known else settings.opening) or settings.initial_fen or "",
        pair=slot.pair,
        winner=outcome.winner,
        termination=outcome.termination,
        plies=len(match.game.line),
        opening_plies=match.opening_plies,
        white_side=side_record(private, Color.WHITE),
        black_side=side_record(private, Color.BLACK),
        ended_at=match.ended_at or now(),
    )


def side_record(private: PrivateMatch, color: Color) -> SideRecord:
    """Return what one side has done in a match so far, and what it has spent."""
    refused: Counter[bool] = Counter()
    plies = think_ms = 0
    for event in private.log:
        if event.fields.get("color") != color.value:
            continue
        if event.type is EventType.PLY:
            plies += 1
            think_ms += event.fields["elapsed_ms"]
        elif event.type is EventType.REJECTED:
            refused[event.fields["kind"] == _ILLEGAL] += 1
    calls = [call for call in private.ledger.records(private.match.id) if call.color == color.value]
    paid = [call for call in calls if call.prompt_tokens or call.completion_tokens]
    return SideRecord(
        plies=plies,
        illegal=refused[True],
        unreadable=refused[False],
        think_ms=think_ms,
        calls=len(paid),
        prompt_tokens=sum(call.prompt_tokens for call in paid),
        completion_tokens=sum(call.completion_tokens for call in paid),
        reasoning_tokens=sum(call.reasoning_tokens for call in paid),
        cost_usd=_cost(paid),
        latency_ms=sum(call.latency_ms for call in calls),
    )


def _cost(calls: list[ModelCallRecord]) -> Decimal | None:
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return sum(costs, Decimal(0)) if len(costs) == len(calls) else None
