"""King's Cooking: rook, knight and bishop on a 3x3 board try to leave it over the far edge."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from engine.drawing import Court
from engine.errors import (
    Illegality,
    IllegalMove,
    InvalidFen,
    UnknownVariant,
    UnreadableMove,
)
from engine.moves import OFF, Move
from engine.outcome import Outcome, Termination
from engine.pieces import Color, PieceType
from engine.position import Position
from engine.reading import undecorated
from engine.setup import Setup
from engine.squares import SQUARE_NAMES, SQUARE_OF_NAME, Square
from engine.variant import Variant
from engine.variants.kings_cooking_board import (
    BEYOND,
    EMPTY,
    SIDE,
    Cell,
    Step,
    View,
    stepped,
    steps,
    turned,
    turned_cell,
    why_no_step,
)
from engine.variants.kings_cooking_fen import (
    LAST_NUMBER,
    NOT_CHESS,
    of_color,
    read_line,
    with_letter,
    write_line,
)

NAME = "kings-cooking"
START_FEN = "rnb/3/RNB w - - - - 1"

RULES = """\
King's Cooking: a 3x3 board, squares a1 to c3, and no kings on it. White has a rook on a1, a knight
on b1 and a bishop on c1, Black a rook on a3, a knight on b3 and a bishop on c3. White moves first.
Rook, knight and bishop move and capture as in chess, inside the board. A piece scores for its owner
by leaving the board over the opponent's back edge: White's beyond rank 3, Black's beyond rank 1. It
never leaves over its own edge or over a side. A rook may leave if every square ahead of it on its
file is empty; a knight if one of its jumps lands beyond that edge, which is so from the two ranks
nearest to it; a bishop only if it already stands on the opponent's back rank. Leaving is a move of
its own, written Roff, Noff or Boff (in coordinates a3off). A captured piece is out of the game and
scores for nobody. The game ends when no piece is left on the board, when the side to move has no
legal move, or when a position occurs for the third time. Whoever got more own pieces off the board
wins; as many each is a draw."""

#: Square numbers by White's cells; squares are those of the 8x8 board.
_SQUARES: tuple[Square, ...] = tuple(
    8 * (SIDE - 1 - cell // SIDE) + cell % SIDE for cell in range(SIDE * SIDE)
)
_CELLS: dict[Square, Cell] = {square: cell for cell, square in enumerate(_SQUARES)}
_CELLS[OFF] = BEYOND
_MOVES: dict[Step, Move] = {
    (origin, target): Move(_SQUARES[origin], OFF if target == BEYOND else _SQUARES[target])
    for origin in range(SIDE * SIDE)
    for target in range(SIDE * SIDE + 1)
    if origin != target
}
_REPETITIONS = 3
_TARGET = r"(?:[-x: ]?(?P<target>[a-h][1-8])|[- ]?off)\Z"
_BY_SQUARES = re.compile(
    rf"\A(?P<piece>[RNB])?(?P<file>[a-h])(?P<rank>[1-8]){_TARGET}", re.IGNORECASE
)
_BY_PIECE = re.compile(
    rf"\A(?P<piece>[RNB])(?P<file>[a-h])?(?P<rank>[1-8])?{_TARGET}", re.IGNORECASE
)


class KingsCookingPosition(Position):
    """A legal position of King's Cooking. It never changes: `play` returns a new one.

    It knows where each of the six pieces is: on the board, scored in the opponent's court, or
    captured. (Whether a bishop may leave needs no memory: standing on the opponent's back rank when
    it is its turn, it stopped there on an earlier one.)
    """

    __slots__ = ("_captured", "_number", "_scored", "_turn", "_view")

    size = SIDE

    def __init__(self, view: View, turn: Color, scored: str, captured: str, number: int) -> None:
        # The board as the side to move sees it.
        self._view = view
        self._turn = turn
        # Letters as in a FEN, in the order RNBrnb.
        self._scored = scored
        self._captured = captured
        self._number = number

    @classmethod
    def from_fen(cls, fen: str, variant: str = NAME) -> KingsCookingPosition:
        """Read the one line that `fen` writes.

        Its fields: the board, the side to move, the pieces that scored in White's court and in
        Black's, captured pieces of White and of Black, and the number of the move. Fields missing
        at the end get their usual values. Raises `InvalidFen` or `IllegalPosition`.
        """
        if variant != NAME:
            raise UnknownVariant(str(variant), (NAME,))
        view, turn, scored, captured, number = read_line(fen, NAME)
        return KingsCookingPosition(view, turn, scored, captured, number)

    @classmethod
    def from_setup(cls, setup: Setup, variant: str = NAME) -> NoReturn:
        """Refuse a chess setup."""
        raise InvalidFen(setup.fen, NOT_CHESS, NAME)

    # --- what it is ---

    @property
    def variant(self) -> str:
        """The name of the variant."""
        return NAME

    @property
    def turn(self) -> Color:
        """The side to move."""
        return self._turn

    @property
    def fullmove_number(self) -> int:
        """The number of the move, as score sheets count: up by one after Black's."""
        return self._number

    @property
    def view(self) -> View:
        """The board as the side to move sees it: what the solver works on."""
        return self._view

    def board(self) -> View:
        """Return the board as White sees it: letters from a3 to c1, `.` for an empty square."""
        return self._view if self._turn is Color.WHITE else turned(self._view)

    def court(self, color: Color) -> str:
        """Return the pieces in a side's court that scored: the opponent's, that got there."""
        return of_color(Color(color).opponent, self._scored)

    def captured(self, color: Color) -> str:
        """Return the pieces of a side that were captured; they score for nobody."""
        return of_color(Color(color), self._captured)

    def score(self, color: Color) -> int:
        """Return how many pieces of a side are in the opponent's court."""
        return len(self.court(Color(color).opponent))

    def fen(self) -> str:
        """Return the position as one line of text, from which `from_fen` reads it."""
        lists = (
            self.court(Color.WHITE),
            self.court(Color.BLACK),
            self.captured(Color.WHITE),
            self.captured(Color.BLACK),
        )
        return write_line(self.board(), self._turn, lists, self._number)

    def key(self) -> tuple[View, Color, str, str]:
        """Return what is equal for two positions exactly when they count as a repetition."""
        return self._view, self._turn, self._scored, self._captured

    def piece_at(self, square: Square | str) -> tuple[Color, PieceType] | None:
        """Return the colour and kind of the piece on a square (`"a1"` or its number), or None."""
        number = SQUARE_OF_NAME.get(square, -1) if isinstance(square, str) else square
        cell = _CELLS.get(number, BEYOND)
        if cell == BEYOND:
            raise ValueError("a square is named from a1 to c3")
        letter = self.board()[cell]
        return None if letter == "." else _piece(letter)

    # --- moves ---

    def legal_moves(self) -> list[Move]:
        """Return every legal move, in no particular order."""
        turn = self._turned
        return [_MOVES[turn(origin), turn(target)] for origin, target in steps(self._view)]

    def is_legal(self, move: Move) -> bool:
        """Return whether a move is legal here."""
        return move in self.legal_moves()

    def play(self, move: Move | str) -> KingsCookingPosition:
        """Return the position after a move; text is read as by `parse`.

        Raises `IllegalMove` (or what `parse` raises); this position stays as it is.
        """
        step = self._legal_step(move)
        origin, target = step
        turn, scored, captured = self._turn, self._scored, self._captured
        if target == BEYOND:
            scored = with_letter(scored, self._letter(origin))
        elif self._view[target] != ".":
            captured = with_letter(captured, self._letter(target))
        return KingsCookingPosition(
            turned(stepped(self._view, step)),
            turn.opponent,
            scored,
            captured,
            # Counting stops there, so that every position can be written and read.
            min(self._number + (turn is Color.BLACK), LAST_NUMBER),
        )

    def parse(self, text: str, default_promotion: PieceType | None = None) -> Move:
        """Return the legal move a text means: `Ra2`, `Rxa3`, `Roff`, `a1-a2`, `a3-off`, `a3off`...

        Each side has one piece of a kind, so no move is ever ambiguous. Raises `UnreadableMove` or
        `IllegalMove` (with the reason).
        """
        plain = undecorated(text)
        by_squares, by_piece = _BY_SQUARES.match(plain), _BY_PIECE.match(plain)
        refusals = []
        # `B1a3` is the bishop if it can be, else what stands on b1; `b1a3` is only that.
        for match in (by_piece, by_squares) if plain[:1] == "B" else (by_squares or by_piece,):
            if match is None:
                continue
            origin = self._origin(match)
            target = match["target"]
            try:
                if origin is None:
                    raise self._illegal(text, Illegality.NO_SUCH_PIECE)
                move = Move(origin, SQUARE_OF_NAME[target.lower()] if target else OFF)
                self._legal_step(move, text)
                return move
            except IllegalMove as refusal:
                refusals.append(refusal)
        raise refusals[0] if refusals else UnreadableMove(text)

    def _origin(self, match: re.Match[str]) -> Square | None:
        """Return where the piece stands that a reading names, or None if there is none."""
        letter, file, rank = match["piece"], match["file"], match["rank"]
        if file and rank:
            origin = SQUARE_OF_NAME[(file + rank).lower()]
            there = self._mover_at(origin)
            return None if letter and there and there.upper() != letter.upper() else origin
        cell = self._view.find(letter.upper())
        if cell < 0:
            return None
        origin = _SQUARES[self._turned(cell)]
        name = SQUARE_NAMES[origin]
        is_meant = (file or name[0]).lower() == name[0] and (rank or name[1]) == name[1]
        return origin if is_meant else None

    def san(self, move: Move) -> str:
        """Return a legal move in short notation (`Ra2`, `Rxa3`, `Roff`), or raise `IllegalMove`."""
        origin, target = self._legal_step(move)
        if target == BEYOND:
            return f"{self._view[origin]}off"
        takes = "" if self._view[target] == "." else "x"
        return f"{self._view[origin]}{takes}{self._name(target)}"

    def long_algebraic(self, move: Move) -> str:
        """Return a legal move in long notation (`a1-a2`, `a1xa3`, `a3-off`), or raise."""
        origin, target = self._legal_step(move)
        if target == BEYOND:
            return f"{self._name(origin)}-off"
        joint = "-" if self._view[target] == "." else "x"
        return f"{self._name(origin)}{joint}{self._name(target)}"

    def _name(self, cell: Cell) -> str:
        return SQUARE_NAMES[_SQUARES[self._turned(cell)]]

    def _legal_step(self, move: Move | str, text: str | None = None) -> Step:
        """Return a legal move as the side to move sees it, or raise `IllegalMove`."""
        if not isinstance(move, Move):
            move = self.parse(move)
        shown_as = text or move.uci()
        if move.promotion is not None:
            raise self._illegal(shown_as, Illegality.CANNOT_PROMOTE)
        mover = self._mover_at(move.from_square)
        if mover is None:
            raise self._illegal(shown_as, Illegality.NO_PIECE)
        if mover.islower():
            raise self._illegal(shown_as, Illegality.WRONG_SIDE)
        if move.to_square not in _CELLS:
            raise self._illegal(shown_as, Illegality.NOT_HOW_IT_MOVES)
        step = self._turned(_CELLS[move.from_square]), self._turned(_CELLS[move.to_square])
        if step not in steps(self._view):
            raise self._illegal(shown_as, why_no_step(self._view, step))
        return step

    def _mover_at(self, square: Square) -> str | None:
        """Return what stands on a square, in the mover's letters, or None."""
        if square not in _CELLS or square == OFF:
            return None
        letter = self._view[self._turned(_CELLS[square])]
        return None if letter == "." else letter

    def _turned(self, cell: Cell) -> Cell:
        """Turn one of White's cells to the mover's, or back, which is the same."""
        return cell if self._turn is Color.WHITE else turned_cell(cell)

    def _letter(self, cell: Cell) -> str:
        """Return the piece on one of the mover's cells, with the letter of its colour."""
        letter = self._view[cell]
        return letter if self._turn is Color.WHITE else letter.swapcase()

    def _illegal(self, text: str, reason: Illegality) -> IllegalMove:
        return IllegalMove(text, self.fen(), reason)

    # --- endings ---

    def outcome(self) -> Outcome | None:
        """Return how the game has ended by this position alone, or None."""
        if self._view == EMPTY:
            return self._scored_as(Termination.EMPTY_BOARD)
        return None if steps(self._view) else self._scored_as(Termination.NO_MOVES)

    def can_move(self) -> bool:
        """Return whether there is any legal move."""
        return bool(steps(self._view))

    def early_outcome(self, repetitions: Callable[[], int]) -> Outcome | None:
        """Return the end by repetition, scored as any other, or None."""
        return self._scored_as(Termination.REPETITION) if repetitions() >= _REPETITIONS else None

    def can_win(self, color: Color) -> bool:
        """Return whether a side has enough pieces to get more off the board than the other has."""
        color = Color(color)
        at_most = self.score(color) + len(of_color(color, self.board()))
        return at_most > self.score(color.opponent)

    def _scored_as(self, termination: Termination) -> Outcome:
        lead = self.score(Color.WHITE) - self.score(Color.BLACK)
        winner = None if lead == 0 else Color.WHITE if lead > 0 else Color.BLACK
        return Outcome(winner, termination)

    # --- pictures ---

    def courts(self) -> dict[Color, Court]:
        """Return what lies in either side's court, to be drawn beside the board."""
        return {
            color: Court(
                tuple(map(_piece, self.court(color))),
                tuple(map(_piece, self.captured(color.opponent))),
            )
            for color in Color
        }

    # --- as a value ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KingsCookingPosition):
            return NotImplemented
        return self.key() == other.key() and self._number == other._number

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return f"Position.from_fen({self.fen()!r}, variant={NAME!r})"

    def __reduce__(self) -> tuple[object, tuple[View, Color, str, str, int]]:
        return KingsCookingPosition, (*self.key(), self._number)


def _piece(letter: str) -> tuple[Color, PieceType]:
    return (Color.WHITE if letter.isupper() else Color.BLACK), PieceType(letter.lower())


def _start_fen(number: int) -> str:
    return START_FEN


KINGS_COOKING = Variant(
    NAME, "King's Cooking", RULES, KingsCookingPosition, 1, _start_fen, has_uci_engines=False
)
