"""Hearing: what a player lets its match know before it has decided."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from agents.excused import ExcusedTime
from agents.player import Advice
from agents.timekeeping import now
from app.matches.match import Match

#: How long the database may keep a player waiting at the player's cost.
SLOW = timedelta(seconds=2)
#: Called with whose words they are, and the words.
Say = Callable[[str, str], None]


class Hearing:
    """Listens to a player in its turn. The owner of the match takes what was heard."""

    def __init__(self, stir: Callable[[], None], say: Say) -> None:
        """`stir` is called when there is something to take; `say` with words, at once."""
        self._stir = stir
        self._say = say
        self._advice: list[Advice] = []
        self._excused = timedelta(0)
        self._times = ExcusedTime()

    def said(self, by: str, words: str) -> None:
        """Pass words on to those who watch."""
        self._say(by, words)

    def advised(self, advice: Advice) -> None:
        """Keep advice until it is taken."""
        self._advice.append(advice)
        self._stir()

    def excuse(self, since: datetime, until: datetime) -> None:
        """Keep in mind that a time is not the player's; what overlaps counts once."""
        if added := self._times.add(since, until):
            self._excused += added
            self._stir()

    def take_advice(self) -> list[Advice]:
        """Return the advice that came since this was last asked."""
        advice, self._advice = self._advice, []
        return advice

    def take_excuse(self) -> timedelta:
        """Return how much time was excused since this was last asked."""
        excused, self._excused = self._excused, timedelta(0)
        return excused

    @property
    def has_news(self) -> bool:
        """Whether there is something to take."""
        return bool(self._advice or self._excused)


def excuse(match: Match, excused: timedelta) -> None:
    """Let the turn of a match go on as if some time had not passed.

    What is excused beyond what the turn has taken lies ahead: the clock runs on only then.
    """
    at = max(now(), match.turn_at or now())
    rest = match.elapsed(at) - excused
    match.begin_turn(at - min(rest, timedelta(0)), max(rest, timedelta(0)))
