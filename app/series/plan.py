"""Plan of a series: who plays whom, how often, and which game has which place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.evaluations.contest import derived
from app.evaluations.games import SprtSettings
from app.evaluations.plan import label_of
from app.evaluations.schedules.schedule import Slot, pair_of
from app.evaluations.sprt import SprtVerdict, sprt
from app.evaluations.starts import Start
from app.matches.settings import MatchSettings, PlayerSettings


@dataclass(frozen=True)
class SeriesPlan:
    """What was asked for.

    `rules` are the settings that all matches have in common, with the first player as White; their
    seed is that of the series, and their budget that of all its games together.
    """

    rules: MatchSettings
    games: int = 1
    #: Whether each opening is played twice, with colours swapped.
    swaps: bool = True
    #: How many games are played at a time.
    concurrency: int = 1
    test: SprtSettings | None = None

    @property
    def labels(self) -> tuple[str, str]:
        """What the two are called, whose strength is in question first."""
        return label_of(self.rules.white), label_of(self.rules.black)

    def slot(self, number: int) -> Slot:
        """Return the place of a game, by its number from 1."""
        first, second = self.rules.white, self.rules.black
        if not self.swaps:
            return Slot(number, first, second, round=number)
        pair = pair_of(number)
        slot = Slot(number, first, second, round=pair, pair=pair)
        return slot if number % 2 else replace(slot, white=second, black=first)

    def tested(self, pairs: Sequence[int]) -> SprtVerdict | None:
        """Return what the test says of pairs, by points; None without one, or before the first."""
        test = self.test
        if test is None or not any(pairs):
            return None
        return sprt(pairs, test.bounds, test.model, test.alpha, test.beta)

    def settings(self, slot: Slot, start: Start) -> MatchSettings:
        """Return the settings of the match in a place; raises `UnplayableSettings`."""
        return replace(
            self.rules,
            white=slot.white,
            black=slot.black,
            opening=start.opening,
            initial_fen=start.fen,
            # Both games of a pair, and a game that is played again, have dice of their own.
            seed=derived(self.rules.seed, "match", slot.number),
        )


def told_apart(
    first: PlayerSettings, second: PlayerSettings
) -> tuple[PlayerSettings, PlayerSettings]:
    """Return two players with titles by which tables and PGN tell them from each other."""
    one, other = label_of(first), label_of(second)
    if one == other:
        one, other = f"{one} (1)", f"{other} (2)"
    return replace(first, title=one), replace(second, title=other)
