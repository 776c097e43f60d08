"""Player: the port through which a seat is filled. A turn goes in, a decision comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from agents.models.ledger import Ledger, MemoryLedger
from agents.uci.info import Info
from engine import Clock, Evaluation, Game, Move, MoveError, Ply, Position


@dataclass(frozen=True)
class Rejection:
    """A move that a player proposed in this turn and the rules refused, and what it is told."""

    #: As the player wrote it.
    move: str
    #: Why, in a sentence; empty if the match does not tell.
    reason: str = ""


@dataclass(frozen=True)
class Candidate:
    """A move somebody advises, and why."""

    move: Move
    reason: str


@dataclass(frozen=True)
class Advice:
    """What somebody says of a turn: candidates, best first, or why there are none."""

    by: str
    candidates: tuple[Candidate, ...] = ()
    #: All that was said, where it was more than the reasons.
    words: str = ""
    #: Why somebody who was asked gave no advice.
    abstained: str = ""


class Listener(Protocol):
    """Whoever wants to know what a player does before it has decided."""

    def said(self, by: str, words: str) -> None:
        """Hear words of somebody who is still speaking."""

    def advised(self, advice: Advice) -> None:
        """Take advice as soon as it is whole. It comes again with the decision."""

    def excuse(self, since: datetime, until: datetime) -> None:
        """Do not charge the player for a time, now or soon: others were at fault."""


class NobodyListens:
    """A listener for those who only want the decision."""

    def said(self, by: str, words: str) -> None:
        """Let it pass."""

    def advised(self, advice: Advice) -> None:
        """Let it pass."""

    def excuse(self, since: datetime, until: datetime) -> None:
        """Let it pass."""


@dataclass(frozen=True)
class Turn:
    """What a player is given: where the game began, every ply since, and the clock if any.

    `spent` is what has gone from the mover's clock since the turn began, as after a restart;
    `rejections` are the attempts that were refused; `advice` is what was said in this turn before,
    such as before a restart; `draw_offered` says that the opponent's offer stands; `among` are the
    only moves that are wanted, where not every legal one is. The `listener` hears what goes on
    meanwhile, and `informed` what a search has come to so far; model calls go into the `ledger`.
    """

    start: Position
    plies: tuple[Ply, ...] = ()
    clock: Clock | None = None
    spent: timedelta = timedelta(0)
    rejections: tuple[Rejection, ...] = ()
    advice: tuple[Advice, ...] = ()
    draw_offered: bool = False
    among: tuple[Move, ...] = ()
    listener: Listener = field(default_factory=NobodyListens, compare=False, repr=False)
    ledger: Ledger = field(default_factory=MemoryLedger, compare=False, repr=False)
    informed: Callable[[Info], None] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, game: Game) -> Turn:
        """Return the turn of the side to move in a game."""
        return cls(game.start, game.plies, game.clock)

    @property
    def position(self) -> Position:
        """The position to move in."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves to choose from, in an order that does not depend on how they were found."""
        # A seed has to mean the same game whatever the order of generation.
        return tuple(sorted(self.among or self.position.legal_moves(), key=Move.uci))

    @property
    def positions(self) -> tuple[Position, ...]:
        """Every position of the game, from the first to the one to move in."""
        return self.start, *(ply.after for ply in self.plies)


@dataclass(frozen=True)
class Decision:
    """What a player gives back: a move, resignation, draw offer or claim, and the advice behind it.

    The move may be text in any notation: whoever runs the game reads it. A draw is offered with a
    move; it is claimed, or the opponent's offer is taken, with or without one.
    """

    move: Move | str | None
    advice: tuple[Advice, ...] = ()
    #: What the player thinks of the position after its move, if it tells.
    evaluation: Evaluation | None = None
    resigns: bool = False
    offers_draw: bool = False
    accepts_draw: bool = False
    claims_draw: bool = False
    #: Why its words mean no legal move, where it found that out itself.
    fault: MoveError | None = None


class Player(Protocol):
    """Whoever can fill a seat."""

    @property
    def name(self) -> str:
        """What it is called in a match: `solver`, `random`, ..."""

    async def decide(self, turn: Turn) -> Decision:
        """Return a decision for a turn in which there is a legal move.

        Players propose and the rules decide: whoever runs the game checks the move.
        """
