"""Schedule: which game comes next, and when it is enough. What was played alone decides that.

So an evaluation that is taken up after a crash goes on as if nothing had happened. Games come in
pairs from one opening, with colours swapped, and have numbers without a gap: the odd ones begin a
pair, the even ones end it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from app.evaluations.plan import label_of
from app.matches.settings import PlayerSettings
from engine import Color, Termination


@dataclass(frozen=True)
class Slot:
    """The place of a game in an evaluation: who meets whom, and where they start."""

    number: int
    white: PlayerSettings
    black: PlayerSettings
    #: Which opening, from 1: games of the same round start alike, whoever plays them.
    round: int
    #: The number of its pair.
    pair: int | None = None
    #: Which position of the suite, from 0, instead of an opening.
    position: int | None = None

    @cached_property
    def labels(self) -> tuple[str, str]:
        """What White and Black are called."""
        return label_of(self.white), label_of(self.black)

    def color_of(self, label: str) -> Color | None:
        """Return the colour of a player; None if it does not play."""
        white, black = self.labels
        return Color.WHITE if label == white else Color.BLACK if label == black else None

    def returned(self) -> Slot:
        """Return the second game of the pair."""
        return replace(self, number=self.number + 1, white=self.black, black=self.white)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, from which `from_json` makes it again."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Slot:
        """Return the slot that `to_json` gave."""
        players = {color: PlayerSettings(**data[color]) for color in ("white", "black")}
        return cls(**{**data, **players})


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands: whether it is played, or what came of it."""

    slot: Slot
    status: Literal["playing", "scored"]
    winner: Color | None = None
    termination: Termination | None = None

    @property
    def is_scored(self) -> bool:
        """Whether it counts."""
        return self.status == "scored"

    def score_of(self, label: str) -> float:
        """Return what a player who took part scored: 1, 0.5 or 0."""
        if self.winner is None:
            return 0.5
        return float(self.slot.color_of(label) is self.winner)


class Schedule(Protocol):
    """Decides by what was played. Games are given in the order of their numbers, without a gap."""

    def next_slot(self, games: Sequence[Standing]) -> Slot | None:
        """Return the next game to begin; None if there is none, or none yet."""

    def verdict(self, games: Sequence[Standing]) -> str | None:
        """Return why no more games are needed, in a sentence; None if some are."""

    def expected(self, games: Sequence[Standing]) -> int:
        """Return how many games it will be in the end, as far as can be told."""


def pair_of(number: int) -> int:
    """Return the number of the pair that a game belongs to."""
    return (number + 1) // 2


def begun(number: int, first: PlayerSettings, second: PlayerSettings, round_number: int) -> Slot:
    """Return the first game of a pair, in which the first player has White."""
    return Slot(number, first, second, round_number, pair_of(number))


def unfinished_pair(games: Sequence[Standing]) -> Slot | None:
    """Return the second game of the last pair, if only the first was begun."""
    return games[-1].slot.returned() if len(games) % 2 else None
