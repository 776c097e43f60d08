"""Everything that keeps a player from its seat, as types.

    AgentError
    ├── UnknownPlayer         no player has that name
    └── CannotPlayVariant     the player does not know that game

Fields are for code, `str(error)` is one sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import RulesError, shown


class AgentError(Exception):
    """The root of all errors of players."""

    __reduce__ = RulesError.__reduce__  # for the same reason


@dataclass(eq=False)
class UnknownPlayer(AgentError):
    """A name that stands for no player."""

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{shown(self.name)} is not a player; known are {', '.join(self.known)}"


@dataclass(eq=False)
class CannotPlayVariant(AgentError):
    """A player was asked to play a variant it does not know."""

    player: str
    variant: str
    plays: tuple[str, ...]

    def __str__(self) -> str:
        plays = ", ".join(self.plays)
        return f"{shown(self.player)} cannot play {self.variant}: it plays {plays} only"
