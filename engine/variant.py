"""Variant: a rule set by name, where its games start, and what a player should be told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import UnknownVariant

if TYPE_CHECKING:
    from engine.position import Position


@dataclass(frozen=True)
class Variant:
    """A rule set. Its positions know the rules; this is what one can say before there is one."""

    name: str
    title: str
    #: What a player should be told.
    rules: str
    position_type: type[Position]
    #: How many starting positions there are; they are numbered from 0.
    starts: int
    start_fen: Callable[[int], str]
    #: The start when none is asked for.
    default_start: int = 0
    #: Whether UCI engines such as Stockfish can play it.
    has_uci_engines: bool = True

    @property
    def size(self) -> int:
        """How many squares a side of the board has."""
        return self.position_type.size


#: By name. Filled by `engine.variants`, which knows them all.
VARIANTS: dict[str, Variant] = {}


def find_variant(name: str) -> Variant:
    """Return a variant by name, or raise `UnknownVariant`."""
    try:
        return VARIANTS[name]
    except (KeyError, TypeError):
        raise UnknownVariant(str(name), tuple(VARIANTS)) from None
