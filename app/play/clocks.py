"""Clocks as people at a board speak of them: minutes each, and seconds a move."""

from __future__ import annotations

import re
from datetime import timedelta

from engine import InvalidTimeControl, TimeControl
from engine.clock import Bonus

#: `10` or `10+5`; with units, or in any other form, it is a time control of the rules engine.
_PLAIN = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)(?:\+(\d{1,4}(?:\.\d{1,3})?))?", re.ASCII)
_FORMS = "write minutes, and seconds a move: 10, 10+5, 0.5+1, 40/5400+30, or 0 for none"
_NONE = ("", "0", "0+0", "-", "none")


def read_control(text: str) -> str | None:
    """Return the time control that a person means, as matches have it; None for no clocks.

    A plain number is minutes, and what follows a plus are seconds a move. Raises
    `InvalidTimeControl`.
    """
    text = text.strip()
    if text.lower() in _NONE:
        return None
    plain = _PLAIN.fullmatch(text)
    meant = text if plain is None else f"{plain[1]}m+{plain[2] or 0}s"
    try:
        control = TimeControl.parse(meant)
    except InvalidTimeControl as error:
        # What it quotes it cannot read, and the forms that it knows mean something else here.
        reason = _FORMS if error.reason.startswith(("'", '"')) else error.reason
        raise InvalidTimeControl(text, reason) from None
    return str(control) if control.is_timed else None


def read_numbers(argument: str) -> str | None:
    """Return the same of `10 5`, as it follows `new`. Raises `InvalidTimeControl`."""
    try:
        return read_control("+".join(argument.replace("+", " ").split()))
    except InvalidTimeControl as error:
        raise InvalidTimeControl(argument, error.reason) from None


def tell_control(control: TimeControl | None) -> str:
    """Return in words how much time there is."""
    if control is None:
        return "without clocks"
    if control.per_move is not None:
        return f"with {_spoken(control.per_move)} for each move"
    first, *others = control.periods
    if others or first.moves is not None or first.kind is not Bonus.INCREMENT:
        return f"with the clocks {control}"
    told = f"with {_spoken(first.time)} each"
    return f"{told} and {_spoken(first.bonus)} a move" if first.bonus else told


def _spoken(time: timedelta) -> str:
    seconds = time.total_seconds()
    if seconds >= 60 and not seconds % 60:
        return f"{seconds / 60:g} minute{'s' * (seconds != 60)}"
    return f"{seconds:g} second{'s' * (seconds != 1)}"
