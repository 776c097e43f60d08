"""AnalysedPly: a move that was played, what an engine thinks of it, and of what was advised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.evaluations.accuracy import Judgement
from app.evaluations.analysis.phases import Phase
from app.matches.events import evaluation_json
from engine import Color, Evaluation


@dataclass(frozen=True, slots=True)
class Proposal:
    """That somebody named a move, and at which place, from 1."""

    by: str
    rank: int


@dataclass(frozen=True, slots=True)
class AnalysedCandidate:
    """A move that was on the table, and what the position after it is worth."""

    uci: str
    san: str
    #: From White's side; a mate in 0 is the mover's.
    evaluation: Evaluation
    #: The mover's.
    win: float
    proposals: tuple[Proposal, ...]

    def rank_by(self, name: str) -> int | None:
        """Return at which place somebody named it, or None."""
        return next((each.rank for each in self.proposals if each.by == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "uci": self.uci,
            "san": self.san,
            "evaluation": evaluation_json(self.evaluation),
            "win": self.win,
            "proposals": [{"by": each.by, "rank": each.rank} for each in self.proposals],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AnalysedCandidate:
        """Return what `to_json` gave."""
        return cls(
            data["uci"],
            data["san"],
            Evaluation(**data["evaluation"]),
            data["win"],
            tuple(Proposal(each["by"], each["rank"]) for each in data["proposals"]),
        )


@dataclass(frozen=True, slots=True)
class AnalysedPly:
    """A move that was played. Win% are the mover's."""

    number: int
    color: Color
    uci: str
    san: str
    #: What the position after it is worth, from White's side; a mate in 0 is the mover's.
    evaluation: Evaluation
    #: The engine's move instead; None if it was not asked.
    best: str | None
    win_before: float
    win_after: float
    #: How much Win% fell, at least 0; and by how much in centipawns.
    fall: float
    centipawn_loss: int
    accuracy: float
    #: None if there is nothing to say, and for moves of the opening that a match began with.
    judgement: Judgement | None
    phase: Phase
    #: Whether it is of the opening that a match began with, and so nobody's doing.
    is_opening: bool = False
    #: Who had the last word, if anybody spoke.
    decider: str | None = None
    #: Who was asked and named no move.
    abstained: tuple[str, ...] = ()
    #: Every move on the table, each once, in the order in which they were named.
    candidates: tuple[AnalysedCandidate, ...] = ()
    #: How much Win% was lost because a better candidate was passed over, at least 0; None if nobody
    #: but the decider named a move.
    regret: float | None = None

    @property
    def specialists(self) -> tuple[str, ...]:
        """Who was asked besides the decider."""
        named = (proposal.by for each in self.candidates for proposal in each.proposals)
        return tuple(
            name for name in dict.fromkeys((*named, *self.abstained)) if name != self.decider
        )

    def favourite_of(self, name: str) -> AnalysedCandidate | None:
        """Return the move that somebody named first, if any."""
        return next((each for each in self.candidates if each.rank_by(name) == 1), None)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "number": self.number,
            "color": self.color.value,
            "uci": self.uci,
            "san": self.san,
            "evaluation": evaluation_json(self.evaluation),
            "best": self.best,
            "win_before": self.win_before,
            "win_after": self.win_after,
            "fall": self.fall,
            "centipawn_loss": self.centipawn_loss,
            "accuracy": self.accuracy,
            "judgement": None if self.judgement is None else self.judgement.value,
            "phase": self.phase.value,
            "is_opening": self.is_opening,
            "decider": self.decider,
            "abstained": list(self.abstained),
            "candidates": [each.to_json() for each in self.candidates],
            "regret": self.regret,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AnalysedPly:
        """Return what `to_json` gave."""
        judgement = data["judgement"]
        candidates = map(AnalysedCandidate.from_json, data["candidates"])
        changed = {
            "color": Color(data["color"]),
            "evaluation": Evaluation(**data["evaluation"]),
            "judgement": None if judgement is None else Judgement(judgement),
            "phase": Phase(data["phase"]),
            "abstained": tuple(data["abstained"]),
            "candidates": tuple(candidates),
        }
        return cls(**{**data, **changed})
