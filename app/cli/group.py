"""Group: commands under one name, of which each explains itself in the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import typer

Function = TypeVar("Function", bound=Callable[..., Any])

_EXAMPLES = "Examples: "
#: Between the examples of a command, as their modules write them.
_BETWEEN = "[/bold] | [bold]"


class Group(typer.Typer):
    """Commands whose help reads well at any width, and is asked for by `-h`, too."""

    def __init__(self, *, epilog: str = "", **options: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(
            epilog=_one_a_line(epilog),
            context_settings={"help_option_names": ["-h", "--help"]},
            no_args_is_help=True,
            pretty_exceptions_enable=False,
            rich_markup_mode="rich",
            **options,
        )

    def command(
        self,
        name: str | None = None,
        *,
        epilog: str | None = None,
        **options: Any,  # noqa: ANN401 - Typer's
    ) -> Callable[[Function], Function]:
        """Register a function as a command, whose docstring is its help."""

        def register(function: Function) -> Function:
            described = {"help": _paragraphs(inspect.getdoc(function) or ""), **options}
            command = super(Group, self).command(
                name, epilog=_one_a_line(epilog or ""), **described
            )
            return command(function)

        return register


def _paragraphs(text: str) -> str:
    """Return a text whose lines are broken only between paragraphs: the terminal does the rest."""
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))


def _one_a_line(examples: str) -> str:
    """Return `Examples: this | that` as it is read best: one a line, to be copied."""
    if not examples.startswith(_EXAMPLES):
        return examples
    lines = examples.removeprefix(_EXAMPLES).replace(_BETWEEN, "[/bold]\n[bold]")
    return f"Examples:\n{lines}"
