"""What the tests of matches share: settings, times, and all that can be told of a match."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from app.matches.events import Event
from app.matches.match import Match
from app.matches.settings import HUMAN, MatchSettings, PlayerSettings
from app.persistence.records import Change
from engine import Color

T0 = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
WHITE, BLACK = Color.WHITE, Color.BLACK


def after(seconds: float) -> datetime:
    """Return the time so many seconds after the match was created."""
    return T0 + timedelta(milliseconds=round(seconds * 1000))


def match_settings(white: str = HUMAN, black: str = HUMAN, **others: Any) -> MatchSettings:
    """Return settings of a match between two players by name."""
    others.setdefault("seed", 7)
    return MatchSettings(PlayerSettings(white), PlayerSettings(black), **others)


def new_match(white: str = HUMAN, black: str = HUMAN, **others: Any) -> Match:
    """Return a match that was created at `T0`."""
    return Match.create("match-1", match_settings(white, black, **others), T0)


def running(*moves: str, white: str = HUMAN, black: str = HUMAN, **others: Any) -> Match:
    """Return a match that was started at `T0`, with moves of a second each, and nothing new."""
    match = new_match(white, black, **others)
    match.start(T0)
    for number, move in enumerate(moves, 1):
        match.play(move, after(number), source="test")
    forget(match)
    return match


def forget(match: Match) -> list[Event]:
    """Return the events that are new, which they are no more."""
    events, match.new_events, match.new_plies, match.keep_plies = match.new_events, [], [], None
    return events


def told(events: Iterable[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return the types and fields of events."""
    return [(event.type.value, event.fields) for event in events]


def types(events: Iterable[Event]) -> list[str]:
    """Return the types of events."""
    return [event.type.value for event in events]


def everything(match: Match) -> dict[str, Any]:
    """Return all that can be known of a match, to compare it with another."""
    game = match.game
    return {
        "id": match.id,
        "settings": match.settings,
        "status": match.status,
        "sequence": match.sequence,
        "times": (match.created_at, match.updated_at, match.started_at, match.ended_at),
        "turn": (match.turn_at, match.spent, match.elapsed(match.updated_at + timedelta(hours=1))),
        "fen": game.position.fen(),
        "moves": [move.uci() for move in game.line.moves],
        "clock": game.clock,
        "clocks": match.clocks(),
        "draw_offer": match.draw_offer,
        "takeback": match.takeback,
        "outcome": match.outcome,
        "ending": match.ending,
        "advice": match.advice,
        "attempts": match.attempts,
        "notes": game.line.notes,
        "claims": game.claimable_draws(),
        "pgn": game.pgn(),
    }


def logged(changes: Iterable[Change]) -> list[Event]:
    """Return the events of changes, as they are read again."""
    return [Event.decode(event.data) for change in changes for event in change.events]
