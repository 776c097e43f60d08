"""Settings of a match: what whoever starts it decides. They never change afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from random import SystemRandom
from typing import Any

from agents.models.budget import Budget
from agents.uci.limits import Limit
from app.matches.errors import UnplayableSettings
from app.matches.openings import Opening, find_opening
from engine import (
    Color,
    Game,
    GameOver,
    IllegalPosition,
    InvalidFen,
    MoveError,
    Position,
    TimeControl,
)
from engine.variant import find_variant

HUMAN = "human"
#: So begin the names of those who played elsewhere, of whom a PGN tells. Nobody of ours can be
#: called so, and nobody can seat them.
ELSEWHERE = "pgn:"
#: The source of plies that nobody decided.
OPENING = "opening"
MAX_SEED = 2**53 - 1  # the largest that every JSON reader keeps


@dataclass(frozen=True)
class PlayerSettings:
    """Who fills a seat: a name of the catalogue or `human`, and how far a UCI engine may think."""

    name: str
    #: What people call it; the name, if not given.
    title: str = ""
    depth: int | None = None
    nodes: int | None = None
    time_ms: int | None = None

    @property
    def is_human(self) -> bool:
        """Whether somebody moves over HTTP, with the seat's token."""
        return self.name == HUMAN

    @property
    def is_imported(self) -> bool:
        """Whether they played elsewhere."""
        return self.name.startswith(ELSEWHERE)

    @property
    def limit(self) -> Limit | None:
        """The limit of a UCI engine; None if it keeps its own. Raises `InvalidLimit`."""
        time = None if self.time_ms is None else timedelta(milliseconds=self.time_ms)
        limit = Limit(depth=self.depth, nodes=self.nodes, time=time)
        return limit if limit.is_set else None


class Feedback(StrEnum):
    """What a player is told of a move that was refused."""

    NONE = "none"
    ILLEGAL = "illegal"
    WHY = "why"


class LastResort(StrEnum):
    """What happens when a player's attempts have run out."""

    FORFEIT = "forfeit"
    CANDIDATE = "candidate"
    RANDOM = "random"


@dataclass(frozen=True)
class IllegalMoves:
    """How often a player may try again after a refused move, what it is told, and what then."""

    retries: int = 3
    feedback: Feedback = Feedback.WHY
    then: LastResort = LastResort.FORFEIT


@dataclass(frozen=True)
class ResignScore:
    """A side loses that stands at least so badly after each of its last moves, as both see it."""

    centipawns: int = 900
    moves: int = 4


@dataclass(frozen=True)
class DrawScore:
    """A draw, when from some move on the score stayed that near to zero for so many moves."""

    centipawns: int = 10
    moves: int = 8
    after_move: int = 40


@dataclass(frozen=True)
class Adjudication:
    """When a referee ends a match by its scores; None: never."""

    resign: ResignScore | None = None
    draw: DrawScore | None = None


@dataclass(frozen=True)
class AnalysisSettings:
    """How far Stockfish looks at the position after each ply; it costs the players no time."""

    depth: int | None = None
    nodes: int | None = None
    time_ms: int | None = None

    @property
    def limit(self) -> Limit:
        """The limit of each analysis."""
        time = None if self.time_ms is None else timedelta(milliseconds=self.time_ms)
        return Limit(depth=self.depth, nodes=self.nodes, time=time)


def _some_seed() -> int:
    return SystemRandom().randint(0, MAX_SEED)


@dataclass(frozen=True)
class MatchSettings:
    """Everything that is decided before a match; raises `UnplayableSettings` for contradictions.

    Nothing in it is a secret: it is shown to every watcher.
    """

    white: PlayerSettings
    black: PlayerSettings
    variant: str = "standard"
    initial_fen: str | None = None
    #: A name or ECO code of `app.matches.openings`, or moves in short notation.
    opening: str | None = None
    time_control: str | None = None
    illegal_moves: IllegalMoves = IllegalMoves()
    budget: Budget = field(default_factory=Budget)
    adjudication: Adjudication = Adjudication()
    max_plies: int | None = None
    analysis: AnalysisSettings | None = None
    seed: int = field(default_factory=_some_seed)
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.initial_fen is not None and self.opening is not None:
            raise UnplayableSettings(
                "opening", "a match has an initial_fen or an opening, not both"
            )
        if self.is_imported:  # it was played, whatever the rules say of it
            return
        game = self.game
        if game.is_over:
            where = "initial_fen" if self.opening is None else "opening"
            raise UnplayableSettings(where, f"the game is over there: {game.describe()}")
        if self.max_plies is not None and self.max_plies <= len(game.line):
            raise UnplayableSettings("max_plies", "the opening has as many plies already")

    def player(self, color: Color) -> PlayerSettings:
        """Return who fills a seat."""
        return self.white if color is Color.WHITE else self.black

    @property
    def has_human(self) -> bool:
        """Whether somebody moves over HTTP."""
        return self.white.is_human or self.black.is_human

    @property
    def is_imported(self) -> bool:
        """Whether it was played elsewhere, and is known from a PGN."""
        return self.white.is_imported and self.black.is_imported

    def with_start(self) -> MatchSettings:
        """Return them with the position named from which a match starts that may choose one.

        In Chess960 the seed draws one of the 960, unless there is an opening.
        """
        variant = find_variant(self.variant)
        if variant.starts == 1 or self.initial_fen is not None or self.opening is not None:
            return self
        start = Position.start(self.variant, self.seed % variant.starts)
        return replace(self, initial_fen=start.fen())

    @property
    def start(self) -> Position:
        """The position before the opening."""
        if self.initial_fen is None:
            return Position.start(self.variant)
        try:
            return Position.from_fen(self.initial_fen, self.variant)
        except (InvalidFen, IllegalPosition) as error:
            raise UnplayableSettings("initial_fen", str(error)) from error

    @cached_property
    def control(self) -> TimeControl | None:
        """The time control; None if the match is not timed."""
        if self.time_control is None:
            return None
        control = TimeControl.parse(self.time_control)
        return control if control.is_timed else None

    @property
    def game(self) -> Game:
        """A new game, as it stands after the opening."""
        # Where a human plays, a draw is the human's to claim; engines never would.
        game = Game(self.start, claims_draws=not self.has_human)
        for move in self.opening_moves:
            try:
                game.play(move, source=OPENING)
            except (MoveError, GameOver) as error:
                raise UnplayableSettings("opening", str(error)) from error
        if self.control is not None:
            game.start_clock(self.control)
        return game

    @property
    def opening_moves(self) -> tuple[str, ...]:
        """The moves of the opening."""
        if self.opening is None:
            return ()
        known = self.known_opening
        if known is None:
            return tuple(word for word in self.opening.split() if not word.rstrip(".").isdigit())
        if self.variant != "standard":
            raise UnplayableSettings("opening", f"{known.name} is an opening of standard chess")
        return known.moves

    @property
    def known_opening(self) -> Opening | None:
        """The opening, if it is one with a name."""
        return None if self.opening is None else find_opening(self.opening)

    def pgn_tags(self, created_at: datetime) -> dict[str, str]:
        """Return what a PGN tells of a match besides its moves."""
        tags = {
            "Event": "Kibitz match",
            "Date": created_at.strftime("%Y.%m.%d"),
            "Round": "-",
            "White": self.white.title or self.white.name,
            "Black": self.black.title or self.black.name,
            "UTCDate": created_at.strftime("%Y.%m.%d"),
            "UTCTime": created_at.strftime("%H:%M:%S"),
        }
        opening = self.known_opening
        if opening is not None:
            tags |= {"ECO": opening.eco, "Opening": opening.name}
        return tags

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain data, from which `from_json` makes them again."""
        data = asdict(self)
        data["budget"] = budget_json(self.budget)
        data["tags"] = list(self.tags)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MatchSettings:
        """Return the settings that `to_json` gave."""
        adjudication = data["adjudication"]
        illegal, analysis = data["illegal_moves"], data["analysis"]
        resign, draw = adjudication["resign"], adjudication["draw"]
        return cls(
            white=PlayerSettings(**data["white"]),
            black=PlayerSettings(**data["black"]),
            variant=data["variant"],
            initial_fen=data["initial_fen"],
            opening=data["opening"],
            time_control=data["time_control"],
            illegal_moves=IllegalMoves(
                illegal["retries"], Feedback(illegal["feedback"]), LastResort(illegal["then"])
            ),
            budget=budget_of(data["budget"]),
            adjudication=Adjudication(
                None if resign is None else ResignScore(**resign),
                None if draw is None else DrawScore(**draw),
            ),
            max_plies=data["max_plies"],
            analysis=None if analysis is None else AnalysisSettings(**analysis),
            seed=data["seed"],
            tags=tuple(data["tags"]),
        )


def budget_json(budget: Budget) -> dict[str, Any]:
    """Return a budget as plain data; dollars are text, so that they stay exact."""
    return asdict(budget) | {"usd": None if budget.usd is None else str(budget.usd)}


def budget_of(data: Mapping[str, Any]) -> Budget:
    """Return the budget that `budget_json` gave."""
    usd = data["usd"]
    return Budget(None if usd is None else Decimal(usd), data["tokens"], data["calls"])
