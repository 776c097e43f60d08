"""Live board: a match as it is played, drawn in a terminal, or told line by line without one."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol, Self

import typer

from engine import Color, Move, Position, format_clock

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from app.cli.event_stream import SentEvent

_PIECES = {"k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟"}
_LIGHT, _DARK, _MOVED, _CHECKED = "#b9b19c", "#7d8c6d", "#c9a93f", "#c9534f"
_WHITE, _BLACK = "bold #ffffff", "bold #000000"
#: How many moves of each side are shown, and how wide the column beside the board is.
_MOVES = 8
_WIDTH = 36
#: How many lines the reason for a move has.
_REASON = 3


@dataclass(frozen=True)
class Scene:
    """What is to be seen of a match."""

    white: str
    black: str
    position: Position = field(default_factory=Position.start)
    last_move: Move | None = None
    #: As score sheets have them: each with its number and side.
    moves: tuple[tuple[int, Color, str], ...] = ()
    #: By colour, in milliseconds; None if the match is not timed.
    clocks: dict[str, int | None] | None = None
    ending: str = ""
    #: Why the last move was played, as far as its player said so.
    reason: str = ""

    def after(self, event: SentEvent) -> Scene:
        """Return what is to be seen after an event."""
        data = event.data
        match event.type:
            case "match.created" | "match.started":
                return replace(self, position=Position.from_fen(data["fen"]))
            case "turn.started":
                return replace(self, clocks=data["clocks"])
            case "ply.played":
                before = self.position
                move = (before.fullmove_number, before.turn, data["san"])
                return replace(
                    self,
                    position=Position.from_fen(data["fen"]),
                    last_move=Move.from_uci(data["uci"]),
                    moves=(*self.moves, move),
                    clocks=data["clocks"],
                    reason=_printable(data["decision"].get("reason", "")),
                )
            case "match.ended":
                return replace(self, ending=_ending(data))
        return self


class Show(Protocol):
    """Somewhere a match is shown."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_error: object) -> None: ...

    async def show(self, scene: Scene, event: SentEvent) -> None:
        """Show what is to be seen after an event."""


class Lines:
    """Tells each move in a line, without anything that only a terminal understands."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""

    async def show(self, scene: Scene, event: SentEvent) -> None:
        """Print a line, if there was a move."""
        if event.type == "ply.played":
            number, color, san = scene.moves[-1]
            clock = _clock(scene, color)
            dots = "." if color is Color.WHITE else "..."
            told = " ".join(filter(None, (clock, scene.reason)))
            typer.echo(f"{number:3}{dots:3} {san:8}{told}".rstrip())


class Board:
    """Draws the board in a terminal, at a pace that a person can follow."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._live: Live = Live(console=console, auto_refresh=False)
        self._shown_at = 0.0

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    async def show(self, scene: Scene, event: SentEvent) -> None:
        """Draw the board, and after a move not before the last one could be seen."""
        if event.type == "ply.played":
            due = self._shown_at + pace(len(scene.moves)).total_seconds()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self._shown_at = time.monotonic()
        console = self._live.console
        is_plain = console.no_color or console.color_system is None
        self._live.update(draw(scene, letters=is_plain or not _has_figurines(console)))
        self._live.refresh()


def pace(ply: int) -> timedelta:
    """Return how long a position stays: the longer the match, the shorter, 45 s for 400 plies."""
    if ply <= 100:
        return timedelta(milliseconds=250)
    return timedelta(milliseconds=80 if ply <= 300 else 30)


def draw(scene: Scene, *, letters: bool = False) -> RenderableType:
    """Return board, players, clocks and the last moves, side by side; pieces perhaps as letters."""
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    told = Text()
    for color in (Color.BLACK, Color.WHITE):
        name = scene.black if color is Color.BLACK else scene.white
        is_due = scene.position.turn is color and not scene.ending
        told.append(f"{'>' if is_due else ' '} {name}", "bold" if is_due else "")
        told.append(f" ({color.value.capitalize()})  {_clock(scene, color)}\n", "dim")
    told.append("\n")
    told.append_text(_score_sheet(scene))
    told.append_text(_reason(scene))
    told.append(f"\n{scene.ending}", "bold")
    layout = Table.grid(padding=(0, 3))
    layout.add_column()
    layout.add_column(min_width=_WIDTH)  # so that the frame stays as it is
    layout.add_row(_squares(scene, letters=letters), told)
    return Panel(layout, title="Kibitz", expand=False, padding=(1, 2))


def _squares(scene: Scene, *, letters: bool) -> Text:
    from rich.text import Text

    position, last = scene.position, scene.last_move
    moved = () if last is None else (last.from_square, last.to_square)
    checked = position.checked_king()
    board = Text()
    for rank in reversed(range(position.size)):
        board.append(f"{rank + 1} ", "dim")
        for file in range(position.size):
            square = 8 * rank + file
            ground = _LIGHT if (rank + file) % 2 else _DARK
            if square in moved:
                ground = _MOVED
            if square == checked:
                ground = _CHECKED
            piece = position.piece_at(square)
            if piece is None:
                board.append(" · " if letters else "   ", f"on {ground}")
                continue
            color, kind = piece
            letter = kind.letter if color is Color.WHITE else kind.value
            sign = letter if letters else _PIECES[kind.value]
            ink = _WHITE if color is Color.WHITE else _BLACK
            board.append(f" {sign} ", f"{ink} on {ground}")
        board.append("\n")
    board.append("  " + "".join(f" {file} " for file in "abcdefgh"[: position.size]), "dim")
    return board


def _score_sheet(scene: Scene) -> Text:
    from rich.text import Text

    rows: dict[int, dict[Color, str]] = {}
    for number, color, san in scene.moves[-2 * _MOVES - 1 :]:
        rows.setdefault(number, {})[color] = san
    sheet = Text()
    for number in sorted(rows)[-_MOVES:]:
        white, black = (rows[number].get(color, "") for color in (Color.WHITE, Color.BLACK))
        sheet.append(f"{number:3}. ", "dim")
        sheet.append(f"{white:8}{black}\n")
    sheet.append("\n" * (_MOVES - min(len(rows), _MOVES)))  # so that nothing below moves
    return sheet


def _reason(scene: Scene) -> Text:
    """Return why the last move was played, on as many lines whatever it is."""
    from rich.text import Text

    lines = wrap(scene.reason, _WIDTH, max_lines=_REASON, placeholder=" …")
    return Text("\n".join(["", *lines, *[""] * (_REASON - len(lines))]), "italic")


def _printable(text: str) -> str:
    """Return words on one line, without what a terminal would obey."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


def _clock(scene: Scene, color: Color) -> str:
    left = None if scene.clocks is None else scene.clocks[f"{color.value}_ms"]
    return "" if left is None else format_clock(timedelta(milliseconds=left))


def _ending(data: dict[str, Any]) -> str:
    outcome = data["outcome"]
    return str(data["detail"]) if outcome is None else f"{outcome['result']}: {outcome['detail']}"


def _has_figurines(console: Console) -> bool:
    try:
        "".join(_PIECES.values()).encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
