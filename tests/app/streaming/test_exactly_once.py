"""Watchers who come, go and come again while a match is played see every event exactly once."""

from __future__ import annotations

import asyncio
import random

import pytest

from app.matches.events import EventType
from tests.app.streaming.service import LoggedMatch, Service, serving
from tests.support.processes import run

pytestmark = pytest.mark.usefixtures("without_coverage")

WATCHERS, CHANGES = 50, 150


def test_fifty_watchers_who_connect_and_reconnect_at_random(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(_watch(service, match, random.Random(seed)))
                    for seed in range(WATCHERS)
                ]
                everything = group.create_task(_watch_all(service, match, random.Random(-1)))
                group.create_task(_play(match))
            log = await service.log(match)
            assert [number for number, _, _ in log] == [*range(1, len(log) + 1)]
            for task in watching:
                assert task.result() == log
            plies = [number for number, kind, _ in log if kind != EventType.CREATED]
            assert everything.result() == plies
            assert service.feed.dropped == 0

    run(main(), debug=False)


async def _play(match: LoggedMatch) -> None:
    chance = random.Random(0)
    for _ in range(CHANGES):
        await match.append(*[EventType.PLY] * chance.randint(1, 3))
        for _ in range(chance.choice((0, 0, 1, 20))):
            await asyncio.sleep(0)
    await match.append(EventType.ENDED)


async def _watch(service: Service, match: LoggedMatch, chance: random.Random):
    """Return what was seen over many connections, each of which resumes where the last ended."""
    seen = []
    while not seen or seen[-1][1] != EventType.ENDED:
        after = seen[-1][0] if seen else 0
        patience = chance.choice((0, 1, 2, 5, 100, 1000))
        async with await service.watch(match, last_event_id=after) as watcher:
            async for event in watcher:
                seen.append((event.id, event.type, event.data))
                patience -= 1
                if patience < 0:
                    break
    return seen


async def _watch_all(service: Service, match: LoggedMatch, chance: random.Random):
    """Return the sequence numbers that were seen on the stream of all matches."""
    seen = []
    after = 0
    while True:
        patience = chance.choice((0, 1, 2, 5, 100))
        async with await service.watch_all(last_event_id=after) as watcher:
            async for event in watcher:
                after = event.id
                seen.append(event.data["sequence"])
                if event.type == EventType.ENDED:
                    return seen
                patience -= 1
                if patience < 0:
                    break


def test_a_state_and_the_events_after_it_fit_together_at_every_moment(database_url):
    async def main():
        async with serving(database_url) as service:
            match = await service.create()
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(_begin_again(service, match, random.Random(seed)))
                    for seed in range(WATCHERS)
                ]
                group.create_task(_play(match))
            last = match.sequence
            for task in watching:
                for numbers in task.result():
                    assert numbers == [*range(numbers[0], numbers[0] + len(numbers))]
                assert task.result()[-1][-1] == last
            assert service.feed.dropped == 0

    run(main(), debug=False)


async def _begin_again(
    service: Service, match: LoggedMatch, chance: random.Random
) -> list[list[int]]:
    """Return the numbers that were seen from each new beginning on."""
    runs: list[list[int]] = []
    while True:
        runs.append([])
        patience = chance.choice((0, 1, 2, 5, 100))
        async with await service.watch(match) as watcher:
            async for event in watcher:
                runs[-1].append(event.id)
                patience -= 1
                if patience < 0 and event.type != EventType.ENDED:
                    break
            else:
                return runs
