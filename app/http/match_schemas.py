"""Schemas of matches: what whoever starts or commands one may send."""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_DOWN, Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from agents.models.budget import Budget
from app.http.schemas import Body, FenText, MoveText, VariantName
from app.matches.settings import (
    MAX_SEED,
    Adjudication,
    AnalysisSettings,
    DrawScore,
    Feedback,
    IllegalMoves,
    LastResort,
    MatchSettings,
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
_Text = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=TEXT_PATTERN)]
_Moves = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=TEXT_PATTERN)]
_Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class PlayerBody(Body):
    """Who fills a seat. Limits are for UCI engines and `classical`, instead of their own."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "stockfish:5", "title": "Rook", "depth": 8}]}
    )

    name: PlayerName = Field(
        description="`human`, or a name that `/api/players` lists, such as `stockfish:5`."
    )
    title: _Text | None = Field(None, description="What people call it; the name, if not given.")
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


_TimeControl = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=TEXT_PATTERN),
    AfterValidator(_time_control),
]


class MatchBody(Body):
    """A match to be started."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"white": "human", "black": "stockfish:3", "time_control": "300+3"},
                {
                    "white": {"name": "stockfish:5", "title": "Five"},
                    "black": "random",
                    "opening": "C65",
                    "analysis": True,
                    "adjudication": {"resign": {"centipawns": 900, "moves": 4}},
                    "max_plies": 200,
                    "seed": 7,
                    "tags": ["smoke"],
                },
            ]
        }
    )

    white: Player = Field(description="A name, or a name with a title and limits.")
    black: Player = Field(description="A name, or a name with a title and limits.")
    variant: VariantName = "standard"
    initial_fen: FenText | None = Field(
        None, description="Where the game starts; the variant's start, if not given."
    )
    opening: _Moves | None = Field(
        None,
        description="Instead of `initial_fen`: an opening by name or ECO code, or moves.",
        examples=["C65", "e4 e5 Nf3"],
    )
    time_control: _TimeControl | None = Field(
        None,
        description="`300+3`, `40/5400+30:1800`, `10s` for each move, `300d3` with a delay, "
        "`300b3` as Bronstein has it. Untimed, if not given.",
        examples=["300+3"],
    )
    illegal_moves: IllegalMovesBody = IllegalMovesBody()
    budget: BudgetBody = BudgetBody()
    adjudication: AdjudicationBody = AdjudicationBody()
    max_plies: int | None = Field(
        None, ge=1, le=2_000, description="After so many plies, opening and all, it is a draw."
    )
    analysis: Analysis = Field(
        None,
        description=f"How far Stockfish looks at each ply; `true` is {ANALYSIS_NODES} nodes.",
    )
    seed: int | None = Field(
        None, ge=0, le=MAX_SEED, description="Makes dice repeatable; any, if not given."
    )
    tags: list[Tag] = Field([], max_length=20, description="To find the match by.")

    def settings(self) -> MatchSettings:
        """Return the settings of the match, or raise what `MatchSettings` raises."""
        seed: dict[str, Any] = {} if self.seed is None else {"seed": self.seed}
        return MatchSettings(
            white=self.white.settings(),
            black=self.black.settings(),
            variant=self.variant,
            initial_fen=self.initial_fen,
            opening=self.opening,
            time_control=self.time_control,
            illegal_moves=self.illegal_moves.settings(),
            budget=self.budget.settings(),
            adjudication=self.adjudication.settings(),
            max_plies=self.max_plies,
            analysis=None if self.analysis is None else self.analysis.settings(),
            tags=tuple(self.tags),
            **seed,
        )

    def digest(self) -> str:
        """Return what tells this request from another, however either was spelled."""
        data = self.model_dump(mode="json", exclude_unset=True)
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class MoveBody(Body):
    """A move."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"move": "Nf3"}, {"move": "g1f3"}]})

    move: MoveText = Field(description="In any notation: SAN, UCI, figurines, ...")


class DrawBody(Body):
    """What a seat does about a draw."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"action": "offer"}, {"action": "claim", "move": "Nf3"}]}
    )

    action: Literal["offer", "accept", "decline", "claim"]
    move: MoveText | None = Field(
        None,
        description="With `claim`: the move with which the position occurs for the third time, or "
        "fifty moves are full. It is not played.",
    )

    @model_validator(mode="after")
    def _check_move(self) -> DrawBody:
        if self.move is not None and self.action != "claim":
            raise ValueError("a move goes with `claim` only")
        return self


class TakebackBody(Body):
    """What a seat does about taking back its last move, or the opponent's."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "ask"}]})

    action: Literal["ask", "accept", "decline"]


class ReasonBody(Body):
    """Why somebody pauses or aborts a match."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "lunch"}]})

    reason: _Text | None = Field(None, description="Shown to whoever watches.")


class ResumeBody(Body):
    """With what a paused match goes on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"budget": {"usd": 2.5}}]})

    budget: BudgetBody | None = Field(
        None,
        description="In place of the budget that it had; what was spent before counts. As it was, "
        "if not given.",
    )


def _exact(dollars: float) -> Decimal:
    """Return dollars to the millionth, and no more digits than they need."""
    text = f"{Decimal(repr(dollars)).quantize(_MILLIONTH, ROUND_DOWN):f}"
    return Decimal(text.rstrip("0").rstrip("."))
