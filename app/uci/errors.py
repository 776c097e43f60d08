"""What a GUI may ask that cannot be done, as types.

    AppError
    └── UciSideError
        ├── OptionRefused      no such option, or a value that it does not take
        ├── PositionRefused    no position, an illegal one, or moves that cannot be played
        ├── PlayerRefused      somebody who cannot be a UCI engine
        └── NobodyMoves        the player has no move, and nobody may move in its place

The last one ends the process; the others are told the GUI as `info string`.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AppError
from engine.errors import shown


class UciSideError(AppError):
    """The root of the errors of this room."""


@dataclass(eq=False)
class OptionRefused(UciSideError):
    """An option that there is not, or a value that it does not take."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"the option {shown(self.name)} is not set: {self.reason}"


@dataclass(eq=False)
class PositionRefused(UciSideError):
    """A position that was not set up, so that the last one stays."""

    reason: str

    def __str__(self) -> str:
        return f"the position stays as it was: {self.reason}"


@dataclass(eq=False)
class PlayerRefused(UciSideError):
    """A player who cannot be a UCI engine, at least not as was asked."""

    player: str
    reason: str

    def __str__(self) -> str:
        return f"{shown(self.player)} cannot play as a UCI engine here: {self.reason}"


@dataclass(eq=False)
class NobodyMoves(UciSideError):
    """A player that could not decide, in whose place nobody may move."""

    player: str
    why: str

    def __str__(self) -> str:
        return (
            f"{shown(self.player)} has no move, and nobody may move in its place"
            f" (Emergency Moves is off): {self.why}"
        )
