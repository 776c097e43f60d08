"""The rate limit of one process. Time is that of a clock in the test: sleeping moves it on."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.rate_limit import (
    NO_WAIT,
    MemoryPlaces,
    PacedRateLimit,
    Unlimited,
)


class World:
    """A clock, a way to sleep by it, and a limit."""

    def __init__(self, limits: dict[str, int]) -> None:
        self.time = 1000.0
        self.sleeps: list[float] = []
        self.asked = 0
        self.places = MemoryPlaces(limits, clock=lambda: self.time)
        self.limit = PacedRateLimit(self.take, self.sleep)

    async def take(self, provider: str) -> timedelta:
        self.asked += 1
        return self.places.take(provider)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await asyncio.sleep(0)
        self.time += seconds


@pytest.mark.asyncio
async def test_no_more_than_so_many_pass_in_a_minute():
    world = World({"p": 3})
    passed = []
    for _ in range(10):
        await world.limit.acquire("p")
        passed.append(world.time)
    for first, fourth in zip(passed, passed[3:], strict=False):
        assert fourth - first >= 60
    assert passed[:3] == [1000.0] * 3
    assert passed[-1] < 1000 + 3 * 61  # and they pass as soon as they may


@pytest.mark.asyncio
async def test_nobody_polls():
    world = World({"p": 1})
    for _ in range(4):
        await world.limit.acquire("p")
    assert len(world.sleeps) == 3  # one for each who had to wait
    assert all(60 <= each < 60.1 for each in world.sleeps)


@pytest.mark.asyncio
async def test_who_waits_in_the_queue_does_not_even_ask():
    world = World({"p": 2})
    waiting = asyncio.Event()
    go = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await go.wait()
        world.time += seconds

    world.limit = PacedRateLimit(world.take, sleep)
    order: list[int] = []

    async def come(number: int) -> None:
        await world.limit.acquire("p")
        order.append(number)

    tasks = [asyncio.create_task(come(number)) for number in range(6)]
    await waiting.wait()
    assert order == [0, 1]
    assert world.asked == 3
    go.set()
    await asyncio.gather(*tasks)
    assert order == list(range(6))  # first come, first served


@pytest.mark.asyncio
async def test_who_is_cancelled_leaves_the_queue():
    world = World({"p": 1})
    sleeping, wake = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        sleeping.set()
        await wake.wait()
        world.time += seconds

    world.limit = PacedRateLimit(world.take, sleep)
    await world.limit.acquire("p")
    first = asyncio.create_task(world.limit.acquire("p"))
    second = asyncio.create_task(world.limit.acquire("p"))
    third = asyncio.create_task(world.limit.acquire("p"))
    await sleeping.wait()
    for task in (second, first):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    wake.set()
    await third


@pytest.mark.asyncio
async def test_providers_do_not_wait_for_each_other():
    world = World({"p": 1, "q": 1})
    await world.limit.acquire("p")
    await world.limit.acquire("q")
    for _ in range(100):
        await world.limit.acquire("another")
    assert world.sleeps == []


@pytest.mark.asyncio
async def test_without_limits_nobody_waits():
    for _ in range(100):
        await Unlimited().acquire("p")
    world = World({"p": 5})
    for _ in range(5):
        await world.limit.acquire("p")
    assert world.sleeps == []


@given(
    st.integers(1, 5),
    st.lists(st.floats(0, 90, allow_nan=False), min_size=1, max_size=40),
)
def test_in_no_minute_are_there_more_places(limit, pauses):
    now = 0.0
    places = MemoryPlaces({"p": limit}, clock=lambda: now)
    taken: deque[float] = deque()
    for pause in pauses:
        now += pause
        wait = places.take("p")
        while taken and now - taken[0] > 60.01:
            taken.popleft()
        if wait == NO_WAIT:
            taken.append(now)
            assert len([each for each in taken if now - each < 59.99]) <= limit
        else:
            assert len(taken) == limit
            assert wait.total_seconds() == pytest.approx(60 - (now - taken[0]), abs=0.01)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_lets_at_least_one_pass(limit):
    with pytest.raises(ValueError, match="at least 1"):
        MemoryPlaces({"p": limit})
