"""Ledger: what the model calls of all games cost, and where they are written down."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

from agents.models.budget import Account, Budget, Reservation, Spending
from agents.models.ledger import MemoryLedger, ModelCall

#: Told of each call once it is over.
Told = Callable[[ModelCall], None]


class TurnLedger(MemoryLedger):
    """The calls of one turn."""

    def __init__(self, whole: Account, own: Account, told: Told) -> None:
        super().__init__(whole=whole, own=own)
        self._told = told

    async def record(self, call: ModelCall, reservation: Reservation) -> None:
        """Write a call down, and let it be known."""
        await super().record(call, reservation)
        self._told(call)

    def spending(self) -> Spending:
        """Return what the calls cost; the dollars are None if a price is not known."""
        account = Account(Budget())
        for call in self.calls:
            account.spend(call.spending)
        return _told_of(account, any(map(_is_unpriced, self.calls)))


class UciLedger:
    """The calls of all games of the process. A budget holds for all of them together."""

    def __init__(self, budget: Budget, add: Callable[[str], None] | None = None) -> None:
        """`add` gets each call as a line of JSON."""
        self._whole = Account(budget)
        self._own = Account(Budget())
        self._add = add
        self._has_unpriced = False
        #: Who else is told of each call.
        self.told: Told = _nobody

    def begin_game(self) -> None:
        """Give the player its own budget anew, which is for one game."""
        self._own = Account(Budget())

    def rebudget(self, budget: Budget) -> None:
        """Go by another budget from now on; what was spent counts."""
        self._whole.budget = budget

    def for_turn(self) -> TurnLedger:
        """Return the ledger of another turn."""
        return TurnLedger(self._whole, self._own, self._take)

    def spending(self) -> Spending:
        """Return what all calls cost so far; the dollars are None if a price is not known."""
        return _told_of(self._whole, self._has_unpriced)

    def _take(self, call: ModelCall) -> None:
        self._has_unpriced |= _is_unpriced(call)
        if self._add is not None:
            self._add(json.dumps(_row(call)))
        self.told(call)


def _told_of(account: Account, has_unpriced: bool) -> Spending:
    usd = None if has_unpriced else account.spent_usd
    return Spending(usd, account.spent_tokens, account.spent_calls)


def _is_unpriced(call: ModelCall) -> bool:
    return bool(call.usage.tokens) and call.cost_usd is None


def call_words(call: ModelCall) -> str:
    """Return a call in a few words."""
    why = f" ({call.error})" if call.error else ""
    seconds = call.latency.total_seconds()
    return (
        f"call: {call.question.role} asked {call.model}: {call.outcome.value}{why}, {seconds:.1f} s"
    )


def _row(call: ModelCall) -> dict[str, object]:
    """Return a call as plain data, by the names that the service has for them."""
    usage, reply = call.usage, call.reply
    return {
        "at": call.at.isoformat(),
        "role": call.question.role,
        "attempt": call.question.attempt,
        "retry": call.retry,
        "model": call.model,
        "outcome": call.outcome.value,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "completion_tokens": usage.completion_tokens,
        "is_estimated": usage.is_estimated,
        "cost_usd": None if call.cost_usd is None else f"{call.cost_usd:f}",
        "latency_ms": call.latency // timedelta(milliseconds=1),
        "request_digest": call.request_digest,
        "prompt_digest": call.question.prompt_digest,
        "reply": None if reply is None else reply.text,
        "error": call.error,
    }


def _nobody(call: ModelCall) -> None:
    """Hear nothing."""
