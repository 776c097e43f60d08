"""Workers: who is alive, and how a process learns what another one has committed."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, text

from agents.timekeeping import now
from app.persistence.database import Database
from app.persistence.errors import StorageRefused
from app.persistence.events import last_position
from app.persistence.matches import claim, claimable, count_claimable
from app.persistence.notifications import Notifications
from app.persistence.tables import Worker
from app.persistence.workers import Workers, charged_until, dead_of, lock_key
from app.persistence.writer import Writer
from tests.app.persistence.samples import a_change, inserted, new_id
from tests.support.postgres_proxy import wire_to
from tests.support.processes import HANGS_AFTER, until

pytestmark = pytest.mark.asyncio


async def test_a_worker_is_seen_from_its_start_to_its_end(database_url):
    workers = Workers()

    def rows(connection):
        return connection.execute(
            select(Worker.started_at, Worker.seen_at, Worker.stopped_at)
        ).all()

    async with await Database.open(database_url) as database:
        assert await database.read(rows) == []
        before = now()
        await database.write(workers.register)
        ((started, seen, stopped),) = await database.read(rows)
        assert before <= started == seen <= now()
        assert stopped is None
        await until(lambda: now() > seen)
        await database.write(workers.beat)
        ((_, beat, _),) = await database.read(rows)
        assert beat > seen
        await until(lambda: now() > beat)
        await database.write(workers.close)
        assert (await database.read(rows))[0].stopped_at > beat
        with pytest.raises(StorageRefused):
            await database.write(workers.register)


async def test_workers_that_are_long_gone_and_own_nothing_are_forgotten(database_url):
    """One that owns something is remembered, since its clock ran until it was last seen."""
    at = now()
    old, recent = at - timedelta(days=7, minutes=1), at - timedelta(days=7, minutes=-1)
    gone, stopped, owning, had_owned, fresh, just_stopped = ids = [new_id() for _ in range(6)]
    rows = [
        {"id": gone, "seen_at": old, "stopped_at": None},
        {"id": stopped, "seen_at": old, "stopped_at": old},
        {"id": owning, "seen_at": old, "stopped_at": None},
        {"id": had_owned, "seen_at": old, "stopped_at": None},
        {"id": fresh, "seen_at": recent, "stopped_at": None},
        {"id": just_stopped, "seen_at": recent, "stopped_at": recent},
    ]
    workers = Workers()
    async with await Database.open(database_url) as database:
        await inserted(database, owner=owning, status="paused")
        await inserted(database, owner=had_owned, status="aborted")
        await inserted(database)
        values = [row | {"started_at": old} for row in rows]
        await database.write(lambda each: each.execute(insert(Worker), values))
        await database.write(workers.register)
        left = await database.read(lambda each: set(each.scalars(select(Worker.id))))
    assert left == {owning, fresh, just_stopped, workers.id}
    assert len(set(ids)) == 6


TURN = datetime(2026, 3, 9, 12, tzinfo=UTC)
#: Of each worker when it started and was last seen, in seconds of the turn; of the first the match
#: is. And when the clock stood.
CLOCKS = [
    ([], 0),
    ([(-100, 30)], 30),
    ([(0, 7)], 7),
    ([(-100, 30), (-100, 20)], 30),
    ([(40, 50)], 0),
    ([(40, 50), (-100, 30)], 30),
    ([(40, 50), (-100, 30), (-50, 20), (-100, -1), (1, 2)], 20),
    ([(40, 50), (-9, 0)], 0),
    ([(40, 50), (0, 9)], 9),
]


@pytest.mark.parametrize(("lives", "seconds"), CLOCKS)
async def test_a_clock_is_charged_until_its_worker_was_last_seen(database_url, lives, seconds):
    owner, own = new_id(), new_id()

    def second(number):
        return TURN + timedelta(seconds=number)

    rows = [
        {"id": new_id() if number else owner, "started_at": second(a), "seen_at": second(b)}
        for number, (a, b) in enumerate(lives)
    ]
    async with await Database.open(database_url) as database:
        if rows:
            await database.write(lambda each: each.execute(insert(Worker), rows))

        async def charged(worker):
            return await database.read(lambda each: charged_until(each, worker, TURN, own))

        assert await charged(owner) == second(seconds)
        assert await charged(None) is None
        assert await charged(own) is None


async def test_the_clock_of_a_living_worker_runs_on(postgres_url):
    async with await Database.open(postgres_url) as database, listening(database) as other:
        found = await database.read(lambda each: charged_until(each, other.worker, TURN, new_id()))
    assert found is None


async def test_on_sqlite_every_other_worker_is_dead(tmp_path):
    ours, other = new_id(), new_id()
    async with await Database.open(f"sqlite:///{tmp_path / 'kibitz.db'}") as database:
        dead = await database.read(lambda each: dead_of(each, [ours, other], ours))
    assert dead == {other}


async def test_keys_of_locks_fit():
    keys = {lock_key(new_id()) for _ in range(1000)}
    assert len(keys) == 1000
    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert min(keys) < 0 < max(keys)


class Listener:
    """Notifications that count."""

    def __init__(self, database):
        self.worker = new_id()
        self.times = 0
        self.notifications = Notifications(database, self.worker, self._notified)

    def _notified(self):
        self.times += 1


@asynccontextmanager
async def listening(database):
    listener = Listener(database)
    task = asyncio.create_task(listener.notifications.run())
    try:
        await listener.notifications.ready()
        yield listener
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    assert not listener.notifications.is_alive


async def eventually(condition):
    async with asyncio.timeout(HANGS_AFTER):
        await until(condition)


async def answered(question):
    """Ask until the answer is yes; a server takes a moment to notice that somebody has gone."""
    async with asyncio.timeout(HANGS_AFTER):
        while not await question():
            pass


async def is_dead(database, worker):
    return bool(await database.read(lambda each: dead_of(each, [worker], new_id())))


async def test_a_worker_is_alive_while_it_listens(postgres_url):
    async with await Database.open(postgres_url) as database:
        async with listening(database) as one, listening(database) as other:
            found = await database.read(
                lambda each: dead_of(each, [one.worker, other.worker, "the dead"], one.worker)
            )
            assert found == {"the dead"}
        await answered(lambda: is_dead(database, one.worker))


async def test_a_living_worker_keeps_its_matches_unless_by_force(postgres_url):
    ours = new_id()
    async with await Database.open(postgres_url) as database, listening(database) as other:
        record = await inserted(database, owner=other.worker, epoch=1)

        async def claimed(*, by_force):
            return await database.write(
                lambda each: claim(each, record.id, ours, by_force=by_force)
            )

        assert await database.read(lambda each: claimable(each, ours, 10)) == []
        assert await database.read(lambda each: count_claimable(each, ours)) == 0
        assert await claimed(by_force=False) is None
        assert await claimed(by_force=True) == 2
        assert await claimed(by_force=False) is None  # it is our own


async def test_only_one_of_two_gets_a_match(postgres_url):
    async with (
        await Database.open(postgres_url) as database,
        await Database.open(postgres_url) as elsewhere,
        listening(database) as one,
        listening(elsewhere) as other,
    ):
        for _ in range(10):
            record = await inserted(database)

            def take(connection, worker, match_id=record.id):
                return claim(connection, match_id, worker, by_force=False)

            epochs = await asyncio.gather(
                database.write(lambda each: take(each, one.worker)),
                elsewhere.write(lambda each: take(each, other.worker)),
            )
            assert sorted(epochs, key=str) == [1, None]


LIVING = """
import asyncio, sys
from app.persistence.database import Database
from app.persistence.notifications import Notifications

async def main():
    async with await Database.open(sys.argv[1]) as database:
        notifications = Notifications(database, sys.argv[2], lambda: None)
        task = asyncio.create_task(notifications.run())
        await notifications.ready()
        print("alive", flush=True)
        await task

asyncio.run(main())
"""


async def test_the_matches_of_a_process_that_was_killed_can_be_claimed_at_once(postgres_url):
    other, ours = new_id(), new_id()
    async with await Database.open(postgres_url) as database:
        record = await inserted(database, owner=other, epoch=1)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", LIVING, postgres_url, other, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert await process.stdout.readline() == b"alive\n"
            assert await database.read(lambda each: claimable(each, ours, 10)) == []
        finally:
            process.send_signal(signal.SIGKILL)
            await process.wait()
        await answered(lambda: database.read(lambda each: claimable(each, ours, 10)))
        epoch = await database.write(lambda each: claim(each, record.id, ours, by_force=False))
    assert epoch == 2


async def test_who_listens_is_notified_of_every_way_to_commit(postgres_url):
    async with (
        await Database.open(postgres_url) as database,
        await Database.open(postgres_url) as elsewhere,
        listening(elsewhere) as listener,
    ):
        await eventually(lambda: listener.times == 1)  # there may have been something before
        record = await inserted(database)
        await eventually(lambda: listener.times == 2)
        writer = Writer(database, lambda _: None)
        task = asyncio.create_task(writer.run())
        await writer.commit(a_change(record.id))
        await eventually(lambda: listener.times == 3)
        assert await elsewhere.read(last_position) == 3
        task.cancel()
        await asyncio.wait([task])


async def test_who_lost_the_connection_comes_back(postgres_url):
    async with (
        wire_to(postgres_url) as wire,
        await Database.open(postgres_url) as database,
        await Database.open(wire.url) as elsewhere,
        listening(elsewhere) as listener,
    ):
        await eventually(lambda: listener.times == 1)
        port = int(wire.url.rpartition(":")[2].partition("/")[0])
        await wire.close()
        await eventually(lambda: not listener.notifications.is_alive)
        await answered(lambda: is_dead(database, listener.worker))
        await inserted(database)
        await wire.open(port)
        await listener.notifications.ready()
        await eventually(lambda: listener.times >= 2)  # which was in the gap
        assert not await is_dead(database, listener.worker)


async def test_who_is_taken_for_alive_waits_for_the_lock(postgres_url):
    """The server has not noticed yet that a former connection of ours has ended."""
    async with await Database.open(postgres_url) as database:
        listener = Listener(database)
        key = lock_key(listener.worker)
        lock, unlock = (text(f"SELECT pg_advisory{kind}lock({key})") for kind in ("_", "_un"))
        await database.write(lambda each: each.execute(lock))
        task = asyncio.create_task(listener.notifications.run())
        asked = text(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_lock%'"
        )
        await answered(lambda: database.read(lambda each: each.scalar(asked)))
        assert not listener.notifications.is_alive
        await database.write(lambda each: each.execute(unlock))
        await listener.notifications.ready()
        task.cancel()
        await asyncio.wait([task])
