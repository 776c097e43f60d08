"""The ledger of a match: each call is durable before anybody acts on what it said.

So a reply that came before a crash is found after it, and not paid for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from agents.excused import Excuse
from agents.models.budget import Account, Budget, Reservation, Spending
from agents.models.ledger import CallOutcome, ModelCall, Question
from agents.models.model import ModelReply
from agents.timekeeping import now
from app.matches.hearing import SLOW
from app.matches.paid_calls import PaidCalls
from app.matches.stored_calls import call_record, reply_of
from app.persistence.database import Database
from app.persistence.errors import StorageUnavailable
from app.persistence.ledger import append, billed_of, calls_of_ply
from app.persistence.records import LedgerTotals, ModelCallRecord
from engine import Color

_log = structlog.get_logger(__name__)

FIRST_PAUSE = timedelta(milliseconds=250)
LONGEST_PAUSE = timedelta(seconds=10)
_Key = tuple[str, str, int, str]
T = TypeVar("T")


class MatchLedger:
    """The calls of one match, and what is left of its budget.

    What was spent before is read when it is first needed, since most matches have no calls.
    """

    def __init__(
        self,
        match_id: str,
        budget: Budget,
        database: Database,
        called: Callable[[ModelCallRecord], None],
        paid: PaidCalls | None = None,
    ) -> None:
        """`called` is told of each call once it is stored; `paid` sees to it that it will be."""
        self._match_id = match_id
        self._database = database
        self._called = called
        self._paid = paid or PaidCalls()
        self._whole = Account(budget)
        self._sides = {color: Account(Budget()) for color in Color}
        self._opening = asyncio.Lock()
        self._is_open = False
        self._ply = 0
        self._replies: dict[_Key, ModelReply] = {}

    def rebudget(self, budget: Budget) -> None:
        """Go by another budget from now on; what was spent of the old one counts."""
        self._whole.budget = budget

    def for_turn(self, color: Color, ply_number: int, excuse: Excuse) -> TurnLedger:
        """Return the ledger of a side for the ply that it has to play.

        `excuse` is told of times in which the database was out of reach.
        """
        return TurnLedger(self, color, ply_number, excuse)

    async def open(self, ply_number: int) -> None:
        """Read what was spent before, and what was said for a ply that may have been begun."""
        async with self._opening:
            # All is read before anything is changed: whoever opens it may be given up meanwhile.
            if not self._is_open:
                billed = await self._read(lambda of: billed_of(of, self._match_id))
                replies = await self._read_replies(ply_number)
                self._spend(billed)
                self._replies = replies
                self._is_open = True
            elif ply_number != self._ply:
                self._replies = await self._read_replies(ply_number)
            self._ply = ply_number

    def _spend(self, billed: Mapping[str | None, LedgerTotals]) -> None:
        for color, totals in billed.items():
            spending = _spending(totals)
            self._whole.spend(spending)
            if color is not None:
                self._sides[Color(color)].spend(spending)

    async def _read_replies(self, ply_number: int) -> dict[_Key, ModelReply]:
        calls = await self._read(lambda of: calls_of_ply(of, self._match_id, ply_number))
        return {
            _key(call): reply_of(call)
            for call in calls
            if call.reply is not None and CallOutcome(call.outcome).is_reply
        }

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await self._patiently(lambda: self._database.read(work))

    def find(self, color: Color, question: Question, request_digest: str) -> ModelReply | None:
        """Return what was said already for the ply in hand."""
        return self._replies.get((color.value, question.role, question.attempt, request_digest))

    def has_reply(self, color: Color, role: str) -> bool:
        """Return whether a role of a side has said something for the ply in hand."""
        return any(key[:2] == (color.value, role) for key in self._replies)

    def reserve(self, color: Color, worst: Spending, own: Budget) -> Reservation:
        """Set aside what a call may cost, or raise `BudgetSpent`."""
        return Reservation.of(worst, (self._whole, None), (self._sides[color], own))

    async def record(
        self, color: Color, ply_number: int, call: ModelCall, reservation: Reservation
    ) -> None:
        """Store a call, however long the database is out of reach, and whoever is given up."""
        record = call_record(self._match_id, color, ply_number, call)
        reservation.settle(call.spending)
        await self._paid.store(record, self._store(record, call))

    async def _store(self, record: ModelCallRecord, call: ModelCall) -> None:
        await self._patiently(
            lambda: self._database.write(lambda connection: append(connection, record))
        )
        self._called(record)
        if call.reply is not None and call.outcome.is_reply and record.ply_number == self._ply:
            self._replies[_key(record)] = call.reply

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what comes of some work, however long the database is out of reach."""
        pause = FIRST_PAUSE
        while True:
            try:
                return await work()
            except StorageUnavailable as error:
                _log.error("no ledger", match_id=self._match_id, error=str(error))
                await asyncio.sleep(pause.total_seconds())
                pause = min(pause * 2, LONGEST_PAUSE)


class TurnLedger:
    """What a player in its turn sees of the ledger of its match."""

    def __init__(self, match: MatchLedger, color: Color, ply_number: int, excuse: Excuse) -> None:
        self._match = match
        self._color = color
        self._ply_number = ply_number
        self._excuse = excuse

    async def find(self, question: Question, request_digest: str) -> ModelReply | None:
        """Return the reply that was paid for already in this turn, if there is one."""
        await self._open()
        return self._match.find(self._color, question, request_digest)

    async def has_reply(self, role: str) -> bool:
        """Return whether something was said in this turn by a role, whatever it was asked."""
        await self._open()
        return self._match.has_reply(self._color, role)

    def reserve(self, worst: Spending, own: Budget) -> Reservation:
        """Set aside what a call may cost at worst, or raise `BudgetSpent`."""
        return self._match.reserve(self._color, worst, own)

    async def record(self, call: ModelCall, reservation: Reservation) -> None:
        """Write a call down, durably."""
        began = now()
        await self._match.record(self._color, self._ply_number, call, reservation)
        self._excuse_since(began)

    async def _open(self) -> None:
        began = now()
        await self._match.open(self._ply_number)
        self._excuse_since(began)

    def _excuse_since(self, began: datetime) -> None:
        if (ended := now()) - began >= SLOW:
            self._excuse(began, ended)


def _spending(totals: LedgerTotals) -> Spending:
    tokens = totals.prompt_tokens + totals.completion_tokens
    return Spending(totals.cost_usd or Decimal(0), tokens, totals.calls)


def _key(call: ModelCallRecord) -> _Key:
    return call.color or "", call.role, call.attempt, call.request_digest
