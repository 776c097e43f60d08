"""The service's side of `benchmarks.streaming`: real streams, and matches that only have events.

It prints where it listens, plays when it is told to, and prints when each event was committed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from resource import RUSAGE_SELF, getrusage
from socket import socket
from time import monotonic
from types import SimpleNamespace

import uvicorn
import uvloop
from prometheus_client import CollectorRegistry
from uuid_utils.compat import uuid7

from agents.catalogue import Catalogue
from app.garbage import settle
from app.http.application import create_app
from app.http.matches import MATCH_KINDS
from app.http.streams import STREAM_KINDS, router
from app.matches.errors import MatchNotFound
from app.matches.events import Event, EventType, dumps
from app.matches.service import Snapshot
from app.persistence.database import Database
from app.persistence.events import last_position
from app.persistence.matches import find_match, insert_match
from app.persistence.records import Change, EventRecord, MatchRecord
from app.persistence.writer import Writer
from app.settings import Settings
from app.streaming.feed import Feed
from app.streaming.protocol import AbortableProtocol
from app.streaming.streams import Streams

FEN = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
#: About as much as a move of a team has to tell.
FIELDS = {
    "number": 7,
    "color": "white",
    "san": "Ng5",
    "uci": "f3g5",
    "fen": FEN,
    "clocks": {"white": 171_250, "black": 168_901},
    "evaluation": {"centipawns": 31},
    "summary": "The knight goes for f7 together with the bishop; Black has to answer d5 at once.",
}


@dataclass(frozen=True)
class Plan:
    """How many matches, how many events a second in each, and for how many seconds."""

    matches: int
    rate: float
    seconds: float


class Stage:
    """A database with a few matches, and what happens in them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.feed = Feed(database)
        self.writer = Writer(database, self._published)
        #: By match: when each of its events was committed.
        self.commits: dict[str, dict[int, float]] = {}

    def _published(self, changes: Sequence[Change]) -> None:
        now = monotonic()
        for change in changes:
            for event in change.events:
                self.commits[change.match_id][event.sequence] = now
        self.feed.committed(changes)

    async def snapshot(self, match_id: str) -> Snapshot:
        """Return the state of a match; a real one says more."""
        record = await self._database.read(lambda connection: find_match(connection, match_id))
        if record is None:
            raise MatchNotFound(match_id)
        return Snapshot(record.last_sequence, False, dumps({"id": match_id, "fen": record.fen}))

    async def overview(self) -> Snapshot:
        """Return no matches at all."""
        return Snapshot(await self._database.read(last_position), False, "{}")

    async def create(self) -> str:
        """Store a match, and return its id."""
        match_id, at = str(uuid7()), datetime.now(UTC)
        record = MatchRecord(
            id=match_id,
            created_at=at,
            updated_at=at,
            status="running",
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
        first = _event(match_id, 1, EventType.CREATED)
        await self._database.write(lambda connection: insert_match(connection, record, [first]))
        self.commits[match_id] = {}
        return match_id

    async def play(self, match_id: str, plan: Plan, delay: float) -> None:
        """Commit events at the rate of the plan, and then the end of the match."""
        loop = asyncio.get_running_loop()
        began = loop.time() + delay
        count = round(plan.rate * plan.seconds)
        for number in range(count):
            await asyncio.sleep(began + number / plan.rate - loop.time())
            await self._append(match_id, number + 2, EventType.PLY)
        await self._append(match_id, count + 2, EventType.ENDED)

    async def _append(self, match_id: str, sequence: int, kind: EventType) -> None:
        is_over = kind is EventType.ENDED
        change = Change(
            match_id=match_id,
            epoch=0,
            base_sequence=sequence - 1,
            status="aborted" if is_over else "running",
            state="{}",
            fen=FEN,
            ply_count=0,
            winner=None,
            termination=None,
            result="*",
            updated_at=datetime.now(UTC),
            owner=None,
            events=(_event(match_id, sequence, kind),),
        )
        await self.writer.commit(change)


def _event(match_id: str, sequence: int, kind: EventType) -> EventRecord:
    event = Event(match_id, sequence, kind, datetime.now(UTC), FIELDS)
    return EventRecord(match_id, sequence, kind.value, event.encode(), event.at)


async def serve(plan: Plan, folder: str) -> None:
    """Serve until the matches are over and everybody has gone."""
    listener = socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    async with await Database.open(f"sqlite:///{folder}/kibitz.db") as database:
        stage = Stage(database)
        services = SimpleNamespace(
            settings=Settings(),
            catalogue=Catalogue({}),
            checks=(),
            metrics_registry=CollectorRegistry(),
            streams=Streams(database, stage.feed, stage.snapshot, stage.overview),
        )
        app = create_app(services, [router], kinds=STREAM_KINDS | MATCH_KINDS)
        server = uvicorn.Server(
            uvicorn.Config(app, http=AbortableProtocol, log_config=None, lifespan="off")
        )
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(stage.writer.run())
            group.create_task(stage.feed.run())
            serving = group.create_task(server.serve(sockets=[listener]))
            matches = [await stage.create() for _ in range(plan.matches)]
            settle()  # as the service does
            _say({"port": listener.getsockname()[1], "matches": matches})
            await asyncio.to_thread(sys.stdin.readline)
            before = getrusage(RUSAGE_SELF)
            delivered = stage.feed.delivered
            async with asyncio.TaskGroup() as players:
                for number, match_id in enumerate(matches):
                    delay = number / plan.rate / plan.matches
                    players.create_task(stage.play(match_id, plan, delay))
            while stage.feed.watchers:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            after = getrusage(RUSAGE_SELF)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            _say(
                {
                    "commits": stage.commits,
                    "cpu": cpu,
                    "delivered": stage.feed.delivered - delivered,
                    "dropped": stage.feed.dropped,
                }
            )
            await stage.feed.aclose()
            server.should_exit = True
            await serving
            writing.cancel()


def _say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    """Serve, as the arguments say: how many matches, at which rate, for how many seconds."""
    matches, rate, seconds = sys.argv[1:]
    plan = Plan(int(matches), float(rate), float(seconds))
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(serve(plan, folder))


if __name__ == "__main__":
    main()
