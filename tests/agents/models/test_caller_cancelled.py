"""Calls that are given up: they are written down, and nothing stays set aside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agents.models.budget import Reservation
from agents.models.errors import (
    ServerFault,
    mark_unsent,
)
from agents.models.ledger import CallOutcome, MemoryLedger, ModelCall
from tests.agents.models.calls import COST, REPLY, REQUEST, World, seconds

pytestmark = pytest.mark.asyncio


class SlowLedger(MemoryLedger):
    """A ledger that takes its time, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.begun, self.go = asyncio.Event(), asyncio.Event()
        self.is_left = False

    async def record(self, call: ModelCall, reservation: Reservation) -> None:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            self.is_left = True
            raise
        if self.error is not None:
            raise self.error
        await super().record(call, reservation)


async def cancelled(world: World, asked: asyncio.Event) -> asyncio.CancelledError:
    task = asyncio.create_task(world.call())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as error:
        await task
    return error.value


def hanging(asked: asyncio.Event) -> Callable[[], Any]:
    async def hang() -> None:
        asked.set()
        await asyncio.Event().wait()

    return hang


async def test_a_call_that_is_given_up_is_written_down():
    asked = asyncio.Event()
    world = World(hanging(asked))
    await cancelled(world, asked)
    (row,) = world.rows
    assert row.outcome is CallOutcome.CANCELLED
    assert row.reply is None
    assert row.latency == seconds(2)
    # The most that it can have taken, since it is billed, and nobody knows what it thought.
    worst = world.caller.worst(REQUEST)
    assert row.usage.is_estimated
    assert (row.spending.calls, row.spending.tokens) == (1, worst.tokens)
    assert world.reserved == 0
    assert world.excused == []


async def test_a_call_that_is_given_up_before_it_went_out_is_none():
    asked = asyncio.Event()

    async def connect() -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            mark_unsent(error)
            raise

    world = World(connect)
    await cancelled(world, asked)
    assert world.rows == []
    assert world.reserved == 0


async def test_a_call_that_ran_out_of_time_is_written_down():
    world = World(hanging(asyncio.Event()))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await world.call()
    assert world.outcomes == ["cancelled"]


async def test_a_slow_ledger_does_not_hold_up_a_cancellation_for_ever(monkeypatch):
    monkeypatch.setattr("agents.models.caller._LAST_WORDS", seconds(0))
    asked = asyncio.Event()
    world = World(hanging(asked), ledger=SlowLedger())
    error = await cancelled(world, asked)
    assert "not written down in time" in error.__notes__[0]
    assert world.ledger.is_left  # it was told, and nothing of it goes on
    assert world.reserved == 0
    assert world.ledger._account.spent_calls == 1  # what it cost is gone all the same


async def test_a_reply_that_came_is_written_down_even_if_nobody_wants_it_any_more():
    ledger = SlowLedger()
    world = World(REPLY, ledger=ledger)
    task = asyncio.create_task(world.call())
    await ledger.begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    ledger.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.outcomes == ["ok"]
    assert await world.call() == REPLY  # and need not be paid for again
    assert len(world.asked) == 1


async def test_a_ledger_that_fails_does_not_stop_a_cancellation():
    asked = asyncio.Event()
    ledger = SlowLedger(OSError("disk full"))
    ledger.go.set()
    world = World(hanging(asked), ledger=ledger)
    error = await cancelled(world, asked)
    assert "disk full" in error.__notes__[0]
    assert world.reserved == 0


async def test_a_ledger_that_fails_is_an_error_and_the_money_is_gone():
    ledger = SlowLedger(OSError("disk full"))
    ledger.go.set()
    world = World(REPLY, ledger=ledger)
    with pytest.raises(OSError, match="disk full"):
        await world.call()
    assert world.reserved == 0
    assert world.ledger._account.spent_usd == COST


async def test_who_is_cancelled_while_he_waits_makes_no_call():
    waiting = asyncio.Event()
    world = World(REPLY)

    async def acquire(_provider: str) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.acquire = acquire
    await cancelled(world, waiting)
    assert world.rows == world.asked == []
    assert world.reserved == 0


async def test_who_is_cancelled_before_the_next_request_has_spent_nothing():
    """What was sent before was turned away."""
    waiting = asyncio.Event()
    world = World(REPLY)
    world.rewordings = 1

    async def acquire(_provider: str) -> None:
        if world.asked:
            waiting.set()
            await asyncio.Event().wait()

    world.acquire = acquire
    await cancelled(world, waiting)
    assert world.rows == []
    assert world.reserved == 0


async def test_who_is_cancelled_in_a_pause_gives_back_what_was_set_aside():
    world = World(ServerFault("openai", 500))
    pausing = asyncio.Event()

    async def sleep(_duration: float) -> None:
        pausing.set()
        await asyncio.Event().wait()

    world.caller._sleep = sleep
    await cancelled(world, pausing)
    assert world.outcomes == ["server_fault"]
    assert world.reserved == 0
