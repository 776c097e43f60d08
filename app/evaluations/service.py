"""EvaluationService: everything that can be done with evaluations, by HTTP or by terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection
from uuid_utils.compat import uuid7

from agents.catalogue import Catalogue
from agents.timekeeping import now
from app.errors import AppError
from app.evaluations.commanding import HOLD, HOLD_ALL, command, command_all, hold_with
from app.evaluations.contest import Contest
from app.evaluations.errors import EvaluationNotFound, TooManyEvaluations, UnplayablePlan
from app.evaluations.estimate import PlanEstimate, estimate_plan
from app.evaluations.games import CANCELLED, EvaluationData
from app.evaluations.manifest import make_manifest
from app.evaluations.plan import Plan, plan_json, read_plan
from app.evaluations.preparation import check_budgets, prepare
from app.evaluations.progress import progress_json
from app.evaluations.reports.gathering import gather, understood
from app.evaluations.reports.leaderboard import Leaderboard
from app.evaluations.reports.report import build_report
from app.evaluations.reports.standings import Standings
from app.evaluations.roster import Entry, Roster
from app.evaluations.scheduler import Scheduler
from app.evaluations.schedules.schedule import Slot
from app.evaluations.treasurer import Treasurer, lack_of_money
from app.matches.commands import Abort, Command
from app.matches.errors import KeyReused
from app.matches.events import dumps, timestamp
from app.matches.exporting import UnknownId
from app.matches.exporting import find_evaluation as find_evaluation_id
from app.matches.schemas import BudgetBody
from app.matches.service import MatchService
from app.persistence.database import Database
from app.persistence.errors import StorageRefused
from app.persistence.evaluations import (
    CONDUCTED,
    FINISHED,
    OPEN,
    EvaluationRecord,
    analysed_of,
    find_by_key,
    find_evaluation,
    games_of,
    insert_evaluation,
    list_evaluations,
    move_on,
    open_of,
    report_of,
    settle_game,
    spending_of,
    unfinished_matches,
)
from engine import Game

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Started:
    """An evaluation that was started, or had been by the same request."""

    record: EvaluationRecord
    is_repeated: bool = False


class EvaluationService:
    """Starts, finds and commands evaluations, and reports on them."""

    def __init__(
        self,
        database: Database,
        scheduler: Scheduler,
        matches: MatchService,
        catalogue: Catalogue,
        *,
        evaluations_per_client: int,
    ) -> None:
        self._database = database
        self._scheduler = scheduler
        self._matches = matches
        self._catalogue = catalogue
        self._evaluations_per_client = evaluations_per_client
        self._standings = Standings(database)
        scheduler.make_report = self.make_report

    # --- starting ---

    def prepare(self, plan: Plan) -> Contest:
        """Return what a plan comes to, or raise `UnplayablePlan` and what else is wrong with it.

        Nothing is spent on it, and nobody is asked.
        """
        return prepare(plan, self._catalogue)

    def estimate(self, contest: Contest) -> PlanEstimate:
        """Return what a plan will likely cost."""
        return estimate_plan(contest, self._catalogue)

    async def create(
        self,
        plan: Plan,
        *,
        client: str,
        evaluation_id: str | None = None,
        idempotency_key: str | None = None,
        request_digest: str | None = None,
    ) -> Started:
        """Start an evaluation, or find the one that the same request started before.

        It gets an id of its own, unless one is given. Raises what `prepare` raises, `KeyReused` or
        `TooManyEvaluations`.
        """
        if idempotency_key is not None:
            found = await self._find_by_key(client, idempotency_key, request_digest)
            if found is not None:
                return found
        contest = await asyncio.to_thread(self.prepare, plan)
        if lack := lack_of_money(contest, self._catalogue):
            raise UnplayablePlan("budget", lack)
        manifest = await make_manifest(contest, self._catalogue)
        at = now()
        record = EvaluationRecord(
            id=evaluation_id or str(uuid7()),
            created_at=at,
            updated_at=at,
            status="created",
            plan=dumps(plan_json(contest.plan)),
            client=client,
            idempotency_key=idempotency_key,
            name=plan.name,
            kind=plan.kind,
            detail="",
            manifest=dumps(manifest),
            progress="{}",
            revision=0,
            request_digest=request_digest,
            ended_at=None,
            owner=None,
            epoch=0,
        )

        def insert(connection: Connection) -> None:
            if open_of(connection, client) >= self._evaluations_per_client:
                raise TooManyEvaluations(self._evaluations_per_client)
            insert_evaluation(connection, record)

        try:
            await self._database.write(insert)
        except StorageRefused:
            if idempotency_key is not None:  # the same request came twice at the same time
                found = await self._find_by_key(client, idempotency_key, request_digest)
                if found is not None:
                    return found
            raise
        self._scheduler.wake()
        return Started(record)

    async def _find_by_key(self, client: str, key: str, digest: str | None) -> Started | None:
        record = await self._database.read(lambda connection: find_by_key(connection, client, key))
        if record is None:
            return None
        if record.request_digest != digest:
            raise KeyReused
        return Started(record, is_repeated=True)

    # --- finding ---

    async def find(self, evaluation_id: str) -> EvaluationRecord:
        """Return an evaluation by its id, or raise `EvaluationNotFound`."""
        record = await self._database.read(
            lambda connection: find_evaluation(connection, evaluation_id)
        )
        if record is None:
            raise EvaluationNotFound(evaluation_id)
        return record

    async def id_of(self, beginning: str) -> str:
        """Return the id that begins so.

        Raises `EvaluationNotFound`, or `UnknownId` if several begin so.
        """
        try:
            return await find_evaluation_id(self._database, beginning)
        except UnknownId as error:
            if error.meant:
                raise
            raise EvaluationNotFound(beginning) from None

    async def list(
        self, status: str | None, before: str | None, limit: int
    ) -> Sequence[EvaluationRecord]:
        """Return evaluations, the newest first, from before an id on."""
        return await self._database.read(
            lambda connection: list_evaluations(connection, status, before, limit)
        )

    async def change(self) -> None:
        """Wait until something may have changed in some evaluation of this process."""
        await self._scheduler.change()

    # --- commanding ---

    async def pause(self, evaluation_id: str) -> EvaluationRecord:
        """Begin no more games, and let the clocks of those under way stand."""
        async with self._scheduler.taking_over(evaluation_id, "to pause", CONDUCTED) as (_, epoch):
            await self._command_all(evaluation_id, HOLD)
            await self._move_on(evaluation_id, epoch, status="paused", detail="", owner=None)
            # And those that were taken up meanwhile, as others made room; no more will be now.
            await self._command_all(evaluation_id, HOLD)
        return await self.find(evaluation_id)

    async def resume(
        self, evaluation_id: str, budget: BudgetBody | None = None
    ) -> EvaluationRecord:
        """Go on with a paused evaluation, perhaps with another budget; what was spent counts.

        With another budget also one that ended since its budget was spent. Raises `UnplayablePlan`
        for a budget that nobody could keep.
        """
        among: tuple[str, ...] = ("paused",)
        if budget is not None:
            record = await self.find(evaluation_id)
            contest = self._rebudgeted(record, budget)
            await self._refuse_if_spent(evaluation_id, contest)
            if record.status == FINISHED and await self._wants_more(evaluation_id, contest):
                among = ("paused", FINISHED)
        taking = self._scheduler.taking_over(evaluation_id, "to resume", among)
        async with taking as (record, epoch):
            values: dict[str, Any] = {"status": "created", "detail": "", "owner": None}
            # Whatever matches stood for: whoever conducts it resumes them as there is room.
            await self._command_all(evaluation_id, HOLD_ALL)
            if budget is not None:
                contest = self._rebudgeted(record, budget)
                values["plan"] = dumps(plan_json(contest.plan))
                await self._take_loans_back(evaluation_id, contest)
            if record.status == FINISHED:
                values |= {"ended_at": None, "report": None}
            await self._move_on(evaluation_id, epoch, **values)
        return await self.find(evaluation_id)

    async def _wants_more(self, evaluation_id: str, contest: Contest) -> bool:
        """Tell whether games are missing, for which there was no money."""
        games = await self._database.read(lambda connection: games_of(connection, evaluation_id))
        roster = Roster(games)
        return bool(roster.void) or contest.schedule.verdict(roster.standings) is None

    def _rebudgeted(self, record: EvaluationRecord, budget: BudgetBody) -> Contest:
        plan = json.loads(record.plan) | {"budget": budget.model_dump(mode="json")}
        contest = Contest.of(read_plan(plan))
        check_budgets(contest, self._catalogue)
        return contest

    async def _refuse_if_spent(self, evaluation_id: str, contest: Contest) -> None:
        """Raise `UnplayablePlan` for a budget of which nothing would be left."""
        spending = await self._database.read(
            lambda connection: spending_of(connection, evaluation_id)
        )
        treasurer = Treasurer(contest, self._catalogue)
        treasurer.note(spending)
        if treasurer.is_spent:
            raise UnplayablePlan("budget", "as much was spent already")

    async def _take_loans_back(self, evaluation_id: str, contest: Contest) -> None:
        """Leave matches no more than they have spent: the rest is lent anew."""
        spending = await self._database.read(
            lambda connection: spending_of(connection, evaluation_id, playing=True)
        )
        treasurer = Treasurer(contest, self._catalogue)
        treasurer.note(spending)
        found = await self._database.read(
            lambda connection: unfinished_matches(connection, evaluation_id)
        )
        for match_id in found:
            await command(self._matches, match_id, hold_with(treasurer.without_loan(match_id)))

    async def cancel(self, evaluation_id: str) -> EvaluationRecord:
        """End an evaluation: games under way are aborted, those that were played are kept."""
        async with self._scheduler.taking_over(evaluation_id, "to cancel", OPEN) as taken:
            record, epoch = taken
            await self._command_all(evaluation_id, Abort(CANCELLED))
            at = now()
            values = {"status": "cancelled", "detail": "it was cancelled", "owner": None}

            def close(connection: Connection) -> None:
                progress = self._closed(connection, record)
                ended = {"progress": progress, "updated_at": at, "ended_at": at}
                move_on(connection, evaluation_id, epoch, **values, **ended)

            await self._database.write(close)
        return await self.find(evaluation_id)

    def _closed(self, connection: Connection, record: EvaluationRecord) -> str:
        """Settle the games whose matches are over, and return what the evaluation has come to."""
        evaluation_id = record.id
        for game in games_of(connection, evaluation_id, playing=True):
            if entry := Entry.settled(game):
                settle_game(connection, entry.match_id, entry.status, entry.detail)
        try:
            contest = Contest.of(read_plan(json.loads(record.plan)))
        except AppError as error:  # a plan of another version must not keep it from being ended
            _log.warning("progress not told anew", evaluation_id=evaluation_id, error=str(error))
            return record.progress
        treasurer = Treasurer(contest, self._catalogue)
        treasurer.note(spending_of(connection, evaluation_id))
        progress = progress_json(
            contest,
            Roster(games_of(connection, evaluation_id)),
            phase="done",
            analysed=len(analysed_of(connection, evaluation_id)),
            spent=treasurer.spent,
            budget=contest.plan.whole_budget,
        )
        return dumps(progress | {"eta_ms": None})

    async def _move_on(self, evaluation_id: str, epoch: int, **values: Any) -> None:  # noqa: ANN401 - columns
        at = now()
        await self._database.write(
            lambda connection: move_on(connection, evaluation_id, epoch, updated_at=at, **values)
        )

    async def _command_all(self, evaluation_id: str, what: Command) -> None:
        await command_all(self._database, self._matches, evaluation_id, what)

    # --- reporting ---

    async def data(self, evaluation_id: str) -> EvaluationData:
        """Return everything that a report is made of, or raise `EvaluationNotFound`."""
        record = await self.find(evaluation_id)
        gathered = await self._database.read(lambda connection: gather(connection, record))
        return await asyncio.to_thread(understood, gathered)

    async def make_report(self, evaluation_id: str) -> dict[str, Any]:
        """Return the report of an evaluation as it stands, or raise `EvaluationNotFound`."""
        data = await self.data(evaluation_id)
        return await asyncio.to_thread(build_report, data)

    async def report(self, evaluation_id: str) -> dict[str, Any]:
        """Return the report that was made when it ended, or else as it stands."""
        await self.find(evaluation_id)
        text = await self._database.read(lambda connection: report_of(connection, evaluation_id))
        if text is not None:
            stored: dict[str, Any] = await asyncio.to_thread(json.loads, text)
            return stored
        return await self.make_report(evaluation_id)

    async def leaderboard(self, variant: str = "standard") -> Leaderboard:
        """Return everybody's rating by the scored games of all evaluations in a variant."""
        return await self._standings.leaderboard(variant)

    async def pgn(self, evaluation_id: str) -> str:
        """Return all games that count as PGN, or raise `EvaluationNotFound`."""
        return "".join([text async for text in self.pgn_games(evaluation_id)])

    async def pgn_games(self, evaluation_id: str) -> AsyncIterator[str]:
        """Yield all games that count as PGN, one by one, or raise `EvaluationNotFound`."""
        record = await self.find(evaluation_id)
        games = await self._database.read(lambda connection: games_of(connection, evaluation_id))
        between = ""
        for game in games:
            if game.status == "scored":
                played = (await self._matches.load(game.match_id)).game
                if record.kind == "positions":
                    played = _as_far_as_it_went(played)
                white, black = Slot.from_json(json.loads(game.slot)).labels
                played.tags |= {"Event": record.name, "Round": str(game.number)}
                played.tags |= {"White": white, "Black": black, "MatchId": game.match_id}
                yield between + await asyncio.to_thread(played.pgn)
                between = "\n"


def _as_far_as_it_went(game: Game) -> Game:
    """Return an answer to a position: that its match was over with it is no result of chess."""
    answered = Game(game.start, tags=game.tags)
    answered.line, answered.comment = game.line, game.comment
    return answered


def state_of(record: EvaluationRecord) -> dict[str, Any]:
    """Return an evaluation as everybody may see it."""
    ended_at = record.ended_at
    return {
        "id": record.id,
        "name": record.name,
        "kind": record.kind,
        "status": record.status,
        "detail": record.detail,
        "created_at": timestamp(record.created_at),
        "updated_at": timestamp(record.updated_at),
        "ended_at": None if ended_at is None else timestamp(ended_at),
        "revision": record.revision,
        "progress": json.loads(record.progress) or None,
    }
