"""Plans that a command is given: a file, standard input, or a few words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.cli.files.game_files import STANDARD_INPUT
from engine.errors import shown

if TYPE_CHECKING:
    from app.evaluations.plan import Plan

#: What may come after the @ of an agent.
_LIMITS = ("nodes", "depth", "time_ms")


def read_plan_file(what: str) -> Plan:
    """Return the plan of a file, or of standard input; raises `InvalidPlan`."""
    from app.evaluations.errors import InvalidPlan
    from app.evaluations.plan import load_plan, parse_plan

    if what != STANDARD_INPUT:
        return load_plan(Path(what))
    if sys.stdin is None:
        raise InvalidPlan("standard input is closed")
    return parse_plan(sys.stdin.buffer.read(), "standard input")


def plan_of(kind: str, agents: Sequence[str], **fields: Any) -> Plan:  # noqa: ANN401 - checked there
    """Return a plan of what was given in words; what is None is left out. Raises `InvalidPlan`."""
    from app.evaluations.plan import read_plan

    given = {name: value for name, value in fields.items() if value is not None}
    return read_plan({"kind": kind, "agents": [agent_of(each) for each in agents], **given})


def agent_of(text: str) -> dict[str, Any]:
    """Return the player that `NAME` or `NAME@nodes=2000` stands for; raises `BadParameter`."""
    name, at, limit = text.partition("@")
    if not at:
        return {"name": name}
    unit, _, number = limit.partition("=")
    if unit not in _LIMITS or not (number.isascii() and number.isdigit()):
        units = ", ".join(f"{name or 'NAME'}@{each}=NUMBER" for each in _LIMITS)
        raise typer.BadParameter(f"{shown(text)} is no player; a limit is written {units}")
    return {"name": name, unit: int(number[:20])}


def budget_of(
    usd: float | None, tokens: int | None = None, calls: int | None = None
) -> dict[str, Any] | None:
    """Return a budget of what is given; None if nothing is."""
    amounts = {"usd": usd, "tokens": tokens, "calls": calls}
    given = {name: amount for name, amount in amounts.items() if amount is not None}
    return given or None
