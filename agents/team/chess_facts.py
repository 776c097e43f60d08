"""ChessFacts: what the rules of chess tell of a position, as values and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine import Color, Move, Outcome, PieceType
from engine.exchange import PIECE_VALUES
from engine.squares import SQUARE_NAMES, Square

PIECE_NAMES = {piece: piece.name.lower() for piece in PieceType}
QUIET = "Nothing forcing: no check, capture, promotion, threat, pin or passed pawn; material even."

#: The order in which pieces are counted and named.
COUNTED = (PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP, PieceType.KNIGHT, PieceType.PAWN)
_NUMBERS = ("no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class WrittenMove:
    """A move in both notations: `Nxe5 (f3e5)`."""

    move: Move
    san: str

    def __str__(self) -> str:
        return f"{self.san} ({self.move})"


@dataclass(frozen=True)
class RatedByExchange:
    """A move and what it wins by exchange on its target square, in centipawns for its mover."""

    written: WrittenMove
    value: int

    def __str__(self) -> str:
        gain = f"{self.value / 100:+.1f}" if self.value else "even"
        return f"{self.written} {gain}"


@dataclass(frozen=True)
class PlacedPiece:
    """A piece and where it stands."""

    color: Color
    piece: PieceType
    square: Square

    @property
    def without_color(self) -> str:
        """The piece and its square: `knight f6`."""
        return f"{PIECE_NAMES[self.piece]} {SQUARE_NAMES[self.square]}"

    def __str__(self) -> str:
        return f"{self.color} {self.without_color}"


@dataclass(frozen=True)
class HangingPiece:
    """A piece that the other side can win by exchange, and for how much at most."""

    placed: PlacedPiece
    value: int

    def __str__(self) -> str:
        return f"{self.placed.without_color} ({in_pawns(self.value)})"


@dataclass(frozen=True)
class Pin:
    """A piece that may not leave the line between its king and an enemy slider."""

    pinned: PlacedPiece
    pinner: PlacedPiece
    king: Square

    def __str__(self) -> str:
        return (
            f"{self.pinned} is pinned to its king {SQUARE_NAMES[self.king]} "
            f"by the {self.pinner.without_color}"
        )


@dataclass(frozen=True)
class PassedPawn:
    """A pawn that no enemy pawn can stop or take any more, and how far it has to go."""

    color: Color
    square: Square

    @property
    def steps(self) -> int:
        """How many ranks it is away from promotion."""
        rank = self.square // 8
        return 7 - rank if self.color is Color.WHITE else rank

    def __str__(self) -> str:
        left = "1 step" if self.steps == 1 else f"{self.steps} steps"
        return f"{SQUARE_NAMES[self.square]} ({left} from promotion)"


@dataclass(frozen=True)
class Material:
    """How many queens, rooks, bishops, knights and pawns either side has."""

    white: tuple[int, ...]
    black: tuple[int, ...]

    @property
    def balance(self) -> int:
        """How much more White has, in centipawns."""
        counts = zip(COUNTED, self.white, self.black, strict=True)
        return sum(PIECE_VALUES[piece] * (white - black) for piece, white, black in counts)

    def __str__(self) -> str:
        if self.white == self.black:
            return "even"
        ahead, behind = _surplus(self.white, self.black), _surplus(self.black, self.white)
        balance = self.balance
        if balance < 0:
            ahead, behind = behind, ahead
        against = f"{ahead} against {behind}" if behind else f"{ahead} more"
        if balance == 0:
            return f"even ({against})"
        side = Color.WHITE if balance > 0 else Color.BLACK
        return f"{_named(side)} is ahead by {in_pawns(abs(balance))} ({against})"


@dataclass(frozen=True)
class ChessFacts:
    """What the rules tell of a position of chess, best or nearest first.

    Exchanges are counted as `engine.exchange_value` does. What the opponent threatens is what it
    could do were it to move now; in check nobody can pass, and nothing is said of it.
    """

    turn: Color
    outcome: Outcome | None
    #: How many moves are legal, and the move if it is the only one.
    choices: int
    only_move: WrittenMove | None
    #: What gives check to the side to move.
    checkers: tuple[PlacedPiece, ...]
    mates: tuple[WrittenMove, ...]
    threatened_mates: tuple[WrittenMove, ...]
    #: Moves that end the game as a draw at once.
    stalemates: tuple[WrittenMove, ...]
    checks: tuple[RatedByExchange, ...]
    #: To a queen, as promotions are: who wants less is told of it only where it gives check.
    captures: tuple[RatedByExchange, ...]
    #: Without a capture.
    promotions: tuple[RatedByExchange, ...]
    #: Captures and promotions by which the opponent would win something.
    threats: tuple[RatedByExchange, ...]
    hanging: tuple[HangingPiece, ...]
    pins: tuple[Pin, ...]
    passed_pawns: tuple[PassedPawn, ...]
    material: Material

    def text(self) -> str:
        """Return the facts as a Markdown list; where there is nothing to say, a line says so."""
        if self.outcome is not None:
            return f"- The game is over: {self.outcome}."
        lines = self._lines()
        if not lines and self.material.white == self.material.black:
            return f"- {QUIET}"
        return "\n".join(f"- {line}" for line in (*lines, f"Material: {self.material}."))

    def _lines(self) -> list[str]:
        mover, opponent = _named(self.turn), _named(self.turn.opponent)
        lines = []
        if self.checkers:
            lines.append(f"{mover} is in check from the {listed(self.checkers, ' and the ')}.")
        if self.only_move is not None:
            lines.append(f"The only legal move: {self.only_move}.")
        for name, moves in (
            (f"{mover} has mate in one", self.mates),
            (f"{opponent} threatens mate in one", self.threatened_mates),
            ("Stalemate at once, a draw", self.stalemates),
        ):
            if moves:
                lines.append(f"{name}: {listed(moves)}.")
        exchanges = [
            (f"Checks by {mover}", self.checks),
            (f"Captures by {mover}", self.captures),
            (f"Promotions by {mover}", self.promotions),
            (f"{opponent} threatens, were it to move", self.threats),
        ]
        if any(rated for _, rated in exchanges):
            lines.append(
                "Numbers below: pawns that the mover wins (+) or loses (-) "
                "if both go on taking on that square."
            )
        lines += [f"{name}: {listed(rated)}." for name, rated in exchanges if rated]
        for color in (self.turn.opponent, self.turn):
            if hanging := [each for each in self.hanging if each.placed.color is color]:
                lines.append(f"{_named(color)} can lose: {listed(hanging)}.")
        if self.pins:
            lines.append(f"Pins: {listed(self.pins)}.")
        for color in Color:
            if pawns := [pawn for pawn in self.passed_pawns if pawn.color is color]:
                lines.append(f"Passed pawns of {_named(color)}: {listed(pawns)}.")
        return lines


def in_pawns(value: int) -> str:
    """Return an amount of centipawns as people say it: `3.2`."""
    return f"{value / 100:.1f}"


def listed(items: Iterable[object], joint: str = "; ") -> str:
    """Return the words of several facts as one phrase."""
    return joint.join(map(str, items))


def _named(color: Color) -> str:
    return color.capitalize()


def _surplus(ours: Sequence[int], theirs: Sequence[int]) -> str:
    """Return what one side has more of, in words; empty if nothing."""
    more = [
        f"{_number(extra)} {PIECE_NAMES[piece]}{'s' if extra > 1 else ''}"
        for piece, own, other in zip(COUNTED, ours, theirs, strict=True)
        if (extra := own - other) > 0
    ]
    return " and ".join([", ".join(more[:-1]), more[-1]] if len(more) > 1 else more)


def _number(of: int) -> str:
    """Return a number in words; the large ones, which only a set-up board has, in digits."""
    return _NUMBERS[of] if of < len(_NUMBERS) else str(of)
