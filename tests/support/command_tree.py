"""The tree of commands of `kibitz`, for tests of all of them."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text

from app.cli.commands import cli

TREE: Any = typer.main.get_command(cli)
#: What is for the shell before and behind a command, within a pipe.
_COMMAND = re.compile(r"(?:\w+=\S* )*kibitz (.*?)(?: [<>].*)?")


def commands() -> dict[str, Any]:
    """Return all commands by how they are called, such as `eval run`; groups are not among them."""
    return {name: each for name, each in _walk(TREE, ()) if not hasattr(each, "commands")}


def groups() -> dict[str, Any]:
    """Return all groups by how they are called; `kibitz` itself is an empty text."""
    return {name: each for name, each in _walk(TREE, ()) if hasattr(each, "commands")}


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield " ".join(path), command
    for name, each in getattr(command, "commands", {}).items():
        yield from _walk(each, (*path, name))


def examples(command: Any) -> list[str]:
    """Return the examples of a command, as they are printed."""
    title, *lines = Text.from_markup(inspect.cleandoc(command.epilog or "")).plain.splitlines()
    assert title == "Examples:"
    return [line for line in lines if line]


def arguments_of(example: str) -> list[list[str]]:
    """Return what `kibitz` is given in an example, which may be a pipe: once, twice or never."""
    found = (_COMMAND.fullmatch(each.strip()) for each in example.split(" | "))
    return [shlex.split(each[1]) for each in found if each]


def parse(arguments: list[str]) -> Any:
    """Let a command read its arguments, and run nothing; raises what it has to say of them."""
    command, path = TREE, ["kibitz"]
    while arguments and arguments[0] in getattr(command, "commands", {}):
        name, *arguments = arguments
        command = command.commands[name]
        path.append(name)
    return command.make_context(" ".join(path), arguments)
