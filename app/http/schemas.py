"""Schemas that several routes share: what bodies may hold, and how chess is told in JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

from app.bodies import Body, FenText, MoveText, VariantName
from engine import Color, Game, Move, Outcome, Position, Status, Termination

#: More plies than any game that was ever played.
MOST_MOVES = 2_000
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Answer(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(frozen=True)


MoveList = Annotated[list[MoveText], Field(max_length=MOST_MOVES)]

ColorName = Literal["white", "black"]
VARIANT_FIELD = "The variant to play by."
FEN_FIELD = "The position; the variant's start if not given."
MOVES_FIELD = "Moves from there, in any notation: SAN, UCI, figurines, ..."


class LegalMove(Answer):
    """A legal move."""

    uci: str = Field(description="As UCI engines write it.", examples=["g1f3"])
    san: str = Field(description="As people write it.", examples=["Nf3"])

    @classmethod
    def of(cls, position: Position, move: Move) -> LegalMove:
        """Describe a legal move of a position."""
        return cls(uci=move.uci(), san=position.san(move))

    @classmethod
    def all_of(cls, game: Game) -> list[LegalMove]:
        """Describe every move that can be played; none, if the game is over."""
        if game.is_over:
            return []
        moves = sorted(game.position.legal_moves(), key=Move.uci)
        return [cls.of(game.position, move) for move in moves]


class OutcomeAnswer(Answer):
    """How a game ended."""

    winner: ColorName | None = Field(description="Null for a draw.")
    termination: Termination
    result: str = Field(description="As PGN writes it.", examples=["1-0"])
    detail: str = Field(examples=["White wins by checkmate"])

    @classmethod
    def of(cls, outcome: Outcome | None) -> OutcomeAnswer | None:
        """Describe an outcome, if there is one."""
        if outcome is None:
            return None
        return cls(
            winner=None if outcome.winner is None else color_name(outcome.winner),
            termination=outcome.termination,
            result=outcome.result,
            detail=str(outcome),
        )


def color_name(color: Color) -> ColorName:
    """Return a colour by its name."""
    return "white" if color is Color.WHITE else "black"


class PositionBody(Body):
    """A position of some variant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fen": START}]})

    fen: FenText | None = Field(None, description=FEN_FIELD)
    variant: VariantName = Field("standard", description=VARIANT_FIELD)


class MovesAnswer(Answer):
    """A position and its legal moves."""

    fen: str = Field(description="The position, as Kibitz writes it.", examples=[START])
    variant: str
    turn: ColorName
    check: bool
    moves: list[LegalMove]
    outcome: OutcomeAnswer | None = Field(description="Null while the game goes on.")


class CheckBody(PositionBody):
    """A position, and what somebody would play in it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fen": START, "move": "Nf3"}]})

    move: MoveText = Field(description="The move, in any notation.")


class CheckAnswer(Answer):
    """Whether a move is legal, and if not, why."""

    legal: bool
    uci: str | None
    san: str | None
    reason: str | None = Field(
        description="Why not, as a word: `unreadable`, `ambiguous`, `game_over`, or the rule "
        "that forbids it, such as `leaves_king_in_check`.",
        examples=[None],
    )
    detail: str | None = Field(description="Why not, in a sentence.", examples=[None])


class PlayBody(PositionBody):
    """A position, and moves to play from it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"moves": ["e4", "e7e5", "Nf3"]}]})

    moves: MoveList = Field(description=MOVES_FIELD)


class PlyAnswer(LegalMove):
    """A move that was played, and the position that it led to."""

    fen: str


class PlayAnswer(Answer):
    """Where the moves lead."""

    fen: str
    variant: str
    turn: ColorName
    status: Status
    outcome: OutcomeAnswer | None = Field(description="Null while the game goes on.")
    plies: list[PlyAnswer]


class AnalyseBody(PositionBody):
    """A position, and how much to think about it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"moves": ["e4"], "lines": 2}]})

    moves: MoveList = Field([], description=f"{MOVES_FIELD} Repetitions among them count.")
    nodes: int | None = Field(None, ge=1, le=5_000_000, description="200,000 if nothing is given.")
    depth: int | None = Field(None, ge=1, le=30)
    time_ms: int | None = Field(None, ge=1, le=10_000, description="Never more than 10 s.")
    lines: int = Field(1, ge=1, le=10, description="How many variations to show.")


class ScoreAnswer(Answer):
    """What a position is worth, from White's side: centipawns, or moves to mate."""

    centipawns: int | None
    mate: int | None = Field(description="Negative if Black mates.")
    bound: Literal["lowerbound", "upperbound"] | None = Field(description="Null if it is exact.")


class ChancesAnswer(Answer):
    """White's chances to win, draw and lose, in thousandths."""

    win: int
    draw: int
    loss: int


class VerdictAnswer(Answer):
    """What perfect play makes of it for the side to move."""

    value: Literal["win", "draw", "loss"]
    plies: int | None = Field(description="How soon; null if only a repetition ends the game.")


class VariationAnswer(Answer):
    """A line that was looked at."""

    rank: int = Field(description="1 is the best.")
    score: ScoreAnswer | None = Field(description="Null where the variant is solved.")
    wdl: ChancesAnswer | None = Field(description="Null if the UCI engine does not tell.")
    verdict: VerdictAnswer | None = Field(description="Only where the variant is solved.")
    depth: int | None
    seldepth: int | None
    nodes: int | None
    time_ms: int | None
    moves: list[LegalMove] = Field(description="The line, as it would be played.")


class AnalyseAnswer(Answer):
    """What somebody who knows thinks of a position."""

    fen: str
    variant: str
    turn: ColorName
    by: str = Field(description="Who thought: `stockfish`, or `solver` for King's Cooking.")
    outcome: OutcomeAnswer | None = Field(description="Not null if the game is over.")
    verdict: VerdictAnswer | None = Field(description="Only where the variant is solved.")
    variations: list[VariationAnswer] = Field(description="Best first.")
