"""Ledger: every model call, what it cost, and the replies that were paid for already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from agents.models.budget import Account, Budget, Reservation, Spending
from agents.models.model import ModelReply, Usage


class CallOutcome(StrEnum):
    """How a call went."""

    OK = "ok"
    #: The model answered that it will not.
    REFUSED = "refused"
    #: The model answered without a word.
    EMPTY = "empty"
    #: The reply was cut at the limit of tokens.
    CUT_SHORT = "cut_short"
    RATE_LIMITED = "rate_limited"
    SERVER_FAULT = "server_fault"
    TIMED_OUT = "timed_out"
    CONNECTION_LOST = "connection_lost"
    BROKEN = "broken"
    #: The provider will not have the request.
    NOT_ACCEPTED = "not_accepted"
    #: We gave it up: the match was stopped, or its time was over.
    CANCELLED = "cancelled"

    @property
    def is_reply(self) -> bool:
        """Whether the model answered, whatever it said."""
        return self in _REPLIES


_REPLIES = frozenset(
    {CallOutcome.OK, CallOutcome.REFUSED, CallOutcome.EMPTY, CallOutcome.CUT_SHORT}
)


@dataclass(frozen=True)
class Question:
    """What a call is for: by whom, the how-manieth attempt at a move, and with which prompt."""

    role: str
    attempt: int
    #: SHA-256 of the prompt files that the request was made of.
    prompt_digest: str


@dataclass(frozen=True)
class ModelCall:
    """One call: a row of the ledger."""

    question: Question
    #: As `provider/model`.
    model: str
    request_digest: str
    #: How often it was tried before.
    retry: int
    outcome: CallOutcome
    usage: Usage
    latency: timedelta
    #: None if nobody knows the price.
    cost_usd: Decimal | None
    #: When it was made.
    at: datetime
    #: What was said, if anything was.
    reply: ModelReply | None = None
    #: What went wrong, in a sentence.
    error: str = ""

    @property
    def spending(self) -> Spending:
        """What it takes from a budget; a call that was turned away takes nothing."""
        if not self.usage.tokens:
            return Spending()
        return Spending(self.cost_usd, self.usage.tokens, 1)


class Ledger(Protocol):
    """Where the calls of a turn are written down."""

    async def find(self, question: Question, request_digest: str) -> ModelReply | None:
        """Return the reply that was paid for already in this turn, if there is one."""

    async def has_reply(self, role: str) -> bool:
        """Return whether something was said in this turn by a role, whatever it was asked."""

    def reserve(self, worst: Spending, own: Budget) -> Reservation:
        """Set aside what a call may cost at worst; `own` is the player's own budget for the match.

        Raises `BudgetSpent`.
        """

    async def record(self, call: ModelCall, reservation: Reservation) -> None:
        """Write a call down, durably, and settle what was reserved for it.

        Whoever cannot wait for it cancels this, and has to do no more: what becomes of the call is
        the ledger's business then.
        """


class MemoryLedger:
    """A ledger for those who play without a service: it forgets when the program ends."""

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        whole: Account | None = None,
        own: Account | None = None,
    ) -> None:
        """Ledgers of several turns share the accounts of the whole match and of the player."""
        self.calls: list[ModelCall] = []
        self._account = whole or Account(budget or Budget())
        self._own = own or Account(Budget())
        self._replies: dict[tuple[Question, str], ModelReply] = {}

    async def find(self, question: Question, request_digest: str) -> ModelReply | None:
        """Return the reply that was paid for already, if there is one."""
        return self._replies.get((question, request_digest))

    async def has_reply(self, role: str) -> bool:
        """Return whether something was said by a role."""
        return any(question.role == role for question, _ in self._replies)

    def reserve(self, worst: Spending, own: Budget) -> Reservation:
        """Set aside what a call may cost at worst, or raise `BudgetSpent`."""
        return Reservation.of(worst, (self._account, None), (self._own, own))

    async def record(self, call: ModelCall, reservation: Reservation) -> None:
        """Write a call down."""
        reservation.settle(call.spending)
        self.calls.append(call)
        if call.outcome.is_reply and call.reply is not None:
            self._replies[call.question, call.request_digest] = call.reply
