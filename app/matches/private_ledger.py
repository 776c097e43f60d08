"""Private ledger: the model calls of a match that is played in this process alone."""

from __future__ import annotations

from decimal import Decimal

from agents.excused import Excuse
from agents.models.budget import Account, Budget
from agents.models.ledger import MemoryLedger, ModelCall
from app.matches.stored_calls import call_record
from app.persistence.records import ModelCallRecord
from engine import Color


class PrivateLedger:
    """The calls of one match, kept in memory. Several matches may share an account."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._sides = {color: Account(Budget()) for color in Color}
        self._turns: dict[tuple[Color, int], MemoryLedger] = {}
        # Each call has one id in each match that it is stored with, however often that is.
        self._records: dict[tuple[str, Color, int, int], ModelCallRecord] = {}

    def for_turn(self, color: Color, ply_number: int, _excuse: Excuse) -> MemoryLedger:
        """Return the ledger of a side for a ply: the same one if it is tried again."""
        own = self._sides[color]
        fresh = MemoryLedger(whole=self.account, own=own)
        return self._turns.setdefault((color, ply_number), fresh)

    def rebudget(self, budget: Budget) -> None:
        """Go by another budget from now on; what was spent of the old one counts."""
        self.account.budget = budget

    def records(self, match_id: str) -> tuple[ModelCallRecord, ...]:
        """Return all calls, the oldest first, as they are stored with a match."""
        records = [
            self._record(match_id, color, number, place, call)
            for (color, number), turn in self._turns.items()
            for place, call in enumerate(turn.calls)
        ]
        return tuple(sorted(records, key=lambda record: record.at))

    def _record(
        self, match_id: str, color: Color, number: int, place: int, call: ModelCall
    ) -> ModelCallRecord:
        key = match_id, color, number, place
        if key not in self._records:
            self._records[key] = call_record(match_id, color, number, call)
        return self._records[key]

    def cost_of(self, color: Color) -> tuple[int, Decimal | None]:
        """Return how many calls a side has made, and what they cost; None if nobody knows."""
        calls = [
            call
            for (side, _), turn in self._turns.items()
            if side is color
            for call in turn.calls
            if call.usage.tokens
        ]
        costs = [call.cost_usd for call in calls if call.cost_usd is not None]
        return len(calls), sum(costs, Decimal(0)) if len(costs) == len(calls) else None
