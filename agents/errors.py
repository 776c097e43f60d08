"""Everything that keeps a player from its seat, as types.

    AgentError
    ├── UnknownPlayer         no player has that name
    ├── CannotPlayVariant     the player does not know that game
    ├── PlayerUnavailable     the player lacks something that the operator has to set up
    ├── UciError              see `agents.uci.errors`
    └── ModelError            see `agents.models.errors`

Fields are for code, `str(error)` is one sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from engine.errors import RulesError, shown


class AgentError(Exception):
    """The root of all errors of players."""

    #: Whether it is of no use to try again before somebody has mended something.
    is_lasting = False
    #: How long to wait before the next try, where somebody said so.
    retry_after: timedelta | None = None

    __reduce__ = RulesError.__reduce__  # for the same reason


@dataclass(eq=False)
class UnknownPlayer(AgentError):
    """A name that stands for no player."""

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        kinds: dict[str, list[str]] = {}
        for name in self.known:
            kind, colon, which = name.partition(":")
            kinds.setdefault(kind + colon, []).append(which)
        known = ", ".join(kind + "|".join(which) for kind, which in kinds.items())
        return f"{shown(self.name)} is not a player; known are {known}"


@dataclass(eq=False)
class CannotPlayVariant(AgentError):
    """A player was asked to play a variant it does not know."""

    player: str
    variant: str
    plays: tuple[str, ...]

    def __str__(self) -> str:
        plays = ", ".join(self.plays)
        return f"{shown(self.player)} cannot play {self.variant}: it plays {plays} only"


@dataclass(eq=False)
class PlayerUnavailable(AgentError):
    """A player that lacks something that the operator has to set up."""

    player: str
    reason: str

    is_lasting = True

    def __str__(self) -> str:
        return f"{shown(self.player)} cannot be seated: {self.reason}"
