"""What keeps a match, or a command to it, from going on, as types.

MatchError
├── MatchNotFound
├── MatchIsOver           it has ended; nothing more can be done in it
├── WrongSeatToken        the token is not that of a seat of this match
├── NotYourTurn           the other side is to move
├── CannotDo              what was asked for makes no sense now, such as to resume what runs
├── KeyReused             the idempotency key stands for another request
├── TooManyMatches        the client has as many unfinished matches as it may have
└── UnplayableSettings    settings that contradict each other; names the field
"""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AppError
from engine import Color


class MatchError(AppError):
    """The root of the errors of matches."""


@dataclass(eq=False)
class MatchNotFound(MatchError):
    """No match has that id."""

    match_id: str

    def __str__(self) -> str:
        return f"there is no match {self.match_id}"


@dataclass(eq=False)
class MatchIsOver(MatchError):
    """The match has ended, and nothing can be done in it any more."""

    match_id: str
    how: str

    def __str__(self) -> str:
        return f"the match is over: {self.how}"


class WrongSeatToken(MatchError):
    """A token that opens no seat of the match."""

    def __str__(self) -> str:
        return "the token is not that of a human seat of this match"


@dataclass(eq=False)
class NotYourTurn(MatchError):
    """A side wanted to move when it was the other's turn."""

    color: Color

    def __str__(self) -> str:
        opponent = self.color.opponent.value.capitalize()
        return f"it is not {self.color.value.capitalize()}'s turn: {opponent} is to move"


@dataclass(eq=False)
class CannotDo(MatchError):
    """A command that makes no sense as the match stands."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} is not possible: {self.why}"


class KeyReused(MatchError):
    """An idempotency key that was used for another request before."""

    def __str__(self) -> str:
        return "this Idempotency-Key was used with another request"


@dataclass(eq=False)
class TooManyMatches(MatchError):
    """The client has as many unfinished matches as it may have."""

    limit: int

    def __str__(self) -> str:
        return f"you have {self.limit} unfinished matches, which is as many as you may have"


@dataclass(eq=False)
class UnplayableSettings(MatchError):
    """Settings of a match that cannot be played."""

    field: str
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}"
