"""Pictures of a position, on a board of any size: text for terminals, SVG for pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from engine.pieces import Color, PieceType
from engine.squares import FILES, RANKS, SQUARE_NAMES, Square

if TYPE_CHECKING:
    from engine.moves import Move
    from engine.position import Position

_FIGURINES = {
    Color.WHITE: dict(zip("kqrbnp", "♔♕♖♗♘♙", strict=True)),
    Color.BLACK: dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True)),
}

#: The outline of each piece in a square of 45 by 45.
_OUTLINES = {
    PieceType.PAWN: "M22.5 8.5a5.5 5.5 0 0 1 3.6 9.7h2.4v3h-3.2q.6 7 4.7 11.8h-15q4.1-4.8 4.7-11.8"
    "h-3.2v-3h2.4a5.5 5.5 0 0 1 3.6-9.7z",
    PieceType.KNIGHT: "M14 33c0-8 6-10 6.5-15.5l-6.5 5-4-3.5 7.5-9.5 1-4 3.5 3"
    "c9 1.5 12 11 11 24.5z",
    PieceType.BISHOP: "M22.5 6.5a2.2 2.2 0 0 1 1.6 3.7c6.4 4.3 7 10.8 3.4 15.3"
    "h-2.5l4.5 7.5h-14l4.5-7.5h-2.5c-3.6-4.5-3-11 3.4-15.3a2.2 2.2 0 0 1 1.6-3.7z",
    PieceType.ROOK: "M13 10h4v3h3.5v-3h4v3h3.5v-3h4v7l-3.5 3 1 13h-14l1-13-3.5-3z",
    PieceType.QUEEN: "M22.5 7.5l4.5 12 7-7.5-3.5 21h-16l-3.5-21 7 7.5z",
    PieceType.KING: "M21 5h3v3h3v3h-3v3.5c8-2.5 13 4 7.5 11l-1.5 7.5h-15l-1.5-7.5"
    "c-5.5-7-.5-13.5 7.5-11v-3.5h-3v-3h3z",
}
_BASE = "M12.5 35h20v4h-20z"
_COLORS = {
    "light": "#ece5d3",
    "dark": "#8f9f7f",
    "moved": "#d9b94b",
    "check": "#d9534f",
    "court": "#c3c8b4",
    "label": "#5d6653",
}
_FILL = {Color.WHITE: "#fdfdf8", Color.BLACK: "#2b2b2b"}
_STROKE = {Color.WHITE: "#2b2b2b", Color.BLACK: "#101010"}
_SIDE = 45
_MARGIN = 18

Piece: TypeAlias = tuple[Color, PieceType]


@dataclass(frozen=True)
class Court:
    """What lies in a side's court, behind its own edge: the opponent's pieces."""

    #: Those that got there by themselves.
    scored: tuple[Piece, ...]
    captured: tuple[Piece, ...]


def _rows(perspective: Color, size: int) -> list[list[Square]]:
    """Return the squares row by row as somebody of that colour sees them, top row first."""
    rows = [[8 * rank + file for file in range(size)] for rank in reversed(range(size))]
    if Color(perspective) is Color.BLACK:
        return [row[::-1] for row in reversed(rows)]
    return rows


def draw_text(
    position: Position,
    *,
    perspective: Color = Color.WHITE,
    figurines: bool = False,
    coordinates: bool = True,
    courts: Mapping[Color, Court] | None = None,
) -> str:
    """Draw the board with one character a square, and between the courts where there are any."""
    rows = _rows(perspective, position.size)
    lines = []
    for row in rows:
        prefix = f"{RANKS[row[0] // 8]} " if coordinates else ""
        pieces = (position.piece_at(square) for square in row)
        lines.append(prefix + " ".join(_sign(piece, figurines) for piece in pieces))
    if coordinates:
        lines.append("  " + " ".join(FILES[square % 8] for square in rows[-1]))
    if courts is not None:
        near = Color(perspective)
        lines.insert(0, _court_line(near.opponent, courts[near.opponent], figurines))
        lines.append(_court_line(near, courts[near], figurines))
    return "\n".join(lines)


def _sign(piece: Piece | None, figurines: bool) -> str:
    if piece is None:
        return "."
    color, kind = piece
    if figurines:
        return _FIGURINES[color][kind.value]
    return kind.letter if color is Color.WHITE else kind.value


def _court_line(color: Color, court: Court, figurines: bool) -> str:
    scored, captured = (
        " ".join(_sign(piece, figurines) for piece in pieces) or "-"
        for pieces in (court.scored, court.captured)
    )
    return f"{color.value.capitalize()}'s court: {scored}, captured: {captured}"


def draw_svg(
    position: Position,
    *,
    perspective: Color = Color.WHITE,
    last_move: Move | None = None,
    coordinates: bool = True,
    size: int = 400,
    courts: Mapping[Color, Court] | None = None,
) -> str:
    """Draw the board as a self-contained SVG of some width.

    The last move and a check are marked. Courts, where there are any, lie beyond the edges: what
    scored in them, and faintly what was captured.
    """
    margin = _MARGIN if coordinates else 0
    width = position.size * _SIDE + 2 * margin
    shelf = _SIDE if courts is not None else 0
    height = width + 2 * shelf
    moved = (last_move.from_square, last_move.to_square) if last_move else ()
    checked = position.checked_king()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size * height // width}" '
        f'viewBox="0 0 {width} {height}" role="img"><title>{position.fen()}</title>'
    ]
    rows = _rows(perspective, position.size)
    for y, row in enumerate(rows):
        for x, square in enumerate(row):
            shade = "light" if (square // 8 + square % 8) % 2 else "dark"
            left, top = margin + x * _SIDE, margin + shelf + y * _SIDE
            parts.append(_square(left, top, _COLORS[shade]))
            if square in moved:
                parts.append(_square(left, top, _COLORS["moved"], opacity=0.6))
            if square == checked:
                parts.append(_square(left, top, _COLORS["check"], opacity=0.7))
            if (piece := position.piece_at(square)) is not None:
                parts.append(_piece(left, top, piece, SQUARE_NAMES[square]))
    if coordinates:
        parts += _labels(rows, shelf)
    if courts is not None:
        near = Color(perspective)
        for top, color in ((0, near.opponent), (height - shelf, near)):
            parts.append(_square(0, top, _COLORS["court"], width))
            parts += _court(margin, top, color, courts[color])
    parts.append("</svg>")
    return "".join(parts)


def _court(left: int, top: int, color: Color, court: Court) -> list[str]:
    where = f"in {color.value.capitalize()}'s court"
    drawn = [(piece, f"scored {where}", 1.0) for piece in court.scored]
    drawn += [(piece, f"captured, {where}", 0.35) for piece in court.captured]
    return [
        _piece(left + index * _SIDE, top, piece, said, opacity)
        for index, (piece, said, opacity) in enumerate(drawn)
    ]


def _square(left: int, top: int, color: str, width: int = _SIDE, opacity: float = 1) -> str:
    faint = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return f'<rect x="{left}" y="{top}" width="{width}" height="{_SIDE}" fill="{color}"{faint}/>'


def _piece(left: int, top: int, piece: Piece, where: str, opacity: float = 1) -> str:
    color, kind = piece
    faint = f' opacity="{opacity}"' if opacity < 1 else ""
    return (
        f'<path transform="translate({left} {top})" d="{_OUTLINES[kind]}{_BASE}" '
        f'fill="{_FILL[color]}" stroke="{_STROKE[color]}" stroke-width="1.4" '
        f'stroke-linejoin="round"{faint}><title>{color} {kind.name.lower()} {where}</title></path>'
    )


def _labels(rows: list[list[Square]], shelf: int) -> list[str]:
    labels = []
    for index, row in enumerate(rows):
        middle = _MARGIN + index * _SIDE + _SIDE // 2
        file, rank = FILES[rows[0][index] % 8], RANKS[row[0] // 8]
        labels.append(_label(middle, shelf + len(rows) * _SIDE + _MARGIN * 7 // 4, file))
        labels.append(_label(_MARGIN // 2, shelf + middle + 4, rank))
    return labels


def _label(x: int, y: int, text: str) -> str:
    return (
        f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="12" text-anchor="middle" '
        f'fill="{_COLORS["label"]}">{text}</text>'
    )
