"""Allowance: how long the team may think on a turn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agents.classical.errors import InvalidThinking
from agents.player import Turn

#: For a move, where the clock allows it.
THINK = timedelta(milliseconds=300)

#: A process thinks for one player at a time: others wait meanwhile.
LONGEST, MOST_NODES = timedelta(hours=1), 5_000_000

_MILLISECOND = timedelta(milliseconds=1)
#: What handing a move over may cost: kept back from the clock.
_OVERHEAD = timedelta(milliseconds=60)
#: An answer may be so late, whatever the clock says: a busy machine is slow.
_LATE = timedelta(seconds=1)
#: How many more moves the rest of a clock should do for, if nobody tells.
_MOVES_LEFT = 30


@dataclass(frozen=True, slots=True)
class Allowance:
    """A time to think, nodes to search, or both; and what the clock leaves, if there is one.

    With nodes alone the time is not limited, unless a clock runs: then `left` is.
    """

    think: timedelta | None
    nodes: int | None = None
    #: What the player may use up on this move by its clock, and until the flag falls.
    share: timedelta | None = None
    left: timedelta | None = None

    @classmethod
    def of(cls, turn: Turn, think: timedelta | None, nodes: int | None) -> Allowance:
        """Return the allowance of a turn."""
        clock, color = turn.clock, turn.position.turn
        whole = None if clock is None else clock.budget(color)
        if clock is None or whole is None:
            return cls(think, nodes)
        left = max(whole - turn.spent, timedelta(0))
        if clock.control.is_per_move:
            return cls(think, nodes, left, left)
        period = clock.period(color)
        to_go = clock.moves_to_go(color) or _MOVES_LEFT
        share = left / min(to_go, _MOVES_LEFT) + (period.bonus if period else timedelta(0)) / 2
        return cls(think, nodes, min(share, left), left)

    def lateness(self, most: timedelta) -> timedelta:
        """Return how late an answer may be, at most so long: half of what would be left then."""
        seconds = self.seconds()
        if self.left is None or seconds is None:
            return most
        return min(most, max((self.left - timedelta(seconds=seconds)) / 2, _LATE))

    def seconds(self) -> float | None:
        """Return how long to think; None if only nodes limit it."""
        limits = [] if self.think is None else [self.think]
        if self.share is not None and self.left is not None:
            # With nodes to search it may take all there is; else its share.
            least = self.share if self.nodes is None or self.think is not None else self.left
            limits += [least, self.left - min(_OVERHEAD, self.left / 2)]
        if not limits:
            return None
        return max(min(limits), _MILLISECOND).total_seconds()


def check(think: timedelta | None, nodes: int | None) -> None:
    """Raise `InvalidThinking` for limits out of bounds, or none at all."""
    if think is not None and (
        not isinstance(think, timedelta) or not _MILLISECOND <= think <= LONGEST
    ):
        raise InvalidThinking("the time to think must be from 1 ms to an hour")
    if nodes is not None and (type(nodes) is not int or not 1 <= nodes <= MOST_NODES):
        raise InvalidThinking(f"the nodes to search must be a whole number from 1 to {MOST_NODES}")
