"""A world for tests of calls: a model that does what a script says, and time that never passes.

The clock is the test's own, and sleeping moves it on.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agents.models.breaker import CircuitBreakers
from agents.models.budget import Budget
from agents.models.caller import ModelCaller
from agents.models.ledger import MemoryLedger, ModelCall, Question
from agents.models.model import (
    Again,
    Heard,
    Message,
    ModelReply,
    ModelRequest,
    Role,
    Usage,
    at_once,
)
from agents.models.pricing import Prices

PRICES = Prices.load()
START = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = Question("solo", 1, "prompt")
USAGE = Usage(prompt_tokens=1000, cached_tokens=200, reasoning_tokens=30, completion_tokens=50)
REPLY = ModelReply("e4", USAGE, timedelta(seconds=3), model="gpt-5-2025-08-07")
#: What USAGE costs with gpt-5.
COST = Decimal("0.001525")
REQUEST = ModelRequest("openai/gpt-5", (Message(Role.USER, "Your move."),), max_tokens=100)
FREE = Budget()

Step = ModelReply | BaseException | Callable[[], Any]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


class World:
    """A clock, a model that does what a script says, and a caller."""

    def __init__(self, *script: Step, takes: float = 2, **options: Any) -> None:
        self.time = 0.0
        self.script = list(script)
        self.takes = takes
        #: How often a request has to be sent in other words.
        self.rewordings = 0
        self.asked: list[ModelRequest] = []
        self.sleeps: list[float] = []
        self.excused: list[tuple[float, float]] = []
        self.heard: list[str] = []
        self.acquired: list[str] = []
        self.limit_takes: list[float] = []
        self.ledger = options.pop("ledger", None) or MemoryLedger(options.pop("budget", None))
        clock = {"now": self.now, "clock": lambda: self.time, "sleep": self.sleep}
        breakers = CircuitBreakers(options.pop("threshold", 99), clock=lambda: self.time)
        defaults = {"models": {"openai": self}, "prices": PRICES, "breakers": breakers}
        defaults |= {"rate_limit": self, "chance": lambda: 1.0}
        self.caller = ModelCaller(**(defaults | clock | options))

    def now(self) -> datetime:
        return START + seconds(self.time)

    async def sleep(self, duration: float) -> None:
        # What was lost is known before anybody waits.
        assert self.excused[-1][1] == pytest.approx(self.time + duration)
        self.sleeps.append(duration)
        self.time += duration

    async def acquire(self, provider: str) -> None:
        self.acquired.append(provider)
        if self.limit_takes:
            self.time += self.limit_takes.pop(0)

    async def ask(self, request: ModelRequest, heard: Heard, again: Again = at_once) -> ModelReply:
        self.asked.append(request)
        for _ in range(self.rewordings):
            self.time += self.takes
            await again()
        step = self.script.pop(0)
        heard(f"word {len(self.asked)}")
        self.time += self.takes
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, ModelReply):
            return step
        return await step()

    def excuse(self, since: datetime, until: datetime) -> None:
        assert since < until
        span = ((since - START).total_seconds(), (until - START).total_seconds())
        if self.excused and self.excused[-1][0] == span[0]:
            assert self.excused[-1][1] <= span[1]  # a try is excused first, and then its pause
            self.excused.pop()
        self.excused.append(span)

    async def call(self, request: ModelRequest = REQUEST, budget: Budget = FREE) -> ModelReply:
        return await self.caller.call(
            request, ASKED, self.ledger, budget, self.heard.append, self.excuse
        )

    @property
    def rows(self) -> list[ModelCall]:
        return self.ledger.calls

    @property
    def outcomes(self) -> list[str]:
        return [each.outcome.value for each in self.rows]

    @property
    def reserved(self) -> int:
        return len(self.ledger._account.reserved)
