"""Limit: when a UCI engine is to stop thinking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from agents.uci.errors import InvalidLimit
from engine import Clock, Color, Move

MAX_DEPTH, MAX_NODES, MAX_TIME = 200, 10**15, timedelta(days=1)

_MILLISECOND = timedelta(milliseconds=1)
#: What handing a move over may cost: kept back from the clock, at most a tenth of what is left.
_OVERHEAD = timedelta(milliseconds=30)
#: How much over its time an engine may be before it is told to stop.
_LATENESS = timedelta(milliseconds=250)


@dataclass(frozen=True, slots=True)
class Limit:
    """Depth, nodes, a time for the move, or clocks; whichever is reached first.

    `spent` is what has gone from the clock of the side to move since its turn began. Raises
    `InvalidLimit` for values out of bounds.
    """

    depth: int | None = None
    nodes: int | None = None
    time: timedelta | None = None
    clock: Clock | None = None
    spent: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        _check("depth", self.depth, MAX_DEPTH)
        _check("nodes", self.nodes, MAX_NODES)
        if self.time is not None and not isinstance(self.time, timedelta):
            raise InvalidLimit("the time for a move must be a timedelta")
        if self.time is not None and not _MILLISECOND <= self.time <= MAX_TIME:
            raise InvalidLimit("the time for a move must be from 1 ms to a day")

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return bool(self.depth or self.nodes or self.time) or self._is_clocked

    @property
    def is_effort(self) -> bool:
        """Whether it limits the work alone: the same on a slow machine as on a fast one."""
        return bool(self.depth or self.nodes) and self.time is None and not self._is_clocked

    @property
    def _is_clocked(self) -> bool:
        return self.clock is not None and self.clock.control.is_timed

    def command(self, turn: Color, among: Iterable[Move] = ()) -> str:
        """Return the `go` command, perhaps for some moves only.

        Raises `InvalidLimit` if there is no limit at all.
        """
        if not self.is_set:
            raise InvalidLimit("a search needs a limit: depth, nodes, time or a clock")
        words = ["go"]
        time = self.time
        if self.clock is not None and self._is_clocked:
            if self.clock.control.is_per_move:
                left = self._left(turn)
                time = left if time is None else min(time, left)
            else:
                words += self._clock_words(self.clock, turn)
        if time is not None:
            words += ("movetime", _milliseconds(time))
        if self.depth is not None:
            words += ("depth", str(self.depth))
        if self.nodes is not None:
            words += ("nodes", str(self.nodes))
        if moves := [move.uci() for move in among]:
            words += ("searchmoves", *moves)
        return " ".join(words)

    def deadline(self, turn: Color) -> timedelta | None:
        """Return after how long an engine is late; None if only its work is limited."""
        deadlines = []
        if self.time is not None:
            deadlines.append(self.time + _LATENESS)
        budget = None if self.clock is None else self.clock.budget(turn)
        if budget is not None:
            # Told to stop then, it can still answer before the flag falls.
            deadlines.append(max(self._left(turn, _OVERHEAD / 2), _MILLISECOND))
        return min(deadlines, default=None)

    def _left(self, turn: Color, overhead: timedelta = _OVERHEAD) -> timedelta:
        """Return what an engine may use up of a player's time, with something kept back."""
        budget = (self.clock.budget(turn) if self.clock else None) or timedelta(0)
        left = budget - self.spent
        return left - min(overhead, left * (overhead / _OVERHEAD) / 10)

    def _clock_words(self, clock: Clock, turn: Color) -> list[str]:
        words: list[str] = []
        for color, letter in ((Color.WHITE, "w"), (Color.BLACK, "b")):
            rest = self._left(color) if color is turn else clock.remaining(color) or timedelta(0)
            words += (f"{letter}time", _milliseconds(rest))
        for color, letter in ((Color.WHITE, "w"), (Color.BLACK, "b")):
            period = clock.period(color)
            # UCI has no delay. To an engine it is much like an increment of the same length.
            if period is not None and period.bonus:
                words += (f"{letter}inc", _milliseconds(period.bonus))
        to_go = clock.moves_to_go(turn)
        return words if to_go is None else [*words, "movestogo", str(to_go)]


def _check(what: str, value: int | None, most: int) -> None:
    if value is not None and (type(value) is not int or not 1 <= value <= most):
        raise InvalidLimit(f"{what} must be a whole number from 1 to {most}")


def _milliseconds(duration: timedelta) -> str:
    # Never over a day: some engines count in 32 bits, and move at once if that overflows.
    return str(max(1, min(duration, MAX_TIME) // _MILLISECOND))
