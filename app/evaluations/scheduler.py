"""Scheduler: takes evaluations that nobody conducts, and gives each a conductor of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import Connection

from agents.catalogue import Catalogue
from agents.timekeeping import now
from app.errors import AppError
from app.evaluations.commanding import HOLD, command_all
from app.evaluations.conductor import FIRST_PAUSE, Conductor, Ending
from app.evaluations.contest import Contest
from app.evaluations.errors import CannotCommand, EvaluationIsOver, EvaluationNotFound
from app.evaluations.plan import read_plan
from app.matches.service import MatchService
from app.persistence.database import Database
from app.persistence.errors import LostEvaluation, StorageError, StorageUnavailable
from app.persistence.evaluations import (
    OPEN,
    EvaluationRecord,
    claim,
    claimable,
    find_evaluation,
    move_on,
    store_report,
)
from app.persistence.records import Change

_log = structlog.get_logger(__name__)

#: How often to look for evaluations whose conductor has died, where nothing tells of it.
LOOK_EVERY = timedelta(seconds=2)

MakeReport = Callable[[str], Awaitable[dict[str, Any]]]


class Scheduler:
    """Conducts evaluations: at most `concurrent` at a time. `run` is a task of the service."""

    def __init__(
        self,
        database: Database,
        matches: MatchService,
        catalogue: Catalogue,
        worker: str,
        *,
        concurrent: int,
        first_pause: timedelta = FIRST_PAUSE,
        among: Sequence[str] | None = None,
    ) -> None:
        """`first_pause` is how soon a match is resumed that paused by a fault.

        With `among`, only those evaluations are conducted.
        """
        self._among = among
        self._database = database
        self._matches = matches
        self._catalogue = catalogue
        self._worker = worker
        self._concurrent = concurrent
        self._first_pause = first_pause
        self._conductors: dict[str, Conductor] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._taking = asyncio.Lock()  # or two would take the same evaluation
        self._woken = asyncio.Event()
        self._changed = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self.make_report: MakeReport | None = None

    # --- what it hears ---

    def wake(self) -> None:
        """Look for evaluations that nobody conducts, and at what has changed elsewhere."""
        self._woken.set()
        self.tell()

    def committed(self, changes: Sequence[Change]) -> None:
        """Let conductors know of matches that have stopped."""
        stopped = [each.match_id for each in changes if each.status != "running"]
        if stopped:
            for conductor in self._conductors.values():
                conductor.stir(stopped)

    def tell(self) -> None:
        """Let those who watch know that something may have changed."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def change(self) -> None:
        """Wait until something may have changed in some evaluation."""
        await self._changed.wait()

    # --- the task ---

    async def run(self) -> None:
        """Take up evaluations until cancelled; then they can be taken up by others."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                while True:
                    self._woken.clear()
                    try:
                        await self._take_up()
                    except StorageUnavailable as error:
                        _log.error("no evaluations can be taken up", error=str(error))
                    try:
                        async with asyncio.timeout(LOOK_EVERY.total_seconds()):
                            await self._woken.wait()
                    except TimeoutError:
                        pass
            finally:
                self._group = None
                for task in self._tasks.values():
                    task.cancel()

    async def _take_up(self) -> None:
        if len(self._tasks) >= self._concurrent:
            return
        worker = self._worker
        found = await self._database.read(lambda connection: claimable(connection, worker))
        for evaluation_id in found:
            if self._among is not None and evaluation_id not in self._among:
                continue
            if len(self._tasks) >= self._concurrent:
                return
            async with self._taking:
                if evaluation_id not in self._tasks:
                    await self._take(evaluation_id)

    async def _take(self, evaluation_id: str) -> None:
        """Conduct an evaluation, unless another process does."""

        def work(connection: Connection) -> tuple[EvaluationRecord, int] | None:
            epoch = claim(connection, evaluation_id, self._worker)
            record = find_evaluation(connection, evaluation_id)
            if record is None or epoch is None:
                return None
            move_on(connection, evaluation_id, epoch, status="running", updated_at=now())
            return record, epoch

        taken = await self._database.write(work)
        if taken is not None and self._group is not None:
            record, epoch = taken
            self._tasks[evaluation_id] = self._group.create_task(self._conduct(record, epoch))
            self.tell()

    async def _conduct(self, record: EvaluationRecord, epoch: int) -> None:
        evaluation_id = record.id
        log = _log.bind(evaluation_id=evaluation_id)
        try:
            ending = await self._ending(record, epoch)
            if ending is not None:
                await self._end(evaluation_id, epoch, ending)
                log.info("evaluation stopped", detail=ending.detail, paused=ending.is_paused)
        except LostEvaluation:
            log.info("evaluation taken by another process")
        except StorageError as error:  # it is taken up again
            log.error("evaluation interrupted", error=str(error))
        except Exception:
            log.exception("evaluation broke")
            await self._pause_broken(evaluation_id, epoch)
        finally:
            self._conductors.pop(evaluation_id, None)
            del self._tasks[evaluation_id]
            self.wake()

    async def _ending(self, record: EvaluationRecord, epoch: int) -> Ending | None:
        try:
            contest = Contest.of(read_plan(json.loads(record.plan)))
        except AppError as error:  # such as a plan of another version
            return Ending(str(error), is_paused=True)
        conductor = Conductor(
            record.id,
            epoch,
            contest,
            database=self._database,
            matches=self._matches,
            catalogue=self._catalogue,
            changed=self.tell,
            first_pause=self._first_pause,
        )
        self._conductors[record.id] = conductor
        return await conductor.run()

    async def _end(self, evaluation_id: str, epoch: int, ending: Ending) -> None:
        """Store why an evaluation does not go on; its report, too, if it is over."""
        at = now()
        values: dict[str, Any] = {"detail": ending.detail, "owner": None, "updated_at": at}
        if ending.is_paused:
            values |= {"status": "paused"}
        else:
            values |= {"status": "finished", "ended_at": at}
        if ending.is_paused:
            await command_all(self._database, self._matches, evaluation_id, HOLD)
        await self._database.write(
            lambda connection: move_on(connection, evaluation_id, epoch, **values)
        )
        if ending.is_paused:  # and those that were taken up meanwhile, as others made room
            await command_all(self._database, self._matches, evaluation_id, HOLD)
        self.tell()  # before the report is made, which takes a while
        if not ending.is_paused and self.make_report is not None:
            await self._store_report(evaluation_id, epoch, self.make_report)

    async def _store_report(self, evaluation_id: str, epoch: int, make: MakeReport) -> None:
        """Make the report of an evaluation that is over: whatever comes of it, it stays over."""
        try:
            report = await make(evaluation_id)
            text = await asyncio.to_thread(json.dumps, report, allow_nan=False)
            await self._database.write(
                lambda connection: store_report(connection, evaluation_id, epoch, text)
            )
        except Exception:  # it is made again whenever somebody asks for it
            _log.exception("evaluation without a report", evaluation_id=evaluation_id)

    async def _pause_broken(self, evaluation_id: str, epoch: int) -> None:
        why = "it broke; the log of the service says why"
        try:
            await self._end(evaluation_id, epoch, Ending(why, is_paused=True))
        except StorageError as error:
            _log.error("evaluation cannot be paused", evaluation_id=evaluation_id, error=str(error))

    # --- commands ---

    @asynccontextmanager
    async def taking_over(
        self, evaluation_id: str, what: str, among: tuple[str, ...]
    ) -> AsyncIterator[tuple[EvaluationRecord, int]]:
        """Have an evaluation to oneself, wherever it was conducted; give it and the new epoch.

        `what` makes sense if its status is `among` those. Raises `EvaluationNotFound`,
        `EvaluationIsOver` or `CannotCommand`.
        """
        async with self._taking:

            def work(connection: Connection) -> tuple[EvaluationRecord, int]:
                record = find_evaluation(connection, evaluation_id)
                if record is None:
                    raise EvaluationNotFound(evaluation_id)
                epoch = claim(connection, evaluation_id, self._worker, by_force=True, among=among)
                if epoch is None and record.status in OPEN:
                    raise CannotCommand(what, record.status)
                if epoch is None:
                    raise EvaluationIsOver(evaluation_id, record.status)
                return record, epoch

            record, epoch = await self._database.write(work)
            task = self._tasks.get(evaluation_id)
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))
            try:
                yield record, epoch
            finally:
                self.wake()
