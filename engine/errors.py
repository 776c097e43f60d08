"""Everything the rules engine refuses, as types.

    RulesError
    ├── InvalidFen            the text is not a FEN
    ├── IllegalPosition       a readable position that breaks a rule
    ├── MoveError
    │   ├── UnreadableMove    the text is no move in any notation
    │   ├── AmbiguousMove     the text fits several legal moves
    │   └── IllegalMove       a readable move that the rules forbid here
    ├── GameOver              the game has ended; nothing more can be played
    ├── NothingToUndo
    ├── DrawNotClaimable
    ├── InvalidPgn
    ├── InvalidTimeControl
    ├── InvalidSavedGame      a saved game that is damaged, forged, or never was one
    ├── NotSolved             perfect play of a variant that is not solved
    ├── UnknownVariant
    └── UnknownStart          the variant has no starting position of that number

Fields are for code, `str(error)` is one sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.moves import Move
    from engine.outcome import Outcome


class RulesError(ValueError):
    """The root of all errors of the rules engine."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle by positional arguments; dataclasses are often made with keywords.
        names = getattr(self, "__dataclass_fields__", None)
        return type(self), tuple(getattr(self, name) for name in names) if names else self.args


def shown(text: str, limit: int = 80) -> str:
    """Quote foreign text for a message: printable, on one line, and not too long."""
    quoted = ascii(text[:limit])
    if len(text) > limit or len(quoted) > limit + 2:
        return f"{quoted[:limit]}...{quoted[0]}"
    return quoted


@dataclass(eq=False)
class InvalidFen(RulesError):
    """A text that is not a FEN."""

    fen: str
    reason: str
    #: The variant whose FEN it should have been, where that is not chess.
    variant: str = ""

    def __str__(self) -> str:
        which = f" of {self.variant}" if self.variant else ""
        return f"{shown(self.fen)} is not a FEN{which}: {self.reason}"


class PositionRule(StrEnum):
    """The rules that make a setup a legal position; the value says which one it breaks."""

    ONE_KING_EACH = "each side needs exactly one king"
    KING_NOT_CAPTURABLE = "the side that is not to move is in check"
    NO_PAWNS_ON_BACK_RANKS = "a pawn cannot stand on the first or last rank"
    CASTLING_RIGHTS = "each castling right needs its king and a rook of its own on the back rank"
    EN_PASSANT = "the en passant square does not follow from a double step"
    EACH_PIECE_ONCE = "each of RNB and rnb must be once on the board, in a court or captured"
    COURTS = "a court holds only pieces of the other side"
    CAPTURED = "a captured piece is listed with the wrong colour"
    CHECKERS = "no move can have given check from all these pieces at once"


@dataclass(eq=False)
class IllegalPosition(RulesError):
    """A setup that breaks a rule of positions."""

    fen: str
    rule: PositionRule

    def __str__(self) -> str:
        return f"{shown(self.fen, 120)} is not a legal position: {self.rule.value}"


class MoveError(RulesError):
    """A text or move that cannot be played."""


@dataclass(eq=False)
class UnreadableMove(MoveError):
    """A text that is no move in any notation."""

    text: str

    def __str__(self) -> str:
        return f"{shown(self.text)} cannot be read as a move"


@dataclass(eq=False)
class AmbiguousMove(MoveError):
    """A text that fits several legal moves."""

    text: str
    fen: str
    candidates: tuple[Move, ...]

    def __str__(self) -> str:
        moves = ", ".join(move.uci() for move in self.candidates)
        return f"{shown(self.text)} is ambiguous in {self.fen}: it may be {moves}"


class Illegality(StrEnum):
    """Why a move is illegal; the value finishes the sentence "... is illegal: "."""

    NO_PIECE = "there is no piece on the square it starts from"
    WRONG_SIDE = "the piece belongs to the other side"
    OWN_PIECE = "a piece of the same side stands on the target square"
    NOT_HOW_IT_MOVES = "the piece does not move like that"
    BLOCKED = "another piece is in the way"
    NO_SUCH_PIECE = "no piece of that kind can go there"
    NOTHING_TO_CAPTURE = "there is nothing to capture on the target square"
    PAWN_BLOCKED = "a pawn cannot capture straight ahead"
    EN_PASSANT_EXPIRED = "en passant is possible only right after the double step"
    MUST_PROMOTE = "a pawn that reaches the last rank must promote"
    CANNOT_PROMOTE = "only a pawn that reaches the last rank promotes"
    LEAVES_KING_IN_CHECK = "it leaves the king in check"
    EXPOSES_KING = "the piece is pinned to its king"
    KING_INTO_CHECK = "the king would be in check there"
    NO_CASTLING_RIGHT = "the king or that rook has lost the right to castle"
    CASTLING_BLOCKED = "a piece stands between the king and the rook"
    CASTLING_OUT_OF_CHECK = "the king cannot castle out of check"
    CASTLING_THROUGH_CHECK = "the king cannot castle through check"
    CASTLING_INTO_CHECK = "the king cannot castle into check"
    MAY_NOT_LEAVE = "the piece may not leave the board from there"


@dataclass(eq=False)
class IllegalMove(MoveError):
    """A readable move that the rules forbid in this position."""

    move: str
    fen: str
    reason: Illegality

    def __str__(self) -> str:
        return f"{shown(self.move)} in {self.fen} is illegal: {self.reason.value}"


@dataclass(eq=False)
class GameOver(RulesError):
    """The game has ended; nothing more can be played."""

    outcome: Outcome

    def __str__(self) -> str:
        return f"the game is over: {self.outcome}"


class NothingToUndo(RulesError):
    """No move has been played yet."""

    def __str__(self) -> str:
        return "there is no move to take back"


@dataclass(eq=False)
class DrawNotClaimable(RulesError):
    """A draw was claimed that the rules do not give."""

    fen: str

    def __str__(self) -> str:
        return f"no draw can be claimed in {self.fen}"


@dataclass(eq=False)
class InvalidPgn(RulesError):
    """A text that is not PGN, or a game in it that the rules refuse."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line} of the PGN: {self.reason}"


@dataclass(eq=False)
class InvalidTimeControl(RulesError):
    """A text that is no time control, or one that no clock can keep."""

    text: str
    reason: str

    def __str__(self) -> str:
        return f"{shown(self.text)} is not a time control: {self.reason}"


class SavedGameFault(StrEnum):
    """What is wrong with a saved game; the value finishes "the saved game is refused: "."""

    WRONG_VARIANT = "it is not a game of King's Cooking"
    WRONG_NAME = "a player's name is not printable text of at most 100 characters"
    TOO_LARGE = "it is larger than a saved game may be"
    NOT_UTF8 = "it is not text that UTF-8 can write"
    NOT_JSON = "it is not JSON as saved games are written"
    NOT_ENCODED = "it is not a token as saved games are shared by, or is not whole"
    WRONG_CHECKSUM = "its checksum is missing or does not fit its content"
    UNSIGNED = "it is not signed with the secret that is required here"
    NO_KEY = "it is signed, and no secret is configured here to check it with"
    WRONG_SIGNATURE = "it was signed with another secret, or changed since"
    WRONG_VERSION = "it is of a version that is not known here"
    WRONG_FIELDS = "its fields are not those of a saved game"
    WRONG_VALUE = "a field holds what it cannot hold"
    NOT_PLAYABLE = "a move in it cannot be played"
    CONTRADICTION = "a field contradicts its moves and its ending"


@dataclass(eq=False)
class InvalidSavedGame(RulesError):
    """A saved game that cannot be loaded, or a game that cannot be saved."""

    reason: SavedGameFault
    #: The field or the move that is at fault, where it is one.
    detail: str = ""

    def __str__(self) -> str:
        where = f" ({shown(self.detail)})" if self.detail else ""
        return f"the saved game is refused: {self.reason.value}{where}"


@dataclass(eq=False)
class UnknownVariant(RulesError):
    """A variant that the engine does not know."""

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{shown(self.name)} is not a variant; known are {', '.join(self.known)}"


@dataclass(eq=False)
class NotSolved(RulesError):
    """A question about perfect play of a variant that nobody has solved."""

    variant: str

    def __str__(self) -> str:
        return f"{self.variant} is not solved: what a position of it is worth cannot be told"


@dataclass(eq=False)
class UnknownStart(RulesError):
    """A starting position that the variant does not have."""

    variant: str
    number: str
    starts: int

    def __str__(self) -> str:
        return (
            f"{self.variant} has no starting position {shown(self.number)}: "
            f"they are numbered from 0 to {self.starts - 1}"
        )
