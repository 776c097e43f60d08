"""Chess960 (Fischer random): 960 shuffled back ranks, castling from wherever the rooks stand."""

from __future__ import annotations

from itertools import combinations

from engine.chess_position import CHESS960_NAME, ChessPosition
from engine.variant import Variant

#: The number of the standard starting position.
STANDARD_NUMBER = 518

RULES = """\
Chess960: standard chess from a shuffled back rank, the same for both sides, bishops on opposite
colours, the king between the rooks. Castling ends as in standard chess, king on g1 and rook on f1
(O-O) or king on c1 and rook on d1 (O-O-O), from wherever they started: every square between must be
free of other pieces, and the king may not leave, cross or reach an attacked square. In coordinates
castling is written as the king taking its own rook."""

_KNIGHT_PAIRS = tuple(combinations(range(5), 2))


def start_fen(number: int) -> str:
    """Return a starting position by its number (Reinhard Scharnagl's scheme), 0 to 959."""
    number, light_bishop = divmod(number, 4)
    number, dark_bishop = divmod(number, 4)
    knights, queen = divmod(number, 6)
    rank = [""] * 8
    rank[2 * light_bishop + 1] = "B"
    rank[2 * dark_bishop] = "B"
    _place(rank, "Q", queen)
    first, second = _KNIGHT_PAIRS[knights]
    _place(rank, "N", second)  # the further one first, so that it does not shift the nearer
    _place(rank, "N", first)
    for piece in "RKR":
        _place(rank, piece, 0)
    pieces = "".join(rank)
    return f"{pieces.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{pieces} w KQkq - 0 1"


def _place(rank: list[str], piece: str, nth_free: int) -> None:
    free = [file for file in range(8) if not rank[file]]
    rank[free[nth_free]] = piece


CHESS960 = Variant(
    CHESS960_NAME,
    "Chess960",
    RULES,
    ChessPosition,
    960,
    start_fen,
    default_start=STANDARD_NUMBER,
)
