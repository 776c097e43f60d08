"""Budget: what calls may cost. It is reserved before a call, and settled after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from agents.models.errors import BudgetSpent

_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Budget:
    """What model calls may cost; None: no bound."""

    usd: Decimal | None = None
    tokens: int | None = None
    calls: int | None = None


@dataclass(frozen=True)
class Spending:
    """What calls cost, or may cost; the dollars are None if nobody knows the price."""

    usd: Decimal | None = _NOTHING
    tokens: int = 0
    calls: int = 0


@dataclass
class Account:
    """A budget, what was spent of it, and what is set aside for calls under way."""

    budget: Budget
    spent_usd: Decimal = _NOTHING
    spent_tokens: int = 0
    spent_calls: int = 0
    reserved: list[Spending] = field(default_factory=list)

    def refuse_unless_covers(self, worst: Spending, budget: Budget | None = None) -> None:
        """Raise `BudgetSpent` if a call could break the budget (or the player's own)."""
        bound, is_own = (self.budget, False) if budget is None else (budget, True)
        if bound.calls is not None:
            calls = self.spent_calls + sum(each.calls for each in self.reserved)
            _refuse("calls", bound.calls - calls, worst.calls, is_own)
        if bound.tokens is not None:
            tokens = self.spent_tokens + sum(each.tokens for each in self.reserved)
            _refuse("tokens", bound.tokens - tokens, worst.tokens, is_own)
        if bound.usd is not None:
            usd = self.spent_usd + sum((each.usd or _NOTHING for each in self.reserved), _NOTHING)
            if worst.usd is None:
                raise BudgetSpent("usd", _plain(bound.usd - usd), "nobody knows how many", is_own)
            _refuse("usd", bound.usd - usd, worst.usd, is_own)

    def spend(self, spending: Spending) -> None:
        """Take what calls cost."""
        self.spent_usd += spending.usd or _NOTHING
        self.spent_tokens += spending.tokens
        self.spent_calls += spending.calls


class Reservation:
    """What is set aside for one call, in every account that it is taken from."""

    def __init__(self, worst: Spending, accounts: tuple[Account, ...]) -> None:
        self._worst = worst
        self._accounts = accounts
        self._is_open = True

    @classmethod
    def of(cls, worst: Spending, *accounts: tuple[Account, Budget | None]) -> Reservation:
        """Set something aside in accounts, each with its own budget or another one.

        Raises `BudgetSpent`, and then nothing is set aside.
        """
        for account, budget in accounts:
            account.refuse_unless_covers(worst, budget)
        for account, _ in accounts:
            account.reserved.append(worst)
        return cls(worst, tuple(account for account, _ in accounts))

    def settle(self, spent: Spending) -> None:
        """Take what the call really cost; what was set aside is free again."""
        if not self._is_open:
            return
        self._is_open = False
        for account in self._accounts:
            account.reserved.remove(self._worst)
            account.spend(spent)


def _refuse(what: str, left: Decimal | int, wanted: Decimal | int, is_own: bool) -> None:
    if wanted > left:
        raise BudgetSpent(what, _plain(max(left, 0)), _plain(wanted), is_own)


def _plain(number: Decimal | int) -> str:
    """Return a number without the zeros at its end, and without an exponent."""
    return str(number) if isinstance(number, int) else f"{number.normalize():f}"
