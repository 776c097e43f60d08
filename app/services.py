"""The objects of the service, wired together once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection, select

from agents.catalogue import Catalogue
from agents.errors import AgentError
from agents.timekeeping import now
from app.catalogue import make_catalogue, open_catalogue
from app.evaluations.scheduler import Scheduler
from app.evaluations.service import EvaluationService
from app.matches.ledger import MatchLedger
from app.matches.match import Match
from app.matches.paid_calls import PaidCalls
from app.matches.runner import Runner
from app.matches.service import MatchService
from app.metrics import Metrics
from app.persistence.database import Database
from app.persistence.errors import StorageError, StorageUnavailable
from app.persistence.notifications import Notifications
from app.persistence.records import Change
from app.persistence.workers import Workers, charged_until
from app.persistence.writer import Writer
from app.readiness import Check
from app.settings import Settings
from app.streaming.feed import Feed
from app.streaming.progress import Progress
from app.streaming.streams import Streams

_log = structlog.get_logger(__name__)

#: How often a worker says that it is there; what a crash costs a clock is at most this wrong.
HEARTBEAT = timedelta(seconds=1)
#: How old the last heartbeat may be in a service that is ready.
_FRESH = timedelta(seconds=5)
#: How long to wait for the database in the end: for the farewell, and for the last commit.
_PATIENCE = timedelta(seconds=2.5)
_STOCKFISH = "stockfish:8"


@dataclass(frozen=True)
class Services:
    """What the service is made of."""

    settings: Settings
    database: Database
    catalogue: Catalogue
    matches: MatchService
    evaluations: EvaluationService
    runner: Runner
    feed: Feed
    streams: Streams
    progress: Progress
    metrics: Metrics
    checks: Sequence[Check]
    #: Let every match be, and its clock stand, until it is resumed: by another process, or by the
    #: next start. Commands are refused from then on. Safe to call twice.
    stop_playing: Callable[[], Awaitable[None]]


@asynccontextmanager
async def open_services(
    settings: Settings,
    catalogue: Catalogue | None = None,
    *,
    among: Sequence[str] | None = None,
) -> AsyncIterator[Services]:
    """Run the service until the context is left; unfinished matches can be resumed after that.

    With `among`, only these evaluations and their matches are gone on with: whoever opens the
    database for one of them should not let the clocks of people run whom nobody serves. Closes the
    catalogue, too. Raises what `Database.open` raises.
    """
    async with AsyncExitStack() as stack:
        if catalogue is None:
            catalogue = await stack.enter_async_context(open_catalogue(settings))
        else:
            await stack.enter_async_context(catalogue)
        database = await stack.enter_async_context(await Database.open(settings.database_url))
        presence = _Presence(Workers())
        await presence.register(database)
        feed = Feed(database)
        metrics = Metrics()
        schedulers: list[Scheduler] = []

        def published(changes: Sequence[Change]) -> None:
            metrics.published(changes)
            feed.committed(changes)
            for scheduler in schedulers:
                scheduler.committed(changes)

        writer, paid = Writer(database, published), PaidCalls()
        runner = Runner(
            database,
            writer,
            presence,
            catalogue,
            metrics,
            concurrent=settings.concurrent_matches,
            ledger=partial(_match_ledger, database, metrics, paid),
            say=feed.say,
            among=among,
        )
        matches = MatchService(
            database,
            runner,
            catalogue,
            feed.wake,
            matches_per_client=settings.max_matches_per_client,
        )
        scheduler = Scheduler(
            database,
            matches,
            catalogue,
            presence.id,
            concurrent=settings.concurrent_evaluations,
            among=among,
        )
        schedulers.append(scheduler)
        evaluations = EvaluationService(
            database,
            scheduler,
            matches,
            catalogue,
            evaluations_per_client=settings.max_evaluations_per_client,
        )
        progress = Progress(database, feed, evaluations.find, evaluations.change)
        metrics.watch(database, feed, runner)
        async with asyncio.TaskGroup() as group:
            background = [group.create_task(_warm(catalogue)), group.create_task(feed.run())]
            background.append(group.create_task(progress.run()))
            playing = [group.create_task(presence.beat(database, metrics))]
            alive: list[asyncio.Task[None]] = []
            if database.dialect == "postgresql":
                notifications = Notifications(database, presence.id, _all(feed, runner, scheduler))
                alive.append(group.create_task(notifications.run()))
                await notifications.ready()
            writing = group.create_task(writer.run())
            playing.append(group.create_task(runner.run()))
            conducting = group.create_task(scheduler.run())
            stopping = asyncio.Lock()

            async def stop_playing() -> None:
                async with stopping:
                    if presence.has_left:
                        return
                    await _end(conducting)  # first: it would command matches that nobody runs
                    await _end(*playing)
                    await presence.leave(database)
                    await _end(*alive)  # now others may take what was ours

            try:
                yield Services(
                    settings=settings,
                    database=database,
                    catalogue=catalogue,
                    matches=matches,
                    evaluations=evaluations,
                    runner=runner,
                    feed=feed,
                    streams=Streams(database, feed, matches.snapshot, matches.overview),
                    progress=progress,
                    metrics=metrics,
                    checks=_checks(database, presence, catalogue, runner),
                    stop_playing=stop_playing,
                )
            finally:
                await stop_playing()
                await paid.aclose()
                await feed.aclose()
                await _end(writing, *background)


@asynccontextmanager
async def open_archive(settings: Settings) -> AsyncIterator[EvaluationService]:
    """Read what evaluations have come to, beside whoever serves the database. Nothing is played.

    Raises what `Database.open` raises.
    """
    async with (
        make_catalogue(settings) as catalogue,
        await Database.open(settings.database_url, exclusive=False) as database,
    ):
        presence, metrics = _Presence(Workers()), Metrics()
        # None of these is run, so that no match is touched and no command is taken.
        writer = Writer(database, metrics.published)
        runner = Runner(database, writer, presence, catalogue, metrics, concurrent=0)
        matches = MatchService(
            database,
            runner,
            catalogue,
            runner.wake,
            matches_per_client=settings.max_matches_per_client,
        )
        yield EvaluationService(
            database,
            Scheduler(database, matches, catalogue, presence.id, concurrent=0),
            matches,
            catalogue,
            evaluations_per_client=settings.max_evaluations_per_client,
        )


def _match_ledger(
    database: Database, metrics: Metrics, paid: PaidCalls, match: Match
) -> MatchLedger:
    return MatchLedger(match.id, match.budget, database, metrics.called, paid)


async def _end(*tasks: asyncio.Task[None]) -> None:
    """End tasks; those that wait for the database in the end do so for a while."""
    for task in tasks:
        task.cancel()
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=_PATIENCE.total_seconds())
        for task in late:
            task.cancel()


class _Presence:
    """This process among the workers, as matches see it."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.has_left = False
        self._answered_at: datetime | None = None

    @property
    def id(self) -> str:
        """Our own id."""
        return self.workers.id

    def charged_until(
        self, connection: Connection, worker: str | None, turn_at: datetime
    ) -> datetime | None:
        """Return until when the clock of a worker's match ran in a turn; None if it still does."""
        return charged_until(connection, worker, turn_at, self.id)

    async def register(self, database: Database) -> None:
        """Say that we are there."""
        await database.write(self.workers.register)
        self._answered_at = now()

    def answered_at(self) -> datetime:
        """Return when the database last let us write; now, if nobody keeps trying."""
        return self._answered_at or now()

    def check(self) -> None:
        """Raise `StorageUnavailable` if nothing could be written for a while."""
        silent = now() - self.answered_at()
        if silent > _FRESH:
            raise StorageUnavailable(f"no heartbeat for {silent.total_seconds():.1f} s")

    async def beat(self, database: Database, metrics: Metrics) -> None:
        """Say every now and then that we are there."""
        while True:
            await asyncio.sleep(HEARTBEAT.total_seconds())
            try:
                await database.write(self.workers.beat)
                self._answered_at = now()
            except StorageError as error:
                _log.warning("no heartbeat", error=str(error))
                metrics.storage_failed(error)

    async def leave(self, database: Database) -> None:
        """Say that we stop, if the database is there to hear it."""
        self.has_left = True
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                await database.write(self.workers.close)
        except TimeoutError:
            _log.warning("no farewell", error="the database does not answer")
        except StorageError as error:
            _log.warning("no farewell", error=str(error))


def _all(*sleepers: Feed | Runner | Scheduler) -> Callable[[], None]:
    """Return what wakes everybody, when another process has committed something."""

    def wake() -> None:
        for each in sleepers:
            each.wake()

    return wake


async def _warm(catalogue: Catalogue) -> None:
    """Start Stockfish before somebody waits for it."""
    try:
        await catalogue.warm(_STOCKFISH)
    except AgentError as error:
        _log.warning("no Stockfish", error=str(error))


def _checks(
    database: Database, presence: _Presence, catalogue: Catalogue, runner: Runner
) -> tuple[Check, ...]:
    async def storage() -> None:
        presence.check()
        await database.read(lambda connection: connection.execute(select(1)))

    async def stockfish() -> None:
        await catalogue.warm(_STOCKFISH)

    async def queue() -> None:
        if not runner.is_running:
            raise StorageError("matches are not taken up")

    return Check("database", storage), Check("stockfish", stockfish), Check("queue", queue)
