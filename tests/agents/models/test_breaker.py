"""When a provider is left alone, and how it comes back. No time passes but by our own clock."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from agents.models.breaker import CircuitBreaker, CircuitBreakers
from agents.models.errors import (
    BrokenReply,
    CircuitOpen,
    ConnectionLost,
    ProviderFault,
    ProviderSilent,
    RateLimited,
    RequestRefused,
    ServerFault,
)

FAULTS = [
    ServerFault("p", 500),
    ProviderSilent("p", timedelta(seconds=1)),
    ConnectionLost("p", "cut"),
    BrokenReply("p", "garbage"),
]


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("p", threshold=3, cool_down=timedelta(seconds=30), clock=clock)


def fail(breaker: CircuitBreaker, error: Exception | None = None) -> None:
    error = error or ServerFault("p", 500)
    with pytest.raises(type(error)), breaker.trial():
        raise error


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.trial():
        pass


def is_refused(breaker: CircuitBreaker) -> bool:
    try:
        breaker.check()
    except CircuitOpen:
        return True
    return False


def test_faults_in_a_row_open_it(breaker, clock):
    fail(breaker)
    fail(breaker)
    assert not is_refused(breaker)
    fail(breaker)
    assert breaker.is_open
    clock.time += 12
    with pytest.raises(CircuitOpen) as error, breaker.trial():
        pytest.fail("no call may be made")
    assert error.value.provider == "p"
    assert error.value.retry_after == timedelta(seconds=18)


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_every_fault_counts(breaker, error):
    for _ in range(3):
        fail(breaker, error)
    assert is_refused(breaker)


def test_a_success_between_faults_starts_the_count_again(breaker):
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        succeed(breaker)
    assert not breaker.is_open


def test_too_many_requests_neither_count_nor_help(breaker):
    for _ in range(10):
        fail(breaker, RateLimited("p"))
    assert not breaker.is_open
    fail(breaker)
    fail(breaker)
    fail(breaker, RateLimited("p"))
    assert not breaker.is_open
    fail(breaker)
    assert breaker.is_open


def test_a_refusal_of_the_request_shows_that_the_provider_is_there(breaker):
    fail(breaker)
    fail(breaker)
    fail(breaker, RequestRefused("p", 400, "no"))
    fail(breaker)
    fail(breaker)
    assert not breaker.is_open


def open_circuit(breaker: CircuitBreaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.time += 30


def test_after_a_while_exactly_one_may_try_and_closes_it(breaker, clock):
    open_circuit(breaker, clock)
    assert not is_refused(breaker)
    with breaker.trial():
        for _ in range(3):
            assert is_refused(breaker)
            with pytest.raises(CircuitOpen) as error, breaker.trial():
                pytest.fail("there is a probe already")
            assert error.value.retry_after == timedelta(seconds=1)  # it may be over soon
    assert not breaker.is_open
    fail(breaker)
    fail(breaker)
    assert not breaker.is_open  # the count began anew


def test_a_probe_that_fails_opens_it_for_as_long_again(breaker, clock):
    open_circuit(breaker, clock)
    fail(breaker)
    with pytest.raises(CircuitOpen) as error:
        breaker.check()
    assert error.value.retry_after == timedelta(seconds=30)
    clock.time += 30
    succeed(breaker)
    assert not breaker.is_open


def test_a_probe_that_is_too_many_leaves_the_next_to_try(breaker, clock):
    open_circuit(breaker, clock)
    fail(breaker, RateLimited("p"))
    assert breaker.is_open
    assert not is_refused(breaker)
    succeed(breaker)
    assert not breaker.is_open


def test_words_close_it_before_the_probe_has_ended(breaker, clock):
    open_circuit(breaker, clock)
    with breaker.trial() as speaks:
        assert breaker.is_probed
        speaks()
        assert not breaker.is_open
        assert not breaker.is_probed
        for _ in range(3):
            fail(breaker)
        speaks()  # what was closed is over: this says nothing about the faults since then
        assert breaker.is_open


def test_a_probe_that_breaks_off_what_it_says_opens_it_again(breaker, clock):
    open_circuit(breaker, clock)
    with suppress(ServerFault), breaker.trial() as speaks:
        speaks()
        raise ServerFault("p", 500)
    with pytest.raises(CircuitOpen) as error:
        breaker.check()
    assert error.value.retry_after == timedelta(seconds=30)


def test_words_of_who_is_no_probe_do_not_make_up_for_faults(breaker):
    fail(breaker)
    fail(breaker)
    with suppress(ServerFault), breaker.trial() as speaks:
        speaks()
        raise ServerFault("p", 500)
    assert breaker.is_open


@pytest.mark.asyncio
@pytest.mark.parametrize("ending", [succeed, fail])
async def test_the_end_of_a_probe_can_be_waited_for(breaker, clock, ending):
    await breaker.probe_over()  # at once, where there is none
    open_circuit(breaker, clock)
    with suppress(ServerFault), breaker.trial():
        waiting = [asyncio.create_task(breaker.probe_over()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(each.done() for each in waiting)
        if ending is fail:
            raise ServerFault("p", 500)
    await asyncio.gather(*waiting)
    assert breaker.is_open is (ending is fail)


@pytest.mark.asyncio
async def test_a_cancelled_probe_leaves_the_next_to_try(breaker, clock):
    open_circuit(breaker, clock)
    asked = asyncio.Event()

    async def probe() -> None:
        with breaker.trial():
            asked.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(probe())
    await asked.wait()
    assert is_refused(breaker)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert breaker.is_open
    succeed(breaker)
    assert not breaker.is_open


@pytest.mark.asyncio
async def test_calls_that_began_before_it_opened(breaker, clock):
    late = asyncio.Event()

    async def call(error: ProviderFault | None) -> None:
        with breaker.trial():
            await late.wait()
            if error is not None:
                raise error

    bad = asyncio.create_task(call(ServerFault("p", 500)))
    await asyncio.sleep(0)
    open_circuit(breaker, clock)
    clock.time -= 10
    late.set()
    with pytest.raises(ServerFault):
        await bad
    clock.time += 10
    assert not is_refused(breaker)  # its fault is no news, so the wait is not longer

    late.clear()
    with breaker.trial():
        pass
    good = asyncio.create_task(call(None))
    await asyncio.sleep(0)
    for _ in range(3):
        fail(breaker)
    assert is_refused(breaker)
    late.set()
    await good
    assert not breaker.is_open  # it answers, after all


@pytest.mark.asyncio
async def test_of_many_at_once_one_tries(breaker, clock):
    open_circuit(breaker, clock)
    inside, go = 0, asyncio.Event()

    async def call() -> None:
        nonlocal inside
        with breaker.trial():
            inside += 1
            await go.wait()

    tasks = [asyncio.create_task(call()) for _ in range(10)]
    await asyncio.sleep(0)
    go.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert inside == 1
    assert sum(isinstance(each, CircuitOpen) for each in results) == 9


def test_providers_have_circuits_of_their_own(clock):
    breakers = CircuitBreakers(1, timedelta(seconds=5), clock)
    fail(breakers.of("p"))
    assert is_refused(breakers.of("p"))
    assert not is_refused(breakers.of("q"))
    assert breakers.of("p") is breakers.of("p")
    clock.time += 5
    assert not is_refused(breakers.of("p"))


def test_it_never_opens_before_a_fault():
    with pytest.raises(ValueError, match="at the soonest"):
        CircuitBreaker("p", threshold=0)


def test_that_we_had_no_time_opens_no_circuit(breaker):
    fault = ProviderSilent("p", timedelta(seconds=1))
    fault.is_hurried = True
    for _ in range(5):
        fail(breaker, fault)
    assert not breaker.is_open
    # But who may try whether the provider is there again has found that it is not.
    for _ in range(3):
        fail(breaker)
    assert breaker.is_open
