"""Board: a position as it is drawn in a terminal, in colour or without, of pieces or of letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from engine import Color, Move, Position
from engine.drawing import Court, Piece, board_rows

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIECES = {"k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟"}
_LIGHT, _DARK, _MOVED, _CHECKED = "#b9b19c", "#7d8c6d", "#c9a93f", "#c9534f"
_INK = {Color.WHITE: "bold #ffffff", Color.BLACK: "bold #000000"}


@dataclass(frozen=True)
class Look:
    """What a terminal can show of a board."""

    #: Letters as in FEN instead of pieces.
    letters: bool = False
    #: Signs beside a piece instead of colours behind it, for what was moved and who is in check.
    signs: bool = False
    #: Nothing but ASCII.
    ascii: bool = False

    @classmethod
    def of(cls, console: Console, *, wants_ascii: bool = False) -> Self:
        """Return what a console can show, or less, if only ASCII is wanted."""
        has_colors = not console.no_color and console.color_system is not None
        is_ascii = wants_ascii or not _has_pieces(console)
        # All pieces are drawn filled, so that without colours nobody knows whose they are.
        return cls(letters=is_ascii or not has_colors, signs=not has_colors, ascii=is_ascii)


def draw_board(
    position: Position,
    look: Look,
    *,
    last_move: Move | None = None,
    perspective: Color = Color.WHITE,
) -> Text:
    """Return the board, and the courts where there are any, with the last move and a check marked.

    Every row is as wide as the others, and there is no line break at the end.
    """
    from rich.text import Text

    moved = () if last_move is None else (last_move.from_square, last_move.to_square)
    checked, courts = position.checked_king(), position.courts()
    rows = board_rows(perspective, position.size)
    board = Text()
    if courts is not None:
        board.append_text(_court(perspective.opponent, courts[perspective.opponent], look))
        board.append("\n")
    for row in rows:
        board.append(f"{row[0] // 8 + 1} ", "dim")
        for square in row:
            ground = _LIGHT if (square // 8 + square % 8) % 2 else _DARK
            left = right = " "
            if square in moved:
                ground, left, right = _MOVED, "(", ")"
            if square == checked:
                ground, left, right = _CHECKED, "!", "!"
            piece = position.piece_at(square)
            ink = "" if piece is None else f"{_INK[piece[0]]} "
            sign = _sign(piece, look)
            cell = f"{left}{sign}{right}" if look.signs else f" {sign} "
            board.append(cell, f"{ink}on {ground}")
        board.append("\n")
    board.append("  " + "".join(f" {'abcdefgh'[square % 8]} " for square in rows[-1]), "dim")
    if courts is not None:
        board.append("\n")
        board.append_text(_court(perspective, courts[perspective], look))
    return board


def _sign(piece: Piece | None, look: Look) -> str:
    if piece is None:
        if not look.letters:
            return " "
        return "." if look.ascii else "·"
    color, kind = piece
    if look.letters:
        return kind.letter if color is Color.WHITE else kind.value
    return _PIECES[kind.value]


def _court(color: Color, court: Court, look: Look) -> Text:
    from rich.text import Text

    told = Text(f"{color.value.capitalize()}'s court: ", "dim")
    for name, pieces in (("", court.scored), (", captured: ", court.captured)):
        told.append(name, "dim")
        if not pieces:
            told.append("-", "dim")
        for number, piece in enumerate(pieces):
            told.append(" " * bool(number))
            told.append(_sign(piece, look), "" if look.letters else f"{_INK[piece[0]]} on {_DARK}")
    return told


def _has_pieces(console: Console) -> bool:
    try:
        "".join(_PIECES.values()).encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
