"""Positions: every agent is asked for the best move in every position of a suite.

Each is a match of one ply that starts there. Whoever sits opposite never moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.random_player import RandomPlayer
from app.evaluations.schedules.schedule import Slot, Standing
from app.matches.settings import PlayerSettings
from engine import Color

_OPPOSITE = PlayerSettings(RandomPlayer.name, title="nobody")


@dataclass(frozen=True)
class Positions:
    """The schedule of a suite: the agents answer a position before the next one is asked."""

    agents: tuple[PlayerSettings, ...]
    #: Who is to move in each position.
    turns: tuple[Color, ...]

    def next_slot(self, games: Sequence[Standing]) -> Slot | None:
        """Return the next question."""
        if len(games) >= self.expected(games):
            return None
        position, place = divmod(len(games), len(self.agents))
        agent = self.agents[place]
        is_white = self.turns[position] is Color.WHITE
        white, black = (agent, _OPPOSITE) if is_white else (_OPPOSITE, agent)
        return Slot(len(games) + 1, white, black, round=position + 1, position=position)

    def verdict(self, games: Sequence[Standing]) -> str | None:
        """Return that all was asked."""
        if len(games) < self.expected(games):
            return None
        return f"all {len(self.turns)} positions were asked"

    def expected(self, games: Sequence[Standing]) -> int:
        """Return how many questions there are."""
        return len(self.agents) * len(self.turns)
