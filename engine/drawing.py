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

#: The outline of each piece in a square of 45 by 45, and the lines drawn on it.
_OUTLINES = {
    PieceType.PAWN: (
        "M22.5 9a5.2 5.2 0 0 1 3.9 8.6c2.1.5 3.6 1.5 3.6 2.6h-3.4c.5 5.2 2.6 8.6 6.4 11.3"
        "v2.5h-21v-2.5c3.8-2.7 5.9-6.1 6.4-11.3h-3.4c0-1.1 1.5-2.1 3.6-2.6a5.2 5.2 0 0 1 3.9-8.6z"
        "M10.5 35.5h24v4h-24z",
        "",
    ),
    PieceType.KNIGHT: (
        "M19.3 5.6l2.9 3.1c9.6.7 14.3 9.6 13.3 25.3h-21.6c-.4-7.2 6.3-9.4 6.7-15.3"
        "-1.9 1.9-4.9 2.4-6.9 4l-2 2.7c-.6.7-1.6.7-2.3.1l-2-1.9c-.6-.6-.6-1.5-.1-2.2"
        "l5.6-7.9c.3-3.2 2.2-5.4 5-6.2z"
        "M10.5 35.5h25v4h-25z",
        "M18.2 13.3l1.6-1.1M26 12.5c5 3.5 6.3 10.5 5.9 18.5",
    ),
    PieceType.BISHOP: (
        "M22.5 4.5a2.5 2.5 0 0 1 1.7 4.3c5.8 4.2 8.7 10.8 4.6 16.2h1.4v3h-2.6"
        "c.6 2.5 2 4.4 4.4 6h-19c2.4-1.6 3.8-3.5 4.4-6h-2.6v-3h1.4c-4.1-5.4-1.2-12 4.6-16.2"
        "a2.5 2.5 0 0 1 1.7-4.3z"
        "M10.5 35.5h24v4h-24z",
        "M22.5 13v8M18.9 17h7.2M17.4 28h10.2",
    ),
    PieceType.ROOK: (
        "M11.5 8.5h5v3.2h3.5v-3.2h5v3.2h3.5v-3.2h5v7.3l-3.6 3 1.1 12.4 2.5 2.8h-22l2.5-2.8"
        " 1.1-12.4-3.6-3z"
        "M10 35.5h25v4h-25z",
        "M15.4 18.8h14.2M14.3 31.2h16.4",
    ),
    PieceType.QUEEN: (
        "M22.5 5.2a2.4 2.4 0 0 1 1.2 4.5l3.2 10.2 5.9-8.1a2.4 2.4 0 1 1 2.6 1.1l-3.4 15.6"
        " 1.5 5.5h-22l1.5-5.5-3.4-15.6a2.4 2.4 0 1 1 2.6-1.1l5.9 8.1 3.2-10.2"
        "a2.4 2.4 0 0 1 1.2-4.5z"
        "M10 35.5h25v4h-25z",
        "M13.4 28.5c5.6-1.6 12.6-1.6 18.2 0",
    ),
    PieceType.KING: (
        "M20.9 3.5h3.2v2.8h2.9v3h-2.9v3.3c1.2.6 2 1.6 2.3 2.9 9.8-2.6 13.1 6.3 6 12.6"
        "l1.4 5.9h-22.6l1.4-5.9c-7.1-6.3-3.8-15.2 6-12.6.3-1.3 1.1-2.3 2.3-2.9v-3.3h-2.9v-3h2.9z"
        "M10 35.5h25v4h-25z",
        "M22.5 17v10.2M12.9 28.6c6-1.8 13.2-1.8 19.2 0",
    ),
}
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
_LINE = {Color.WHITE: "#2b2b2b", Color.BLACK: "#dcdcd4"}
_SIDE = 45
_MARGIN = 18

Piece: TypeAlias = tuple[Color, PieceType]


@dataclass(frozen=True)
class Court:
    """What lies in a side's court, behind its own edge: the opponent's pieces."""

    #: Those that got there by themselves.
    scored: tuple[Piece, ...]
    captured: tuple[Piece, ...]


def piece_outlines() -> dict[str, dict[str, str]]:
    """Return what the pieces are drawn with in a square of 45 by 45, by their letters in FEN."""
    return {
        kind.value: {"outline": outline, "lines": lines}
        for kind, (outline, lines) in _OUTLINES.items()
    }


def board_rows(perspective: Color, size: int) -> list[list[Square]]:
    """Return the squares row by row as somebody of that colour sees them, the top row first."""
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
    rows = board_rows(perspective, position.size)
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
    rows = board_rows(perspective, position.size)
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
    outline, lines = _OUTLINES[kind]
    drawn = f'<path d="{lines}" fill="none" stroke="{_LINE[color]}"/>' if lines else ""
    return (
        f'<g transform="translate({left} {top})" stroke-width="1.4" stroke-linejoin="round" '
        f'stroke-linecap="round"{faint}><title>{color} {kind.name.lower()} {where}</title>'
        f'<path d="{outline}" fill="{_FILL[color]}" stroke="{_STROKE[color]}"/>'
        f"{drawn}</g>"
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
