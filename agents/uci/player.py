"""UciPlayer: a UCI engine in a seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from agents.player import Advice, Candidate, Decision, Turn
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.pool import UciPool
from agents.uci.process import SearchResult
from engine import Color, Evaluation


class _Game:
    """Stands for a game in which it plays. When the player goes, so does this."""


class UciPlayer:
    """Plays what a UCI engine thinks best. It borrows a process for each turn.

    `limit` always holds, and the clock too when the game has one; `untimed`, by default a second,
    stands in where there is neither. With `forgets` each search begins with an empty memory, so
    that a decision depends on the turn alone, and not on which process made it; by default that is
    so when only the work of a search is limited, and not its time.
    """

    def __init__(
        self,
        name: str,
        pool: UciPool,
        *,
        limit: Limit | None = None,
        untimed: Limit | None = None,
        options: Mapping[str, Value] | None = None,
        forgets: bool | None = None,
    ) -> None:
        self.name = name
        self._pool = pool
        self._limit = limit or Limit()
        self._untimed = untimed or Limit(time=timedelta(seconds=1))
        self._options = options or {}
        self._forgets = forgets
        self._turn: Turn | None = None  # the last one
        self._game = _Game()

    async def decide(self, turn: Turn) -> Decision:
        """Return the engine's move and what it thinks of it.

        Raises what `UciPool.search` raises. After a `UciFault` the turn can be retried.
        """
        if self._turn is None or not _continues(turn, self._turn):
            self._game = _Game()
        self._turn = turn
        limit = self._limit_of(turn)
        forgets = limit.is_effort if self._forgets is None else self._forgets
        result = await self._pool.search(
            turn,
            limit,
            options=self._options,
            game=None if forgets else self._game,
            forget=forgets,
            listener=turn.informed,
        )
        candidate = Candidate(result.move, _reason(result))
        return Decision(
            result.move, (Advice(self.name, (candidate,)),), _evaluation(result, turn.position.turn)
        )

    def _limit_of(self, turn: Turn) -> Limit:
        limit = self._limit
        if turn.clock is not None and turn.clock.control.is_timed:
            limit = replace(limit, clock=turn.clock, spent=turn.spent)
        return limit if limit.is_set else self._untimed


def _evaluation(result: SearchResult, turn: Color) -> Evaluation | None:
    """Return what the engine thinks of its move, unless the score is of another one."""
    for info in result.infos[:1]:
        is_of_it = not info.pv or info.pv[0].lower() == result.move.uci()
        return info.score.evaluation(turn) if info.score is not None and is_of_it else None
    return None


def _reason(result: SearchResult) -> str:
    """Return what the engine thinks of its move: `+0.35, depth 12`."""
    for info in result.infos[:1]:
        score = [] if info.score is None else [str(info.score)]
        depth = [] if info.depth is None else [f"depth {info.depth}"]
        best = info.pv[0].lower() if info.pv else result.move.uci()
        # Limited skill plays a worse move than the one that the score is of.
        instead = "" if best == result.move.uci() else f"instead of {best}: "
        return instead + ", ".join(score + depth)
    return ""


def _continues(turn: Turn, last: Turn) -> bool:
    """Return whether a turn is of the same game as an earlier one."""
    plies = len(last.plies)
    if len(turn.plies) < plies or turn.start != last.start:
        return False
    return plies == 0 or turn.plies[plies - 1].after == last.position
