"""Schemas of what matches are made of: players, budgets, policies, wherever they are asked for."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints

from agents.models.budget import Budget
from app.bodies import Body
from app.matches.settings import (
    Adjudication,
    AnalysisSettings,
    DrawScore,
    Feedback,
    IllegalMoves,
    LastResort,
    PlayerSettings,
    ResignScore,
)
from engine import TimeControl

#: What `"analysis": true` stands for.
ANALYSIS_NODES = 50_000
#: Only a search by depth alone could go on for hours.
_ANALYSIS_MS = 10_000
_MILLIONTH = Decimal("0.000001")

#: Databases take no NUL, terminals no control characters. (Half a surrogate pair is no text.)
TEXT_PATTERN = r"^[^\x00-\x1f\x7f-\x9f]+$"
PlayerName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=TEXT_PATTERN)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=50, pattern=TEXT_PATTERN)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=TEXT_PATTERN)]
Moves = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=TEXT_PATTERN)]
_Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class PlayerBody(Body):
    """Who fills a seat. Limits are for UCI engines and `classical`, instead of their own."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "stockfish:5", "title": "Rook", "depth": 8}]}
    )

    name: PlayerName = Field(
        description="`human`, or a name that `/api/players` lists, such as `stockfish:5`."
    )
    title: Text | None = Field(None, description="What people call it; the name, if not given.")
    depth: int | None = Field(None, ge=1, le=100)
    nodes: int | None = Field(None, ge=1, le=1_000_000_000)
    time_ms: int | None = Field(None, ge=1, le=600_000, description="For each move.")

    def settings(self) -> PlayerSettings:
        """Return the seat's part of the settings."""
        return PlayerSettings(self.name, self.title or "", self.depth, self.nodes, self.time_ms)


def _player(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Player = Annotated[
    PlayerBody, BeforeValidator(_player, json_schema_input_type=PlayerName | PlayerBody)
]


class IllegalMovesBody(Body):
    """What happens when a player that is no human brings forth a move that is not legal."""

    retries: int = Field(
        default=3, ge=0, le=20, description="How often it may try again, each turn."
    )
    feedback: Literal["none", "illegal", "why"] = Field(
        default="why", description="What it is told of the refused move."
    )
    then: Literal["forfeit", "candidate", "random"] = Field(
        default="forfeit",
        description="After the last try: it loses, or its best legal candidate or any legal move "
        "is played.",
    )

    def settings(self) -> IllegalMoves:
        """Return that part of the settings."""
        return IllegalMoves(self.retries, Feedback(self.feedback), LastResort(self.then))


class BudgetBody(Body):
    """What the model calls of a match may cost; what is not given is not bounded."""

    usd: _Dollars | None = Field(default=None, description="In dollars, to the millionth.")
    tokens: int | None = Field(default=None, ge=0, le=10**12)
    calls: int | None = Field(default=None, ge=0, le=10**9)

    def settings(self) -> Budget:
        """Return that part of the settings."""
        return Budget(None if self.usd is None else _exact(self.usd), self.tokens, self.calls)


class ResignScoreBody(Body):
    """A side loses that stood so badly after each of so many moves, as both see it."""

    centipawns: int = Field(900, ge=1, le=100_000)
    moves: int = Field(4, ge=1, le=1_000)


class DrawScoreBody(Body):
    """A draw, when after some move the score stayed that near to zero for so many moves."""

    centipawns: int = Field(10, ge=0, le=100_000)
    moves: int = Field(8, ge=1, le=1_000)
    after_move: int = Field(40, ge=0, le=1_000)


class AdjudicationBody(Body):
    """When a referee ends the match by the scores of its plies; never, where nothing is given."""

    resign: ResignScoreBody | None = None
    draw: DrawScoreBody | None = None

    def settings(self) -> Adjudication:
        """Return that part of the settings."""
        resign, draw = self.resign, self.draw
        return Adjudication(
            None if resign is None else ResignScore(resign.centipawns, resign.moves),
            None if draw is None else DrawScore(draw.centipawns, draw.moves, draw.after_move),
        )


class AnalysisBody(Body):
    """How far Stockfish looks at the position after each ply; the first limit reached counts."""

    depth: int | None = Field(None, ge=1, le=30)
    nodes: int | None = Field(None, ge=1, le=5_000_000)
    time_ms: int | None = Field(None, ge=1, le=_ANALYSIS_MS, description="Never more than 10 s.")

    def settings(self) -> AnalysisSettings:
        """Return that part of the settings."""
        nodes, time_ms = self.nodes, self.time_ms
        if (self.depth, nodes, time_ms) == (None, None, None):
            nodes = ANALYSIS_NODES
        if nodes is None and time_ms is None:
            time_ms = _ANALYSIS_MS
        return AnalysisSettings(self.depth, nodes, time_ms)


def _analysis(value: object) -> object:
    if isinstance(value, bool):
        return {} if value else None
    return value


Analysis = Annotated[
    AnalysisBody | None,
    BeforeValidator(_analysis, json_schema_input_type=bool | AnalysisBody | None),
]


def _time_control(text: str) -> str:
    TimeControl.parse(text)
    return text


TimeControlText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=TEXT_PATTERN),
    AfterValidator(_time_control),
]


def _exact(dollars: float) -> Decimal:
    """Return dollars to the millionth, and no more digits than they need."""
    text = f"{Decimal(repr(dollars)).quantize(_MILLIONTH, ROUND_DOWN):f}"
    return Decimal(text.rstrip("0").rstrip("."))
