"""Player: the port through which a seat is filled. A turn goes in, a decision comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine import Clock, Game, Move, Ply, Position


@dataclass(frozen=True)
class Turn:
    """What a player is given: where the game began, every ply since, and the clock if any."""

    start: Position
    plies: tuple[Ply, ...] = ()
    clock: Clock | None = None

    @classmethod
    def of(cls, game: Game) -> Turn:
        """Return the turn of the side to move in a game."""
        return cls(game.start, game.plies, game.clock)

    @property
    def position(self) -> Position:
        """The position to move in."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def positions(self) -> tuple[Position, ...]:
        """Every position of the game, from the first to the one to move in."""
        return self.start, *(ply.after for ply in self.plies)


@dataclass(frozen=True)
class Candidate:
    """A move somebody advises, and why."""

    move: Move
    reason: str


@dataclass(frozen=True)
class Advice:
    """What somebody says of a turn: candidates, best first."""

    by: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Decision:
    """What a player gives back: a move, and the advice behind it."""

    move: Move
    advice: tuple[Advice, ...] = ()


class Player(Protocol):
    """Whoever can fill a seat."""

    @property
    def name(self) -> str:
        """What it is called in a match: `solver`, `random`, ..."""

    async def decide(self, turn: Turn) -> Decision:
        """Return a decision for a turn in which there is a legal move.

        Players propose and the rules decide: whoever runs the game checks the move.
        """
