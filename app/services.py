"""The objects of the service, wired together once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from sqlalchemy import Connection, func, select

from agents.catalogue import Catalogue
from agents.errors import AgentError
from app.http.dependencies import Check
from app.matches.runner import Runner
from app.matches.service import MatchService
from app.metrics import Metrics
from app.persistence.database import Database
from app.persistence.errors import StorageError
from app.persistence.notifications import Notifications
from app.persistence.records import Change
from app.persistence.tables import Worker
from app.persistence.workers import Workers, dead_of
from app.persistence.writer import Writer
from app.settings import Settings
from app.streaming.feed import Feed
from app.streaming.streams import Streams

_log = structlog.get_logger(__name__)

#: How often a worker says that it is there; what a crash costs a clock is at most this wrong.
HEARTBEAT = timedelta(seconds=1)
_STOCKFISH = "stockfish:8"


@dataclass(frozen=True)
class Services:
    """What the service is made of."""

    settings: Settings
    database: Database
    catalogue: Catalogue
    matches: MatchService
    runner: Runner
    feed: Feed
    streams: Streams
    metrics: Metrics
    checks: Sequence[Check]


def make_catalogue(settings: Settings) -> Catalogue:
    """Return the catalogue of whoever can be seated under some settings."""
    programs = {name: engine.program(name) for name, engine in settings.engines.items()}
    path = settings.ratings_file
    return Catalogue(
        programs,
        stockfish_options=settings.stockfish_options,
        processes=settings.engine_processes,
        ratings_file=path if _exists(path) else None,
    )


@asynccontextmanager
async def open_services(
    settings: Settings, catalogue: Catalogue | None = None
) -> AsyncIterator[Services]:
    """Run the service until the context is left; unfinished matches can be resumed after that.

    Closes the catalogue, too. Raises what `Database.open` raises.
    """
    async with AsyncExitStack() as stack:
        catalogue = await stack.enter_async_context(catalogue or make_catalogue(settings))
        database = await stack.enter_async_context(await Database.open(settings.database_url))
        presence = _Presence(Workers())
        await database.write(presence.workers.register)
        feed = Feed(database)
        metrics = Metrics()

        def published(changes: Sequence[Change]) -> None:
            metrics.published(changes)
            feed.committed(changes)

        writer = Writer(database, published)
        runner = Runner(
            database,
            writer,
            presence,
            catalogue,
            metrics,
            concurrent=settings.concurrent_matches,
        )
        matches = MatchService(
            database,
            runner,
            catalogue,
            feed.wake,
            matches_per_client=settings.max_matches_per_client,
        )
        metrics.watch(database, feed, runner)
        services = Services(
            settings=settings,
            database=database,
            catalogue=catalogue,
            matches=matches,
            runner=runner,
            feed=feed,
            streams=Streams(database, feed, matches.snapshot, matches.overview),
            metrics=metrics,
            checks=_checks(database, catalogue, runner),
        )
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(_warm(catalogue)),
                group.create_task(feed.run()),
                group.create_task(presence.beat(database, metrics)),
            ]
            if database.dialect == "postgresql":
                notifications = Notifications(database, presence.id, _both(feed, runner))
                background.append(group.create_task(notifications.run()))
                await notifications.ready()
            writing = group.create_task(writer.run())
            running = group.create_task(runner.run())
            try:
                yield services
            finally:
                await feed.aclose()
                # Owners first, then what they write with.
                for task in (running, writing, *background):
                    task.cancel()
                    await asyncio.wait((task,))
                await presence.leave(database)


class _Presence:
    """This process among the workers, as matches see it."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    @property
    def id(self) -> str:
        """Our own id."""
        return self.workers.id

    def charged_until(
        self, connection: Connection, worker: str | None, turn_at: datetime
    ) -> datetime | None:
        """Return until when the clock of a worker's match ran in a turn; None if it still does."""
        if worker is None or not dead_of(connection, [worker], self.id):
            return None
        began, seen = connection.execute(
            select(Worker.started_at, Worker.seen_at).where(Worker.id == worker)
        ).one_or_none() or (turn_at, turn_at)
        if began <= turn_at:
            return seen
        # It took the match over, and died before it went on with the turn: so it ran no clock, but
        # whoever was there when the turn began. If they were several, nobody pays too much.
        there = (Worker.started_at <= turn_at, Worker.seen_at >= turn_at)
        return connection.scalar(select(func.min(Worker.seen_at)).where(*there)) or turn_at

    async def beat(self, database: Database, metrics: Metrics) -> None:
        """Say every now and then that we are there."""
        while True:
            await asyncio.sleep(HEARTBEAT.total_seconds())
            try:
                await database.write(self.workers.beat)
            except StorageError as error:
                _log.warning("no heartbeat", error=str(error))
                metrics.storage_failed(error)

    async def leave(self, database: Database) -> None:
        """Say that we stop."""
        try:
            await database.write(self.workers.close)
        except StorageError as error:
            _log.warning("no farewell", error=str(error))


def _both(feed: Feed, runner: Runner) -> Callable[[], None]:
    """Return what wakes both, when another process has committed something."""

    def wake() -> None:
        feed.wake()
        runner.wake()

    return wake


async def _warm(catalogue: Catalogue) -> None:
    """Start Stockfish before somebody waits for it."""
    try:
        await catalogue.warm(_STOCKFISH)
    except AgentError as error:
        _log.warning("no Stockfish", error=str(error))


def _checks(database: Database, catalogue: Catalogue, runner: Runner) -> tuple[Check, ...]:
    async def storage() -> None:
        await database.read(lambda connection: connection.execute(select(1)))

    async def stockfish() -> None:
        await catalogue.warm(_STOCKFISH)

    async def queue() -> None:
        if not runner.is_running:
            raise StorageError("matches are not taken up")

    return Check("database", storage), Check("stockfish", stockfish), Check("queue", queue)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # whoever reads it is told what is wrong
