"""Variants: rule sets by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import UnknownVariant
from engine.variants.chess960 import RULES as CHESS960_RULES
from engine.variants.chess960 import STANDARD_NUMBER, start_fen
from engine.variants.standard import RULES as STANDARD_RULES
from engine.variants.standard import START_FEN


@dataclass(frozen=True)
class Variant:
    """A rule set: where its games start and what a player should be told of its rules."""

    name: str
    title: str
    rules: str
    #: How many starting positions there are; they are numbered from 0.
    starts: int
    start_fen: Callable[[int], str]
    #: The start when none is asked for.
    default_start: int = 0
    #: Castling is written king takes rook.
    is_chess960: bool = False


def _standard_start(number: int) -> str:
    return START_FEN


STANDARD = Variant("standard", "Chess", STANDARD_RULES, 1, _standard_start)
CHESS960 = Variant(
    "chess960",
    "Chess960",
    CHESS960_RULES,
    960,
    start_fen,
    default_start=STANDARD_NUMBER,
    is_chess960=True,
)

VARIANTS: dict[str, Variant] = {variant.name: variant for variant in (STANDARD, CHESS960)}


def find_variant(name: str) -> Variant:
    """Return a variant by name, or raise `UnknownVariant`."""
    try:
        return VARIANTS[name]
    except (KeyError, TypeError):
        raise UnknownVariant(str(name), tuple(VARIANTS)) from None
