"""Watchers who do not read: they are cut off, and nobody else notices."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from app.matches.events import EventType
from app.streaming import frame as frames
from app.streaming.frame import Frame
from app.streaming.watcher import PIECE, Limits, Watcher
from tests.app.streaming.service import LoggedMatch, Service, serving
from tests.app.streaming.watching import Connection
from tests.support.processes import run, until

TIGHT = replace(Limits(), events=20, bytes=200_000)
LOOSE = replace(Limits(), events=10**9, bytes=10**9, keep_alive=timedelta(milliseconds=50))
LONG = "x" * 50_000


async def _read_to_the_end(watcher: Connection) -> list[tuple]:
    """Return the events that came whole before the connection broke off."""
    seen = []
    try:
        await watcher.begin()
        while event := await watcher.event():
            seen.append((event.id, event.type, event.data))
    except (asyncio.IncompleteReadError, ConnectionError):
        return seen
    raise AssertionError("the stream came to a proper end")


def test_whoever_does_not_read_is_dropped_and_resumes(database_url):
    async def main():
        async with serving(database_url, TIGHT) as service:
            match = await service.create()
            good: list[list] = [[] for _ in range(5)]
            async with asyncio.TaskGroup() as group:
                for seen in good:
                    group.create_task(_watch(service, match, seen))
                slow = await Connection.open(service.port, match.path, last_event_id=0, reads=False)
                await until(lambda: service.feed.watchers == 6)
                while not service.feed.dropped:
                    await match.append(EventType.PLY, text=LONG)
                    await until(lambda: all(len(seen) == match.sequence for seen in good))
                # It was cut off although it has read nothing, not even what the server had sent.
                await until(lambda: service.feed.watchers == 5)
                await match.append(EventType.ENDED)
            log = await service.log(match)
            assert good == [log] * 5
            seen = await _read_to_the_end(slow)
            await slow.close()
            after = seen[-1][0] if seen else 0
            assert after < match.sequence
            async with await service.watch(match, last_event_id=after) as again:
                seen += [(event.id, event.type, event.data) async for event in again]
            assert seen == log
            assert service.feed.dropped == 1

    run(main(), debug=False)


async def _watch(service: Service, match: LoggedMatch, seen: list) -> None:
    async with await service.watch(match, last_event_id=0) as watcher:
        while event := await watcher.event():
            seen.append((event.id, event.type, event.data))


def test_whoever_reads_nothing_while_little_happens_is_dropped_too(database_url):
    async def main():
        async with serving(database_url, LOOSE) as service:
            match = await service.create()
            slow = await Connection.open(service.port, match.path, last_event_id=0, reads=False)
            await until(lambda: service.feed.watchers == 1)
            await match.append(EventType.PLY, text="x" * 8_000_000)
            await until(lambda: service.feed.dropped)
            await until(lambda: service.feed.watchers == 0)
            await slow.close()

    run(main(), debug=False)


def test_the_service_stops_although_somebody_does_not_read(database_url):
    async def main():
        limits = replace(LOOSE, keep_alive=timedelta(hours=1), farewell=timedelta(seconds=0.05))
        async with serving(database_url, limits) as service:
            match = await service.create()
            slow = await Connection.open(service.port, match.path, last_event_id=0, reads=False)
            await until(lambda: service.feed.watchers == 1)
            await match.append(EventType.PLY, text="x" * 8_000_000)
            await match.append(EventType.PLY)
        await slow.close()
        assert service.feed.dropped == 0

    run(main(), debug=False)


def test_what_waits_is_handed_over_in_pieces():
    async def main():
        watcher = Watcher(Limits(), lambda: None)
        given = [_frame(number, PIECE // 4) for number in range(1, 11)] + [_frame(11, 2 * PIECE)]
        for frame in given:
            watcher.offer(frame)
        taken = [await watcher.take() for _ in range(4)]
        assert [len(piece) for piece in taken] == [4, 4, 2, 1]
        assert [frame for piece in taken for frame in piece] == given
        watcher.end()
        assert await watcher.take() == []

    asyncio.run(main())


def test_the_bounds_of_what_may_wait():
    for limits, size in ((Limits(events=10), 1), (Limits(bytes=100), 10)):
        cuts = []
        watcher = Watcher(limits, lambda: cuts.append(True))  # noqa: B023
        for number in range(1, 11):
            watcher.offer(_frame(number, size))
        assert not watcher.was_dropped
        watcher.offer(_frame(11, size))
        watcher.offer(_frame(12, size))
        assert watcher.was_dropped
        assert cuts == [True]


def test_one_event_may_be_as_large_as_it_likes():
    watcher = Watcher(Limits(bytes=100), lambda: None)
    watcher.offer(_frame(1, 1000))
    assert not watcher.was_dropped
    watcher.offer(_frame(2, 1))
    assert watcher.was_dropped


def test_words_that_are_not_stored_wait_only_where_there_is_plenty_of_room():
    async def main():
        watcher = Watcher(Limits(events=10), lambda: None)
        delta = frames.of_delta("match", {"text": "so"})
        for number in range(1, 6):
            watcher.offer(_frame(number, 1))
        watcher.offer_delta(delta)
        watcher.offer_delta(delta)
        assert len(await watcher.take()) == 6

    asyncio.run(main())


def _frame(number: int, size: int) -> Frame:
    return Frame(number, b"x" * size, "", is_last=False)
