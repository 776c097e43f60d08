"""Thinking: a search under way, from `go` to its best move.

The player is asked as often as that makes sense. Whatever it does, there is an answer when one is
due: its own decision, or else the best on the table, or else a move of the reserve.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import structlog

from agents.errors import AgentError
from agents.player import Advice, Decision, Player, Rejection, Turn
from agents.uci.info import Info
from app.matches.owner import FAULTS, FIRST_PAUSE, LONGEST_PAUSE, LONGEST_WISH, PATIENCE
from app.matches.refusals import read_move, said_by
from app.uci.errors import NobodyMoves
from app.uci.ledger import TurnLedger, UciLedger
from app.uci.limits import Bounds
from app.uci.reserve import Reserve
from app.uci.table import Table
from app.uci.words import (
    advice_words,
    best_move,
    cost_words,
    decision_line,
    info_line,
    info_string,
    no_move,
)
from engine import Evaluation, Move, RulesError

_log = structlog.get_logger(__name__)

#: Who has decided by then never needs a reserve. It is thought out while the player still thinks,
#: so that it is there at once when it is wanted.
_RESERVE_AFTER = timedelta(milliseconds=50)
#: Who is stopped before it has shown any line is about to show one; so long it is waited for, and
#: so long if its time is over, too, which is less than is usually kept back of it.
_FIRST_LINE = timedelta(seconds=1)
_LATE_LINE = timedelta(milliseconds=50)
_NOTHING = timedelta(0)


@dataclass(frozen=True)
class Task:
    """What one `go` asks for, of whom."""

    turn: Turn
    player: str
    bounds: Bounds
    retries: int
    #: Whether somebody else may move where the player cannot.
    emergency: bool
    #: Whether the best move is to be kept back until `stop`; or until `ponderhit`, too, from which
    #: on the clock runs.
    is_infinite: bool = False
    is_pondering: bool = False
    #: Whether the player tells its best line while it thinks, so that no reserve is needed.
    shows_its_search: bool = False


@dataclass(frozen=True)
class _Choice:
    """A move, and what the player thinks of it."""

    move: Move
    evaluation: Evaluation | None = None


@dataclass(frozen=True)
class _Nothing:
    """That the player has no move, and why."""

    why: str


class Thinking:
    """One search. `tell` gets the lines for the GUI, of which `bestmove` is the last."""

    def __init__(
        self,
        task: Task,
        seat: Callable[[], Awaitable[Player]],
        reserve: Reserve,
        ledger: TurnLedger,
        whole: UciLedger,
        tell: Callable[[str], None],
        began: float,
    ) -> None:
        """`began` is when the GUI said `go`, by the loop's clock."""
        self._task = task
        self._seat = seat
        self._reserve = reserve
        self._ledger = ledger
        self._whole = whole
        self._tell_gui = tell
        self._position = task.turn.position
        self._moves = task.turn.moves
        self._table = Table(self._position, frozenset(self._moves))
        self._rejections: list[Rejection] = []
        self._faults = 0
        self._loop = asyncio.get_running_loop()
        self._began = began
        self._clock_began: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False
        #: Set when nobody is to think any longer; when the best move may be told; when it was.
        self._over = asyncio.Event()
        self._released = asyncio.Event()
        self.answered = asyncio.Event()
        self._has_shown = asyncio.Event()

    # --- what the GUI says meanwhile ---

    def stop(self) -> None:
        """Answer at once, with what there is."""
        self._released.set()
        self._over.set()

    def ponder_hit(self) -> None:
        """Let the clock run, and the best move be told when there is one."""
        if self._task.is_pondering and self._clock_began is None:
            self._start_clock(self._loop.time())
            if not self._task.is_infinite:
                self._released.set()

    # --- the search ---

    async def run(self, group: asyncio.TaskGroup) -> None:
        """Think, and tell the best move; the rest of the thinking is ended in the group.

        Raises `NobodyMoves`.
        """
        if not (self._task.is_infinite or self._task.is_pondering):
            self._released.set()
        if not self._task.is_pondering:
            self._start_clock(self._began)
        tasks: list[asyncio.Task[object]] = []
        try:
            choice = await self._choose(group, tasks) if self._moves else None
            await self._released.wait()
            self._tell_best(choice)
        finally:
            self.answered.set()
            if self._timer is not None:
                self._timer.cancel()
            for task in tasks:
                task.cancel()

    async def _choose(self, group: asyncio.TaskGroup, tasks: list[asyncio.Task[object]]) -> _Choice:
        deciding = group.create_task(self._decide())
        over = group.create_task(self._over.wait())
        tasks += (deciding, over)
        wait = self._await_search if self._task.shows_its_search else self._await_decision
        reserved = await wait(deciding, over, group, tasks)
        has_failed = deciding.done() or self._is_late
        outcome = deciding.result() if deciding.done() else _Nothing(self._why())
        if isinstance(outcome, _Choice):
            return outcome
        deciding.cancel()
        move = self._table.best()
        if move is None:
            # Whoever is stopped has not failed, and what is stopped counts for nothing.
            if has_failed and not self._task.emergency:
                self._say(f"{self._task.player} has no move, and nobody else may: {outcome.why}")
                raise NobodyMoves(self._task.player, outcome.why)
            return await self._take_reserve(outcome.why, reserved)
        if not self._task.shows_its_search or deciding.done():
            san = self._position.san(move)
            self._say(f"{self._task.player}: {outcome.why}; {san} is the best on its table")
        return _Choice(move)

    async def _await_decision(
        self,
        deciding: asyncio.Task[_Choice | _Nothing],
        over: asyncio.Task[object],
        group: asyncio.TaskGroup,
        tasks: list[asyncio.Task[object]],
    ) -> asyncio.Task[Move] | None:
        """Wait for a decision, or for the end; return the reserve's move, if it was thought of."""
        reserved = None
        if self._task.emergency:
            due = self._task.bounds.due
            soon = _RESERVE_AFTER if due is None else min(_RESERVE_AFTER, due / 4)
            await _first(deciding, over, within=soon)
            if not deciding.done():
                reserved = self._begin_reserve(group, tasks)
        await _first(deciding, over)
        return reserved

    async def _await_search(
        self,
        deciding: asyncio.Task[_Choice | _Nothing],
        over: asyncio.Task[object],
        group: asyncio.TaskGroup,
        tasks: list[asyncio.Task[object]],
    ) -> asyncio.Task[Move] | None:
        """Wait for a decision, or for the end and a first line; return the reserve's move, if any.

        An engine that has just been started may be slower than a reserve that has begun since.
        """
        await _first(deciding, over)
        if deciding.done() or self._has_shown.is_set():
            return None
        shown: asyncio.Task[object] = group.create_task(self._has_shown.wait())
        tasks.append(shown)
        reserved = None
        if self._task.emergency or not self._is_late:
            reserved = self._begin_reserve(group, tasks)
        await _first(deciding, shown, within=_LATE_LINE if self._is_late else _FIRST_LINE)
        if reserved is not None:
            await _first(deciding, shown, reserved)
        return reserved

    def _begin_reserve(
        self, group: asyncio.TaskGroup, tasks: list[asyncio.Task[object]]
    ) -> asyncio.Task[Move]:
        reserved = group.create_task(self._reserve.move(self._task.turn))
        tasks.append(reserved)
        return reserved

    async def _take_reserve(self, why: str, reserved: asyncio.Task[Move] | None) -> _Choice:
        move = await (reserved or self._reserve.move(self._task.turn))
        san, player = self._position.san(move), self._task.player
        self._say(f"emergency: {san} is NOT a move of {player}, but of Kibitz offline, since {why}")
        return _Choice(move)

    # --- asking the player ---

    async def _decide(self) -> _Choice | _Nothing:
        """Ask the player until it has decided, or it is of no use."""
        while True:
            try:
                player = await self._seat()
                async with asyncio.timeout(self._patience()):
                    decision = await player.decide(self._turn())
            except (AgentError, TimeoutError, RulesError) as error:
                if self.answered.is_set():
                    return _Nothing("nobody waits for it any more")
                pause = self._pause(error)
                if pause is None:
                    return _Nothing(str(error) or "it took too long")
                why = str(error) or "it took too long"
                self._say(f"no decision: {why}; next try in {pause.total_seconds():.1f} s")
                await asyncio.sleep(pause.total_seconds())
            except Exception as error:
                _log.exception("player broke", player=self._task.player)
                return _Nothing(f"it broke with {type(error).__name__}")
            else:
                outcome = self._take(decision)
                if outcome is not None:
                    return outcome

    def _turn(self) -> Turn:
        spent = _NOTHING if self._clock_began is None else self._since(self._clock_began)
        return replace(
            self._task.turn,
            spent=spent,
            rejections=tuple(self._rejections),
            advice=tuple(self._table.advice),
            listener=self,
            ledger=self._ledger,
            informed=self._inform,
        )

    def _patience(self) -> float | None:
        """Return how many seconds an answer may take; UCI engines keep to their own limits."""
        return None if self._task.shows_its_search else PATIENCE.total_seconds()

    def _pause(self, error: Exception) -> timedelta | None:
        """Return how long to wait after a fault, as matches do; None if it is of no use."""
        self._faults += 1
        wished = timedelta(0)
        if isinstance(error, AgentError):
            if error.is_lasting:
                return None
            wished = min(error.retry_after or wished, LONGEST_WISH)
        pause = max(min(FIRST_PAUSE * (1 << min(self._faults - 1, 16)), LONGEST_PAUSE), wished)
        if self._timer is not None:
            left = timedelta(seconds=self._timer.when() - self._loop.time())
            return None if pause >= left else pause
        return None if self._faults >= FAULTS else pause

    def _take(self, decision: Decision) -> _Choice | _Nothing | None:
        """Return what a decision comes to; None if the player is to try again."""
        for each in decision.advice:
            self.advised(each)
        wish = _wish(decision)
        if wish:
            self._say(f"{self._task.player} {wish}, which UCI cannot say: it plays on")
        move, error = read_move(self._position, decision)
        if move in self._moves:
            return _Choice(move, decision.evaluation)
        if decision.move is None and decision.fault is None and wish:
            return _Nothing(f"it {wish}, and names no move")
        said = said_by(decision) or (move.uci() if move is not None else "")
        if move is not None:
            why = f"it is none of those asked for ({', '.join(map(Move.uci, self._moves))})"
        else:
            why = "there was no move" if error is None else str(error)
        self._rejections.append(Rejection(said, why))
        tries, most = len(self._rejections), self._task.retries + 1
        self._say(f"refused: {said or 'nothing'} ({why}); try {tries} of {most}")
        return None if tries < most else _Nothing("none of its moves can be played")

    # --- what the player lets know ---

    def said(self, by: str, words: str) -> None:
        """Let it pass: what members say is told once it is whole."""

    def advised(self, advice: Advice) -> None:
        """Tell advice, once."""
        if self._table.add(advice):
            self._say(advice_words(advice, self._position))

    def excuse(self, since: datetime, until: datetime) -> None:
        """Let it pass: the GUI has the clock, and excuses nobody."""

    def _inform(self, info: Info) -> None:
        """Tell what a search has come to."""
        if info.time is None:
            info = replace(info, time=self._since(self._began))
        if self._table.note(info):
            self._has_shown.set()
        line = info_line(info, self._position)
        if line is not None:
            self._tell(line)

    # --- the end ---

    def _start_clock(self, began: float) -> None:
        self._clock_began = began
        if (due := self._task.bounds.due) is not None:
            self._timer = self._loop.call_at(began + due.total_seconds(), self._run_out_of_time)

    def _run_out_of_time(self) -> None:
        self._is_late = True
        self._over.set()

    def _why(self) -> str:
        return "its time was over" if self._is_late else "it was stopped"

    def _tell_best(self, choice: _Choice | None) -> None:
        if choice is None:
            for line in no_move(self._position):
                self._tell(line)
            return
        if self._ledger.calls:
            self._say(cost_words(self._ledger.spending(), self._whole.spending()))
        move, ponder = choice.move, None
        expected = self._table.line()
        if expected and expected[0] is move:
            ponder = expected[1] if len(expected) > 1 else None
        else:
            took = self._since(self._began)
            self._tell(decision_line(move, choice.evaluation, self._position.turn, took))
        self._tell(best_move(move, ponder))

    def _since(self, moment: float) -> timedelta:
        return timedelta(seconds=self._loop.time() - moment)

    def _say(self, text: str) -> None:
        self._tell(info_string(text))

    def _tell(self, line: str) -> None:
        if not self.answered.is_set():  # what comes later would be taken for the next search's
            self._tell_gui(line)


async def _first(*tasks: asyncio.Task[Any], within: timedelta | None = None) -> None:
    """Wait until the first of some tasks is done, or some time is over."""
    timeout = None if within is None else within.total_seconds()
    await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)


def _wish(decision: Decision) -> str:
    """Return what a player wants besides a move, in words."""
    if decision.resigns:
        return "resigns"
    if decision.claims_draw:
        return "claims a draw"
    return "offers a draw" if decision.offers_draw or decision.accepts_draw else ""
