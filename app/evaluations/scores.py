"""Scores: games won, drawn and lost, the share of points, and what share may be behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.evaluations.bradley_terry import NATURAL
from app.evaluations.games import PlayedGame
from engine import Color

#: Half a 95 % interval of the normal distribution, in standard deviations.
_NORMAL_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Score:
    """What a player scored in some games."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @classmethod
    def of(cls, label: str, games: Iterable[PlayedGame]) -> Score:
        """Return what a player scored in games in which it played."""
        points = [game.score_of(label) for game in games]
        return cls(points.count(1.0), points.count(0.5), points.count(0.0))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is a point, a draw half of one."""
        return self.wins + self.draws / 2

    @property
    def share(self) -> float | None:
        """The points of a game, from 0 to 1; None without games."""
        return self.points / self.games if self.games else None

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, with Wilson's interval of the share."""
        low, high = wilson(self.points, self.games)
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "share": self.share,
            "low": low,
            "high": high,
        }


def wilson(points: float, games: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share: within 0 and 1, also where all or none was scored.

    Draws vary less than wins and losses do, so with draws it is a little too wide.
    """
    if not games:
        return 0.0, 1.0
    share, square = points / games, _NORMAL_95**2 / games
    middle = (share + square / 2) / (1 + square)
    half = _NORMAL_95 * math.sqrt(share * (1 - share) / games + square / (4 * games)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def expected_score(
    elo: float, opponent: float, color: Color | None = None, white_advantage: float = 0.0
) -> float:
    """Return the share of points that a player is expected to score against another."""
    if color is not None:
        elo += white_advantage if color is Color.WHITE else -white_advantage
    return 0.5 + 0.5 * math.tanh((elo - opponent) * NATURAL / 2)
