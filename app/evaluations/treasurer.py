"""Treasurer: knows what an evaluation has spent, what a game will likely cost, and what is lent."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from agents.catalogue import Catalogue
from agents.models.budget import Budget, Spending
from app.evaluations.contest import Contest
from app.evaluations.costs import dearest_decision, game_cost, likely_spending
from app.evaluations.plan import label_of
from app.evaluations.purse import Purse
from app.evaluations.roster import Roster
from app.evaluations.schedules.schedule import Slot
from app.persistence.evaluations import SideSpending
from engine import Color

#: What is thought to be likely after some games is what they cost, and this much more.
_CAUTION = Decimal("1.25")
#: A call is only made if its worst case is covered, and prompts are counted with caution there.
_DECISIONS = 2
_ZERO = Decimal(0)
_NOTHING = Spending()


class CannotLend(Exception):
    """A match needs more than it may have, and not for want of money in the purse."""


class Treasurer:
    """Lends to matches, and never more than there is."""

    def __init__(self, contest: Contest, catalogue: Catalogue) -> None:
        self._contest = contest
        self._catalogue = catalogue
        plan = contest.plan
        self._purse = Purse(plan.whole_budget, plan.match.budget.settings())
        #: What the matches that are being played were lent.
        self.lent: dict[str, Budget] = {}
        self._sides: dict[tuple[str, Color], Spending] = {}
        #: What a match had spent when it was last lent more.
        self._topped_up: dict[str, Spending] = {}

    @property
    def spent(self) -> Spending:
        """What all matches have spent."""
        return _sum(self._sides.values())

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of the budget, were everything given back."""
        return _is_empty(self._purse.left(self._sides.values(), ()))

    def note(self, rows: Iterable[SideSpending]) -> None:
        """Take note of what sides of matches have spent."""
        for row in rows:
            color = Color.WHITE if row.color is None else Color(row.color)
            usd = None if row.unpriced_calls else row.cost_usd or _ZERO
            tokens = row.prompt_tokens + row.completion_tokens
            self._sides[row.match_id, color] = Spending(usd, tokens, row.calls)

    def loan(self, slot: Slot, roster: Roster) -> Budget | None:
        """Return what a match in a slot is lent; None if it cannot be paid for to its end."""
        if not self.asks_models(slot):
            return self._purse.each
        return self._purse.loan(self._left(roster), self.likely_cost(slot, roster))

    def lend_more(self, match_id: str, slot: Slot, roster: Roster) -> Budget | None:
        """Lend more to a match, and return that; None if nothing is left in the purse.

        Raises `CannotLend` if it keeps to a budget of its own, so that more would not help.
        """
        left, spent = self._left(roster), self._spent_by(match_id)
        larger = self._purse.top_up(self.lent[match_id], left, self.likely_cost(slot, roster))
        if not _is_empty(left) and (larger is None or self._topped_up.get(match_id) == spent):
            raise CannotLend
        if larger is not None:
            self._topped_up[match_id] = spent
            self.lent[match_id] = larger
        return larger

    def without_loan(self, match_id: str) -> Budget:
        """Return what a match may spend that is lent nothing more than it has spent."""
        spent, whole, own = self._spent_by(match_id), self._purse.whole, self._purse.each
        return Budget(
            own.usd if whole.usd is None else spent.usd or _ZERO,
            own.tokens if whole.tokens is None else spent.tokens,
            own.calls if whole.calls is None else spent.calls,
        )

    def _left(self, roster: Roster) -> Budget:
        spent = (each for (match_id, _), each in self._sides.items() if match_id not in self.lent)
        lent = (
            self.lent[entry.match_id]
            for entry in roster.playing
            if entry.match_id in self.lent and self.asks_models(entry.slot)
        )
        return self._purse.left(spent, lent)

    def asks_models(self, slot: Slot) -> bool:
        """Tell whether a game may cost something."""
        return any(self._catalogue.models_of(each.name) for each in (slot.white, slot.black))

    def likely_cost(self, slot: Slot, roster: Roster) -> Spending:
        """Return what a game will likely cost: what others did, or else what is to be expected.

        It is never less than what has to be there for a single decision to be made.
        """
        costs = []
        for player in (slot.white, slot.black):
            known = self._mean_cost(label_of(player), roster)
            if known is None:
                known = likely_spending(game_cost(self._contest, self._catalogue, player))
            least = dearest_decision(self._catalogue, player).times(_DECISIONS)
            costs.append(_greater(known, likely_spending(least)))
        return _sum(costs)

    def _mean_cost(self, label: str, roster: Roster) -> Spending | None:
        costs = [
            self._sides.get((entry.match_id, color), _NOTHING)
            for entry in roster.scored
            if (color := entry.slot.color_of(label)) is not None
        ]
        if not costs:
            return None
        total, share = _sum(costs), _CAUTION / len(costs)
        return Spending(
            None if total.usd is None else total.usd * share,
            round(total.tokens * share),
            round(total.calls * share),
        )

    def _spent_by(self, match_id: str) -> Spending:
        return _sum(self._sides.get((match_id, color), _NOTHING) for color in Color)


def lack_of_money(contest: Contest, catalogue: Catalogue) -> str | None:
    """Return what is wrong with a budget that does not pay for a single game; None if it does."""
    slot = contest.schedule.next_slot(())
    if slot is None:
        return None
    treasurer, roster = Treasurer(contest, catalogue), Roster()
    if treasurer.loan(slot, roster) is not None:
        return None
    cost = treasurer.likely_cost(slot, roster)
    dollars = "" if cost.usd is None else f" and ${cost.usd:.4f}"
    return (
        "the budget does not pay for a single game, which has to have"
        f" {cost.calls} calls, {cost.tokens} tokens{dollars}"
    )


def _is_empty(left: Budget) -> bool:
    return any(each is not None and each <= 0 for each in (left.usd, left.tokens, left.calls))


def _greater(one: Spending, other: Spending) -> Spending:
    known = [each.usd for each in (one, other) if each.usd is not None]
    usd = max(known) if len(known) == 2 else None
    return Spending(usd, max(one.tokens, other.tokens), max(one.calls, other.calls))


def _sum(spendings: Iterable[Spending]) -> Spending:
    """Return all spendings together; the dollars are None if those of any are not known."""
    usd: Decimal | None = _ZERO
    tokens = calls = 0
    for each in spendings:
        usd = None if usd is None or each.usd is None else usd + each.usd
        tokens, calls = tokens + each.tokens, calls + each.calls
    return Spending(usd, tokens, calls)
