"""Amounts on the command line: what may be spent at most."""

from __future__ import annotations

from typing import Any

import typer

#: What `BudgetBody` takes, which is not imported for it: each completion would wait for that.
_MOST_USD, _MOST_TOKENS, _MOST_CALLS = 1_000_000, 10**12, 10**9


def dollars(help_: str) -> Any:  # noqa: ANN401 - as `typer.Option` does
    """Return an option that takes a budget in dollars."""
    return typer.Option(min=0, max=_MOST_USD, help=help_)


def tokens(help_: str) -> Any:  # noqa: ANN401
    """Return an option that takes a budget of tokens."""
    return typer.Option(min=0, max=_MOST_TOKENS, help=help_)


def calls(help_: str) -> Any:  # noqa: ANN401
    """Return an option that takes a budget of calls."""
    return typer.Option(min=0, max=_MOST_CALLS, help=help_)
