"""Commands: what people may ask of a match while it is played."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from agents.models.budget import Budget
from app.matches.errors import CannotDo
from app.matches.match import Match, MatchStatus, PauseCause
from engine import Color


class Command(Protocol):
    """Something asked of a match."""

    def perform(self, match: Match, at: datetime) -> None:
        """Do it, or raise a `MatchError` or `MoveError`; then nothing has changed."""


@dataclass(frozen=True)
class PlayMove:
    """A human seat moves, in any notation that the rules engine reads."""

    color: Color
    move: str

    def perform(self, match: Match, at: datetime) -> None:
        """Play the move."""
        match.refuse_unless_may_move(self.color)
        match.play(self.move, at, source=match.settings.player(self.color).name)


@dataclass(frozen=True)
class Resign:
    """A human seat resigns."""

    color: Color

    def perform(self, match: Match, at: datetime) -> None:
        """Resign."""
        match.resign(self.color, at)


class DrawAction(StrEnum):
    """What a seat may do about a draw."""

    OFFER = "offer"
    ACCEPT = "accept"
    DECLINE = "decline"
    CLAIM = "claim"


@dataclass(frozen=True)
class Draw:
    """A human seat offers, accepts, declines or claims a draw, the last perhaps with a move."""

    color: Color
    action: DrawAction
    move: str | None = None

    def perform(self, match: Match, at: datetime) -> None:
        """Do that about a draw."""
        match self.action:
            case DrawAction.OFFER:
                match.offer_draw(self.color, at)
            case DrawAction.ACCEPT:
                match.accept_draw(self.color, at)
            case DrawAction.DECLINE:
                match.decline_draw(self.color, at)
            case DrawAction.CLAIM:
                match.claim_draw(self.color, self.move, at)


class TakebackAction(StrEnum):
    """What a seat may do about taking back."""

    ASK = "ask"
    ACCEPT = "accept"
    DECLINE = "decline"


@dataclass(frozen=True)
class Takeback:
    """A human seat asks to take back its last move, or answers the opponent who asked."""

    color: Color
    action: TakebackAction = TakebackAction.ASK

    def perform(self, match: Match, at: datetime) -> None:
        """Do that about taking back; a player that is no human agrees, unless there are clocks."""
        match self.action:
            case TakebackAction.ASK:
                opponent = self.color.opponent
                if match.settings.player(opponent).is_human:
                    match.ask_takeback(self.color, at)
                elif match.settings.control is not None:  # or nobody would ever run out of time
                    raise CannotDo("to take back", "the match is timed, and nobody can agree to it")
                else:
                    match.ask_takeback(self.color, at)
                    match.grant_takeback(opponent, at)
            case TakebackAction.ACCEPT:
                match.grant_takeback(self.color, at)
            case TakebackAction.DECLINE:
                match.decline_takeback(self.color, at)


@dataclass(frozen=True)
class Pause:
    """Stop the clocks."""

    reason: str = ""
    cause: PauseCause = PauseCause.COMMAND

    def perform(self, match: Match, at: datetime) -> None:
        """Pause."""
        match.pause(at, self.reason, self.cause)


@dataclass(frozen=True)
class Resume:
    """Let a paused match go on, perhaps with another budget."""

    budget: Budget | None = None

    def perform(self, match: Match, at: datetime) -> None:
        """Resume."""
        match.resume(at, self.budget)


@dataclass(frozen=True)
class Hold:
    """Let a match stand until its evaluation goes on, whether or not it has begun."""

    reason: str
    #: Whether a match that is paused goes on with its evaluation, too, whyever it is.
    also_paused: bool = False
    #: Another budget, to go on with.
    budget: Budget | None = None

    def perform(self, match: Match, at: datetime) -> None:
        """Begin it if it has not begun, and pause it."""
        if match.status is MatchStatus.CREATED:
            match.start(at)
        if match.status is MatchStatus.RUNNING:
            match.pause(at, self.reason, PauseCause.EVALUATION)
            if self.budget is None:
                return
        is_enough = match.pause_cause is PauseCause.EVALUATION or not self.also_paused
        if match.status is MatchStatus.PAUSED and self.budget is None and is_enough:
            raise CannotDo("to hold", "the match is paused")
        match.resume(at, self.budget)
        match.pause(at, self.reason, PauseCause.EVALUATION)


@dataclass(frozen=True)
class Abort:
    """End a match without a result."""

    reason: str = ""

    def perform(self, match: Match, at: datetime) -> None:
        """Abort."""
        match.abort(at, self.reason)
