"""The feed: what it reads and when, and that several processes share what they commit."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from app.matches.events import EventType
from app.persistence.errors import StorageUnavailable
from app.persistence.notifications import Notifications
from app.streaming import feed as feeds
from app.streaming.watcher import Limits
from tests.app.streaming.service import Service, serving
from tests.support.processes import run, until

#: Whoever has to wait for a poll with this waits for ever.
NO_POLL = replace(Limits(), poll=timedelta(hours=1))
QUICK_POLL = replace(Limits(), poll=timedelta(milliseconds=20))


class Reads:
    """Counts what a service reads, and makes it fail for a while."""

    def __init__(self, service: Service) -> None:
        self.count = self.done = 0
        self.failures = 0
        self._read = service.database.read
        service.database.read = self.read

    async def read(self, query):
        self.count += 1
        if self.failures:
            self.failures -= 1
            raise StorageUnavailable("the disk is full")
        try:
            return await self._read(query)
        finally:
            self.done += 1


def test_while_nobody_watches_nothing_is_read(database_url):
    async def main():
        async with serving(database_url, QUICK_POLL) as service:
            reads = Reads(service)
            match = await service.create()
            for _ in range(20):
                await match.append()
                service.feed.wake()
                await until(lambda: not service.feed._woken.is_set())
            assert reads.count == 0
            async with await service.watch(match, last_event_id=20) as watcher:
                assert (await watcher.event()).id == 21
                # It begins at the end, and does not look through what was before.
                assert service.feed._position == 21
            await until(lambda: not service.feed.watchers)
            await until(lambda: not service.feed._woken.is_set())
            reads.count = 0
            await match.append()
            service.feed.wake()
            await service.create()
            await until(lambda: not service.feed._woken.is_set())
            assert reads.count == 0
            assert service.feed.delivered == 1
            async with await service.watch(match, last_event_id=22) as watcher:
                await until(service.feed._live.is_set)
                assert service.feed._position == 23
                await match.append()
                assert (await watcher.event()).id == 23

    run(main(), debug=False)


def test_what_is_committed_here_is_not_read_again(database_url):
    async def main():
        async with serving(database_url, NO_POLL) as service:
            match = await service.create()
            async with await service.watch(match, last_event_id=1) as watcher:
                await until(service.feed._live.is_set)
                await match.append()  # perhaps while the feed looks for the end of the table
                assert (await watcher.event()).id == 2
                reads = Reads(service)
                for number in range(3, 20):
                    await match.append()
                    assert (await watcher.event()).id == number
                assert reads.count == 0

    run(main(), debug=False)


def test_a_database_that_fails_for_a_while(database_url, monkeypatch):
    monkeypatch.setattr(feeds, "_BACK_OFF", (0.001, 0.002))

    async def main():
        async with serving(database_url, NO_POLL) as service:
            match = await service.create()
            reads = Reads(service)
            async with await service.watch(match, last_event_id=0) as watcher:
                assert (await watcher.event()).id == 1
                # The end of the table, what came since, and the log of the match.
                await until(lambda: reads.done == 3)
                reads.failures = 5
                # A new match is no commit of the writer: its event has to be read.
                await service.create()
                await match.append(EventType.ENDED)
                assert [event.id async for event in watcher] == [2]
                assert reads.failures == 0

    run(main(), debug=False)


def test_a_database_that_fails_when_somebody_comes(database_url, monkeypatch):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            reads = Reads(service)
            reads.failures = 10**9
            with monkeypatch.context() as hurry:
                hurry.setattr(feeds, "PATIENCE", 0.05)
                watcher = await service.watch(match)
            async with watcher:
                assert watcher.status == 503
                assert (await watcher.body())["type"] == "/problems/database-unavailable"
            assert service.feed.watchers == 0
            reads.failures = 0
            async with await service.watch(match, last_event_id=0) as watcher:
                assert (await watcher.event()).id == 1

    run(main(), debug=False)


@asynccontextmanager
async def two_services(url: str, limits: Limits, *, notified: bool):
    """Two services on one Postgres, as two processes would be."""
    async with serving(url, limits) as first, serving(url, limits) as second:
        tasks = []
        async with asyncio.TaskGroup() as group:
            for service in (first, second) if notified else ():
                heard = asyncio.Event()

                def wake(service=service, heard=heard):
                    heard.set()
                    service.feed.wake()

                listening = Notifications(service.database, str(uuid4()), wake)
                tasks.append(group.create_task(listening.run()))
                await heard.wait()
            yield first, second
            for task in tasks:
                task.cancel()


@pytest.mark.parametrize(("limits", "notified"), [(NO_POLL, True), (QUICK_POLL, False)])
def test_what_another_process_commits(postgres_url, limits, notified):
    async def main():
        async with two_services(postgres_url, limits, notified=notified) as (first, second):
            match = await first.create()
            async with (
                await first.watch(match) as here,
                await second.watch(match) as there,
                await second.watch_all(last_event_id=0) as everywhere,
            ):
                assert (await here.event()).type == "snapshot"
                assert (await there.event()).type == "snapshot"
                for number in range(2, 12):
                    await match.append(EventType.PLY)
                    assert (await there.event()).id == number
                    assert (await everywhere.event()).data["sequence"] == number
                # The other one takes over, as after a crash.
                match._writer = second.writer
                await match.append(EventType.PLY, EventType.TURN)
                await match.append(EventType.ENDED)
                assert [event.id async for event in here] == [*range(2, 15)]
                assert [event.id async for event in there] == [12, 13, 14]

    run(main(), debug=False)


def test_two_processes_that_commit_at_the_same_time(postgres_url):
    async def main():
        async with two_services(postgres_url, NO_POLL, notified=True) as (first, second):
            matches = [await service.create() for service in (first, second) for _ in range(3)]
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(_everything(service, match))
                    for service in (first, second)
                    for match in matches
                ]
                orders = [group.create_task(_order(each, 6 * 41)) for each in (first, second)]
                for match in matches:
                    group.create_task(_play(match))
            for task, match in zip(watching, [*matches, *matches], strict=True):
                assert task.result() == await first.log(match)
            assert orders[0].result() == orders[1].result() == [*range(7, 7 + 6 * 41)]

    run(main(), debug=False)


async def _play(match) -> None:
    for _ in range(40):
        await match.append(EventType.PLY)
    await match.append(EventType.ENDED)


async def _everything(service: Service, match):
    async with await service.watch(match, last_event_id=0) as watcher:
        return [(event.id, event.type, event.data) async for event in watcher]


async def _order(service: Service, count: int) -> list[int]:
    async with await service.watch_all(last_event_id=0) as watcher:
        return [(await watcher.event()).id for _ in range(count)]
