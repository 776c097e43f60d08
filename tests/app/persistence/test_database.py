"""The database: transactions, cancelling, and closing."""

import asyncio
import time
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text

from app.persistence import database as module
from app.persistence.database import Database
from app.persistence.errors import DatabaseInUse, StorageUnavailable
from app.persistence.tables import Worker
from tests.app.persistence.samples import NOON, new_id
from tests.support.postgres_proxy import wire_to
from tests.support.processes import HANGS_AFTER

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


# --- databases that do not answer ---

SOON = timedelta(milliseconds=50)


@asynccontextmanager
async def stuck(database, run, count):
    """Keep threads of a database busy until the context is left."""
    loop, began, go_on = asyncio.get_running_loop(), asyncio.Semaphore(0), asyncio.Event()

    def wait(_connection):
        loop.call_soon_threadsafe(began.release)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()

    tasks = [asyncio.create_task(run(wait)) for _ in range(count)]
    for _ in tasks:
        await began.acquire()
    try:
        yield
    finally:
        go_on.set()
        await asyncio.wait(tasks)


@pytest.mark.parametrize(("kind", "threads"), [("read", 3), ("write", 1)])
async def test_nobody_waits_for_ever_for_a_thread(database_url, kind, threads, monkeypatch):
    began = []

    async with await Database.open(database_url) as database:
        run = getattr(database, kind)
        async with stuck(database, run, threads), asyncio.timeout(HANGS_AFTER):
            monkeypatch.setattr(module, "READING", SOON)
            monkeypatch.setattr(module, "WRITING", SOON)
            with pytest.raises(StorageUnavailable, match=r"does not answer within 0\.05 seconds$"):
                await run(began.append)
        monkeypatch.undo()
        assert await run(workers) == 0
    assert began == []  # whoever gave up wants nothing any more


async def test_whoever_is_patient_waits_on(database_url, monkeypatch):
    async with await Database.open(database_url) as database:
        async with stuck(database, database.write, 1):
            monkeypatch.setattr(module, "WRITING", timedelta(0))
            task = asyncio.create_task(database.write(workers, is_patient=True))
            done, _ = await asyncio.wait([task], timeout=0.1)
            assert not done
        assert await task == 0


async def test_an_error_of_ours_is_not_taken_for_a_database_that_does_not_answer(database_url):
    def fail(_connection):
        raise TimeoutError("mine")

    async with await Database.open(database_url) as database:
        with pytest.raises(TimeoutError, match="mine"):
            await database.read(fail)


async def test_threads_come_back_from_a_server_that_is_frozen(postgres_url, monkeypatch):
    """It is not gone: all its connections stay, and the kernel accepts what is sent."""
    silence = {"reader": timedelta(milliseconds=300), "writer": timedelta(milliseconds=300)}
    monkeypatch.setattr(module, "_SILENCE", silence)
    monkeypatch.setattr("app.persistence.engines.POSTGRES_OPTIONS", {"connect_timeout": 2})
    async with wire_to(postgres_url) as wire, await Database.open(wire.url) as database:
        await asyncio.gather(*(database.read(workers) for _ in range(10)))
        wire.freeze()
        async with asyncio.timeout(HANGS_AFTER):
            asked = [database.write(workers), *(database.read(workers) for _ in range(3))]
            results = await asyncio.gather(*asked, return_exceptions=True)
            assert {type(result) for result in results} == {StorageUnavailable}
            wire.thaw()  # but nobody will ever hear of what was asked meanwhile
            assert await asyncio.gather(*(database.read(workers) for _ in range(3))) == [0, 0, 0]
            assert await database.write(workers) == 0


async def test_the_server_keeps_to_the_same_limits(postgres_url):
    def limits(connection):
        query = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
        return tuple(connection.execute(text(query)).one())

    async with await Database.open(postgres_url) as database:
        assert await database.read(limits) == ("10s", "10s")
        assert await database.write(limits) == ("30s", "10s")
    reader, writer = (module._SILENCE[name] for name in ("reader", "writer"))
    assert timedelta(seconds=10) == module.READING < reader
    assert timedelta(seconds=30) == module.WRITING < writer


@pytest.mark.parametrize(("kind", "threads"), [("read", 2), ("write", 1)])
async def test_closing_does_not_wait_for_ever(database_url, dialect, kind, threads, monkeypatch):
    monkeypatch.setattr(module, "CLOSING", timedelta(milliseconds=200))
    database = await Database.open(database_url)
    async with stuck(database, getattr(database, kind), threads):
        began = time.monotonic()
        async with asyncio.timeout(HANGS_AFTER):
            await database.aclose()
        assert 0.15 < time.monotonic() - began < HANGS_AFTER / 2
        if dialect == "sqlite":  # somebody still uses the file
            with pytest.raises(DatabaseInUse):
                await Database.open(database_url)
    await database.aclose()
    async with await Database.open(database_url) as again:
        assert await again.read(workers) == 0
