"""Options: what a GUI can set, how it is declared, and what has been set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from agents.models.budget import Budget
from agents.uci.options import Kind, Option
from app.dollars import NotDollars, read_dollars
from app.uci.errors import OptionRefused

_MILLISECOND = timedelta(milliseconds=1)
_TRUE, _EMPTY = "true", "<empty>"

PLAYER: Final = "Player"
RETRIES: Final = "Retries"
BUDGET_USD: Final = "Budget USD"
BUDGET_CALLS: Final = "Budget Calls"
BUDGET_TOKENS: Final = "Budget Tokens"
OVERHEAD: Final = "Move Overhead"
EMERGENCY: Final = "Emergency Moves"
PONDER: Final = "Ponder"
CHESS960: Final = "UCI_Chess960"

MOST_RETRIES: Final = 20
MOST_OVERHEAD: Final = 10_000
#: GUIs may count in 32 bits.
MOST_COUNTED: Final = 1_000_000_000


@dataclass(frozen=True)
class Preferences:
    """What whoever uses the engine wants, by its arguments at first, and then by options."""

    player: str
    #: How often the player may try again after a move that was refused.
    retries: int = 3
    #: For all games of the process together.
    budget: Budget = field(default_factory=Budget)
    chess960: bool = False
    #: How much of its time is kept back for handing a move over.
    overhead: timedelta = timedelta(milliseconds=100)
    #: Whether somebody else moves where the player cannot.
    emergency: bool = True

    @property
    def variant(self) -> str:
        """The name of the variant that is played."""
        return "chess960" if self.chess960 else "standard"

    def options(self) -> tuple[Option, ...]:
        """Return the options as they are declared, with what holds now as what holds at first."""
        budget = self.budget
        return (
            Option(PLAYER, Kind.STRING, self.player),
            _spin(RETRIES, self.retries, 0, MOST_RETRIES),
            Option(BUDGET_USD, Kind.STRING, _EMPTY if budget.usd is None else _plain(budget.usd)),
            _spin(BUDGET_CALLS, budget.calls or 0, 0, MOST_COUNTED),
            _spin(BUDGET_TOKENS, budget.tokens or 0, 0, MOST_COUNTED),
            _spin(OVERHEAD, self.overhead // _MILLISECOND, 0, MOST_OVERHEAD),
            Option(EMERGENCY, Kind.CHECK, str(self.emergency).lower()),
            Option(PONDER, Kind.CHECK, "false"),
            Option(CHESS960, Kind.CHECK, str(self.chess960).lower()),
        )

    def changed(self, name: str, value: str) -> Preferences:
        """Return the preferences once an option is set, or raise `OptionRefused`."""
        by_name = {option.name.lower(): option for option in self.options()}
        option = by_name.get(name.lower())
        if option is None:
            known = ", ".join(each.name for each in by_name.values())
            raise OptionRefused(name, f"there are {known}")
        try:
            return self._with(option.name, option.text(value))
        except (ValueError, NotDollars) as error:
            raise OptionRefused(option.name, str(error)) from None

    def _with(self, name: str, text: str) -> Preferences:
        match name:
            case "Player":
                return replace(self, player=_something(text))
            case "Retries":
                return replace(self, retries=int(text))
            case "Budget USD":
                return replace(self, budget=replace(self.budget, usd=dollars(text)))
            case "Budget Calls":
                return replace(self, budget=replace(self.budget, calls=int(text) or None))
            case "Budget Tokens":
                return replace(self, budget=replace(self.budget, tokens=int(text) or None))
            case "Move Overhead":
                return replace(self, overhead=int(text) * _MILLISECOND)
            case "Emergency Moves":
                return replace(self, emergency=text == _TRUE)
            case "UCI_Chess960":
                return replace(self, chess960=text == _TRUE)
        return self  # whether the GUI will let us ponder changes nothing that we do


def dollars(text: str) -> Decimal | None:
    """Read a sum in dollars, None if there is none; raises `NotDollars`."""
    return None if text.strip() in ("", _EMPTY) else read_dollars(text)


def declaration(option: Option) -> str:
    """Return the line that declares an option."""
    words = [f"option name {option.name} type {option.kind.value} default {option.default}"]
    if option.low is not None:
        words.append(f"min {option.low} max {option.high}")
    return " ".join(words)


def _spin(name: str, default: int, low: int, high: int) -> Option:
    return Option(name, Kind.SPIN, str(default), low, high)


def _plain(usd: Decimal) -> str:
    return f"{usd.normalize():f}"


def _something(text: str) -> str:
    if text == _EMPTY:
        raise ValueError("it names nobody; `kibitz players` lists who can be seated")
    return text
