"""Owner: the one task that runs a match, and its only writer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

import structlog

from agents.errors import AgentError
from agents.excused import Excuse
from agents.models.budget import Budget
from agents.models.errors import BudgetSpent, ModelError, ProviderFault
from agents.models.ledger import Ledger
from agents.player import Decision, Player, Turn
from agents.timekeeping import now
from agents.uci.analyser import Analyser
from app.matches.commands import Abort, Command, PlayMove
from app.matches.errors import CannotDo, MatchError
from app.matches.hearing import SLOW, Hearing, Say, excuse
from app.matches.match import Match, MatchStatus, PauseCause
from app.matches.refusals import last_resort, read_move, rejections_of, said_by
from app.matches.saying import advice_of, printable, printable_advice
from app.matches.storing import take_change
from app.persistence.errors import LostOwnership, StorageUnavailable
from app.persistence.records import Change
from engine import Color, Evaluation, Move, MoveError, RulesError

_log = structlog.get_logger(__name__)

#: How long a player may take, whatever it does: models on small machines are slow.
PATIENCE = timedelta(hours=2)
#: How often a turn is tried again after a fault that is not the player's doing, and how soon.
FAULTS = 4
FIRST_PAUSE = timedelta(milliseconds=250)
LONGEST_PAUSE = timedelta(seconds=10)
#: The longest that a match waits because somebody said so, such as a provider of models.
LONGEST_WISH = timedelta(minutes=10)


def _nobody(by: str, words: str) -> None:
    """Hear nothing."""


def _nothing() -> None:
    """Do nothing."""


class Writer(Protocol):
    """Where an owner's changes go."""

    async def commit(self, change: Change) -> None:
        """Return when the change is durable; raise `LostOwnership` or `StorageUnavailable`."""


class TurnLedgers(Protocol):
    """Where the model calls of a match are written down, turn by turn."""

    def for_turn(self, color: Color, ply_number: int, excuse: Excuse) -> Ledger:
        """Return the ledger of a side for a ply; `excuse` is told of what was not its doing."""

    def rebudget(self, budget: Budget) -> None:
        """Go by another budget from now on; what was spent of the old one counts."""


class Observer(Protocol):
    """Whoever counts what happens."""

    def decided(self, player: str, took: timedelta) -> None:
        """Take note of a decision."""

    def failed(self, player: str) -> None:
        """Take note of a player that could not decide."""

    def rejected(self, player: str) -> None:
        """Take note of a move that was refused."""

    def storage_failed(self, error: Exception) -> None:
        """Take note of what the database could not do."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """What kept a player from deciding, as a value: it must not cancel the match."""

    error: Exception


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of asking a player, and when."""

    decision: Decision | _Fault
    at: datetime


@dataclass(frozen=True, slots=True)
class _Asked:
    """A command that waits to be performed, when it came, and who waits for it."""

    command: Command
    at: datetime
    answer: asyncio.Future[Match]


class OwnerGone(Exception):
    """The owner has stopped before it came to a command; another may take it."""


class Owner:
    """Runs one match until it is over, paused, or taken by another owner.

    Commands come by `ask`; they are performed between two steps of the match, one by one.
    """

    def __init__(
        self,
        match: Match,
        epoch: int,
        worker: str,
        *,
        players: Mapping[Color, Player],
        writer: Writer,
        observer: Observer,
        analyser: Analyser | None = None,
        spent: timedelta = timedelta(0),
        answered_at: Callable[[], datetime] | None = None,
        ledger: TurnLedgers | None = None,
        say: Say = _nobody,
    ) -> None:
        """`answered_at` tells when the database last answered; `say` passes on players' words."""
        self.match = match
        self._epoch = epoch
        self._worker = worker
        self._players = players
        self._writer = writer
        self._observer = observer
        self._analyser = analyser
        self._answered_at = answered_at
        self._ledger = ledger
        self._say = say
        self._hearing = Hearing(_nothing, say)
        self._spent = spent  # by the turn that was under way when another owner stopped
        self._commands: deque[_Asked] = deque()
        self._stirred = asyncio.Event()
        self._deciding: asyncio.Task[_Answer] | None = None
        self._faults = 0
        self._wished = timedelta(0)  # how long to wait at least before the next try
        self._before = timedelta(0)  # what the turn had taken when the player was last asked
        self._is_open = True

    async def ask(self, command: Command) -> Match:
        """Have a command performed, and return the match once that is durable.

        Raises what `Command.perform` raises, or `OwnerGone`.
        """
        if not self._is_open:
            raise OwnerGone
        answer: asyncio.Future[Match] = asyncio.get_running_loop().create_future()
        self._commands.append(_Asked(command, now(), answer))
        self._stirred.set()
        return await answer

    async def run(self) -> None:
        """Run the match. Returns quietly when another owner has taken it."""
        gone: Exception = OwnerGone()
        try:
            async with asyncio.TaskGroup() as group:
                try:
                    await self._run(group)
                finally:
                    self._stop_deciding()
        except* LostOwnership:
            _log.info("match taken by another owner", match_id=self.match.id)
        except* Exception:
            # What broke this owner may break the next, so nobody should ask it at once.
            gone = StorageUnavailable("the match broke and is taken up again; try again later")
            raise
        finally:
            self._is_open = False
            for asked in self._commands:
                if not asked.answer.done():
                    asked.answer.set_exception(gone)

    async def _run(self, group: asyncio.TaskGroup) -> None:
        match = self.match
        while self._commands and isinstance(self._commands[0].command, Abort):
            await self._perform_next()  # a match that waited for its turn need not begin for that
        if match.status is MatchStatus.CREATED:
            match.start(now())
            await self._commit()
        elif match.status is MatchStatus.RUNNING:
            match.begin_turn(now(), self._spent)
            await self._commit()
        while not match.is_over:
            if self._commands and not self._is_flagged(self._commands[0].at):
                await self._perform_next()
            elif match.status is MatchStatus.PAUSED:
                return  # who resumes it makes a new owner
            elif self._hearing.has_news:
                self._take_news()
                await self._commit()
            elif self._deciding is not None and self._deciding.done():
                answer, self._deciding = self._deciding.result(), None
                await self._take(answer)
            elif (left := match.time_left(now())) is not None and left <= timedelta(0):
                self._run_out_of_time()
                await self._commit()
            else:
                if self._deciding is None and match.color in self._players:
                    self._deciding = self._start_deciding(group)
                await self._wait(left)

    def _run_out_of_time(self) -> None:
        """Let the flag fall, unless nobody could have moved since the database went away."""
        match = self.match
        answered_at = now() if self._answered_at is None else self._answered_at()
        if now() - answered_at < SLOW or self._is_flagged(answered_at):
            self._stop_deciding()
            match.lose_on_time(now())
        else:
            match.begin_turn(now(), match.elapsed(answered_at))

    def _is_flagged(self, at: datetime) -> bool:
        left = self.match.time_left(at)
        return left is not None and left <= timedelta(0)

    # --- waiting ---

    async def _wait(self, left: timedelta | None) -> None:
        """Wait for a command, a decision, or the fall of a flag."""
        try:
            async with asyncio.timeout(None if left is None else left.total_seconds()):
                await self._stirred.wait()
        except TimeoutError:
            return
        self._stirred.clear()

    def _start_deciding(self, group: asyncio.TaskGroup) -> asyncio.Task[_Answer]:
        match, at = self.match, now()
        self._before = match.elapsed(at)
        self._hearing = Hearing(self._stirred.set, self._say)
        hearing = self._hearing
        turn = replace(
            match.turn(at),
            rejections=rejections_of(match),
            advice=tuple(map(advice_of, match.advice)),
            listener=hearing,
        )
        if self._ledger is not None:
            number = len(match.game.line) + 1
            ledger = self._ledger.for_turn(match.color, number, hearing.excuse)
            turn = replace(turn, ledger=ledger)
        task = group.create_task(self._decide(self._players[match.color], turn))
        task.add_done_callback(lambda _: self._stirred.set())
        return task

    def _stop_deciding(self) -> None:
        if self._deciding is not None:
            self._deciding.cancel()
            self._deciding = None
        self._hearing = Hearing(_nothing, self._say)  # what was said counts no more

    async def _decide(self, player: Player, turn: Turn) -> _Answer:
        if self._faults:
            await asyncio.sleep(self._pause().total_seconds())
        began = now()
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                decision = await player.decide(turn)
        except (AgentError, TimeoutError, RulesError) as error:
            return _Answer(_Fault(error), now())
        except Exception as error:
            _log.exception("player broke", match_id=self.match.id, player=player.name)
            return _Answer(_Fault(error), now())
        at = now()
        self._observer.decided(player.name, at - began)
        return _Answer(decision, at)

    # --- commands ---

    async def _perform_next(self) -> None:
        """Perform the first command. It waits on until it is durable, for another owner to do."""
        asked = self._commands[0]
        try:
            if not asked.answer.done():  # else whoever asked has gone away
                await self._perform(asked)
        except LostOwnership:
            raise
        except Exception as error:  # it would break the next owner, too
            if not asked.answer.done():
                asked.answer.set_exception(error)
            raise
        self._commands.popleft()

    async def _perform(self, asked: _Asked) -> None:
        match, command, answer = self.match, asked.command, asked.answer
        before = match.game.position, match.status
        try:
            if isinstance(command, PlayMove):
                match.refuse_unless_may_move(command.color)
                move = match.game.position.parse(command.move)
                source = match.settings.player(command.color).name
                await self._play(move, asked.at, source=source)
            else:
                command.perform(match, asked.at)
        except (MatchError, RulesError) as error:
            if not answer.done():
                answer.set_exception(error)
            return
        if self._ledger is not None:
            self._ledger.rebudget(match.budget)
        if (match.game.position, match.status) != before:
            self._stop_deciding()
            self._faults = 0
        await self._commit()
        if not answer.done():
            answer.set_result(match)

    # --- decisions ---

    def _take_news(self) -> None:
        """Note what a player lets know before it has decided."""
        for advice in self._hearing.take_advice():
            self.match.advise(printable_advice(advice), now())
        excused = self._hearing.take_excuse()
        if excused and self.match.game.clock is not None:
            excuse(self.match, excused)

    async def _take(self, answer: _Answer) -> None:
        """Do what a player decided, or try the turn again."""
        decision, at = answer.decision, answer.at
        if isinstance(decision, _Fault):
            self._try_again(decision.error)
        elif self._is_flagged(at):
            self.match.lose_on_time(at)
        elif not self._ends(decision, at):
            await self._move(decision, at)
        await self._commit()

    def _ends(self, decision: Decision, at: datetime) -> bool:
        """Return whether a decision ended the match, without a move."""
        match = self.match
        color = match.color
        if decision.resigns:
            match.resign(color, at)
        elif match.draw_offer is color.opponent and (
            decision.accepts_draw or decision.offers_draw  # who offers back agrees
        ):
            match.accept_draw(color, at)
        elif decision.claims_draw:
            # As the position stands, or else with the move; a claim that does not hold is no more
            # than the move it came with.
            for intended in (None, decision.move):
                with suppress(CannotDo, MoveError):
                    match.claim_draw(color, intended, at)
                    break
        return match.is_over

    async def _move(self, decision: Decision, at: datetime) -> None:
        """Play the move of a decision, or refuse it."""
        match = self.match
        advice = decision.advice
        # A player's only words about its own move are told with the ply.
        is_own = len(advice) == 1 and len(advice[0].candidates) == 1 and not advice[0].words
        move, refusal = read_move(match.game.position, decision)
        for each in () if is_own and move is not None else advice:
            match.advise(printable_advice(each), at)
        if move is None:
            await self._reject(decision, refusal, at)
            return
        # Whoever speaks last decides.
        reasons = (each.candidates[0] for each in reversed(advice) if each.candidates)
        reason = next((each.reason for each in reasons if each.move == move), "")
        await self._play(
            move,
            at,
            source=match.settings.player(match.color).name,
            evaluation=decision.evaluation,
            decision={"reason": printable(reason), "attempts": len(match.attempts) + 1},
            offers_draw=decision.offers_draw,
        )

    async def _play(
        self,
        move: Move,
        at: datetime,
        *,
        source: str,
        evaluation: Evaluation | None = None,
        decision: dict[str, Any] | None = None,
        offers_draw: bool = False,
    ) -> None:
        if self._analyser is not None:
            evaluation = await self._analyse(self._analyser, move) or evaluation
        self.match.play(
            move,
            at,
            source=source,
            evaluation=evaluation,
            decision=decision,
            offers_draw=offers_draw,
            turn_at=now(),  # the next player does not pay for what took so long here
        )
        self._faults = 0

    async def _analyse(self, analyser: Analyser, move: Move) -> Evaluation | None:
        """Return what Stockfish thinks of the position after a move."""
        settings = self.match.settings.analysis
        position = self.match.game.position.play(move)
        try:
            analysis = await analyser.analyse(position, settings.limit if settings else None)
        except AgentError as error:
            _log.warning("no analysis of a ply", match_id=self.match.id, error=str(error))
            return None
        score = analysis.score
        return None if score is None else score.evaluation(position.turn)

    # --- refusals and faults ---

    async def _reject(self, decision: Decision, error: MoveError | None, at: datetime) -> None:
        """Refuse a move, and let the player try again or take the last resort."""
        match, policy = self.match, self.match.settings.illegal_moves
        name = match.settings.player(match.color).name
        match.reject(len(match.attempts) + 1, said_by(decision), error, at)
        self._observer.rejected(name)
        if len(match.attempts) <= policy.retries:
            return
        resort = last_resort(match, decision)
        if resort is None:
            match.forfeit(at)
            return
        move, kind = resort
        summary = {"reason": kind.value, "attempts": len(match.attempts)}
        await self._play(move, at, source=f"{name} ({kind.value})", decision=summary)

    def _try_again(self, error: Exception) -> None:
        """Have the turn decided anew, with the time it had; after some faults, pause."""
        match = self.match
        name = match.settings.player(match.color).name
        self._faults += 1
        self._observer.failed(name)
        _log.warning("no decision", match_id=match.id, player=name, error=str(error))
        wished, is_lasting = timedelta(0), False
        if isinstance(error, AgentError):
            wished, is_lasting = error.retry_after or wished, error.is_lasting
        self._wished = min(wished, LONGEST_WISH)
        # What broke is not the player's thinking: neither this try nor the pause after it counts.
        # But what faults of models cost was excused when they came; the rest was thinking.
        at = now()
        spent = match.elapsed(at) if isinstance(error, ModelError) else self._before
        if self._faults < FAULTS and not is_lasting:
            match.begin_turn(at + self._pause(), spent)
            return
        match.begin_turn(at, spent)
        why = f"{name} could not decide: {printable(str(error), 300)}"
        match.pause(at, why, _cause_of(error))
        self._faults = 0

    def _pause(self) -> timedelta:
        """Return how long to wait before the next try, if there were faults."""
        return max(min(FIRST_PAUSE * (1 << (self._faults - 1)), LONGEST_PAUSE), self._wished)

    # --- writing ---

    async def _commit(self, *, is_again: bool = False) -> None:
        """Write what is new, however long the database is out of reach."""
        match = self.match
        if not match.new_events:
            return
        change = take_change(match, self._epoch, None if match.is_over else self._worker)
        began, pause, has_waited = now(), FIRST_PAUSE, False
        while True:
            try:
                await self._writer.commit(change)
                break
            except StorageUnavailable as error:
                _log.error("nothing can be stored", match_id=match.id, error=str(error))
                self._observer.storage_failed(error)
                await asyncio.sleep(pause.total_seconds())
                pause, has_waited = min(pause * 2, LONGEST_PAUSE), True
        is_slow = has_waited or now() - began >= SLOW
        if is_slow and match.status is MatchStatus.RUNNING and not is_again:
            # Nobody could see the position meanwhile, nor move.
            match.begin_turn(now(), match.elapsed(began))
            await self._commit(is_again=True)


def _cause_of(error: Exception) -> PauseCause:
    """Return why a match is paused in which a player could not decide."""
    match error:
        case BudgetSpent():
            return PauseCause.BUDGET
        case ProviderFault():
            return PauseCause.OUTAGE
        case ModelError():
            return PauseCause.SETUP
        case _:
            return PauseCause.FAULT
