"""ModelCaller: asks models, within a budget, again where that may help, and writes all of it down.

A call goes through the ledger (was it paid for already?), the budget, the circuit breaker and the
rate limit of its provider, and then over the wire. Each time that it did is a row of the ledger.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from agents.excused import NOT_WORTH_A_WORD, Excuse, excused_wait
from agents.models.breaker import PROBING, CircuitBreakers
from agents.models.budget import Budget, Reservation, Spending
from agents.models.errors import (
    BrokenReply,
    CircuitOpen,
    ConnectionLost,
    GivenUp,
    ModelError,
    ModelNotConfigured,
    ProviderFault,
    ProviderSilent,
    RateLimited,
    RecordingBroken,
    RequestRefused,
    ServerFault,
    is_unsent,
)
from agents.models.ledger import CallOutcome, Ledger, ModelCall, Question
from agents.models.model import Heard, Model, ModelReply, ModelRequest, Usage
from agents.models.pricing import Prices
from agents.models.rate_limit import RateLimit, Unlimited
from agents.models.recorded import Recorder
from agents.timekeeping import now as steady_now

Models = Mapping[str, Model] | Callable[[str], Model]

_FIRST_PAUSE = timedelta(milliseconds=500)
_LONGEST_PAUSE = timedelta(seconds=30)
#: Who is told to wait for longer gives up at once: whoever plays can pause better than we can.
_LONGEST_RETRY_AFTER = timedelta(minutes=1)
#: How long a call that was given up may take to be written down.
_LAST_WORDS = timedelta(seconds=2)
#: So many faults of one call count for the circuit: a request that its server cannot bear must not
#: keep others from theirs.
_COUNTED = 2
#: How often a call is tried again that took all the time it may: it is billed each time.
_SLOW_RETRIES = 1
_NO_TIME = timedelta(0)

#: A token is at least one byte of text. What frames a message, and the schema, is bounded too.
_TOKENS_PER_REQUEST = 64
_TOKENS_PER_MESSAGE = 16

_OUTCOMES: tuple[tuple[type[ModelError], CallOutcome], ...] = (
    (RateLimited, CallOutcome.RATE_LIMITED),
    (ServerFault, CallOutcome.SERVER_FAULT),
    (ProviderSilent, CallOutcome.TIMED_OUT),
    (ConnectionLost, CallOutcome.CONNECTION_LOST),
    (BrokenReply, CallOutcome.BROKEN),
    (RequestRefused, CallOutcome.NOT_ACCEPTED),
)


class ModelCaller:
    """Calls models for all who think."""

    def __init__(
        self,
        models: Models,
        prices: Prices,
        breakers: CircuitBreakers | None = None,
        rate_limit: RateLimit | None = None,
        retries: int = 4,
        *,
        now: Callable[[], datetime] = steady_now,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`models` has them by provider; a function may raise `ModelNotConfigured` for one."""
        self._models = models
        self._prices = prices
        self._breakers = breakers or CircuitBreakers()
        self._rate_limit = rate_limit or Unlimited()
        self._retries = retries
        self._now = now
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._is_replay = False

    @classmethod
    def replaying(cls, recording: Model, prices: Prices, retries: int = 4) -> ModelCaller:
        """Return a caller for a recording: nobody is waited for, and no circuit opens."""
        caller = cls(lambda _provider: recording, prices, retries=retries)
        caller._is_replay = True
        return caller

    async def call(
        self,
        request: ModelRequest,
        question: Question,
        ledger: Ledger,
        budget: Budget,
        heard: Heard,
        excuse: Excuse,
        retries: int | None = None,
    ) -> ModelReply:
        """Return the reply to a request: one that was paid for already, or a new one.

        What faults of the provider take, tries and pauses, is excused. Raises `BudgetSpent`,
        `ModelNotConfigured`, `RequestRefused`, or the last `ProviderFault` when it was tried often
        enough, or is of no use soon; and `TimeoutError` where a recording was given up.
        """
        paid = await ledger.find(question, request.digest)
        if paid is not None:
            return paid
        provider = request.model.partition("/")[0]
        model = self._model(request, provider)
        call = _Call(provider, model, request, question, ledger, heard, excuse)
        worst = self.worst(request)
        slow = 0
        for retry in count():
            reservation = ledger.reserve(worst, budget)
            began = self._now()
            try:
                if self._is_replay:
                    return await self._made(call, retry, reservation)
                began = await self._admitted(provider, excuse)
                with self._breakers.of(provider).trial(counts=retry < _COUNTED) as speaks:
                    return await self._made(call.heard_by(speaks), retry, reservation)
            except ProviderFault as fault:
                slow += _is_slow(fault)
                is_last = retry >= (self._retries if retries is None else retries)
                is_last = is_last or slow > _SLOW_RETRIES
                pause = None if is_last else self._pause(fault, retry)
                until = self._now() + (pause or _NO_TIME)
                if until > began:
                    excuse(began, until)
                if pause is None:
                    # Where the clock left no more, it will not the next time: somebody has to look.
                    is_over = fault.is_hurried and slow > _SLOW_RETRIES
                    fault.is_lasting = fault.is_lasting or is_over
                    raise
            finally:
                reservation.settle(Spending())  # no more than was settled, if it was
            await self._sleep(pause.total_seconds())
            if (late := self._now()) > until:
                excuse(until, late)
        raise AssertionError  # the last try has returned, or raised

    async def given_up(self, request: ModelRequest) -> None:
        """Be told that whoever asked goes on without a reply: a recording has to know that."""
        model = self._model(request, request.model.partition("/")[0])
        if isinstance(model, Recorder):
            await model.give_up(request)

    def worst(self, request: ModelRequest) -> Spending:
        """Return the most that one call can cost."""
        prompt = _most_prompt_tokens(request)
        dollars = self._prices.worst(request.model, prompt, request.max_tokens)
        return Spending(dollars, prompt + request.max_tokens, 1)

    def _model(self, request: ModelRequest, provider: str) -> Model:
        if callable(self._models):
            return self._models(provider)
        model = self._models.get(provider)
        if model is None:
            raise ModelNotConfigured(request.model, "no such provider is set up")
        return model

    async def _admitted(self, provider: str, excuse: Excuse) -> datetime:
        """Wait for whatever keeps calls from being made, excused; returns until when it is.

        That is another call that finds out whether the provider is back, and then the rate limit.
        A place in that is lost to whoever finds such a call after it: else all who have one would
        go at once when the provider is back. Raises `CircuitOpen`.
        """
        breaker = self._breakers.of(provider)
        while True:
            while breaker.is_probed:
                await excused_wait(breaker.probe_over(), excuse, self._now)
            breaker.check()
            until = await self._wait_for_turn(provider, excuse)
            if not breaker.is_probed:
                return until

    async def _wait_for_turn(self, provider: str, excuse: Excuse) -> datetime:
        """Wait for the rate limit, excused; returns until when it is."""
        _, until = await excused_wait(self._rate_limit.acquire(provider), excuse, self._now)
        return until

    async def _made(self, call: _Call, retry: int, reservation: Reservation) -> ModelReply:
        """Make the call once, and write down how it went."""
        at, began = self._now(), self._clock()
        again = _Again(lambda: self._wait_for_turn(call.provider, call.excuse), self._clock)

        async def write_down(
            outcome: CallOutcome,
            usage: Usage,
            error: str,
            reply: ModelReply | None = None,
            cancelled: BaseException | None = None,
        ) -> None:
            took = timedelta(seconds=self._clock() - began) - again.waited
            took = took if reply is None else reply.latency
            cost = self._prices.cost(call.request.model, usage)
            row = ModelCall(
                question=call.question,
                model=call.request.model,
                request_digest=call.request.digest,
                retry=retry,
                outcome=outcome,
                usage=usage,
                latency=took,
                cost_usd=cost,
                at=at,
                reply=reply,
                error=error,
            )
            try:
                await _finished(call.ledger.record(row, reservation), cancelled)
            finally:
                reservation.settle(row.spending)  # it was spent, stored or not

        try:
            reply = await call.model.ask(call.request, call.heard, again)
        except asyncio.CancelledError as error:
            if again.is_waiting or is_unsent(error):
                raise  # whatever was sent was turned away
            usage, why = self._most(call.request), "it was given up"
            await write_down(CallOutcome.CANCELLED, usage, why, cancelled=error)
            raise
        except GivenUp as error:
            if error.in_flight:
                await write_down(CallOutcome.CANCELLED, self._most(call.request), str(error))
            raise TimeoutError from None
        except ModelError as error:
            if isinstance(error, ProviderFault) and (now := self._now()) > at:
                call.excuse(at, now)  # before it is stored, which may take its time
            outcome = _outcome_of_error(error)
            if isinstance(error, RecordingBroken) and (came := error.reply) is not None:
                # It is there, and was paid for: who goes on later finds it in the ledger.
                await write_down(_outcome_of_reply(came), came.usage, str(error), came)
            elif outcome is not None:
                usage = error.usage or Usage()
                if usage.is_estimated:
                    usage = self._most(call.request)
                await write_down(outcome, usage, str(error))
            raise
        except Exception as error:
            if again.is_waiting:
                raise
            # Nobody expected it, and nobody knows what it has cost.
            usage, why = self._most(call.request), f"unexpected: {type(error).__name__}"
            await write_down(CallOutcome.BROKEN, usage, why)
            raise
        if (whole := at + again.waited + reply.latency) + NOT_WORTH_A_WORD < (now := self._now()):
            call.excuse(whole, now)  # all was said, and the server only did not come to its end
        await write_down(_outcome_of_reply(reply), reply.usage, reply.refusal, reply)
        return reply

    def _most(self, request: ModelRequest) -> Usage:
        """Return the most that a call can have taken that has not come to its end.

        Nobody tells what it took, and the provider bills it: thoughts that nobody heard, too. A
        budget holds only if that is taken for the worst.
        """
        return Usage(
            prompt_tokens=_most_prompt_tokens(request),
            completion_tokens=request.max_tokens,
            is_estimated=True,
        )

    def _pause(self, fault: ProviderFault, retry: int) -> timedelta | None:
        """Return how long to wait before the next try, or None if there is to be none."""
        least = max(fault.retry_after or _NO_TIME, _NO_TIME)
        longest = PROBING if isinstance(fault, CircuitOpen) else _LONGEST_RETRY_AFTER
        if least > longest:
            return None
        if self._is_replay:
            return _NO_TIME
        # Full jitter: those who failed together do not come back together.
        return least + min(_FIRST_PAUSE * (1 << min(retry, 16)), _LONGEST_PAUSE) * self._chance()


@dataclass(frozen=True)
class _Call:
    """What stays the same from try to try."""

    provider: str
    model: Model
    request: ModelRequest
    question: Question
    ledger: Ledger
    heard: Heard
    excuse: Excuse

    def heard_by(self, speaks: Callable[[], None]) -> _Call:
        """Return the call of somebody who is told when there are words, too."""

        def heard(words: str) -> None:
            speaks()
            self.heard(words)

        return replace(self, heard=heard)


class _Again:
    """Waits for the rate limit before each request of a try but the first."""

    def __init__(self, wait: Callable[[], Awaitable[object]], clock: Callable[[], float]) -> None:
        self._wait = wait
        self._clock = clock
        self.waited = _NO_TIME
        self.is_waiting = False

    async def __call__(self) -> None:
        since, self.is_waiting = self._clock(), True
        await self._wait()
        self.is_waiting = False
        self.waited += timedelta(seconds=self._clock() - since)


async def _finished(recording: Awaitable[None], cancelled: BaseException | None) -> None:
    """Let a row be written, also if we are cancelled before or meanwhile; but then not for long."""
    task = asyncio.ensure_future(recording)
    try:
        if cancelled is None:
            await asyncio.shield(task)
            return
        await _last_words(task, cancelled)
    except asyncio.CancelledError as error:
        if not task.done():
            await _last_words(task, error)
        raise
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _last_words(task: asyncio.Future[None], cancelled: BaseException) -> None:
    await asyncio.wait({task}, timeout=_LAST_WORDS.total_seconds())
    # The cancellation goes on, whatever happens here; but it is known what did.
    if not task.done():
        cancelled.add_note("a model call was not written down in time")
    elif not task.cancelled() and task.exception() is not None:
        cancelled.add_note(f"a model call was not written down: {task.exception()}")


def _is_slow(fault: ProviderFault) -> bool:
    """Return whether a fault is that the model took all the time there was."""
    return isinstance(fault, ProviderSilent) and (fault.may_be_thinking or not fault.is_hurried)


def _outcome_of_error(error: ModelError) -> CallOutcome | None:
    """Return how a call went; None if it was not made at all."""
    for kind, outcome in _OUTCOMES:
        if isinstance(error, kind):
            return outcome
    if isinstance(error, CircuitOpen):
        return None
    is_call = isinstance(error, ProviderFault) or error.usage is not None
    return CallOutcome.BROKEN if is_call else None


def _outcome_of_reply(reply: ModelReply) -> CallOutcome:
    if reply.refusal or reply.finish_reason == "content_filter":
        return CallOutcome.REFUSED
    if reply.finish_reason == "length":
        return CallOutcome.CUT_SHORT
    return CallOutcome.OK if reply.text.strip() else CallOutcome.EMPTY


def _most_prompt_tokens(request: ModelRequest) -> int:
    """Return a number of tokens that the prompt cannot have more of.

    That is three or four times of what it has. But replies are dearer than prompts, and what is
    set aside for a call is free again when it has ended, so it is seldom in the way.
    """
    schema = request.content["schema"]
    described = 0 if schema is None else _size(json.dumps(schema))
    words = sum(_size(each.content) + _TOKENS_PER_MESSAGE for each in request.messages)
    return words + described + _TOKENS_PER_REQUEST


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
