"""The Writer: durable before it returns, together where it can be, fenced where it must be."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import text

from app.persistence.batch import store
from app.persistence.database import Database
from app.persistence.errors import LostOwnership, StorageRefused, StorageUnavailable
from app.persistence.events import events_after, events_of
from app.persistence.matches import claim, find_match
from app.persistence.plies import plies_of
from app.persistence.writer import Writer
from tests.app.persistence.samples import (
    NOON,
    a_change,
    a_ply,
    an_event,
    inserted,
    new_id,
)
from tests.support.postgres_proxy import wire_to

pytestmark = pytest.mark.asyncio


class Published:
    """What was published, commit by commit."""

    def __init__(self):
        self.commits = []

    def __call__(self, changes):
        self.commits.append(list(changes))

    @property
    def changes(self):
        return [change for commit in self.commits for change in commit]


@asynccontextmanager
async def writing(url):
    published = Published()
    async with await Database.open(url) as database:
        writer = Writer(database, published)
        task = asyncio.create_task(writer.run())
        try:
            yield database, writer, published
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()


async def stored(database, match_id):
    """Return everything about a match."""

    def look(connection):
        return (
            find_match(connection, match_id),
            events_of(connection, match_id, 0, 1000),
            plies_of(connection, match_id),
        )

    return await database.read(look)


class Gate:
    """Keeps the thread that writes busy, so that changes gather."""

    def __init__(self, database):
        self._database = database
        self._open = asyncio.Event()

    async def __aenter__(self):
        loop, closed = asyncio.get_running_loop(), asyncio.Event()

        def wait(_connection):
            loop.call_soon_threadsafe(closed.set)
            asyncio.run_coroutine_threadsafe(self._open.wait(), loop).result()

        self._task = asyncio.create_task(self._database.write(wait))
        await closed.wait()
        return self

    async def __aexit__(self, *_):
        self._open.set()
        await self._task


async def gather(gate, database, writer, changes):
    """Let changes wait for the same commit, and return what became of each."""
    first = await inserted(database)
    async with gate:
        # The first one is taken alone, and waits for the gate; the others gather behind it.
        ahead = asyncio.create_task(writer.commit(a_change(first.id)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks = [asyncio.create_task(writer.commit(change)) for change in changes]
        await asyncio.sleep(0)
    await ahead
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_change_is_stored_and_then_published(database_url):
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        change = a_change(record.id, status="paused", owner=new_id())
        await writer.commit(change)
        match, events, plies = await stored(database, record.id)
    assert match == replace(
        record,
        status="paused",
        state=change.state,
        ply_count=1,
        last_sequence=3,
        updated_at=change.updated_at,
        owner=change.owner,
    )
    assert [event.data for event in events[1:]] == [event.data for event in change.events]
    assert events[1:] == [replace(e, position=n) for n, e in enumerate(change.events, 2)]
    assert plies == list(change.plies)
    assert published.commits == [[replace(change, events=tuple(events[1:]))]]


async def test_a_match_goes_on_to_its_end(database_url):
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        for number in range(20):
            await writer.commit(a_change(record.id, 1 + 2 * number, number + 1))
        end = a_change(
            record.id,
            41,
            21,
            status="ended",
            winner="white",
            termination="checkmate",
            result="1-0",
            plies=(),
            events=(an_event(record.id, 42, "match.ended"),),
        )
        await writer.commit(end)
        match, events, plies = await stored(database, record.id)
    assert [event.sequence for event in events] == list(range(1, 43))
    assert [event.position for event in events] == list(range(1, 43))
    assert [ply.number for ply in plies] == list(range(1, 21))
    assert (match.status, match.winner, match.termination, match.result) == (
        "ended",
        "white",
        "checkmate",
        "1-0",
    )
    assert len(published.changes) == 21


async def test_a_takeback_deletes_plies_and_no_events(database_url):
    async with writing(database_url) as (database, writer, _published):
        record, other = await inserted(database), await inserted(database)
        for match in (record, other):
            for number in range(4):
                await writer.commit(a_change(match.id, 1 + 2 * number, number + 1))
        again = a_ply(record.id, 3, san="d4", uci="d2d4")
        await writer.commit(a_change(record.id, 9, 3, keep_plies=2, plies=(again,)))
        _, events, plies = await stored(database, record.id)
        _, _, others = await stored(database, other.id)
        await writer.commit(a_change(record.id, 11, 0, keep_plies=0, plies=()))
        _, _, none = await stored(database, record.id)
    assert [(ply.number, ply.san) for ply in plies] == [(1, "e4"), (2, "e4"), (3, "d4")]
    assert len(events) == 11
    assert len(others) == 4
    assert none == []


async def test_a_change_may_have_no_events(database_url):
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        await writer.commit(a_change(record.id, events=(), plies=(), state='{"new":1}'))
        match, events, _ = await stored(database, record.id)
    assert match.state == '{"new":1}'
    assert len(events) == match.last_sequence == 1
    assert len(published.changes) == 1


async def test_those_who_wait_together_are_committed_together(database_url):
    async with writing(database_url) as (database, writer, published):
        records = [await inserted(database) for _ in range(30)]
        results = await gather(
            Gate(database), database, writer, [a_change(record.id) for record in records]
        )
        events = await database.read(lambda connection: events_after(connection, 0, 1000))
    assert results == [None] * 30
    assert [len(commit) for commit in published.commits] == [1, 30]
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    told = [event for change in published.changes for event in change.events]
    assert told == events[31:]


SPOILERS = [
    ("epoch", {"epoch": 7}, LostOwnership),
    ("sequence", {"base_sequence": 0, "events": ()}, LostOwnership),
    ("later sequence", {"base_sequence": 5, "events": ()}, LostOwnership),
    ("status", {"status": "odd"}, StorageRefused),
    ("ply", {"plies": (a_ply("nobody", 0),)}, StorageRefused),
    ("gap", {"events": (an_event("any", 2), an_event("any", 4))}, ValueError),
    ("time", {"updated_at": NOON.replace(tzinfo=None)}, ValueError),
]


@pytest.mark.parametrize(
    ("fields", "error"), [pytest.param(*each[1:], id=each[0]) for each in SPOILERS]
)
async def test_one_that_fails_does_not_spoil_it_for_others(database_url, fields, error):
    async with writing(database_url) as (database, writer, published):
        records = [await inserted(database) for _ in range(5)]
        changes = [a_change(record.id) for record in records]
        changes[2] = replace(changes[2], **fields)
        results = await gather(Gate(database), database, writer, changes)
        found = [await stored(database, record.id) for record in records]
    assert isinstance(results.pop(2), error)
    assert results == [None] * 4
    match, events, plies = found.pop(2)
    assert (match, len(events), plies) == (records[2], 1, [])
    assert [len(events) for _, events, _ in found] == [3] * 4
    assert len(published.changes) == 5


async def test_a_former_owner_cannot_write(database_url):
    """Neither what the new owner has not written yet, nor what it has."""
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        epoch = await database.write(lambda each: claim(each, record.id, new_id(), by_force=True))
        with pytest.raises(LostOwnership, match=record.id):
            await writer.commit(a_change(record.id))
        await writer.commit(a_change(record.id, epoch=epoch))
        ours = await stored(database, record.id)
        with pytest.raises(LostOwnership):
            await writer.commit(a_change(record.id))
        assert await stored(database, record.id) == ours
    assert len(published.changes) == 1


async def test_a_former_owner_is_known_by_its_epoch_alone(database_url):
    """The new owner has not written anything: the sequence is what both expect."""
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        change = a_change(record.id)
        await database.write(partial(store, changes=[change]))
        await database.write(lambda each: claim(each, record.id, new_id(), by_force=True))
        before = await stored(database, record.id)
        assert before[0].last_sequence == change.last_sequence
        with pytest.raises(LostOwnership):
            await writer.commit(change)  # which it may not go on from, though it was its own
        with pytest.raises(LostOwnership):
            await writer.commit(a_change(record.id, 3, 2))
        with pytest.raises(LostOwnership):
            await database.write(partial(store, changes=[a_change(record.id, 3, 2)]))
        with pytest.raises(LostOwnership):
            await writer.commit(a_change(record.id, 3, 1, plies=(), events=()))
        assert await stored(database, record.id) == before
    assert published.changes == []


async def test_what_was_committed_already_is_not_lost(database_url):
    """A retry after an answer that never came."""
    async with writing(database_url) as (database, writer, published):
        record = await inserted(database)
        change = a_change(record.id)
        await database.write(partial(store, changes=[change]))
        await writer.commit(change)
        _, events, plies = await stored(database, record.id)
        other = a_change(record.id, events=tuple(an_event(record.id, n, "x") for n in (2, 3)))
        with pytest.raises(LostOwnership):
            await writer.commit(other)
    assert (len(events), len(plies)) == (3, 1)
    assert published.changes == [replace(change, events=tuple(events[1:]))]


async def test_whoever_publishes_badly_does_not_undo_the_commit(database_url):
    def publish(_changes):
        raise ZeroDivisionError

    async with await Database.open(database_url) as database:
        record = await inserted(database)
        writer = Writer(database, publish)
        run = asyncio.create_task(writer.run())
        await writer.commit(a_change(record.id))
        with pytest.raises(ZeroDivisionError):
            await run
        with pytest.raises(StorageUnavailable):
            await writer.commit(a_change(record.id, 3, 2))
        match, _, _ = await stored(database, record.id)
    assert match.last_sequence == 3


async def test_whoever_is_cancelled_while_waiting_writes_nothing(database_url):
    async with writing(database_url) as (database, writer, published):
        first, second, third = [await inserted(database) for _ in range(3)]
        async with Gate(database):
            tasks = []
            for record in (first, second, third):
                tasks.append(asyncio.create_task(writer.commit(a_change(record.id))))
                await asyncio.sleep(0)
            tasks[1].cancel()
            await asyncio.wait([tasks[1]])
        await asyncio.gather(tasks[0], tasks[2])
        match, events, plies = await stored(database, second.id)
    assert (match, len(events), plies) == (second, 1, [])
    assert [change.match_id for change in published.changes] == [first.id, third.id]


async def test_whoever_is_cancelled_during_the_commit_does_not_interrupt_it(database_url):
    async with writing(database_url) as (database, writer, published):
        first, second = [await inserted(database) for _ in range(2)]
        async with Gate(database):
            task = asyncio.create_task(writer.commit(a_change(first.id)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # the writer has taken it, and waits for the thread
            task.cancel()
            await asyncio.wait([task])
        await writer.commit(a_change(second.id))
        match, events, plies = await stored(database, first.id)
    assert (match.last_sequence, len(events), len(plies)) == (3, 3, 1)
    assert [change.match_id for change in published.changes] == [first.id, second.id]


async def test_a_writer_that_stops_finishes_the_commit_in_hand(database_url):
    published = Published()
    async with await Database.open(database_url) as database:
        records = [await inserted(database) for _ in range(2)]
        writer = Writer(database, published)
        run = asyncio.create_task(writer.run())
        async with Gate(database):
            tasks = []
            for record in records:
                tasks.append(asyncio.create_task(writer.commit(a_change(record.id))))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            run.cancel()
            await asyncio.sleep(0)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait([run])
        assert run.cancelled()
        with pytest.raises(StorageUnavailable, match="stops"):
            await writer.commit(a_change(records[1].id))
        counts = [len((await stored(database, record.id))[1]) for record in records]
    assert results[0] is None
    assert isinstance(results[1], StorageUnavailable)
    assert counts == [3, 1]
    assert len(published.changes) == 1


async def test_an_answer_to_commit_that_never_comes(postgres_url):
    """The commit happened, the wire was cut, and nobody but the table knows."""
    async with wire_to(postgres_url) as wire, writing(wire.url) as (database, writer, published):
        records = [await inserted(database) for _ in range(3)]
        wire.cut(b"COMMIT", after=True)
        await asyncio.gather(*(writer.commit(a_change(record.id)) for record in records))
        counts = [len((await stored(database, record.id))[1]) for record in records]
    assert wire.cuts == 1
    assert counts == [3, 3, 3]
    told = [event.position for change in published.changes for event in change.events]
    assert sorted(told) == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("at", [b"UPDATE matches", b"COMMIT"])
async def test_a_commit_that_never_reaches_the_server_is_made_again(postgres_url, at):
    async with wire_to(postgres_url) as wire, writing(wire.url) as (database, writer, published):
        record = await inserted(database)
        wire.cut(at, after=False)
        await writer.commit(a_change(record.id))
        _, events, plies = await stored(database, record.id)
    assert wire.cuts == 1
    assert (len(events), len(plies), len(published.changes)) == (3, 1, 1)


async def test_a_server_that_is_gone_and_comes_back(postgres_url):
    async with wire_to(postgres_url) as wire, writing(wire.url) as (database, writer, published):
        record = await inserted(database)
        port = int(wire.url.rpartition(":")[2].partition("/")[0])
        await wire.close()
        with pytest.raises(StorageUnavailable):
            await writer.commit(a_change(record.id))
        with pytest.raises(StorageUnavailable):
            await database.read(lambda connection: find_match(connection, record.id))
        await wire.open(port)
        await writer.commit(a_change(record.id))
        assert len((await stored(database, record.id))[1]) == 3
    assert len(published.changes) == 1


class Slow:
    """A database that can be kept from committing, and counts what is written."""

    def __init__(self, database):
        self._database = database
        self.read = database.read
        self.writes = 0
        self.stored, self.may_commit = asyncio.Event(), asyncio.Event()

    async def write(self, work, **options):
        loop = asyncio.get_running_loop()

        def slowly(connection):
            result = work(connection)
            loop.call_soon_threadsafe(self.stored.set)
            asyncio.run_coroutine_threadsafe(self.may_commit.wait(), loop).result()
            return result

        self.writes += 1
        return await self._database.write(slowly, **options)


async def test_positions_are_in_the_order_of_commits(postgres_url):
    """Two processes: who has positions keeps the other waiting, which then fails at nothing."""
    waiting = text(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype <> 'relation'"
        " AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
    )
    told = ([], [])  # each process of its own commits

    def published(own, changes):
        own.extend(event.position for change in changes for event in change.events)

    async with (
        await Database.open(postgres_url) as one,
        await Database.open(postgres_url) as other,
        await Database.open(postgres_url) as watching,
    ):
        records = [await inserted(one) for _ in range(2)]
        slow = [Slow(one), Slow(other)]
        writers = [
            Writer(database, partial(published, own))
            for database, own in zip(slow, told, strict=True)
        ]
        running = [asyncio.create_task(writer.run()) for writer in writers]
        seen = []

        async def look():
            after = seen[-1].position if seen else 0
            seen.extend(await watching.read(partial(events_after, position=after, limit=1000)))
            return [event.position for event in seen]

        first = asyncio.create_task(writers[0].commit(a_change(records[0].id)))
        await slow[0].stored.wait()
        second = asyncio.create_task(writers[1].commit(a_change(records[1].id)))
        slow[1].may_commit.set()
        while not await watching.read(lambda each: each.scalar(waiting)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        assert not second.done()
        assert not slow[1].stored.is_set()
        assert await look() == [1, 2]  # nothing that comes after a gap
        slow[0].may_commit.set()
        await first
        assert (await look())[:4] == [1, 2, 3, 4]
        await second
        assert await look() == [1, 2, 3, 4, 5, 6]
        for task in running:
            task.cancel()
            await asyncio.wait([task])
    assert [event.match_id for event in seen[2:]] == [records[n].id for n in (0, 0, 1, 1)]
    assert told == ([3, 4], [5, 6])
    assert [database.writes for database in slow] == [1, 1]  # none was refused and made again


async def test_a_reader_misses_nothing_that_two_processes_commit(postgres_url):
    """None of their commits is refused, either."""
    plies = 40
    async with (
        writing(postgres_url) as (one, first, _),
        writing(postgres_url) as (_, second, _),
        await Database.open(postgres_url) as watching,
    ):
        ids = [(await inserted(one)).id for _ in range(8)]
        total = len(ids) * (1 + 2 * plies)

        async def play(writer, match_id):
            for number in range(plies):
                await writer.commit(a_change(match_id, 1 + 2 * number, number + 1))

        async def watch(seen):
            while len(seen) < total:
                after = seen[-1].position if seen else 0
                seen += await watching.read(partial(events_after, position=after, limit=1000))

        seen = []
        async with asyncio.TaskGroup() as group:
            group.create_task(watch(seen))
            for number, match_id in enumerate(ids):
                group.create_task(play((first, second)[number % 2], match_id))
    assert [event.position for event in seen] == list(range(1, total + 1))
    for match_id in ids:
        sequences = [event.sequence for event in seen if event.match_id == match_id]
        assert sequences == list(range(1, 2 + 2 * plies))
