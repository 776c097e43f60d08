"""The part of a report about conduct: attempts that were refused, forfeits, time, tokens, money."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Any

from agents.models.budget import Spending
from app.evaluations.games import EvaluationData, PlayedGame, SideRecord
from engine import Termination

#: Significant digits of money for a move: more would be noise.
_ROUNDING = Context(prec=6)


def record_of(data: EvaluationData, label: str) -> SideRecord:
    """Return the sum of what a player did in all games and positions."""
    played = (
        game.side(game.color_of(label)) for game in data.games if label in (game.white, game.black)
    )
    answered = (each.side for each in data.answers if each.agent == label)
    return SideRecord.total((*played, *answered))


def legality(data: EvaluationData, agent: str) -> dict[str, Any]:
    """Return how often an agent proposed what could not be played, and what it cost it."""
    record = record_of(data, agent)
    games = [game for game in data.games if agent in (game.white, game.black)]
    own = [each for each in data.answers if each.agent == agent]
    forfeits = {
        "rules_infraction": _lost_by(games, agent, Termination.RULES_INFRACTION),
        "time_forfeit": _lost_by(games, agent, Termination.TIME_FORFEIT),
        "no_answer": sum(each.answer is None for each in own),
    }
    # A turn in which no attempt was legal has no ply, and is where most of them were made.
    turns = record.plies + forfeits["rules_infraction"] + forfeits["no_answer"]
    return {
        "plies": record.plies,
        "turns": turns,
        "illegal": record.illegal,
        "unreadable": record.unreadable,
        "illegal_per_1000": _share(1000 * record.illegal, turns),
        "unreadable_per_1000": _share(1000 * record.unreadable, turns),
        "forfeits": forfeits,
        "won_by_forfeit": sum(game.is_forfeit and game.score_of(agent) == 1 for game in games),
    }


def spent(data: EvaluationData) -> dict[str, Any]:
    """Return what all matches took, and what of it went into games that do not count."""
    return {**_spending(data.spent), "void": _spending(data.void_spent)}


def usage(data: EvaluationData, agent: str) -> dict[str, Any]:
    """Return what an agent took: time, calls, tokens and money, in all and for a move."""
    record = record_of(data, agent)
    return {
        "plies": record.plies,
        "calls": record.calls,
        "prompt_tokens": record.prompt_tokens,
        "completion_tokens": record.completion_tokens,
        "reasoning_tokens": record.reasoning_tokens,
        "tokens": record.tokens,
        "cost_usd": None if record.cost_usd is None else format(record.cost_usd, "f"),
        "latency_ms": record.latency_ms,
        "latency_ms_per_call": _share(record.latency_ms, record.calls),
        "think_ms": record.think_ms,
        "per_move": per_move(record),
    }


def per_move(record: SideRecord) -> dict[str, Any]:
    """Return what a move took on average; all is null if none was made."""
    return {
        "calls": _share(record.calls, record.plies),
        "tokens": _share(record.tokens, record.plies),
        "cost_usd": cost_per_move(record),
        "latency_ms": _share(record.latency_ms, record.plies),
        "think_ms": _share(record.think_ms, record.plies),
    }


def cost_per_move(record: SideRecord) -> str | None:
    """Return the dollars of a move as digits; None if they are unknown or there is no move."""
    if record.cost_usd is None or not record.plies:
        return None
    # A round amount such as 1E+2 would be written with an exponent otherwise.
    return format(_ROUNDING.divide(record.cost_usd, Decimal(record.plies)).normalize(), "f")


def _spending(spending: Spending) -> dict[str, Any]:
    return {
        "calls": spending.calls,
        "tokens": spending.tokens,
        "cost_usd": None if spending.usd is None else format(spending.usd, "f"),
    }


def _lost_by(games: Iterable[PlayedGame], agent: str, way: Termination) -> int:
    return sum(game.termination is way and game.score_of(agent) == 0 for game in games)


def _share(amount: float, parts: int) -> float | None:
    return amount / parts if parts else None
