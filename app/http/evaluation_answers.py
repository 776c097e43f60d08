"""Schemas of evaluations: how they are told, field by field, and what a plan will likely cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

from app.http.match_answers import BudgetAnswer
from app.http.schemas import Answer

Status: TypeAlias = Literal["created", "running", "paused", "finished", "cancelled"]
KindName: TypeAlias = Literal["ladder", "duel", "pool", "positions"]

_ID = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"
_RATING: dict[str, Any] = {
    "elo": 1028.3,
    "low": 890.6,
    "high": 1167.5,
    "margin": 138.5,
    "bound": None,
    "standard_error": 70.2,
    "sandwich_error": 64.7,
    "wald_margin": 137.5,
    "draw_aware_low": 899.1,
    "draw_aware_high": 1159.2,
    "draw_aware_margin": 130.1,
    "games": 30,
    "points": 16.0,
}
#: An evaluation under way.
STATE: dict[str, Any] = {
    "id": _ID,
    "name": "the default team",
    "kind": "ladder",
    "status": "running",
    "detail": "",
    "created_at": "2025-07-01T12:00:00.000Z",
    "updated_at": "2025-07-01T12:41:07.250Z",
    "ended_at": None,
    "revision": 61,
    "progress": {
        "phase": "playing",
        "games": {"scored": 30, "playing": 2, "void": 1, "expected": 47},
        "analysed": 29,
        "agents": [
            {
                "agent": "team:default",
                "games": 30,
                "wins": 14,
                "draws": 4,
                "losses": 12,
                "rating": _RATING,
            }
        ],
        "sprt": None,
        "spent": {"calls": 3604, "tokens": 4180400, "cost_usd": "7.3157"},
        "budget": {"usd": "20", "tokens": None, "calls": None},
        "waiting": "",
        "eta_ms": 1398000,
    },
}
_PLAN = {"kind": "ladder", "name": "the default team", "agents": [{"name": "team:default"}]}
_LIKELY: dict[str, Any] = {
    "calls": 5640,
    "prompt_tokens": 5358000,
    "completion_tokens": 1128000,
    "cost_usd": "11.4210",
}
_MOST: dict[str, Any] = {
    "calls": 360000,
    "prompt_tokens": 342000000,
    "completion_tokens": 144000000,
    "cost_usd": "1103.4000",
}


class EstimateAnswer(Answer):
    """A rating with its 95 % interval."""

    elo: float = Field(description="Where all was won or lost, the bound that is known.")
    low: float | None
    high: float | None
    margin: float | None = Field(description="Half of the interval; null if it is one-sided.")
    bound: Literal["lower", "upper"] | None = Field(
        description="What `elo` is where all was won or lost."
    )
    standard_error: float | None
    sandwich_error: float | None
    wald_margin: float | None
    draw_aware_low: float | None
    draw_aware_high: float | None
    draw_aware_margin: float | None
    games: int
    points: float


class GamesProgress(Answer):
    """How many games have come how far; a position that is asked counts as one."""

    scored: int
    playing: int
    void: int = Field(
        description="Do not count: lost to a fault of ours and played again, or broken off when "
        "the budget was spent or the evaluation was cancelled."
    )
    expected: int = Field(description="How many there will be, as far as one can tell.")


class AgentProgress(Answer):
    """How an agent does. Answers to positions are neither won nor lost."""

    agent: str
    games: int
    wins: int | None = None
    draws: int | None = None
    losses: int | None = None
    rating: EstimateAnswer | None = Field(None, description="Only in a ladder, and of some games.")


class SprtAnswer(Answer):
    """Where a sequential test stands."""

    llr: float = Field(description="The log-likelihood ratio.")
    lower_bound: float = Field(description="At or below it, H0 is accepted.")
    upper_bound: float = Field(description="At or above it, H1 is accepted.")
    decision: Literal["H0", "H1"] | None


class SpentAnswer(Answer):
    """What model calls have cost."""

    calls: int
    tokens: int
    cost_usd: str | None = Field(description="As text, exact; null if some price is not known.")


class ProgressAnswer(Answer):
    """How far an evaluation has come."""

    phase: Literal["playing", "analysing", "done"]
    games: GamesProgress
    analysed: int = Field(description="How many games were looked at by Stockfish.")
    agents: list[AgentProgress]
    sprt: SprtAnswer | None = Field(description="Only in a duel with `sprt`.")
    spent: SpentAnswer
    budget: BudgetAnswer
    waiting: str = Field(description="What keeps a game from going on, in a sentence; else empty.")
    eta_ms: int | None = Field(None, description="How long it will take; null if nobody knows.")


class EvaluationState(Answer):
    """An evaluation, and how far it has come."""

    model_config = ConfigDict(json_schema_extra={"examples": [STATE]})

    id: str
    name: str
    kind: KindName
    status: Status
    detail: str = Field(description="Why it ended or is paused, in a sentence; else empty.")
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    revision: int = Field(description="How often it has changed.")
    progress: ProgressAnswer | None = Field(description="Null before it has begun.")


class EvaluationDetails(EvaluationState):
    """An evaluation, and its plan."""

    model_config = ConfigDict(json_schema_extra={"examples": [STATE | {"plan": _PLAN}]})

    plan: dict[str, Any] = Field(
        description="As it was understood: defaults, anchors and positions are filled in."
    )


class EvaluationList(Answer):
    """Evaluations, the newest first."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"evaluations": [STATE], "next_cursor": None}]}
    )

    evaluations: list[EvaluationState]
    next_cursor: str | None = Field(description="For `cursor`; null if there are no more.")


class AppraisalAnswer(Answer):
    """What model calls may come to."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: str | None = Field(description="Null if some price is not known.")


class PlayerEstimate(Answer):
    """What one player may come to, agent or anchor."""

    player: str
    games: int
    likely: AppraisalAnswer
    most: AppraisalAnswer


class PlanEstimateAnswer(Answer):
    """What a plan will likely come to, and what it can come to at most."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "games": 47,
                    "most_games": 200,
                    "likely": _LIKELY,
                    "most": _MOST,
                    "players": [
                        {"player": "team:default", "games": 47, "likely": _LIKELY, "most": _MOST}
                    ],
                    "notes": ["likely is 40 moves a game"],
                }
            ]
        }
    )

    games: int
    most_games: int
    likely: AppraisalAnswer
    most: AppraisalAnswer
    players: list[PlayerEstimate]
    notes: list[str]
