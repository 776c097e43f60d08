"""The purse never lends more than there is, whatever happens."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.budget import Budget, Spending
from app.evaluations.purse import Purse

D = Decimal


@pytest.mark.parametrize(
    ("spent", "lent", "left"),
    [
        ([], [], Budget(D(10), 1000, 50)),
        ([Spending(D("2.5"), 100, 5)], [], Budget(D("7.5"), 900, 45)),
        ([Spending(D(1), 1, 1)], [Budget(D(4), 500, 20)], Budget(D(5), 499, 29)),
        ([Spending(D(20), 5000, 99)], [], Budget(D(0), 0, 0)),
        ([Spending(None, 10, 1)], [Budget(None, None, None)], Budget(D(10), 990, 49)),
    ],
)
def test_what_is_left_is_neither_spent_nor_lent(spent, lent, left):
    assert Purse(Budget(D(10), 1000, 50)).left(spent, lent) == left


def test_what_is_not_bounded_is_not_lent():
    purse = Purse(Budget(usd=D(10)))
    assert purse.loan(purse.left([], []), Spending(D(1), 99, 9)) == Budget(usd=D(2))
    assert Purse(Budget()).loan(Budget(), Spending(D(1), 99, 9)) == Budget()


def test_a_match_gets_no_more_than_the_plan_gives_it():
    purse = Purse(Budget(usd=D(10)), Budget(usd=D("0.5"), calls=7))
    assert purse.loan(Budget(usd=D(10)), Spending(D(1), 0, 0)) == Budget(usd=D("0.5"), calls=7)
    assert purse.top_up(Budget(D("0.5"), None, 7), Budget(usd=D(9)), Spending(D(1))) is None


@pytest.mark.parametrize(
    ("left", "expected", "is_lent"),
    [
        (Budget(usd=D(1)), Spending(D(1), 0, 0), True),
        (Budget(usd=D("0.99")), Spending(D(1), 0, 0), False),
        (Budget(usd=D(0)), Spending(D(0), 0, 0), False),
        (Budget(tokens=100), Spending(None, 100, 0), True),
        (Budget(tokens=99), Spending(None, 100, 0), False),
        (Budget(calls=0), Spending(D(0), 0, 0), False),
    ],
)
def test_no_game_is_begun_that_cannot_be_paid_for(left, expected, is_lent):
    purse = Purse(left)
    assert (purse.loan(left, expected) is not None) is is_lent


def test_a_loan_grows_by_what_is_left():
    purse = Purse(Budget(usd=D(10)))
    lent, expected = Budget(usd=D(1)), Spending(D(2))
    assert purse.top_up(lent, Budget(usd=D(9)), expected) == Budget(usd=D(5))
    assert purse.top_up(lent, Budget(usd=D(1)), expected) == Budget(usd=D(2))
    assert purse.top_up(lent, Budget(usd=D(0)), expected) is None


amounts = st.integers(0, 100)


@given(
    whole=amounts,
    steps=st.lists(st.tuples(st.sampled_from(["begin", "more", "end"]), amounts, amounts)),
)
def test_all_loans_and_spendings_together_never_exceed_the_whole(whole, steps):
    purse = Purse(Budget(usd=D(whole), tokens=whole))
    lent, spent = [], []
    for step, cost, share in steps:
        expected = Spending(D(cost), cost, 1)
        if step == "begin":
            loan = purse.loan(purse.left(spent, lent), expected)
            if loan is not None:
                lent.append(loan)
        elif step == "more" and lent:
            larger = purse.top_up(lent[0], purse.left(spent, lent), expected)
            if larger is not None:
                lent[0] = larger
        elif step == "end" and lent:
            loan = lent.pop()  # a match keeps to its own budget
            spent.append(Spending(loan.usd * share / 100, loan.tokens * share // 100, 1))
        assert sum((each.usd for each in (*lent, *spent)), D(0)) <= whole
        assert sum(each.tokens for each in (*lent, *spent)) <= whole
