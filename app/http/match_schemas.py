"""Schemas of matches: what whoever starts or commands one may send."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from app.bodies import Body, FenText, MoveText, VariantName
from app.matches.schemas import (
    ANALYSIS_NODES,
    AdjudicationBody,
    Analysis,
    BudgetBody,
    IllegalMovesBody,
    Moves,
    Player,
    Tag,
    Text,
    TimeControlText,
)
from app.matches.settings import MAX_SEED, MatchSettings


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
    opening: Moves | None = Field(
        None,
        description="Instead of `initial_fen`: an opening by name or ECO code, or moves.",
        examples=["C65", "e4 e5 Nf3"],
    )
    time_control: TimeControlText | None = Field(
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

    reason: Text | None = Field(None, description="Shown to whoever watches.")


class ResumeBody(Body):
    """With what a paused match goes on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"budget": {"usd": 2.5}}]})

    budget: BudgetBody | None = Field(
        None,
        description="In place of the budget that it had; what was spent before counts. As it was, "
        "if not given.",
    )
