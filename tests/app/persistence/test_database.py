"""The database: transactions, cancelling, and closing."""

import asyncio

import pytest
from sqlalchemy import insert, select

from app.persistence.database import Database
from app.persistence.errors import (
    StorageUnavailable,
)
from app.persistence.tables import Worker
from tests.app.persistence.samples import NOON, new_id

pytestmark = pytest.mark.asyncio


def a_worker():
    return {"id": new_id(), "started_at": NOON, "seen_at": NOON}


def workers(connection):
    return len(connection.execute(select(Worker.id)).all())


async def test_a_transaction_is_all_or_nothing(database_url):
    class Odd(Exception):
        pass

    def add(connection):
        connection.execute(insert(Worker), a_worker())
        return workers(connection)

    def fail(connection):
        add(connection)
        raise Odd

    async with await Database.open(database_url) as database:
        assert await database.write(add) == 1
        with pytest.raises(Odd):
            await database.write(fail)
        assert await database.read(workers) == 1
        assert await database.write(add) == 2


async def test_reading_cannot_write(database_url):
    async with await Database.open(database_url) as database:
        with pytest.raises(StorageUnavailable, match="read-only"):
            await database.read(lambda each: each.execute(insert(Worker), a_worker()))
        assert await database.read(workers) == 0


async def test_a_read_sees_one_state(database_url):
    loop = asyncio.get_running_loop()
    async with await Database.open(database_url) as database:

        def add(connection):
            connection.execute(insert(Worker), a_worker())

        def twice(connection):
            before = workers(connection)
            asyncio.run_coroutine_threadsafe(database.write(add), loop).result()
            return before, workers(connection)

        assert await database.read(twice) == (0, 0)
        assert await database.read(workers) == 1


async def test_readers_do_not_wait_for_each_other(database_url):
    loop, meet = asyncio.get_running_loop(), asyncio.Barrier(2)

    def wait(_connection):
        asyncio.run_coroutine_threadsafe(meet.wait(), loop).result()

    async with await Database.open(database_url) as database:
        await asyncio.gather(database.read(wait), database.read(wait))


async def test_cancelling_does_not_interrupt_and_closing_finishes(database_url):
    loop, began, go_on = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def slow(connection):
        connection.execute(insert(Worker), a_worker())
        loop.call_soon_threadsafe(began.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()

    database = await Database.open(database_url)
    task = asyncio.create_task(database.write(slow))
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    closing_down = asyncio.create_task(database.aclose())
    await asyncio.sleep(0)
    go_on.set()
    await closing_down
    async with await Database.open(database_url) as again:
        assert await again.read(workers) == 1


async def test_whoever_is_cancelled_before_it_began_writes_nothing(database_url):
    loop, began, go_on = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def slow(_connection):
        loop.call_soon_threadsafe(began.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()

    async with await Database.open(database_url) as database:
        ahead = asyncio.create_task(database.write(slow))
        await began.wait()
        task = asyncio.create_task(
            database.write(lambda each: each.execute(insert(Worker), a_worker()))
        )
        await asyncio.sleep(0)
        task.cancel()
        go_on.set()
        await ahead
        await asyncio.wait([task])
        assert await database.read(workers) == 0


async def test_a_closed_database_says_so(database_url):
    database = await Database.open(database_url)
    await database.aclose()
    await database.aclose()
    for run in (database.read, database.write):
        with pytest.raises(StorageUnavailable, match="closed"):
            await run(workers)


async def test_no_thread_is_left(database_url):
    import threading

    before = threading.active_count()
    async with await Database.open(database_url) as database:
        await database.read(workers)
        assert threading.active_count() > before
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("kibitz")]
