"""Progress: how far an evaluation has come, as everybody who watches it may know."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from agents.models.budget import Budget, Spending
from app.evaluations.contest import Contest
from app.evaluations.plan import label_of
from app.evaluations.roster import Roster
from app.evaluations.schedules.duel import Duel
from app.evaluations.schedules.ladder import Ladder, by_label
from app.evaluations.schedules.positions import Positions
from app.evaluations.schedules.schedule import Standing
from app.matches.settings import budget_json


def progress_json(
    contest: Contest,
    roster: Roster,
    *,
    phase: str,
    analysed: int,
    spent: Spending,
    budget: Budget,
    waiting: str = "",
) -> dict[str, Any]:
    """Return how far an evaluation has come, as plain data."""
    games, counts = roster.standings, roster.counts()
    own = by_label(games)
    return {
        "phase": phase,
        "games": {
            "scored": counts["scored"],
            "playing": counts["playing"],
            "void": roster.voids,
            "expected": contest.schedule.expected(games),
        },
        "analysed": analysed,
        "agents": [
            _agent(contest, label, own[label]) for label in map(label_of, contest.plan.players)
        ],
        "sprt": _sprt(contest, games),
        "spent": {
            "calls": spent.calls,
            "tokens": spent.tokens,
            "cost_usd": None if spent.usd is None else _plain(spent.usd),
        },
        "budget": budget_json(budget),
        "waiting": waiting,
    }


def _agent(contest: Contest, label: str, games: Sequence[Standing]) -> dict[str, Any]:
    own = [game for game in games if game.is_scored]
    agent: dict[str, Any] = {"agent": label, "games": len(own)}
    if isinstance(contest.schedule, Positions):
        return agent
    scores = [game.score_of(label) for game in own]
    agent |= {
        "wins": scores.count(1.0),
        "draws": scores.count(0.5),
        "losses": scores.count(0.0),
        "rating": None,
    }
    if isinstance(contest.schedule, Ladder):
        known = contest.schedule.estimate_of(label, games)
        if known is not None:
            agent["rating"] = known.to_json()
    return agent


def _sprt(contest: Contest, games: Sequence[Standing]) -> dict[str, Any] | None:
    if not isinstance(contest.schedule, Duel):
        return None
    verdict = contest.schedule.tested(games)
    if verdict is None:
        return None
    return {
        "llr": verdict.llr,
        "lower_bound": verdict.lower,
        "upper_bound": verdict.upper,
        "decision": verdict.decision,
    }


def _plain(usd: Decimal) -> str:
    return f"{usd.normalize():f}"
