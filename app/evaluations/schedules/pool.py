"""Pool: everybody against everybody, in rounds, so that it can be stopped after any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from app.evaluations.schedules.schedule import Slot, Standing, begun, unfinished_pair
from app.matches.settings import PlayerSettings


@dataclass(frozen=True)
class Pool:
    """The schedule of a pool. Anchors do not meet each other: their ratings are known."""

    agents: tuple[PlayerSettings, ...]
    anchors: tuple[PlayerSettings, ...]
    rounds: int

    @cached_property
    def pairings(self) -> tuple[tuple[PlayerSettings, PlayerSettings], ...]:
        """Every two who meet."""
        among = combinations(self.agents, 2)
        against = ((agent, anchor) for agent in self.agents for anchor in self.anchors)
        return (*among, *against)

    def next_slot(self, games: Sequence[Standing]) -> Slot | None:
        """Return the next game: a pair of every pairing, and then the next round."""
        if second := unfinished_pair(games):
            return second
        pairs = len(games) // 2
        if pairs >= self.rounds * len(self.pairings):
            return None
        round_number, place = divmod(pairs, len(self.pairings))
        first, other = self.pairings[place]
        return begun(len(games) + 1, first, other, round_number + 1)

    def verdict(self, games: Sequence[Standing]) -> str | None:
        """Return that all games were begun."""
        if len(games) < self.expected(games):
            return None
        return f"all {len(games)} games were played"

    def expected(self, games: Sequence[Standing]) -> int:
        """Return how many games there are."""
        return 2 * self.rounds * len(self.pairings)
