"""An illegal move that was meant, told by its squares, so that it can be compared."""

from __future__ import annotations

import re

from engine import IllegalMove, PieceType, Position

_BOTH = re.compile(
    r"[KQRBNP]?([a-h][1-8])\s?[-x:]?\s?(?:([a-h][1-8])(?:\s?[=/(]?\s?([qrbn])\)?)?|(off))\Z",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"([KQRBNP]?)([a-h]?)([1-8]?)[-x:]?(?:([a-h])([1-8])(?:\s?[=/(]?\s?([qrbn])\)?)?|[\s-]?(off))\Z"
)
_CASTLING = re.compile(r"[O0o]-?[O0o](-?[O0o])?\Z")


def by_squares(error: IllegalMove, written: str, position: Position) -> IllegalMove:
    """Return the error with its move as UCI where the squares are known, else as written."""
    move = _uci(written, position)
    if move is None:
        return IllegalMove(written, error.fen, error.reason)
    try:
        position.parse(move)
    except IllegalMove as refusal:
        return refusal  # of two squares the rules can tell the reason best
    return error


def _uci(written: str, position: Position) -> str | None:
    if castling := _CASTLING.match(written):
        return _castling(position, "c" if castling[1] else "g")
    if both := _BOTH.match(written):
        return "".join(part or "" for part in both.groups()).lower()
    short = _SHORT.match(written)
    if short is None:
        return None
    letter, file, rank, target_file, target_rank, promotion, off = short.groups()
    target = off or target_file + target_rank
    kind = PieceType(letter.lower() or "p")
    if kind is PieceType.PAWN and not file and target_file:
        file = target_file
    found = [
        square
        for square in _squares_of(position, kind)
        if file in ("", square[0]) and rank in ("", square[1]) and square != target
    ]
    if not off:
        found = [each for each in found if _reaches(kind, each, target, position)] or found
    return found[0] + target + (promotion or "").lower() if len(found) == 1 else None


def _castling(position: Position, file: str) -> str | None:
    """Return castling as the king's move, if it is at home and the variant writes it so."""
    king = _squares_of(position, PieceType.KING)
    if position.variant != "standard" or king not in (["e1"], ["e8"]):
        return None
    return king[0] + file + king[0][1]


def _squares_of(position: Position, kind: PieceType) -> list[str]:
    """Return where the pieces of a kind of the side to move stand."""
    names = (f + r for f in "abcdefgh"[: position.size] for r in "12345678"[: position.size])
    return [name for name in names if position.piece_at(name) == (position.turn, kind)]


def _reaches(kind: PieceType, origin: str, target: str, position: Position) -> bool:
    """Return whether a piece could go from square to square on an empty board."""
    files = abs(ord(origin[0]) - ord(target[0]))
    ranks = int(target[1]) - int(origin[1])
    if kind is PieceType.PAWN:
        ahead = ranks if position.turn == "white" else -ranks
        return ahead == 1 or (ahead == 2 and files == 0)
    ranks = abs(ranks)
    if kind is PieceType.KNIGHT:
        return files * ranks == 2
    if kind is PieceType.KING:
        return max(files, ranks) == 1
    is_straight, is_diagonal = files == 0 or ranks == 0, files == ranks
    return (is_straight and kind is not PieceType.BISHOP) or (
        is_diagonal and kind is not PieceType.ROOK
    )
