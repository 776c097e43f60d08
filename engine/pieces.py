"""Colours and kinds of pieces."""

from __future__ import annotations

from enum import StrEnum


class Color(StrEnum):
    """A side. Reads as its name in lower case (`"white"`), also in JSON."""

    WHITE = "white"
    BLACK = "black"

    @property
    def opponent(self) -> Color:
        """The other side."""
        return Color.BLACK if self is Color.WHITE else Color.WHITE


class PieceType(StrEnum):
    """A kind of piece. Its value is its lower-case letter in FEN and UCI."""

    PAWN = "p"
    KNIGHT = "n"
    BISHOP = "b"
    ROOK = "r"
    QUEEN = "q"
    KING = "k"

    @property
    def letter(self) -> str:
        """The upper-case letter of SAN."""
        return self.value.upper()
