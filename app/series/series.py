"""Series: plays the games of a plan, so many at a time, and keeps each as soon as it has ended.

Nobody loses by a fault. Where a provider of models is away, the game waits and goes on; where a
player breaks for good, the game is void and played again. What persists ends the series, and what
was played until then counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from agents.catalogue import Catalogue
from agents.errors import AgentError
from agents.models.budget import Account
from agents.timekeeping import now
from app.errors import AppError
from app.evaluations.games import PlayedGame, SideRecord
from app.evaluations.schedules.schedule import Slot
from app.matches.commands import Resume
from app.matches.events import Event
from app.matches.match import PauseCause
from app.matches.private import PrivateMatch
from app.series.plan import SeriesPlan
from app.series.played import played_game, side_record
from app.series.results import SeriesResult, Status, Void
from app.series.starts import Starts
from engine import Color, RulesError

#: How soon a match goes on that paused since a model could not be asked, and how often it does.
FIRST_PAUSE = timedelta(seconds=5)
LONGER = 4
RESUMES = 2
#: How often a game is begun before the series ends.
ATTEMPTS = 3


class Watcher(Protocol):
    """Whoever wants to know how far a series is."""

    def began(self, slot: Slot) -> None:
        """Hear that a game has begun."""

    def told(self, slot: Slot, event: Event) -> None:
        """Hear what has happened in a game."""

    def said(self, slot: Slot, by: str, words: str) -> None:
        """Hear words of a player who still speaks."""

    def ended(self, game: PlayedGame, so_far: Callable[[], SeriesResult]) -> None:
        """Hear that a game counts; `so_far` tells all there is until now."""

    def noted(self, sentence: str) -> None:
        """Hear of a fault."""


@dataclass(frozen=True)
class _Over:
    """What has become of a game that was not broken off: it has ended, or it came to nothing."""

    private: PrivateMatch | None = None
    why: str = ""
    #: Whether it makes no sense to play it again, and how the series ends by that.
    ends_by: Status | None = None


class Series:
    """Plays one plan, once. Who wants it to stop calls `stop`."""

    def __init__(
        self,
        plan: SeriesPlan,
        starts: Starts,
        catalogue: Catalogue,
        watcher: Watcher,
        keep: Callable[[str], None],
    ) -> None:
        """`keep` is given the PGN of each game that has ended; it may block, and raise."""
        self._plan = plan
        self._starts = starts
        self._catalogue = catalogue
        self._watcher = watcher
        self._keep = keep
        self._account = Account(plan.rules.budget)
        self._began_at = now()
        self._next = 1
        #: Those that were void, and are played again.
        self._again: list[Slot] = []
        self._attempts: Counter[int] = Counter()
        self._playing: dict[asyncio.Task[_Over], Slot] = {}
        self._games: dict[int, PlayedGame] = {}
        #: How many whole pairs gave the first player 0, ½, 1, 1½ and 2 points.
        self._pairs = [0] * 5
        self._void: list[Void] = []
        self._broken_off = 0
        #: By label: what each has done in every game, also in those that do not count.
        self._sides: dict[str, list[SideRecord]] = {label: [] for label in plan.labels}
        self._status: Status | None = None
        self._detail = ""
        self._error: OSError | None = None

    def stop(self) -> None:
        """Break off the games under way, and begin no more."""
        self._end(Status.INTERRUPTED, "it was interrupted")

    async def run(self) -> SeriesResult:
        """Play, and return what came of it; raises `OSError` if nobody takes what is told."""
        async with asyncio.TaskGroup() as group:
            try:
                await self._play_all(group)
            except OSError as error:  # raised in here, it would be one of a group
                self._error = error
            finally:
                self._break_off()
        if self._error is not None:
            raise self._error
        return self._result()

    async def _play_all(self, group: asyncio.TaskGroup) -> None:
        while True:
            while (slot := self._next_slot()) is not None:
                self._attempts[slot.number] += 1
                self._playing[group.create_task(self._play(slot))] = slot
                self._watcher.began(slot)
            if not self._playing:
                return
            done, _ = await asyncio.wait(self._playing, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda each: self._playing[each].number):
                await self._settle(task, self._playing.pop(task))

    def _next_slot(self) -> Slot | None:
        """Return the game to begin now, if any may be."""
        if self._status is not None or len(self._playing) >= self._plan.concurrency:
            return None
        if self._again:
            return self._again.pop(0)
        is_whole_pair = not self._plan.swaps or self._next % 2
        if self._next > self._plan.games or (is_whole_pair and self._is_decided()):
            return None
        self._next += 1
        return self._plan.slot(self._next - 1)

    # --- one game ---

    async def _play(self, slot: Slot) -> _Over:
        try:
            start = await self._starts.of(slot.round)
            private = PrivateMatch.create(
                self._plan.settings(slot, start),
                self._catalogue,
                account=self._account,
                told=lambda event: self._tell(slot, event),
                say=lambda by, words: self._watcher.said(slot, by, words),
            )
        except (AgentError, AppError, RulesError) as error:
            return _Over(why=str(error), ends_by=Status.FAILED)
        private.match.game.tags["Round"] = str(slot.number)
        try:
            return await self._play_on(slot, private)
        finally:
            for color, label in zip(Color, slot.labels, strict=True):
                self._sides[label].append(side_record(private, color))

    async def _play_on(self, slot: Slot, private: PrivateMatch) -> _Over:
        """Play a match until it is over, or paused by what does not pass."""
        match, resumed, plies = private.match, 0, 0
        while True:
            await private.play()
            if match.is_over:
                return _Over(private)
            if len(match.game.line) > plies:
                resumed, plies = 0, len(match.game.line)  # it had gone on: this is another fault
            cause = match.pause_cause or PauseCause.FAULT
            if cause is not PauseCause.OUTAGE or resumed == RESUMES:
                return _Over(private, match.pause_reason, _ENDS_BY.get(cause))
            pause = FIRST_PAUSE * LONGER**resumed
            self._watcher.noted(
                f"game {slot.number} goes on in {pause.total_seconds():.0f} s: {match.pause_reason}"
            )
            await asyncio.sleep(pause.total_seconds())
            resumed += 1
            await private.command(Resume())

    def _tell(self, slot: Slot, event: Event) -> None:
        try:
            self._watcher.told(slot, event)
        except OSError as error:  # the match has nothing to do with it
            self._error = error
            self._end(Status.FAILED, str(error))

    # --- what has become of it ---

    async def _settle(self, task: asyncio.Task[_Over], slot: Slot) -> None:
        if task.cancelled():
            self._broken_off += 1
            return
        over = task.result()
        if over.private is None or not over.private.match.is_over:
            self._take_void(slot, over)
            return
        game = self._games[slot.number] = played_game(slot, over.private)
        self._count_pair(slot)
        try:
            await asyncio.to_thread(self._keep, over.private.match.game.pgn())
        except AppError as error:
            self._end(Status.FAILED, f"game {slot.number} counts and is not kept: {error}")
        self._watcher.ended(game, self._result)

    def _count_pair(self, slot: Slot) -> None:
        if slot.pair is None:
            return
        first = self._plan.labels[0]
        numbers = 2 * slot.pair - 1, 2 * slot.pair
        pair = [self._games[number] for number in numbers if number in self._games]
        if len(pair) == len(numbers):
            self._pairs[round(2 * sum(game.score_of(first) for game in pair))] += 1

    def _take_void(self, slot: Slot, over: _Over) -> None:
        number, attempts = slot.number, self._attempts[slot.number]
        ends_by = over.ends_by
        if ends_by is None and attempts >= ATTEMPTS:
            ends_by = Status.FAILED
        is_replayed = ends_by is None and self._status is None
        self._void.append(Void(number, over.why, is_replayed))
        if is_replayed:
            self._watcher.noted(f"game {number} is void, and is played again: {over.why}")
            self._again.append(slot)
        elif ends_by is Status.BUDGET:
            # Those under way may have enough, and what was paid for them is not thrown away.
            self._status, self._detail = self._status or ends_by, self._detail or over.why
        elif ends_by is not None:
            often = f" {attempts} times over" if attempts > 1 else ""
            self._end(ends_by, f"game {number} came to nothing{often}: {over.why}")

    def _end(self, status: Status, detail: str) -> None:
        if self._status is None or status is Status.INTERRUPTED:
            self._status, self._detail = status, detail
        self._break_off()

    def _break_off(self) -> None:
        for task in self._playing:
            task.cancel()

    def _is_decided(self) -> bool:
        """Return whether the sequential test has decided."""
        verdict = self._plan.tested(self._pairs)
        return verdict is not None and verdict.decision is not None

    def _result(self) -> SeriesResult:
        status = self._status
        if status is None:
            is_over = len(self._games) == self._plan.games or (
                not self._playing and self._is_decided()
            )
            status = Status.FINISHED if is_over else Status.PLAYING
        return SeriesResult(
            self._plan,
            status,
            self._detail,
            tuple(self._games[number] for number in sorted(self._games)),
            tuple(self._void),
            self._broken_off,
            {label: SideRecord.total(sides) for label, sides in self._sides.items()},
            self._began_at,
            now() - self._began_at,
        )


#: How pauses end a series that do not pass; what breaks otherwise may not break again.
_ENDS_BY = {
    PauseCause.BUDGET: Status.BUDGET,
    PauseCause.SETUP: Status.FAILED,
    PauseCause.OUTAGE: Status.FAILED,
}
