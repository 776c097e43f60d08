"""The part of the service that streams, over real HTTP, with matches that only have events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import uvicorn
from fastapi import FastAPI
from uuid_utils.compat import uuid7

from agents.catalogue import Catalogue
from app.evaluations.errors import EvaluationNotFound
from app.http import evaluation_stream
from app.http.application import create_app
from app.http.evaluations import EVALUATION_KINDS
from app.http.matches import MATCH_KINDS
from app.http.streams import STREAM_KINDS, router
from app.matches.errors import MatchNotFound
from app.matches.events import Event, EventType, dumps
from app.metrics import Metrics
from app.persistence.database import Database
from app.persistence.evaluations import EvaluationRecord, find_evaluation
from app.persistence.events import events_of, last_position
from app.persistence.matches import find_match, insert_match
from app.persistence.records import Change, EventRecord, MatchRecord
from app.persistence.writer import Writer
from app.settings import Settings
from app.streaming.feed import Feed
from app.streaming.progress import Progress
from app.streaming.protocol import AbortableProtocol
from app.streaming.streams import Streams
from app.streaming.watcher import Limits
from tests.app.streaming.watching import Connection
from tests.support.servers import listening

_LIMITS = Limits()
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MOST_STREAMS = 60


@dataclass(frozen=True)
class Taken:
    """A state, as the match service would give it."""

    sequence: int
    is_over: bool
    data: str


class LoggedMatch:
    """A match whose events say nothing but their numbers."""

    def __init__(self, writer: Writer, match_id: str) -> None:
        self._writer = writer
        self.id = match_id
        self.path = f"/api/matches/{match_id}/events"
        self.sequence = 1

    async def append(self, *types: EventType, **fields: Any) -> None:
        """Commit one event of each type, in one transaction."""
        events = tuple(
            _record(self.id, number, each, fields)
            for number, each in enumerate(types or (EventType.PLY,), self.sequence + 1)
        )
        is_over = EventType.ENDED in types
        change = Change(
            match_id=self.id,
            epoch=0,
            base_sequence=self.sequence,
            status="ended" if is_over else "running",
            state="{}",
            fen=FEN,
            ply_count=0,
            winner=None,
            termination="aborted" if is_over else None,
            result="*",
            updated_at=datetime.now(UTC),
            owner=None,
            events=events,
        )
        await self._writer.commit(change)
        self.sequence = change.last_sequence


class Service:
    """The database, the feed and the server of one process."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self.database = database
        self.feed = Feed(database, limits)
        self.writer = Writer(database, self.feed.committed)
        self._changed = asyncio.Event()
        self.progress = Progress(database, self.feed, self.evaluation, self._change)
        self.snapshots = 0
        self.port = 0
        self.app = self._make_app()

    def _make_app(self) -> FastAPI:
        services = SimpleNamespace(
            settings=Settings(max_streams_per_client=MOST_STREAMS),
            catalogue=Catalogue({}),
            checks=(),
            metrics=Metrics(),
            streams=Streams(self.database, self.feed, self.snapshot, self.overview),
            progress=self.progress,
        )
        kinds = STREAM_KINDS | MATCH_KINDS | EVALUATION_KINDS
        return create_app(services, [router, evaluation_stream.router], kinds=kinds)

    def tell(self) -> None:
        """Say that an evaluation has changed."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _change(self) -> None:
        await self._changed.wait()

    async def evaluation(self, evaluation_id: str) -> EvaluationRecord:
        record = await self.database.read(lambda each: find_evaluation(each, evaluation_id))
        if record is None:
            raise EvaluationNotFound(evaluation_id)
        return record

    async def snapshot(self, match_id: str) -> Taken:
        self.snapshots += 1
        record = await self.database.read(lambda connection: find_match(connection, match_id))
        if record is None:
            raise MatchNotFound(match_id)
        data = dumps({"id": match_id, "at": record.last_sequence})
        return Taken(record.last_sequence, record.status == "ended", data)

    async def overview(self) -> Taken:
        return Taken(await self.database.read(last_position), False, dumps({"matches": []}))

    async def create(self) -> LoggedMatch:
        match_id, at = str(uuid7()), datetime.now(UTC)
        record = MatchRecord(
            id=match_id,
            created_at=at,
            updated_at=at,
            status="created",
            variant="standard",
            white="random",
            black="random",
            settings="{}",
            state="{}",
            fen=FEN,
            ply_count=0,
            last_sequence=1,
            winner=None,
            termination=None,
            result="*",
            owner=None,
            epoch=0,
            evaluation_id=None,
            client="local",
            idempotency_key=None,
            request_digest=None,
            white_token_hash=None,
            black_token_hash=None,
        )
        first = _record(match_id, 1, EventType.CREATED, {})
        await self.database.write(lambda connection: insert_match(connection, record, [first]))
        self.feed.wake()
        return LoggedMatch(self.writer, match_id)

    async def log(self, match: LoggedMatch) -> list[tuple[int, str, Any]]:
        """Return the log as it is stored: what everybody should have seen."""
        events = await self.database.read(
            lambda connection: events_of(connection, match.id, 0, 10**6)
        )
        return [(each.sequence, each.type, json.loads(each.data)) for each in events]

    async def watch(self, match: LoggedMatch, **options: Any) -> Connection:
        return await Connection.open(self.port, match.path, **options)

    async def watch_all(self, **options: Any) -> Connection:
        return await Connection.open(self.port, "/api/events", **options)


@asynccontextmanager
async def serving(url: str, limits: Limits = _LIMITS) -> AsyncIterator[Service]:
    """Serve a database, and stop as the service does."""
    with listening() as sock:
        async with await Database.open(url) as database:
            service = Service(database, limits)
            service.port = sock.getsockname()[1]
            config = uvicorn.Config(
                service.app, http=AbortableProtocol, log_config=None, lifespan="off"
            )
            server = uvicorn.Server(config)
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(service.writer.run())
                group.create_task(service.feed.run())
                progress = group.create_task(service.progress.run())
                served = group.create_task(server.serve(sockets=[sock]))
                try:
                    yield service
                finally:
                    await service.feed.aclose()
                    server.should_exit = True
                    await served
                    writer.cancel()
                    progress.cancel()


def _record(match_id: str, sequence: int, kind: EventType, fields: dict[str, Any]) -> EventRecord:
    event = Event(match_id, sequence, kind, datetime.now(UTC), fields)
    return EventRecord(match_id, sequence, kind.value, event.encode(), event.at)
