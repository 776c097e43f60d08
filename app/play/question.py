"""Question: what a session wants to know before it goes on, and who takes the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

#: Takes a line; False means that it was no answer, and so perhaps a command.
TakeAnswer: TypeAlias = Callable[[str], Awaitable[bool]]
_YES, _NO = ("y", "yes"), ("n", "no")


@dataclass(frozen=True, eq=False)
class Question:
    """Something that is asked."""

    #: In full; it is said once.
    text: str
    #: What stands before the answer.
    prompt: str
    take: TakeAnswer
    #: Whether it is about leaving, so that whoever insists leaves.
    is_farewell: bool = False


def is_yes(line: str) -> bool:
    """Return whether a line agrees."""
    return line.strip().lower() in _YES


def is_no(line: str) -> bool:
    """Return whether a line disagrees."""
    return line.strip().lower() in _NO
