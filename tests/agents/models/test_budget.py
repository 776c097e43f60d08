"""What calls may cost: set aside before a call, settled after it, and never overdrawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.budget import Account, Budget, Reservation, Spending
from agents.models.errors import BudgetSpent
from agents.models.ledger import CallOutcome, MemoryLedger, ModelCall, Question
from agents.models.model import ModelReply, Usage

D = Decimal
ANY = Budget()


def reserve(account: Account, worst: Spending, own: Budget | None = None) -> Reservation:
    return Reservation.of(worst, (account, own))


@pytest.mark.parametrize(
    ("budget", "what", "left", "wanted"),
    [
        (Budget(usd=D("0.99")), "usd", "0.99", "1"),
        (Budget(tokens=99), "tokens", "99", "100"),
        (Budget(calls=0), "calls", "0", "1"),
        (Budget(usd=D(9), tokens=99, calls=5), "tokens", "99", "100"),
    ],
)
def test_a_call_that_could_break_it_is_refused(budget, what, left, wanted):
    account = Account(budget)
    with pytest.raises(BudgetSpent) as error:
        reserve(account, Spending(D(1), 100, 1))
    assert (error.value.what, error.value.left, error.value.wanted) == (what, left, wanted)
    assert error.value.is_lasting
    assert account.reserved == []


def test_to_the_last_cent_it_may_be_spent():
    account = Account(Budget(D(1), 100, 1))
    reserve(account, Spending(D(1), 100, 1)).settle(Spending(D(1), 100, 1))
    assert (account.spent_usd, account.spent_tokens, account.spent_calls) == (1, 100, 1)
    with pytest.raises(BudgetSpent):
        reserve(account, Spending(D("0.01"), 0, 0))


def test_what_is_under_way_counts():
    account = Account(Budget(usd=D(2)))
    first = reserve(account, Spending(D(1), 1, 1))
    reserve(account, Spending(D(1), 1, 1))
    with pytest.raises(BudgetSpent) as error:
        reserve(account, Spending(D(1), 1, 1))
    assert error.value.left == "0"
    first.settle(Spending(D("0.25"), 1, 1))
    reserve(account, Spending(D("0.75"), 1, 1))
    with pytest.raises(BudgetSpent):
        reserve(account, Spending(D("0.01"), 1, 1))


def test_it_is_settled_once():
    account = Account(ANY)
    reservation = reserve(account, Spending(D(1), 10, 1))
    reserve(account, Spending(D(1), 10, 1))  # an equal one, which is not to be taken for it
    reservation.settle(Spending(D("0.5"), 5, 1))
    reservation.settle(Spending(D("0.5"), 5, 1))
    assert (account.spent_usd, account.spent_tokens, account.spent_calls) == (D("0.5"), 5, 1)
    assert len(account.reserved) == 1


def test_an_unknown_price_breaks_only_a_budget_in_dollars():
    worst = Spending(None, 10, 1)
    with pytest.raises(BudgetSpent, match="nobody knows"):
        reserve(Account(Budget(usd=D(1000))), worst)
    account = Account(Budget(tokens=100, calls=2))
    reserve(account, worst).settle(Spending(None, 10, 1))
    assert (account.spent_usd, account.spent_tokens) == (0, 10)


def test_where_one_account_refuses_none_sets_aside():
    rich, poor = Account(ANY), Account(ANY)
    with pytest.raises(BudgetSpent):
        Reservation.of(Spending(D(1), 1, 1), (rich, None), (poor, Budget(calls=0)))
    assert rich.reserved == poor.reserved == []
    Reservation.of(Spending(D(1), 1, 1), (rich, None), (poor, Budget(calls=1)))
    assert len(rich.reserved) == len(poor.reserved) == 1


#: How much of its worst a call costs.
SHARES = (D(0), D("0.3"), D(1))
amounts = st.integers(0, 300).map(lambda cents: D(cents) / 100)
calls = st.lists(
    st.tuples(amounts, st.integers(0, 300), st.sampled_from(SHARES), st.integers(0, 4)), max_size=12
)


@given(amounts, st.integers(0, 1000), st.integers(0, 20), calls)
def test_whatever_is_under_way_the_budget_is_never_broken(usd, tokens, number, plan):
    """Calls overlap in every way, and each costs at most its worst."""
    account = Account(Budget(usd, tokens, number))
    under_way: list[tuple[Reservation, Spending]] = []
    for dollars, count, share, ending in plan:
        try:
            reservation = reserve(account, Spending(dollars, count, 1))
        except BudgetSpent:
            pass
        else:
            cost = Spending(dollars * share, int(count * share), 1)
            under_way.append((reservation, cost))
        for each, spent in under_way[:ending]:
            each.settle(spent)
        del under_way[:ending]
        assert account.spent_usd <= usd
        assert account.spent_tokens <= tokens
        assert account.spent_calls <= number
    for each, spent in under_way:
        each.settle(spent)
    assert account.spent_usd <= usd
    assert account.spent_tokens <= tokens
    assert account.spent_calls <= number
    assert account.reserved == []


def row(usage: Usage, cost: Decimal | None, outcome: CallOutcome, reply: ModelReply | None = None):
    return ModelCall(
        Question("solo", 1, "00"),
        "p/m",
        "ff",
        0,
        outcome,
        usage,
        timedelta(seconds=1),
        cost,
        datetime(2026, 1, 1, tzinfo=UTC),
        reply,
    )


@pytest.mark.asyncio
async def test_a_ledger_in_memory_keeps_both_budgets():
    ledger = MemoryLedger(Budget(calls=2))
    worst = Spending(D(1), 100, 1)
    usage = Usage(10, completion_tokens=5)
    reply = ModelReply("e4", usage, timedelta(0))
    assert await ledger.find(Question("solo", 1, "00"), "ff") is None
    held = ledger.reserve(worst, Budget(tokens=100))
    await ledger.record(row(usage, D("0.5"), CallOutcome.OK, reply), held)
    assert await ledger.find(Question("solo", 1, "00"), "ff") == reply
    assert await ledger.find(Question("solo", 2, "00"), "ff") is None
    with pytest.raises(BudgetSpent, match="tokens"):
        ledger.reserve(worst, Budget(tokens=100))  # its own, of which 15 are gone
    held = ledger.reserve(worst, ANY)
    await ledger.record(row(Usage(), D(0), CallOutcome.SERVER_FAULT), held)  # takes nothing
    ledger.reserve(worst, ANY)
    with pytest.raises(BudgetSpent, match="calls"):
        ledger.reserve(worst, ANY)
    assert len(ledger.calls) == 2
