"""What an evaluation has played: its games, its answers to positions, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agents.models.budget import Spending
from engine import Color, Termination

if TYPE_CHECKING:
    from app.evaluations.adaptive import Anchor
    from app.evaluations.analysis.game_analysis import GameAnalysis

Kind: TypeAlias = Literal["ladder", "duel", "pool", "positions"]

_FORFEITS = frozenset((Termination.RULES_INFRACTION, Termination.TIME_FORFEIT))
#: What is noted of games that were broken off, and not by a fault.
BUDGET_SPENT = "the evaluation's budget is spent"
CANCELLED = "the evaluation was cancelled"
_NOTHING = Spending()


@dataclass(frozen=True, slots=True)
class SideRecord:
    """What one side did in a game, besides its result."""

    #: Its own plies, without those of the opening.
    plies: int = 0
    #: Rejected attempts: moves that the rules forbid, and replies in which there was no move.
    illegal: int = 0
    unreadable: int = 0
    think_ms: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    #: None if the price of any call is unknown; 0 if there was none.
    cost_usd: Decimal | None = Decimal(0)
    latency_ms: int = 0

    @property
    def tokens(self) -> int:
        """All that were read and written; those of reasoning are among the completion's."""
        return self.prompt_tokens + self.completion_tokens

    @classmethod
    def total(cls, records: Iterable[SideRecord]) -> SideRecord:
        """Return the sum of records; its cost is unknown if that of any is."""
        sums: dict[str, Any] = {}
        for record in records:
            for each in fields(cls):
                old, new = sums.get(each.name, 0), getattr(record, each.name)
                sums[each.name] = None if old is None or new is None else old + new
        return cls(**sums)


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that counts."""

    number: int
    match_id: str
    #: The players' labels, such as `stockfish:5`.
    white: str
    black: str
    opening: str
    #: The number of the pair: two games from one opening with colours swapped.
    pair: int | None
    winner: Color | None
    termination: Termination
    plies: int
    opening_plies: int
    white_side: SideRecord
    black_side: SideRecord
    ended_at: datetime

    @property
    def is_forfeit(self) -> bool:
        """Whether it was decided by the rules or the clock, and not by chess."""
        return self.termination in _FORFEITS

    @property
    def result(self) -> str:
        """The result as score sheets have it."""
        if self.winner is None:
            return "1/2-1/2"
        return "1-0" if self.winner is Color.WHITE else "0-1"

    def color_of(self, label: str) -> Color:
        """Return the colour of a player; raises `KeyError` if it did not play."""
        if label == self.white:
            return Color.WHITE
        if label == self.black:
            return Color.BLACK
        raise KeyError(label)

    def score_of(self, label: str) -> float:
        """Return what a player scored: 1, 0.5 or 0; raises `KeyError` if it did not play."""
        color = self.color_of(label)
        return 0.5 if self.winner is None else float(self.winner is color)

    def opponent_of(self, label: str) -> str:
        """Return a player's opponent; raises `KeyError` if it did not play."""
        return self.black if self.color_of(label) is Color.WHITE else self.white

    def side(self, color: Color) -> SideRecord:
        """Return what a colour did."""
        return self.white_side if color is Color.WHITE else self.black_side


class VoidCause(StrEnum):
    """Why a game does not count."""

    FAULT = "fault"
    BUDGET = "budget"
    CANCELLED = "cancelled"

    @classmethod
    def of(cls, detail: str) -> VoidCause:
        """Return the cause by what was noted of the game."""
        return {BUDGET_SPENT: cls.BUDGET, CANCELLED: cls.CANCELLED}.get(detail, cls.FAULT)


@dataclass(frozen=True, slots=True)
class VoidGame:
    """A game that does not count."""

    cause: VoidCause = VoidCause.FAULT
    #: Whether it was begun again.
    is_replayed: bool = True


@dataclass(frozen=True, slots=True)
class PositionAnswer:
    """An agent's answer to one position of a suite."""

    number: int
    match_id: str
    agent: str
    position_id: str
    fen: str
    #: The moves that are right, in UCI notation.
    best: tuple[str, ...]
    #: The rating of a player who would find one of them half of the time; None if nobody knows.
    difficulty: float | None
    difficulty_se: float | None
    #: In UCI notation; None if the agent brought forth no legal move in time.
    answer: str | None
    is_right: bool
    side: SideRecord


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """What a duel tests: whether the difference in Elo is the first bound or the second."""

    bounds: tuple[float, float] = (0.0, 50.0)
    model: Literal["logistic", "normalized"] = "logistic"
    alpha: float = 0.05
    beta: float = 0.05


@dataclass(frozen=True, slots=True)
class EvaluationData:
    """Everything that a report is made of."""

    id: str
    name: str
    kind: Kind
    status: str
    #: Why it stopped, in a sentence; empty while it goes on.
    detail: str
    created_at: datetime
    ended_at: datetime | None
    #: Plain JSON data, printed as they are.
    plan: Mapping[str, Any]
    manifest: Mapping[str, Any]
    #: The labels of whoever is measured, and the opponents of known rating.
    agents: tuple[str, ...]
    anchors: tuple[Anchor, ...] = ()
    #: What having White is worth, in Elo.
    white_advantage: float = 0.0
    games: tuple[PlayedGame, ...] = ()
    void_games: tuple[VoidGame, ...] = ()
    answers: tuple[PositionAnswer, ...] = ()
    #: By match id; not every game may be analysed yet.
    analyses: Mapping[str, GameAnalysis] = field(default_factory=dict)
    sprt: SprtSettings | None = None
    #: What all matches have spent, also those that are being played, and the void games of it.
    spent: Spending = _NOTHING
    void_spent: Spending = _NOTHING
