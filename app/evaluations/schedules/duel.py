"""Duel: two agents against each other, in pairs of games, until it is decided or over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.evaluations.games import SprtSettings
from app.evaluations.plan import label_of
from app.evaluations.schedules.schedule import Slot, Standing, begun, unfinished_pair
from app.evaluations.sprt import SprtVerdict, sprt
from app.matches.settings import PlayerSettings

#: How a pair ends, in points of the first player: 0, 0.5, 1, 1.5 or 2.
_OUTCOMES = 5


@dataclass(frozen=True)
class Duel:
    """The schedule of a duel."""

    first: PlayerSettings
    second: PlayerSettings
    most_games: int
    test: SprtSettings | None = None

    def next_slot(self, games: Sequence[Standing]) -> Slot | None:
        """Return the next game; no pair is begun once the test has decided."""
        if second := unfinished_pair(games):
            return second
        if len(games) >= self.most_games or self._decision(games):
            return None
        number = len(games) + 1
        return begun(number, self.first, self.second, len(games) // 2 + 1)

    def verdict(self, games: Sequence[Standing]) -> str | None:
        """Return what the test has decided, or that all games were begun."""
        if len(games) % 2:
            return None
        decision = self._decision(games)
        if decision is not None and self.test is not None:
            bound = self.test.bounds[decision.decision == "H1"]
            return (
                f"the test accepts {decision.decision}: a difference of {bound:g} Elo"
                f" (LLR {decision.llr:.2f})"
            )
        if len(games) < self.most_games:
            return None
        if self.test is not None:
            return f"{self.most_games} games were not enough for the test to decide"
        return f"all {self.most_games} games were played"

    def expected(self, games: Sequence[Standing]) -> int:
        """Return the most games there may be, or what were begun once the test has decided."""
        return len(games) if self._decision(games) else self.most_games

    def pairs(self, games: Sequence[Standing]) -> tuple[int, ...]:
        """Return how many complete pairs ended with 0, 0.5, 1, 1.5 and 2 points of the first."""
        label, counts = label_of(self.first), [0] * _OUTCOMES
        for one, other in zip(games[::2], games[1::2], strict=False):
            if one.is_scored and other.is_scored:
                counts[round(2 * (one.score_of(label) + other.score_of(label)))] += 1
        return tuple(counts)

    def tested(self, games: Sequence[Standing]) -> SprtVerdict | None:
        """Return what the test says so far; None without one, or before the first pair."""
        counts = self.pairs(games)
        if self.test is None or not sum(counts):
            return None
        test = self.test
        return sprt(counts, test.bounds, test.model, alpha=test.alpha, beta=test.beta)

    def _decision(self, games: Sequence[Standing]) -> SprtVerdict | None:
        verdict = self.tested(games)
        return verdict if verdict is not None and verdict.decision is not None else None
