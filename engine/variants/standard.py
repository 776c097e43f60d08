"""Standard chess: the FIDE Laws."""

from __future__ import annotations

from engine.chess_position import STANDARD_NAME, ChessPosition
from engine.variant import Variant

START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

RULES = """\
Standard chess by the FIDE Laws. Castling: king e1 to g1 or c1 (e8 to g8 or c8), written O-O or
O-O-O; not out of, through or into check, and not after the king or that rook has moved. A pawn
that has just moved two squares may be taken en passant by the next move only. A pawn that reaches
the last rank becomes a queen, rook, bishop or knight. Checkmate wins; stalemate draws. Draws can
be claimed after threefold repetition or fifty moves without a capture or a pawn move."""


def _start_fen(number: int) -> str:
    return START_FEN


STANDARD = Variant(STANDARD_NAME, "Chess", RULES, ChessPosition, 1, _start_fen)
