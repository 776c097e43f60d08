"""Conductor: plays one evaluation to its end. It alone begins the games of it.

All that it decides by is stored: what it knows it has read from the database, and whatever it
begins is stored in one transaction with its place. So whoever takes the evaluation up after a crash
plays nothing twice, and leaves nothing out.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from agents.catalogue import Catalogue
from agents.errors import AgentError
from agents.models.budget import Budget
from agents.timekeeping import now
from app.evaluations.analysis.analyst import Analyst
from app.evaluations.balanced import NoBalancedOpening
from app.evaluations.commanding import command
from app.evaluations.contest import Contest
from app.evaluations.games import BUDGET_SPENT
from app.evaluations.plan import Plan, PositionsPlan, ReviewBody
from app.evaluations.progress import progress_json
from app.evaluations.roster import Entry, Roster
from app.evaluations.schedules.schedule import Slot
from app.evaluations.starts import Starts
from app.evaluations.treasurer import CannotLend, Treasurer
from app.matches.commands import Abort, Command, Resume
from app.matches.errors import TooManyMatches, UnplayableSettings
from app.matches.events import dumps, milliseconds
from app.matches.match import MatchStatus, PauseCause
from app.matches.service import MatchService
from app.matches.settings import budget_of
from app.persistence.database import Database
from app.persistence.errors import LostEvaluation, StorageRefused, StorageUnavailable
from app.persistence.evaluations import (
    GameRecord,
    SideSpending,
    add_game,
    games_of,
    hold,
    move_on,
    settle_game,
    spending_of,
)
from app.persistence.records import MatchRecord
from engine.variant import find_variant

_log = structlog.get_logger(__name__)

#: How often to look at games of which nothing tells, such as those that another process plays.
LOOK_EVERY = timedelta(seconds=1)
#: How long after the end of a match a call of its players may still come in.
LATEST_CALL = timedelta(minutes=15)
#: How soon a match is resumed that paused by a fault, and how often before it is given up.
FIRST_PAUSE = timedelta(seconds=5)
_LONGER = 4
_RESUMES = 3
#: How often a game is begun before the evaluation pauses.
_ATTEMPTS = 3


class _Stuck(Exception):
    """What keeps an evaluation from going on until somebody has seen to it, in a sentence."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why an evaluation does not go on; whether it can be resumed after that."""

    detail: str
    is_paused: bool = False


class Conductor:
    """Begins games, settles them, and knows when it is enough."""

    def __init__(
        self,
        evaluation_id: str,
        epoch: int,
        contest: Contest,
        *,
        database: Database,
        matches: MatchService,
        catalogue: Catalogue,
        changed: Callable[[], None],
        first_pause: timedelta = FIRST_PAUSE,
    ) -> None:
        """`changed` is called whenever something new is stored."""
        self.id = evaluation_id
        self._epoch = epoch
        self._contest = contest
        self._database = database
        self._matches = matches
        self._catalogue = catalogue
        self._changed = changed
        self._first_pause = first_pause
        plan = contest.plan
        self._roster = Roster()
        #: Whether what is stored may be more than what we know.
        self._is_stale = True
        self._stirred = asyncio.Event()
        self._starts = Starts(contest, catalogue)
        self._treasurer = Treasurer(contest, catalogue)
        #: When matches that paused by a fault are resumed, and how often that was done.
        self._due: dict[str, datetime] = {}
        self._resumed: Counter[str] = Counter()
        #: How many plies they had when they last paused.
        self._plies: dict[str, int] = {}
        self._is_spent = False
        #: Matches that have ended lately, and when that was seen.
        self._recent: deque[tuple[str, datetime]] = deque()
        self._waiting = ""
        #: What was known when games were last begun, and whether there was room for them.
        self._seen: tuple[object, ...] = ()
        self._has_room = True
        self._told = ""
        self._began_at = now()
        self._scored_before: int | None = None
        self._analyst = Analyst(
            evaluation_id, _review_of(plan), database, matches, catalogue, self._stirred.set
        )

    def stir(self, match_ids: Iterable[str]) -> None:
        """Look at the games, if some of these matches are among them."""
        if any(each in self._treasurer.lent for each in match_ids):
            self._stirred.set()

    async def run(self) -> Ending | None:
        """Conduct it, and return why it ended or pauses; None if another process has taken it."""
        async with asyncio.TaskGroup() as group:
            analysing = group.create_task(self._analyst.run())
            try:
                return await self._conduct()
            except LostEvaluation:
                return None
            except _Stuck as stuck:
                return Ending(str(stuck), is_paused=True)
            finally:
                analysing.cancel()

    async def _conduct(self) -> Ending:
        while True:
            self._stirred.clear()
            try:
                if self._is_stale:
                    await self._read()
                await self._settle()
                ending = await self._go_on()
                if ending is not None:
                    return ending
            except (StorageUnavailable, StorageRefused) as error:
                # It may have been stored nevertheless.
                self._is_stale = True
                _log.error("evaluation waits", evaluation_id=self.id, error=str(error))
            await self._wait()

    async def _go_on(self) -> Ending | None:
        """Begin games, or return why there are no more."""
        roster, analyst = self._roster, self._analyst
        news = (
            roster.revision, self._treasurer.spent, self._is_spent, self._waiting,
            analyst.analysed, analyst.is_idle,
        )  # fmt: skip
        if news == self._seen:
            return None  # schedules look at all games, which may be many
        self._has_room = True
        stopped = await self._begin_games()
        self._seen = news if self._has_room else ()
        verdict = stopped or self._contest.schedule.verdict(roster.standings)
        is_played = verdict is not None and not roster.playing and (stopped or not roster.void)
        is_over = is_played and self._analyst.is_idle
        await self._tell("done" if is_over else "analysing" if is_played else "playing")
        return Ending(str(verdict)) if is_over else None

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(LOOK_EVERY.total_seconds()):
                await self._stirred.wait()
        except TimeoutError:
            pass

    async def _read(self) -> None:
        """Read what was played before."""

        def query(connection: Connection) -> tuple[list[GameRecord], list[SideSpending]]:
            return games_of(connection, self.id), spending_of(connection, self.id)

        records, spending = await self._database.read(query)
        self._roster, self._seen = Roster(records), ()
        self._treasurer.note(spending)
        await self._analyst.open()
        for entry in self._roster.scored:
            self._analyst.take(entry.match_id)
        if self._scored_before is None:
            self._scored_before = len(self._roster.scored)
        self._is_stale = False

    # --- games under way ---

    async def _settle(self) -> None:
        """See what has become of the games that are being played."""
        # A call under way when its match ended is in the ledger once its answer has come.
        while self._recent and self._recent[0][1] + LATEST_CALL < now():
            self._recent.popleft()
        recent = [match_id for match_id, _ in self._recent]

        def look(connection: Connection) -> tuple[list[GameRecord], list[SideSpending]]:
            records = games_of(connection, self.id, playing=True)
            return records, spending_of(connection, self.id, playing=True, also=recent)

        records, spending = await self._database.read(look)
        self._treasurer.note(spending)
        self._waiting = ""
        self._treasurer.lent = {record.match_id: _lent_to(record) for record in records}
        if settled := [entry for record in records if (entry := Entry.settled(record))]:
            await self._store(settled)
        await self._attend([each for each in records if each.match_id in self._treasurer.lent])

    async def _attend(self, records: list[GameRecord]) -> None:
        """See to the matches that are not over, if they are paused."""
        in_need: list[GameRecord] = []
        for record in records:
            match record.match_status:
                case MatchStatus.PAUSED if _cause_of(record) is PauseCause.BUDGET:
                    in_need.append(record)
                case MatchStatus.PAUSED if _cause_of(record) is PauseCause.EVALUATION:
                    await self._take_up(record)
                case MatchStatus.PAUSED:
                    await self._see_to(record)
                case _:
                    self._due.pop(record.match_id, None)
        if in_need:
            await self._lend_more(in_need)

    async def _store(self, settled: list[Entry]) -> None:
        """Store what has become of games, and have those analysed that count."""

        def store(connection: Connection) -> None:
            hold(connection, self.id, self._epoch)
            for entry in settled:
                settle_game(connection, entry.match_id, entry.status, entry.detail)

        await self._database.write(store)
        for entry in settled:
            self._roster.settle(entry)
            del self._treasurer.lent[entry.match_id]
            if self._treasurer.asks_models(entry.slot):
                self._recent.append((entry.match_id, now()))
            if entry.status == "scored":
                self._analyst.take(entry.match_id)
            elif entry.attempt >= _ATTEMPTS and not self._is_spent:
                number, detail = entry.slot.number, entry.detail
                raise _Stuck(f"game {number} came to nothing {_ATTEMPTS} times: {detail}")

    async def _take_up(self, record: GameRecord) -> None:
        """Resume a match that stood with its evaluation, which goes on.

        Unless somebody has taken the evaluation to pause it, and we do not know yet.
        """
        if not self._matches.has_room:
            self._waiting = f"game {_slot_of(record).number} waits until others have ended"
            return
        await self._database.write(lambda connection: hold(connection, self.id, self._epoch))
        await self._command(record.match_id, Resume())

    async def _see_to(self, record: GameRecord) -> None:
        """Resume a match that paused by a fault after a while, or give it up."""
        match_id, why, number = record.match_id, _detail_of(record), _slot_of(record).number
        cause = _cause_of(record)
        if cause is PauseCause.COMMAND:
            self._waiting = f"game {number} was paused by somebody"
            return
        self._waiting = f"game {number}: {why}"
        if record.ply_count > self._plies.get(match_id, record.ply_count):
            self._resumed[match_id] = 0  # it had gone on: this is another fault
        self._plies[match_id] = record.ply_count
        due = self._due.get(match_id)
        is_enough = due is None and self._resumed[match_id] >= _RESUMES
        if cause is PauseCause.SETUP or (is_enough and cause is PauseCause.OUTAGE):
            # Another game would fare no better, and what was paid for this one is not thrown away.
            raise _Stuck(f"game {number}: {why}")
        if is_enough:
            await self._command(match_id, Abort(why[:200]))
        elif due is None:
            self._due[match_id] = now() + self._first_pause * _LONGER ** self._resumed[match_id]
        elif due <= now():
            del self._due[match_id]
            self._resumed[match_id] += 1
            await self._command(match_id, Resume())

    async def _command(self, match_id: str, what: Command) -> None:
        await command(self._matches, match_id, what)
        self._stirred.set()

    # --- money ---

    async def _lend_more(self, in_need: list[GameRecord]) -> None:
        """Lend more to matches whose budget is spent, or give up those that cannot be paid for."""
        has_helped = False
        for record in in_need:
            match_id, slot = record.match_id, _slot_of(record)
            try:
                larger = self._treasurer.lend_more(match_id, slot, self._roster)
            except CannotLend:
                raise _Stuck(f"game {slot.number}: {_detail_of(record)}") from None
            if larger is not None:
                await self._command(match_id, Resume(larger))
                has_helped = True
        if not has_helped and len(in_need) == len(self._roster.playing):
            # Nobody will give anything back any more. What the youngest leaves may do for others.
            self._is_spent = True
            await self._command(in_need[-1].match_id, Abort(BUDGET_SPENT))

    # --- new games ---

    async def _begin_games(self) -> str | None:
        """Begin as many games as may be played at a time; return why none can be paid for."""
        roster, schedule = self._roster, self._contest.schedule
        while len(roster.playing) < self._contest.plan.concurrency:
            if self._is_spent:
                return BUDGET_SPENT
            again = next(iter(roster.void), None)
            slot = again.slot if again else schedule.next_slot(roster.standings)
            if slot is None:
                return None
            budget = self._treasurer.loan(slot, roster)
            if budget is None:
                # Those that are being played may leave something.
                return (
                    None if roster.playing else f"{BUDGET_SPENT}, but for what no game could cost"
                )
            if not await self._begin(slot, again.attempt + 1 if again else 1, budget):
                return None
        return None

    async def _begin(self, slot: Slot, attempt: int, budget: Budget) -> bool:
        """Begin a game; return whether there was room for it."""

        def add(connection: Connection, record: MatchRecord) -> None:
            hold(connection, self.id, self._epoch)
            add_game(connection, self.id, slot.number, attempt, record.id, dumps(slot.to_json()))

        try:
            start = await self._starts.of(slot)
            settings = self._contest.settings_of(slot, start.opening, start.fen, budget)
            created = await self._matches.create(
                settings, client=f"evaluation:{self.id}", evaluation_id=self.id, also=add
            )
        except TooManyMatches as error:
            self._waiting, self._has_room = str(error), False
            return False
        except (UnplayableSettings, NoBalancedOpening, AgentError) as error:
            raise _Stuck(f"game {slot.number} cannot be begun: {error}") from error
        self._roster.add(Entry(slot, attempt, created.record.id, "playing"))
        self._treasurer.lent[created.record.id] = budget
        return True

    # --- telling ---

    async def _tell(self, phase: str) -> None:
        """Store how far it has come, if that is news."""
        progress = progress_json(
            self._contest,
            self._roster,
            phase=phase,
            analysed=self._analyst.analysed,
            spent=self._treasurer.spent,
            budget=self._contest.plan.whole_budget,
            waiting=self._waiting,
        )
        news = dumps(progress)
        if news == self._told:
            return
        timed = dumps(progress | {"eta_ms": self._eta_ms(progress["games"])})
        at = now()

        def store(connection: Connection) -> None:
            move_on(connection, self.id, self._epoch, progress=timed, updated_at=at)

        await self._database.write(store)
        self._told = news
        self._changed()

    def _eta_ms(self, games: dict[str, int]) -> int | None:
        """Return how long it will take by what games took since this process conducts it."""
        done = games["scored"] - (self._scored_before or 0)
        if done <= 0:
            return None
        left = games["expected"] - games["scored"]
        return milliseconds((now() - self._began_at) / done * max(left, 0))


def _review_of(plan: Plan) -> ReviewBody:
    """Return how far Stockfish looks at the games: not at all, where it does not know the rules."""
    if isinstance(plan, PositionsPlan) or not find_variant(plan.variant).has_uci_engines:
        return ReviewBody(nodes=0)
    return plan.analysis


def _slot_of(record: GameRecord) -> Slot:
    return Slot.from_json(json.loads(record.slot))


def _detail_of(record: GameRecord) -> str:
    return str(json.loads(record.match_state)["detail"])


def _cause_of(record: GameRecord) -> PauseCause:
    return PauseCause(json.loads(record.match_state).get("pause_cause") or PauseCause.COMMAND)


def _lent_to(record: GameRecord) -> Budget:
    """Return the budget that a match goes by now."""
    budget = json.loads(record.match_state).get("budget")
    return budget_of(budget or json.loads(record.match_settings)["budget"])
