"""Starts of a series: where its games begin, the same for every game of a round."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from agents.uci.analyser import Analyser
from app.evaluations.balanced import PLIES, balanced_opening, balanced_position
from app.evaluations.contest import derived
from app.evaluations.starts import Start
from app.series.plan import SeriesPlan
from engine import Position
from engine.variant import find_variant

_STANDARD = "standard"


class Starts(Protocol):
    """Knows where each round begins."""

    async def of(self, round_number: int) -> Start:
        """Return where the games of a round begin, counted from 1."""


class ListedStarts:
    """Those of a list, over and over: in its order, or as lots put it that depend on a seed."""

    def __init__(self, starts: Sequence[Start], shuffle_seed: int | None = None) -> None:
        places: Sequence[int] = range(len(starts))
        if shuffle_seed is not None:
            places = sorted(places, key=lambda place: derived(shuffle_seed, "opening", place))
        self.starts = [starts[place] for place in places]

    async def of(self, round_number: int) -> Start:
        """Return the start of a round."""
        return self.starts[(round_number - 1) % len(self.starts)]


class OwnStarts:
    """The variant's own; of many, such as in Chess960, one is drawn for each round."""

    def __init__(self, variant: str, seed: int) -> None:
        self._variant = variant
        self._seed = seed

    async def of(self, round_number: int) -> Start:
        """Return the start of a round."""
        starts = find_variant(self._variant).starts
        if starts == 1:
            return Start()
        number = derived(self._seed, "start", round_number) % starts
        return Start(fen=Position.start(self._variant, number).fen())


class BalancedStarts:
    """Openings that Stockfish calls level, made when they are first needed."""

    def __init__(self, analyser: Analyser, variant: str, seed: int, plies: int = PLIES) -> None:
        self._analyser = analyser
        self._variant = variant
        self._seed = seed
        self._plies = plies
        self._made: dict[int, Start] = {}
        self._making = asyncio.Lock()

    async def of(self, round_number: int) -> Start:
        """Return the start of a round.

        Raises `NoBalancedOpening`, and what `Analyser.analyse` raises.
        """
        async with self._making:  # both games of a pair may want it at the same time
            if round_number not in self._made:
                self._made[round_number] = await self._make(round_number - 1)
            return self._made[round_number]

    async def _make(self, number: int) -> Start:
        analyser, seed, plies = self._analyser, self._seed, self._plies
        if self._variant == _STANDARD:
            return Start(opening=await balanced_opening(analyser, seed, number, plies=plies))
        position = await balanced_position(
            analyser, seed, number, variant=self._variant, plies=plies
        )
        return Start(fen=position.fen())


async def check_starts(plan: SeriesPlan, starts: Starts) -> None:
    """Raise what keeps a game from being played from a start, as far as they are known.

    That is `UnplayableSettings`, or what `Starts.of` raises.
    """
    first = plan.slot(1)
    for start in starts.starts if isinstance(starts, ListedStarts) else [await starts.of(1)]:
        plan.settings(first, start)
