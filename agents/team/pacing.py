"""Pacing: how long members may take, given what is left on the clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from agents.excused import ExcusedTime
from agents.player import Turn
from agents.team.definition import MemberDefinition
from agents.timekeeping import now

#: Specialists together get this part of what is left, so that the selector has time to decide.
_SHARE = 8
_SHORTEST = timedelta(seconds=1)
#: So much before the flag falls a server that says nothing is given up: a tenth of what is left,
#: between these. Who runs the match has to hear of it in time.
_LEAST_MARGIN = timedelta(milliseconds=300)
_MOST_MARGIN = timedelta(milliseconds=500)
#: A silent specialist is given up a little before patience ends, so that it is known to be silent.
_MOST_SILENCE = 0.75


class Pacing:
    """The time of one turn, which began when this was made."""

    def __init__(self, turn: Turn) -> None:
        self._began = now()
        clock = turn.clock
        left = None if clock is None else clock.budget(turn.position.turn)
        self._left = None if left is None else left - turn.spent
        self._excused = ExcusedTime()

    def excuse(self, since: datetime, until: datetime) -> None:
        """Keep in mind that a time is not charged."""
        self._excused.add(since, until)

    def patience(self, member: MemberDefinition) -> timedelta:
        """Return how long to wait for a specialist, however often its call is tried."""
        patience = timedelta(seconds=member.patience)
        if self._left is None:
            return patience
        return max(_SHORTEST, min(patience, self._now_left() / _SHARE))

    def silence(self, timeout: timedelta, patience: timedelta | None = None) -> timedelta:
        """Return how long a server may say nothing.

        A server that is silent when patience ends, or the flag is about to fall, is at fault, and
        not the player; one that speaks lets it think on its own time.
        """
        if patience is not None:
            timeout = min(timeout, patience * _MOST_SILENCE)
        if self._left is None:
            return timeout
        left = self._now_left()
        margin = min(max(left / 10, _LEAST_MARGIN), _MOST_MARGIN)
        return max(_LEAST_MARGIN, min(timeout, left - margin))

    def _now_left(self) -> timedelta:
        assert self._left is not None  # noqa: S101 - both callers have looked
        charged = now() - self._began - self._excused.total
        return self._left - max(charged, timedelta(0))
