"""Events: the log of a match, and one order of all events, without gaps."""

import asyncio
from functools import partial

import pytest
from sqlalchemy import text

from app.persistence.database import Database
from app.persistence.errors import StorageRefused
from app.persistence.events import append, events_after, events_of, last_position, take_turn
from tests.app.persistence.samples import an_event, inserted, new_id

pytestmark = pytest.mark.asyncio


def add(connection, *events):
    take_turn(connection)
    return append(connection, events)


async def test_the_log_of_a_match(database_url):
    async with await Database.open(database_url) as database:
        first, second = [await inserted(database) for _ in range(2)]
        more = [an_event(first.id, number, "ply.played") for number in (2, 3, 4)]
        await database.write(lambda connection: add(connection, *more))

        async def found(match_id, after, limit):
            query = partial(events_of, match_id=match_id, after=after, limit=limit)
            return await database.read(query)

        events = await found(first.id, 0, 10)
        assert [event.sequence for event in events] == [1, 2, 3, 4]
        assert [event.position for event in events] == [1, 3, 4, 5]
        assert [event.data for event in events[1:]] == [event.data for event in more]
        assert events[1].at == more[0].at
        assert await found(first.id, 2, 1) == events[2:3]
        assert await found(first.id, 4, 10) == []
        assert [event.match_id for event in await found(second.id, 0, 10)] == [second.id]
        assert await found(new_id(), 0, 10) == []


async def test_the_log_of_all(database_url):
    async with await Database.open(database_url) as database:
        assert await database.read(last_position) == 0
        ids = [(await inserted(database)).id for _ in range(4)]
        assert await database.read(last_position) == 4
        found = await database.read(lambda connection: events_after(connection, 1, 2))
    assert [(event.position, event.match_id) for event in found] == [(2, ids[1]), (3, ids[2])]


@pytest.mark.parametrize("sequence", [1, 0, -3])
async def test_a_second_writer_of_the_same_event_fails(database_url, sequence):
    async with await Database.open(database_url) as database:
        record = await inserted(database)
        with pytest.raises(StorageRefused):
            await database.write(lambda each: add(each, an_event(record.id, sequence)))
        assert await database.read(last_position) == 1


async def test_an_event_needs_its_match(database_url):
    async with await Database.open(database_url) as database:
        with pytest.raises(StorageRefused):
            await database.write(lambda connection: add(connection, an_event(new_id())))


async def test_whoever_reads_on_misses_nothing(database_url, dialect):
    """Several write at once, on Postgres from several processes' connections."""
    count = 25
    async with await Database.open(database_url) as watching:
        others = (
            [await Database.open(database_url) for _ in range(2)] if dialect != "sqlite" else []
        )
        writing = others or [watching]

        async def write(database):
            for _ in range(count):
                await inserted(database)

        async def watch(seen):
            while len(seen) < 2 * len(writing) * count:
                after = seen[-1].position if seen else 0
                seen += await watching.read(partial(events_after, position=after, limit=1000))

        seen = []
        async with asyncio.TaskGroup() as group:
            group.create_task(watch(seen))
            for database in writing * 2:
                group.create_task(write(database))
        for database in others:
            await database.aclose()
    assert [event.position for event in seen] == list(range(1, 2 * len(writing) * count + 1))


async def test_the_order_is_that_of_commits(postgres_url):
    """A transaction that has a position but has not committed keeps the next one waiting."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    loop, holds, go_on = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    async with (
        await Database.open(postgres_url) as first,
        await Database.open(postgres_url) as second,
    ):
        record, other = await inserted(first), await inserted(first)

        def slow(connection):
            stored = add(connection, an_event(record.id, 2))
            loop.call_soon_threadsafe(holds.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            return stored

        async with asyncio.TaskGroup() as group:
            slowly = group.create_task(first.write(slow))
            await holds.wait()
            task = group.create_task(second.write(lambda each: add(each, an_event(other.id, 2))))
            while not await second.read(lambda each: each.scalar(waiting)):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            go_on.set()
    assert (slowly.result()[0].position, task.result()[0].position) == (3, 4)
