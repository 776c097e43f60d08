"""Report: what an evaluation found, as plain data that can be printed, plotted and compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from app.evaluations.analysis.quality import summarise
from app.evaluations.games import EvaluationData, PlayedGame
from app.evaluations.pool_ratings import anchor_estimate
from app.evaluations.ratings import Estimate, estimate
from app.evaluations.reports import numerals
from app.evaluations.reports.conduct import legality, per_move, record_of, spent, usage
from app.evaluations.reports.controls import controls
from app.evaluations.reports.duel import duel
from app.evaluations.reports.notes import notes
from app.evaluations.reports.positions import positions
from app.evaluations.reports.scores import Scorecard, crosstable
from app.evaluations.strengths import Strengths, anchor_results, strengths_of
from engine import Color

#: The version of the report's form: it grows when a key changes its meaning or goes away.
FORMAT = 1
#: How many points the course of a rating has at most.
_MOST_POINTS = 40


def build_report(data: EvaluationData) -> dict[str, Any]:
    """Return everything that there is to say about an evaluation, all of it finite.

    It takes long enough to be done outside of an event loop. Raises `UnratablePool`,
    `UnratableResults` or `InvalidTest` if anchors or settings cannot be.
    """
    strengths = strengths_of(data, data.games, data.answers)
    chess = strengths_of(
        data,
        [game for game in data.games if not game.is_forfeit],
        [answer for answer in data.answers if answer.answer is not None],
    )
    agents = [_agent(data, label, strengths, chess) for label in data.agents]
    the_duel = duel(data, strengths) if data.kind == "duel" else None
    return {
        "kibitz_report": FORMAT,
        "id": data.id,
        "name": data.name,
        "kind": data.kind,
        "status": data.status,
        "detail": data.detail,
        "created_at": _moment(data.created_at),
        "ended_at": _moment(data.ended_at),
        "scale": strengths.scale,
        "reference": strengths.reference,
        "white_advantage": data.white_advantage,
        "counts": _counts(data),
        "spent": spent(data),
        "anchors": [
            {"label": anchor.label, "elo": anchor.elo, "se": anchor.se} for anchor in data.anchors
        ],
        "agents": agents,
        "duel": the_duel,
        "crosstable": _crosstable(data, strengths),
        "controls": controls(data),
        "rating_against_cost": _rating_against_cost(data, strengths),
        "notes": notes(data, agents, the_duel),
        "plan": dict(data.plan),
        "manifest": dict(data.manifest),
    }


def _agent(
    data: EvaluationData, label: str, strengths: Strengths, chess: Strengths
) -> dict[str, Any]:
    card = Scorecard(data, label, strengths)
    own = strengths.estimates.get(label)
    return {
        "label": label,
        "rating": {
            "scale": strengths.scale,
            "reference": strengths.reference,
            "as_played": _rating(own, label == strengths.reference),
            "without_forfeits": _rating(chess.estimates.get(label), label == chess.reference),
            "forfeits": _forfeits(data, label),
        },
        "score": card.overall(),
        "by_color": card.by_color(),
        "by_opponent": card.by_opponent(),
        "terminations": card.terminations(),
        "positions": positions(data, label, own),
        "quality": _quality(data, label),
        "legality": legality(data, label),
        "usage": usage(data, label),
        "course": _course(data, label),
    }


def _rating(own: Estimate | None, is_reference: bool) -> dict[str, Any] | None:
    if own is None:
        return None
    told = own.to_json()
    return {**told, "text": "0 (reference)" if is_reference else numerals.rating(told)}


def _forfeits(data: EvaluationData, label: str) -> int:
    """Return how many games or answers count for following the rules, and not for chess."""
    games = sum(game.is_forfeit for game in data.games if label in (game.white, game.black))
    return games + sum(each.answer is None for each in data.answers if each.agent == label)


def _counts(data: EvaluationData) -> dict[str, int]:
    match_ids = [game.match_id for game in data.games] + [each.match_id for each in data.answers]
    return {
        "games": len(data.games),
        "answers": len(data.answers),
        "void_games": len(data.void_games),
        "forfeits": sum(game.is_forfeit for game in data.games),
        "plies": sum(game.plies for game in data.games),
        "analysed": sum(match_id in data.analyses for match_id in match_ids),
    }


def _quality(data: EvaluationData, label: str) -> dict[str, Any]:
    """Return how good an agent's moves are, and in how many of its games that was looked at."""
    sides = [
        (game.match_id, game.color_of(label))
        for game in data.games
        if label in (game.white, game.black)
    ]
    sides += [
        (each.match_id, Color.WHITE if " w " in each.fen else Color.BLACK)
        for each in data.answers
        if each.agent == label
    ]
    analysed = [
        (data.analyses[match_id], color) for match_id, color in sides if match_id in data.analyses
    ]
    return {
        "analysed_games": len(analysed),
        "of_games": len(sides),
        **summarise(analysed).to_json(),
    }


def _course(data: EvaluationData, label: str) -> list[dict[str, Any]]:
    """Return how the rating and its margin changed over the games of a ladder."""
    if data.kind != "ladder":
        return []
    own = sorted(
        (game for game in data.games if label in (game.white, game.black)),
        key=lambda game: (game.ended_at, game.number),
    )
    step = max(2, -(-len(own) // _MOST_POINTS))
    sizes = sorted({*range(step, len(own) + 1, step), len(own)} - {0})
    return [{"games": size, **_rating_after(data, label, own[:size])} for size in sizes]


def _rating_after(data: EvaluationData, label: str, games: Sequence[PlayedGame]) -> dict[str, Any]:
    results = anchor_results(data, label, games)
    then = estimate(results, white_advantage=data.white_advantage) if results else None
    names = ("elo", "low", "high", "bound", "margin", "draw_aware_margin")
    told = {} if then is None else then.to_json()
    return {name: told.get(name) for name in names}


def _crosstable(data: EvaluationData, strengths: Strengths) -> dict[str, Any] | None:
    if data.kind != "pool":
        return None
    elos = {label: own.elo for label, own in strengths.estimates.items() if own is not None}
    return crosstable(data, {**strengths.opponents, **elos})


def _rating_against_cost(data: EvaluationData, strengths: Strengths) -> list[dict[str, Any]]:
    """Return what each agent and anchor is worth and takes for a move, agents first."""
    known: dict[str, Estimate | None] = {
        label: strengths.estimates.get(label) for label in data.agents
    }
    for anchor in data.anchors:
        known.setdefault(anchor.label, anchor_estimate(anchor))
    rows = []
    for label, own in known.items():
        taken = per_move(record_of(data, label))
        rows.append(
            {
                "label": label,
                "is_anchor": label not in data.agents,
                "elo": None if own is None else own.elo,
                "low": None if own is None else own.low,
                "high": None if own is None else own.high,
                "draw_aware_low": None if own is None else own.draw_aware_low,
                "draw_aware_high": None if own is None else own.draw_aware_high,
                "bound": None if own is None else own.bound,
                "cost_usd_per_move": taken["cost_usd"],
                "tokens_per_move": taken["tokens"],
                "think_ms_per_move": taken["think_ms"],
            }
        )
    return rows


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
