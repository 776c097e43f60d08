"""The route of the leaderboard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from app.bodies import VariantName
from app.http.dependencies import GatesOf, ReadScope
from app.http.disconnection import while_connected
from app.http.errors import problems
from app.http.evaluation_answers import EstimateAnswer
from app.http.evaluation_dependencies import TAG, EvaluationsOf
from app.http.paging import StrictQuery, json_response
from app.http.schemas import Answer

router = APIRouter(prefix="/api/ratings", tags=[TAG])

_ROW: dict[str, Any] = {
    "label": "team:default",
    "identity": "5f0c1f0e6a52",
    "rating": {
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
        "text": "1028 ± 138",
    },
    "games": 30,
    "wins": 14,
    "draws": 4,
    "losses": 12,
    "points": 16.0,
    "share": 0.533,
    "low": 0.361,
    "high": 0.698,
    "forfeits": 1,
    "evaluations": ["01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"],
    "per_move": {
        "calls": 3.0,
        "tokens": 3480.2,
        "cost_usd": "0.00609",
        "latency_ms": 2140.0,
        "think_ms": 4310.5,
    },
    "accuracy": 78.4,
    "analysed_games": 30,
    "positions": {"answers": 0, "right": 0, "rating": None},
}


class _Query(StrictQuery):
    variant: VariantName = Field(
        default="standard", description="Who is strong in one need not be so in another."
    )


class ToldEstimate(EstimateAnswer):
    """A rating, and how to write it."""

    text: str = Field(examples=["1028 ± 138", "> 1536"])


class PerMove(Answer):
    """What a move took on average; null if none was made."""

    calls: float | None
    tokens: float | None
    cost_usd: str | None = Field(description="Null also if some price is not known.")
    latency_ms: float | None
    think_ms: float | None


class SolvedPositions(Answer):
    """How an agent answered positions, which do not count for the rating by games."""

    answers: int
    right: int
    rating: ToldEstimate | None


class LeaderboardRow(Answer):
    """What is known of an agent by all evaluations."""

    label: str
    identity: str = Field(
        description="Tells agents of one label apart: another one has other prompts, models or "
        "settings."
    )
    rating: ToldEstimate | None = Field(description="Null if no chain of games leads to an anchor.")
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    share: float | None = Field(description="Points for each game, with its interval.")
    low: float | None
    high: float | None
    forfeits: int
    evaluations: list[str]
    per_move: PerMove
    accuracy: float | None
    analysed_games: int
    positions: SolvedPositions


class AnchorAnswer(Answer):
    """An opponent of known rating."""

    label: str
    elo: float
    se: float = Field(description="The standard error.")


class LeaderboardAnswer(Answer):
    """All agents, the strongest first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "rows": [_ROW],
                    "anchors": [{"label": "stockfish:5", "elo": 985.4, "se": 29.9}],
                    "notes": [],
                }
            ]
        }
    )

    rows: list[LeaderboardRow]
    anchors: list[AnchorAnswer]
    notes: list[str]


@router.get(
    "",
    summary="Show the leaderboard",
    response_model=LeaderboardAnswer,
    responses=problems(401, 422, 503),
)
async def leaderboard(
    request: Request,
    query: Annotated[_Query, Query()],
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Rate everybody who was ever measured, by the scored games of all evaluations at once."""

    async def make() -> dict[str, Any]:
        async with gates.reports:
            return (await evaluations.leaderboard(query.variant)).to_json()

    return json_response(await while_connected(request, make()))
