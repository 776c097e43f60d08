"""The one-line text of a King's Cooking position, read and written.

`R1b/3/1Nn w - - B r 2`: the board from Black's side, the side to move, the pieces that scored in
White's court and in Black's, captured pieces of White and of Black, and the number of the move.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.errors import IllegalPosition, InvalidFen, PositionRule
from engine.pieces import Color
from engine.variants.kings_cooking_board import SIDE, View, turned

NOT_CHESS = "a chess position cannot be played on its 3 rows of 3 squares"

_PIECES = "RNBrnb"
_TURNS = {"w": Color.WHITE, "b": Color.BLACK}
#: What a field is when it is missing.
_USUAL = ("", "w", "-", "-", "-", "-", "1")
#: The highest number of a move that a line can tell.
LAST_NUMBER = 99_999
_NUMBER = re.compile(r"(?=.{1,5}\Z)0*[1-9][0-9]*")


def of_color(color: Color, letters: str) -> str:
    """Return those of some letters that belong to a side."""
    return "".join(filter(str.isupper if color is Color.WHITE else str.islower, letters))


def with_letter(letters: str, letter: str) -> str:
    """Return some letters and one more, in the order RNBrnb."""
    return _in_order(letters + letter)


def _in_order(letters: str) -> str:
    return "".join(sorted(letters, key=_PIECES.index))


def write_line(board: View, turn: Color, lists: Sequence[str], number: int) -> str:
    """Write a board as White sees it, and the rest in the order of the fields."""
    rows = (board[start : start + SIDE] for start in range(0, SIDE * SIDE, SIDE))
    placement = "/".join(re.sub(r"\.+", lambda gap: str(len(gap[0])), row) for row in rows)
    listed = " ".join(letters or "-" for letters in lists)
    return f"{placement} {turn.value[0]} {listed} {number}"


def read_line(fen: str, variant: str) -> tuple[View, Color, str, str, int]:
    """Return the mover's view, the mover, what scored, what was captured, and the number.

    Raises `InvalidFen` or `IllegalPosition`.
    """
    if not isinstance(fen, str):
        raise InvalidFen(repr(fen), "it is not text", variant)
    fields = fen.split()
    if not fields:
        raise InvalidFen(fen, "it is empty", variant)
    try:
        return _read_fields(fields)
    except _Unreadable as error:
        raise InvalidFen(fen, str(error), variant) from None
    except _Illegal as error:
        raise IllegalPosition(fen, error.rule) from None


class _Unreadable(Exception):
    """What is wrong with the text."""


class _Illegal(Exception):
    """The rule that the position breaks."""

    def __init__(self, rule: PositionRule) -> None:
        self.rule = rule


def _read_fields(fields: list[str]) -> tuple[View, Color, str, str, int]:
    rows = fields[0].split("/")
    if len(rows) == 8:
        raise _Unreadable(NOT_CHESS)
    if len(rows) != SIDE:
        raise _Unreadable(f"the board has {len(rows)} rows instead of 3")
    if len(fields) > len(_USUAL):
        raise _Unreadable("it has more than seven fields")
    turn, *lists, number = (*fields[1:], *_USUAL[len(fields) :])
    board = "".join(map(_read_row, rows))
    if turn not in _TURNS:
        raise _Unreadable("the side to move is neither w nor b")
    white_court, black_court, captured_white, captured_black = map(_read_list, lists)
    if not _NUMBER.fullmatch(number):
        raise _Unreadable(f"the move number is not a number from 1 to {LAST_NUMBER}")
    everywhere = board.replace(".", "") + "".join(
        (white_court, black_court, captured_white, captured_black)
    )
    if sorted(everywhere) != sorted(_PIECES):
        raise _Illegal(PositionRule.EACH_PIECE_ONCE)
    if of_color(Color.WHITE, white_court) or of_color(Color.BLACK, black_court):
        raise _Illegal(PositionRule.COURTS)
    if of_color(Color.BLACK, captured_white) or of_color(Color.WHITE, captured_black):
        raise _Illegal(PositionRule.CAPTURED)
    return (
        board if turn == "w" else turned(board),
        _TURNS[turn],
        _in_order(white_court + black_court),
        _in_order(captured_white + captured_black),
        int(number),
    )


def _read_row(row: str) -> str:
    cells = re.sub(r"[123]", lambda digit: "." * int(digit[0]), row)
    if len(cells) != SIDE or "." in row or not set(cells) <= {*_PIECES, "."}:
        raise _Unreadable("each row has three squares, written with RNB, rnb and digits")
    return cells


def _read_list(letters: str) -> str:
    if letters == "-":
        return ""
    if not set(letters) <= set(_PIECES):
        raise _Unreadable("courts and captured pieces are listed by RNB and rnb, or -")
    return letters
