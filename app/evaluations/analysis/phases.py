"""Phases of a game: opening, middlegame and endgame, by what is on the board."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from engine import Position

#: Knights, bishops, rooks and queens of both sides up to which it is an endgame, and up to which it
#: is an opening no more; and the number of the last move that may be of an opening.
_ENDGAME, _MIDDLEGAME = 6, 10
_LAST_OPENING_MOVE = 12
_PIECES = frozenset("NBRQnbrq")


class Phase(StrEnum):
    """A phase of a game."""

    OPENING = "opening"
    MIDDLEGAME = "middlegame"
    ENDGAME = "endgame"


_ORDER = tuple(Phase)


def phases_of(positions: Iterable[Position]) -> list[Phase]:
    """Return the phase of each position of a game of chess, in order. None ever comes back."""
    phases: list[Phase] = []
    reached = 0
    for position in positions:
        reached = max(reached, _ORDER.index(_phase_of(position)))
        phases.append(_ORDER[reached])
    return phases


def _phase_of(position: Position) -> Phase:
    placement, _, _ = position.fen().partition(" ")
    pieces = sum(letter in _PIECES for letter in placement)
    if pieces <= _ENDGAME:
        return Phase.ENDGAME
    if pieces <= _MIDDLEGAME or position.fullmove_number > _LAST_OPENING_MOVE:
        return Phase.MIDDLEGAME
    return Phase.OPENING
