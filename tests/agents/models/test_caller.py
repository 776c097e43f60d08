"""Calls: paid for once, within the budget, tried again where it helps, and all written down."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agents.models.budget import Budget
from agents.models.caller import ModelCaller
from agents.models.errors import (
    BrokenReply,
    BudgetSpent,
    CircuitOpen,
    ConnectionLost,
    ModelNotConfigured,
    ProviderFault,
    ProviderSilent,
    RateLimited,
    RecordingBroken,
    RecordingMismatch,
    RequestRefused,
    ServerFault,
)
from agents.models.ledger import CallOutcome, ModelCall, Question
from agents.models.model import Message, ModelReply, ModelRequest, ReplySchema, Role, Usage
from tests.agents.models.calls import (
    ASKED,
    COST,
    FREE,
    PRICES,
    REPLY,
    REQUEST,
    START,
    USAGE,
    World,
    seconds,
)
from tests.support.processes import steps_of_the_loop

pytestmark = pytest.mark.asyncio


async def test_a_reply_is_returned_heard_and_written_down():
    world = World(REPLY)
    assert await world.call() == REPLY
    assert world.heard == ["word 1"]
    assert world.acquired == ["openai"]
    assert world.excused == world.sleeps == []
    assert world.rows == [
        ModelCall(
            ASKED,
            "openai/gpt-5",
            REQUEST.digest,
            0,
            CallOutcome.OK,
            USAGE,
            seconds(3),
            COST,
            START,
            REPLY,
        )
    ]
    assert world.reserved == 0


async def test_what_was_paid_for_is_not_asked_again():
    world = World(REPLY)
    first = await world.call()
    assert await world.call() == first
    assert len(world.asked) == len(world.rows) == len(world.heard) == 1


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (ModelReply("", USAGE, seconds(1), refusal="I will not."), "refused"),
        (ModelReply("x", USAGE, seconds(1), "content_filter"), "refused"),
        (ModelReply("x", USAGE, seconds(1), "length"), "cut_short"),
        (ModelReply("", USAGE, seconds(1), "length"), "cut_short"),
        (ModelReply(" \n", USAGE, seconds(1)), "empty"),
    ],
)
async def test_replies_that_say_nothing_are_replies(reply, outcome):
    world = World(reply)
    assert await world.call() == reply
    assert world.outcomes == [outcome]
    assert world.rows[0].reply == reply
    assert await world.call() == reply
    assert len(world.asked) == 1


FAULTS: list[tuple[ProviderFault, str]] = [
    (RateLimited("openai"), "rate_limited"),
    (ServerFault("openai", 503), "server_fault"),
    (ProviderSilent("openai", seconds(9)), "timed_out"),
    (ConnectionLost("openai", "cut"), "connection_lost"),
    (BrokenReply("openai", "garbage"), "broken"),
    (ProviderFault(), "broken"),
]


@pytest.mark.parametrize(("fault", "outcome"), FAULTS)
async def test_a_fault_is_written_down_and_tried_again(fault, outcome):
    world = World(fault, REPLY)
    assert await world.call() == REPLY
    assert world.outcomes == [outcome, "ok"]
    first, second = world.rows
    assert (first.retry, second.retry) == (0, 1)
    assert (first.usage, first.reply, first.error) == (Usage(), None, str(fault))
    assert (first.latency, first.cost_usd, first.at) == (seconds(2), Decimal(0), START)
    assert second.at == START + seconds(2.5)
    assert world.acquired == ["openai", "openai"]
    # From the start of the try that failed to the start of the next.
    assert world.excused == [(0, 2.5)]
    assert world.reserved == 0


async def test_what_nobody_counted_is_taken_for_the_most_that_it_can_be():
    """Of a call that was cut off nobody knows what was thought in it, and a budget has to hold."""
    fault = ConnectionLost("openai", "cut")
    fault.usage = Usage(3, completion_tokens=1, is_estimated=True)
    world = World(fault, REPLY)
    await world.call()
    worst = world.caller.worst(REQUEST)
    row = world.rows[0]
    assert row.usage.is_estimated
    assert row.usage.completion_tokens == REQUEST.max_tokens
    assert (row.spending.tokens, row.spending.usd) == (worst.tokens, worst.usd)
    assert world.ledger._account.spent_calls == 2


async def test_what_a_broken_call_took_is_believed_if_the_provider_counted_it():
    fault = ConnectionLost("openai", "cut")
    fault.usage = Usage(1000, completion_tokens=100)
    world = World(fault, REPLY)
    await world.call()
    assert world.rows[0].usage == fault.usage
    assert world.rows[0].cost_usd == Decimal("0.00225")


async def test_a_request_that_is_refused_in_the_middle_of_a_reply_is_paid_for():
    error = RequestRefused("openai", 400, "flagged")
    error.usage = Usage(3, completion_tokens=1, is_estimated=True)
    world = World(error)
    with pytest.raises(RequestRefused):
        await world.call()
    assert world.outcomes == ["not_accepted"]
    assert world.rows[0].spending == world.caller.worst(REQUEST)


@pytest.mark.parametrize("is_hurried", [True, False])
async def test_a_call_that_takes_too_long_is_tried_once_more(is_hurried):
    """It is billed each time, and likely to be too long again."""
    faults = [ProviderSilent("openai", seconds(120), is_hurried) for _ in range(3)]
    for fault in faults:
        fault.is_hurried = is_hurried
    world = World(*faults)
    with pytest.raises(ProviderSilent) as error:
        await world.call()
    assert error.value is faults[1]
    assert len(world.asked) == 2
    # With the same clock there is no more time when the turn is tried again.
    assert error.value.is_lasting is is_hurried
    assert ("the clock left no more" in str(error.value)) is is_hurried


def hurried(*, may_be_thinking: bool) -> ProviderSilent:
    fault = ProviderSilent("openai", seconds(1), may_be_thinking)
    fault.is_hurried = True
    return fault


async def test_a_provider_that_cannot_be_reached_in_time_is_tried_as_often_as_any():
    """Nothing was sent, or it had begun to speak: it may be better the next time."""
    faults = [hurried(may_be_thinking=False) for _ in range(5)]
    world = World(*faults[:4], REPLY)
    assert await world.call() == REPLY
    world = World(*faults)
    with pytest.raises(ProviderSilent) as error:
        await world.call()
    assert not error.value.is_lasting


@pytest.mark.parametrize("others", [0, 4])
async def test_that_there_was_no_time_once_does_not_last(others):
    faults = [ServerFault("openai", 503)] * others
    world = World(*faults, hurried(may_be_thinking=True), retries=others)
    with pytest.raises(ProviderSilent) as error:
        await world.call()
    assert not error.value.is_lasting


async def test_one_call_alone_does_not_open_the_circuit():
    """A request that its server cannot bear must not keep others from theirs."""
    world = World(*[ServerFault("openai", 502)] * 5, REPLY, threshold=5)
    with pytest.raises(ServerFault):
        await world.call()
    assert await world.call() == REPLY
    world.script = [ServerFault("openai", 502)] * 15
    for _ in range(2):
        with pytest.raises(ServerFault):
            await world.call(replace(REQUEST, seed=1))
    with pytest.raises(CircuitOpen, match=r"\(last: openai answered 502\)"):
        await world.call(replace(REQUEST, seed=2))


async def test_a_server_that_does_not_come_to_its_end_costs_no_time():
    world = World(replace(REPLY, latency=seconds(1.5)), takes=4)
    await world.call()
    assert world.excused == [(1.5, 4)]


async def test_pauses_double_and_then_it_is_given_up():
    faults = [ServerFault("openai", 500 + number) for number in range(5)]
    world = World(*faults)
    with pytest.raises(ServerFault) as error:
        await world.call()
    assert error.value is faults[-1]
    assert world.sleeps == [0.5, 1, 2, 4]
    assert [each.retry for each in world.rows] == [0, 1, 2, 3, 4]
    assert world.excused == [(0, 2.5), (2.5, 5.5), (5.5, 9.5), (9.5, 15.5), (15.5, 17.5)]


async def test_pauses_have_a_bound_and_are_a_matter_of_chance():
    chances = iter([0.0, 0.25, 0.5, 1.0, 1.0, 1.0, 1.0, 0.5])
    faults = [ServerFault("openai", 500)] * 8
    world = World(*faults, REPLY, retries=8, chance=lambda: next(chances))
    await world.call()
    assert world.sleeps == [0, 0.25, 1, 4, 8, 16, 30, 15]


async def test_no_retries_means_one_call():
    world = World(ServerFault("openai", 500), retries=0)
    with pytest.raises(ServerFault):
        await world.call()
    assert world.outcomes == ["server_fault"]
    assert world.excused == [(0, 2)]


@pytest.mark.parametrize("retries", [0, 2, 6])
async def test_a_call_may_have_retries_of_its_own(retries):
    world = World(*[ServerFault("openai", 500)] * 9)
    with pytest.raises(ServerFault):
        await world.caller.call(
            REQUEST, ASKED, world.ledger, FREE, world.heard.append, world.excuse, retries=retries
        )
    assert len(world.rows) == retries + 1


@pytest.mark.parametrize("kind", [RateLimited, lambda p, after: ServerFault(p, 503, after)])
async def test_retry_after_is_respected(kind):
    world = World(kind("openai", seconds(60)), REPLY, chance=lambda: 0.5)
    await world.call()
    assert world.sleeps == [60.25]
    assert world.excused == [(0, 62.25)]


async def test_a_retry_after_that_is_too_long_is_for_others_to_wait():
    world = World(RateLimited("openai", seconds(61)))
    with pytest.raises(RateLimited) as error:
        await world.call()
    assert error.value.retry_after == seconds(61)
    assert world.sleeps == []
    assert world.excused == [(0, 2)]
    assert world.outcomes == ["rate_limited"]


async def test_a_negative_retry_after_is_none():
    world = World(RateLimited("openai", seconds(-5)), REPLY)
    await world.call()
    assert world.sleeps == [0.5]


async def test_a_sleep_that_is_too_long_is_excused_too():
    world = World(ServerFault("openai", 500), REPLY)

    async def oversleep(duration: float) -> None:
        world.time += duration + 7

    world.caller._sleep = oversleep
    await world.call()
    assert world.excused == [(0, 2.5), (2.5, 9.5)]


async def test_a_refused_request_is_not_made_again():
    error = RequestRefused("openai", 400, "no such model")
    world = World(error, REPLY)
    with pytest.raises(RequestRefused):
        await world.call()
    assert world.outcomes == ["not_accepted"]
    assert world.rows[0].error == str(error)
    assert world.sleeps == world.excused == []
    assert world.reserved == 0


@pytest.mark.parametrize(
    "error",
    [ModelNotConfigured("openai/x", "no key"), RecordingMismatch("f", "d", "x"), CircuitOpen],
)
async def test_what_is_no_call_is_no_row(error):
    error = CircuitOpen("openai", seconds(99)) if error is CircuitOpen else error
    world = World(error)
    with pytest.raises(type(error)):
        await world.call()
    assert world.rows == []
    assert world.reserved == 0


async def test_a_call_that_could_not_be_recorded_was_paid_for_all_the_same():
    error = RecordingBroken("f", "disk full")
    error.usage = USAGE
    world = World(error)
    with pytest.raises(RecordingBroken):
        await world.call()
    assert world.outcomes == ["broken"]
    assert world.rows[0].cost_usd == COST


async def test_a_reply_that_could_not_be_recorded_is_not_paid_for_again():
    world = World(RecordingBroken("f", "disk full", reply=REPLY))
    with pytest.raises(RecordingBroken):
        await world.call()
    assert world.outcomes == ["ok"]
    assert (world.rows[0].cost_usd, world.rows[0].reply) == (COST, REPLY)
    assert "disk full" in world.rows[0].error
    assert await world.call() == REPLY
    assert len(world.asked) == 1


async def test_a_mistake_of_ours_is_written_down():
    world = World(ZeroDivisionError("secret"))
    with pytest.raises(ZeroDivisionError):
        await world.call()
    assert world.outcomes == ["broken"]
    assert "ZeroDivisionError" in world.rows[0].error
    assert "secret" not in world.rows[0].error
    # Nobody knows when it happened, so it may have cost as much as any.
    assert world.rows[0].spending == world.caller.worst(REQUEST)


@pytest.mark.parametrize("model", ["nobody/gpt-5", "gpt-5", ""])
async def test_an_unknown_provider(model):
    world = World()
    with pytest.raises(ModelNotConfigured, match="no such provider"):
        await world.call(ModelRequest(model, REQUEST.messages, 100))
    assert world.acquired == []


async def test_models_may_be_found_by_a_function():
    world = World(REPLY)

    def find(provider: str) -> Any:
        if provider != "openai":
            raise ModelNotConfigured(provider, "there is no key")
        return world

    world.caller._models = find
    assert await world.call() == REPLY
    with pytest.raises(ModelNotConfigured, match="no key"):
        await world.call(ModelRequest("other/m", REQUEST.messages, 100))


async def test_what_a_provider_says_that_it_cost_is_what_it_cost():
    usage = Usage(10, completion_tokens=1, cost_usd=Decimal("0.07"))
    world = World(ModelReply("e4", usage, seconds(1)))
    await world.call()
    assert world.rows[0].cost_usd == Decimal("0.07")


async def test_an_unknown_price_is_not_nothing():
    request = ModelRequest("openai/new", REQUEST.messages, 100)
    world = World(REPLY)
    await world.call(request)
    assert world.rows[0].cost_usd is None
    world = World(REPLY)
    with pytest.raises(BudgetSpent, match="nobody knows"):
        await world.call(request, Budget(usd=Decimal(1000)))
    assert world.asked == world.acquired == []


def worst_tokens(request: ModelRequest) -> int:
    return World().caller.worst(request).tokens


@pytest.mark.parametrize(
    "text", ["", "x" * 999, "♞" * 50, "\ud800", "e4 " * 300, "\N{GRINNING FACE}" * 9]
)
async def test_a_prompt_has_no_more_tokens_than_bytes(text):
    request = ModelRequest("openai/gpt-5", (Message(Role.SYSTEM, text), REQUEST.messages[0]), 100)
    size = len(text.encode("utf-8", "surrogatepass")) + len("Your move.")
    # Each message is framed by a few tokens.
    assert size + 100 + 2 * 4 <= worst_tokens(request) <= size + 100 + 200
    schema = {"type": "object", "properties": {"move": {"enum": ["e2e4"] * 50}}}
    with_schema = ModelRequest(
        request.model, request.messages, 100, schema=ReplySchema("move", schema)
    )
    assert worst_tokens(with_schema) >= worst_tokens(request) + 50 * len('"e2e4"')


async def test_a_call_that_could_break_the_budget_is_not_made():
    worst = World().caller.worst(REQUEST)
    for budget in (
        Budget(usd=worst.usd - Decimal("0.000001")),
        Budget(tokens=worst.tokens - 1),
        Budget(calls=0),
    ):
        for own, whole in ((budget, FREE), (FREE, budget)):
            world = World(REPLY, budget=whole)
            with pytest.raises(BudgetSpent):
                await world.call(REQUEST, own)
            assert world.asked == world.acquired == world.rows == []
    exact = Budget(worst.usd, worst.tokens, 1)
    assert await World(REPLY, budget=exact).call(REQUEST, exact) == REPLY


async def test_each_try_is_set_aside_anew():
    fault = ServerFault("openai", 500)
    fault.usage = Usage(10, completion_tokens=1)
    world = World(fault, REPLY, budget=Budget(calls=1))
    with pytest.raises(BudgetSpent, match="calls"):
        await world.call()
    assert world.outcomes == ["server_fault"]
    assert world.reserved == 0
    # One that took nothing leaves room for the next.
    world = World(ServerFault("openai", 500), REPLY, budget=Budget(calls=1))
    assert await world.call() == REPLY


async def test_waits_for_our_own_limit_are_excused():
    world = World(ServerFault("openai", 500), REPLY)
    world.limit_takes = [10, 20]
    await world.call()
    assert world.excused == [(0, 10), (10, 12.5), (12.5, 32.5)]
    assert world.rows[0].at == START + seconds(10)
    assert world.rows[0].latency == seconds(2)


async def test_a_wait_that_nobody_notices_is_not_worth_a_word():
    world = World(REPLY)
    world.limit_takes = [0.01]
    await world.call()
    assert world.excused == []


async def test_each_request_of_a_call_takes_its_turn():
    """A server that does not take a parameter is asked again, and counts that, too."""
    world = World(replace(REPLY, latency=seconds(6)))
    world.rewordings, world.limit_takes = 2, [1, 10, 20]
    await world.call()
    assert world.acquired == ["openai"] * 3
    # Waits for the limit, and nothing else.
    assert world.excused == [(0, 1), (3, 13), (15, 35)]
    assert world.outcomes == ["ok"]


async def test_waits_between_requests_are_no_part_of_a_try():
    world = World(RequestRefused("openai", 400, "no"))
    world.rewordings, world.limit_takes = 1, [0, 50]
    with pytest.raises(RequestRefused):
        await world.call()
    assert world.rows[0].latency == seconds(4)


async def test_a_fault_is_excused_before_it_is_stored():
    """A database that takes its time must not let the flag fall for a provider's silence."""
    world = World(ServerFault("openai", 500), REPLY)
    record, known = world.ledger.record, []

    async def slowly(call, reservation):
        known.append(list(world.excused))
        await record(call, reservation)

    world.ledger.record = slowly
    assert await world.call() == REPLY
    assert known[0] == [(0, 2)]


async def test_a_long_wait_is_excused_while_it_lasts():
    """The clock of the player must not run out before anybody says that it should not run."""
    world = World(REPLY)
    excused, go = asyncio.Event(), asyncio.Event()
    add = world.excuse

    def excuse(since: datetime, until: datetime) -> None:
        assert since <= world.now() < until  # ahead of it, and without a gap
        add(since, until)
        excused.set()

    async def acquire(_provider: str) -> None:
        await go.wait()

    world.excuse = excuse
    world.acquire = acquire
    task = asyncio.create_task(world.call())
    await excused.wait()
    assert not world.asked
    go.set()
    assert await task == REPLY
    assert world.excused[0] == (0, 0.1)  # and not much more than it has lasted


async def test_an_open_circuit_is_left_to_whoever_plays():
    """A match can wait for half a minute better than a call, and tell so."""
    faults = [ServerFault("openai", 500)] * 2
    world = World(*faults, REPLY, threshold=2, chance=lambda: 0.0)
    with pytest.raises(CircuitOpen) as error:
        await world.call()
    assert error.value.retry_after == seconds(30)
    # The third try met an open circuit; it is no call, and takes no turn of the rate limit.
    assert world.outcomes == ["server_fault", "server_fault"]
    assert len(world.acquired) == 2
    assert world.sleeps == [0, 0]


@pytest.mark.parametrize("speaks_first", [True, False])
async def test_a_probe_of_somebody_else_is_waited_for_and_costs_no_try(speaks_first):
    world = World(REPLY, threshold=1, retries=0)
    breaker = world.caller._breakers.of("openai")
    with pytest.raises(ServerFault), breaker.trial():
        raise ServerFault("openai", 500)
    world.time += 30
    with breaker.trial() as speaks:
        call = asyncio.create_task(world.call())
        await steps_of_the_loop(20)
        assert world.asked == []
        if speaks_first:
            speaks()
            assert await call == REPLY
    assert await call == REPLY
    assert (world.sleeps, world.rows[-1].retry) == ([], 0)


async def test_who_waits_for_a_probe_takes_its_turn_after_it():
    """Else all who had one would go at once when the provider is back."""
    world = World(REPLY, threshold=1, retries=0)  # that it waits is no try
    breaker = world.caller._breakers.of("openai")
    with pytest.raises(ServerFault), breaker.trial():
        raise ServerFault("openai", 500)
    world.time += 30
    acquire, probes = world.acquire, [breaker.trial()]

    async def probed_meanwhile(provider: str) -> None:
        await acquire(provider)
        if probes:
            probes[0].__enter__()

    world.acquire = probed_meanwhile
    call = asyncio.create_task(world.call())
    await steps_of_the_loop(20)
    assert (world.asked, world.acquired) == ([], ["openai"])
    probes.pop().__exit__(None, None, None)
    assert await call == REPLY
    assert (world.acquired, world.sleeps) == (["openai"] * 2, [])


async def test_a_probe_that_fails_lets_the_others_go():
    world = World(REPLY, threshold=1)
    breaker = world.caller._breakers.of("openai")
    with pytest.raises(ServerFault), breaker.trial():
        raise ServerFault("openai", 500)
    world.time += 30
    with suppress(ServerFault), breaker.trial():
        call = asyncio.create_task(world.call())
        await steps_of_the_loop(20)
        raise ServerFault("openai", 500)
    with pytest.raises(CircuitOpen) as error:
        await call
    assert error.value.retry_after == seconds(30)
    assert (world.asked, world.acquired, world.reserved) == ([], [], 0)


async def test_after_a_probe_that_was_given_up_one_of_those_who_wait_tries():
    world = World(REPLY, REPLY, threshold=1)
    breaker = world.caller._breakers.of("openai")
    with pytest.raises(ServerFault), breaker.trial():
        raise ServerFault("openai", 500)
    world.time += 30
    with suppress(asyncio.CancelledError), breaker.trial():
        calls = [asyncio.create_task(world.call()) for _ in range(2)]
        await steps_of_the_loop(20)
        raise asyncio.CancelledError
    assert await asyncio.gather(*calls) == [REPLY, REPLY]
    assert not breaker.is_open


async def test_a_circuit_that_does_not_close_is_an_error_that_says_when():
    world = World(ServerFault("openai", 500), threshold=1, chance=lambda: 0.0, retries=1)
    world.caller._sleep = lambda _seconds: asyncio.sleep(0)  # time stands still
    with pytest.raises(CircuitOpen) as error:
        await world.call()
    assert error.value.retry_after == seconds(30)
    assert world.outcomes == ["server_fault"]
    assert world.reserved == 0


async def test_a_circuit_that_opened_while_we_waited_for_our_turn():
    world = World(REPLY, threshold=1, retries=0)
    breaker = world.caller._breakers.of("openai")

    async def acquire(_provider: str) -> None:
        with pytest.raises(ServerFault), breaker.trial():
            raise ServerFault("openai", 500)

    world.acquire = acquire
    with pytest.raises(CircuitOpen):
        await world.call()
    assert world.asked == []


async def test_many_calls_at_once_keep_to_one_budget():
    """Each of them waits for an answer until five have been asked."""
    worst = World().caller.worst(REQUEST)
    world = World(budget=Budget(usd=worst.usd * 5))
    all_asked = asyncio.Event()

    async def answer() -> ModelReply:
        if len(world.asked) == 5:
            all_asked.set()
        await all_asked.wait()
        return REPLY

    world.script = [answer] * 20
    calls = (call_as(world, str(number)) for number in range(20))
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(each, BudgetSpent) for each in results) == 15
    assert len(world.rows) == len(world.asked) == 5


async def call_as(world: World, role: str) -> ModelReply:
    question = Question(role, 1, "prompt")
    return await world.caller.call(
        REQUEST, question, world.ledger, FREE, world.heard.append, world.excuse
    )


async def test_a_replay_waits_for_nobody():
    world = World(RateLimited("openai", seconds(50)), *[ServerFault("x", 500)] * 7, REPLY)
    world.takes = 0
    caller = ModelCaller.replaying(world, PRICES, retries=8)
    request = ModelRequest("any/model", REQUEST.messages, 100)
    excused: list[timedelta] = []
    reply = await caller.call(
        request, ASKED, world.ledger, FREE, world.heard.append, lambda a, b: excused.append(b - a)
    )
    assert reply == REPLY
    assert len(world.rows) == 9
    assert sum(excused, seconds(0)) < seconds(50)
    assert world.acquired == []
