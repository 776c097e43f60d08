"""Schemas of matches: how they are told. They describe what `state_of` returns, field by field."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.http.schemas import START, Answer, ColorName, LegalMove, OutcomeAnswer
from app.matches.match import MatchStatus, PauseCause
from app.matches.settings import Feedback, LastResort

_ID = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"
_AT = "2025-07-01T12:00:00.000Z"
_AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"


def _seat(name: str) -> dict[str, Any]:
    return {"name": name, "title": "", "depth": None, "nodes": None, "time_ms": None}


_SUMMARY: dict[str, Any] = {
    "id": _ID,
    "status": "running",
    "created_at": _AT,
    "updated_at": "2025-07-01T12:00:04.250Z",
    "sequence": 5,
    "white": _seat("human"),
    "black": _seat("stockfish:3"),
    "variant": "standard",
    "initial_fen": None,
    "opening": None,
    "time_control": "300+3",
    "illegal_moves": {"retries": 3, "feedback": "why", "then": "forfeit"},
    "budget": {"usd": None, "tokens": None, "calls": None},
    "adjudication": {"resign": None, "draw": None},
    "max_plies": None,
    "analysis": None,
    "seed": 7,
    "tags": ["smoke"],
    "fen": _AFTER_E4,
    "ply_count": 1,
    "result": "*",
    "evaluation_id": None,
    "turn": "black",
    "check": False,
    "last_move": {"uci": "e2e4", "san": "e4"},
    "clocks": {"white_ms": 298750, "black_ms": 300000},
    "turn_started_at": "2025-07-01T12:00:04.250Z",
    "spent_ms": 0,
    "draw_offer": None,
    "takeback": None,
    "outcome": None,
    "detail": "",
    "pause_cause": None,
    "started_at": _AT,
    "ended_at": None,
}
_STATE = _SUMMARY | {"legal_moves": [{"uci": "e7e5", "san": "e5"}, {"uci": "c7c5", "san": "c5"}]}
_LEDGER = {
    "calls": 0,
    "prompt_tokens": 0,
    "cached_tokens": 0,
    "reasoning_tokens": 0,
    "completion_tokens": 0,
    "cost_usd": None,
    "unpriced_calls": 0,
}
_PLY: dict[str, Any] = {
    "number": 1,
    "color": "white",
    "uci": "e2e4",
    "san": "e4",
    "fen": _AFTER_E4,
    "elapsed_ms": 4250,
    "clock_ms": 298750,
    "evaluation": {"centipawns": 35},
    "source": "human",
    "played_at": "2025-07-01T12:00:04.250Z",
    "advice": [],
    "attempts": [],
}


class PlayerAnswer(Answer):
    """Who fills a seat."""

    name: str
    title: str = Field(description="Empty if people call it by its name.")
    depth: int | None
    nodes: int | None
    time_ms: int | None


class IllegalMovesAnswer(Answer):
    """What happens when a player brings forth a move that is not legal."""

    retries: int
    feedback: Feedback
    then: LastResort


class BudgetAnswer(Answer):
    """What the model calls may cost; null is no bound."""

    usd: str | None = Field(description="Dollars, exact, as text.", examples=["0.5"])
    tokens: int | None
    calls: int | None


class ResignScoreAnswer(Answer):
    """When a side loses by its scores."""

    centipawns: int
    moves: int


class DrawScoreAnswer(Answer):
    """When a match is a draw by its scores."""

    centipawns: int
    moves: int
    after_move: int


class AdjudicationAnswer(Answer):
    """When a referee ends the match; null is never."""

    resign: ResignScoreAnswer | None
    draw: DrawScoreAnswer | None


class AnalysisAnswer(Answer):
    """How far Stockfish looks at the position after each ply."""

    depth: int | None
    nodes: int | None
    time_ms: int | None


class ClocksAnswer(Answer):
    """What stood on the clocks when the turn began."""

    white_ms: int | None
    black_ms: int | None


class MatchSummary(Answer):
    """A match: what was asked for, and where it stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SUMMARY]})

    id: str
    status: MatchStatus
    created_at: datetime
    updated_at: datetime
    sequence: int = Field(description="The number of its last event.")
    white: PlayerAnswer
    black: PlayerAnswer
    variant: str
    initial_fen: str | None
    opening: str | None
    time_control: str | None
    illegal_moves: IllegalMovesAnswer
    budget: BudgetAnswer
    adjudication: AdjudicationAnswer
    max_plies: int | None
    analysis: AnalysisAnswer | None
    seed: int
    tags: list[str]
    fen: str = Field(description="The position now.", examples=[START])
    ply_count: int
    result: str = Field(description="As PGN writes it: `*` until it is over.")
    evaluation_id: str | None = Field(description="The evaluation that it was played for.")
    turn: ColorName
    check: bool
    last_move: LegalMove | None
    clocks: ClocksAnswer | None = Field(
        description="Null if it is not timed, or known from a PGN that tells of no clock."
    )
    turn_started_at: datetime | None
    spent_ms: int = Field(description="What the turn had taken before it last began or went on.")
    draw_offer: ColorName | None = Field(description="Whose offer of a draw stands.")
    takeback: ColorName | None = Field(description="Who asks to take back.")
    outcome: OutcomeAnswer | None
    detail: str = Field(description="How it ended, in a sentence; also if it was aborted.")
    pause_cause: PauseCause | None = Field(
        None,
        description="Why it is paused: by a command, by a fault, since a model is away, or cannot "
        "be asked as things are set up, since a budget is spent, or with its evaluation.",
    )
    started_at: datetime | None
    ended_at: datetime | None


class MatchAnswer(MatchSummary):
    """A match, and the moves that can be played in it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_STATE]})

    legal_moves: list[LegalMove] = Field(description="None, if it is over.")


class LedgerAnswer(Answer):
    """What the model calls of a match cost."""

    calls: int
    prompt_tokens: int
    cached_tokens: int = Field(description="Among those of the prompts.")
    reasoning_tokens: int = Field(description="Among those of the completions.")
    completion_tokens: int
    cost_usd: str | None = Field(description="As text, exact; null if no price is known.")
    unpriced_calls: int = Field(
        description="Calls whose price nobody knows: they are not in the cost."
    )


class MatchWithLedger(MatchAnswer):
    """A match, its legal moves, and what its model calls cost."""

    model_config = ConfigDict(json_schema_extra={"examples": [_STATE | {"ledger": _LEDGER}]})

    ledger: LedgerAnswer


class SeatAnswer(Answer):
    """The secret of a seat that a human fills."""

    token: str | None = Field(
        description="For the header `X-Seat-Token`. Shown this once: null when a request is "
        "repeated after more than ten minutes."
    )


class SeatsAnswer(Answer):
    """The seats that humans fill."""

    white: SeatAnswer | None = None
    black: SeatAnswer | None = None


class MatchCreated(MatchAnswer):
    """A match that was started, and the secrets of its human seats."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                _STATE | {"seats": {"white": {"token": "cJ0oK5Yf3o1tT4rJb8uWq2Zx9nVd6LhA"}}}
            ]
        }
    )

    seats: SeatsAnswer


class MatchList(Answer):
    """Matches, the newest first."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"matches": [_SUMMARY], "next_cursor": None}]}
    )

    matches: list[MatchSummary]
    next_cursor: str | None = Field(description="For `cursor`; null if there are no more.")


class EvaluationAnswer(Answer):
    """What the position after a ply is worth, from White's side: one of the two."""

    centipawns: int | None = None
    mate: int | None = Field(None, description="Moves to mate; negative if Black mates.")


class CandidateAnswer(LegalMove):
    """A move that somebody proposed."""

    reason: str


class AdviceAnswer(Answer):
    """What somebody said before a ply."""

    by: str
    candidates: list[CandidateAnswer]
    words: str = Field("", description="All that was said, where it was more than the reasons.")
    abstained: str = Field("", description="Why somebody who was asked gave no advice.")


class AttemptAnswer(Answer):
    """A move that was refused before a ply."""

    attempt: int
    move: str
    kind: str = Field(examples=["IllegalMove"])
    detail: str


class MatchPly(Answer):
    """A move that was played."""

    number: int
    color: ColorName
    uci: str
    san: str
    fen: str = Field(description="The position after it.")
    elapsed_ms: int | None = Field(
        description="What it took; null in the opening, and where a PGN does not tell it."
    )
    clock_ms: int | None = Field(description="What was left on the clock after it.")
    evaluation: EvaluationAnswer | None
    source: str = Field(description="Who played it, `opening`, or `pgn:` and a name.")
    played_at: datetime
    advice: list[AdviceAnswer]
    attempts: list[AttemptAnswer]


class PlyList(Answer):
    """The plies of a match, in order."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"start_fen": START, "plies": [_PLY], "next_cursor": None}]}
    )

    start_fen: str = Field(description="The position before the first ply.")
    plies: list[MatchPly]
    next_cursor: str | None = Field(description="For `cursor`; null if there are no more.")
