"""Picture: a scene of a match as a terminal shows it, on as many columns and rows as it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self

from rich import box
from rich.cells import cell_len, chop_cells
from rich.panel import Panel
from rich.text import Text

from app.cli.boards.board import Look, draw_board
from app.cli.boards.scene import Scene, SeenPly
from app.cli.boards.talk import Said, Talk, refusal
from app.matches.match import MatchStatus
from engine import Color, Evaluation, format_clock

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

#: Wider, or higher, nobody can take it in at a glance.
_MOST_COLUMNS, _MOST_ROWS = 120, 44
#: What is drawn where no window says how high it is.
_ROWS = 24
#: How wide the board is with its numbers, and what else stands beside it.
_BOARD, _GAP, _LEAST_BESIDE = 26, 3, 24
#: In smaller windows a frame would take too much.
_FRAMED_COLUMNS, _FRAMED_ROWS = 34, 20
#: How wide a move is in the score sheet, alone and with what it is worth.
_MOVE, _VALUED_MOVE = 8, 15
#: How many lines the reason for the last move has, and what is to be said of the match.
_REASON, _NEWS = 2, 2


@dataclass(frozen=True)
class Picture:
    """A scene at a moment. It is drawn as large as the place that it is given, and never larger."""

    scene: Scene
    look: Look
    #: Of White and of Black, as they are read.
    clocks: tuple[str, str]
    perspective: Color = Color.WHITE
    #: What is to be said of the way the match is watched, such as a lost connection.
    note: str = ""

    @classmethod
    def of(
        cls,
        scene: Scene,
        look: Look,
        now: datetime,
        *,
        perspective: Color = Color.WHITE,
        note: str = "",
    ) -> Self:
        """Return the picture of a scene at a time."""
        white, black = (_clock(scene.left(color, now)) for color in (Color.WHITE, Color.BLACK))
        return cls(scene, look, (white, black), perspective, note)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = min(options.max_width, _MOST_COLUMNS)
        rows = min(options.height or _ROWS, console.height, _MOST_ROWS)
        if columns < _FRAMED_COLUMNS or rows < _FRAMED_ROWS:
            yield self._text(self.lines(columns, rows), columns)
            return
        inner = columns - 4
        yield Panel(
            self._text(self.lines(inner, rows - 2), inner),
            title="Kibitz",
            subtitle=self._subtitle(inner - 4),
            width=columns,
            height=rows,
            padding=(0, 1),
            box=box.ASCII if self.look.ascii else box.ROUNDED,
        )

    def lines(self, columns: int, rows: int) -> list[Text]:
        """Return what is drawn, line by line, which may still be too long, but not too many."""
        board = self._board()
        far, near = self.perspective.opponent, self.perspective
        if columns >= _BOARD + _GAP + _LEAST_BESIDE and rows >= len(board) + 3:
            width = max(_BOARD, *(line.cell_len for line in board))
            left = [self._player(far, width), *board, self._player(near, width), Text("")]
            left += self._worth(width)
            return self._side_by_side(left, len(board) + 2, columns, rows)
        if columns < max(line.cell_len for line in board) or rows < len(board) + 3:
            board = []
        lines = [self._player(far, columns), *board, self._player(near, columns)]
        lines += self._news(columns, 1) or [Text("")]
        lines += [self._last_moves(columns)]
        return (lines + self._talk(columns, rows - len(lines)))[: max(rows, 1)]

    def _side_by_side(
        self, left: Sequence[Text], least: int, columns: int, rows: int
    ) -> list[Text]:
        """Return the board beside the rest; of what is left of it, the first lines are needed."""
        width = left[0].cell_len
        news = self._news(columns, _NEWS)
        # They have their place always, so that nothing moves when they come.
        below = [Text(""), *news, *[Text("")] * (_NEWS - len(news))]
        if rows < len(left) + len(below):
            below = news[: rows - least]
        height, beside = rows - len(below), columns - width - _GAP
        sheet = _score_sheet(self.scene.plies, min(max(height // 3, 2), 12), beside)
        reason = _fill(self._reason(beside), _REASON)
        right = [*sheet, *reason]
        right += self._talk(beside, height - len(right))
        lines = []
        for number in range(height):
            line = left[number].copy() if number < len(left) else Text("")
            line.truncate(width, pad=True)
            line.append(" " * _GAP)
            if number < len(right):
                line.append_text(right[number])
            lines.append(line)
        return lines + below

    def _board(self) -> list[Text]:
        last = self.scene.last_ply
        board = draw_board(
            self.scene.position,
            self.look,
            last_move=None if last is None else last.move,
            perspective=self.perspective,
        )
        return list(board.split("\n"))

    def _player(self, color: Color, width: int) -> Text:
        """Return a name and a clock, on one line; the clock is whole."""
        scene = self.scene
        is_due = scene.position.turn is color and not scene.is_over
        clock = self.clocks[0 if color is Color.WHITE else 1]
        mark = f"{self._due if is_due else ' '} "
        style = "bold" if is_due else ""
        name = Text(f"{mark}{scene.name(color) or color.value.capitalize()}", style)
        self._cut(name, max(width - cell_len(clock) - 1, 1), pad=True)
        return name.append(f" {clock}", style if clock else "")

    def _worth(self, width: int) -> list[Text]:
        ply = self.scene.valued_ply
        if ply is None or ply.evaluation is None:
            return []
        after = "" if ply is self.scene.last_ply else f" after {ply.title}"
        return [Text(line) for line in wrapped(f"Evaluation {score(ply.evaluation)}{after}", width)]

    def _news(self, width: int, most: int) -> list[Text]:
        """Return what is to be said of the match now, and of the connection, on few lines."""
        scene, news = self.scene, []
        if self.note:
            news.append(Text(self.note, "bold yellow"))
        if scene.match_id and scene.status is MatchStatus.CREATED:
            news.append(Text("The match has not begun yet."))
        if scene.ending:
            news.append(Text(scene.ending, "bold"))
        if scene.paused:
            news.append(Text(f"Paused: {scene.paused}", "bold"))
        if scene.draw_offer is not None:
            news.append(Text(f"{scene.draw_offer.value.capitalize()} offers a draw."))
        if scene.takeback is not None:
            news.append(Text(f"{scene.takeback.value.capitalize()} asks to take back."))
        if len(news) > most:
            news = [Text(" | ").join(news)]
        lines = [Text(part, line.style) for line in news for part in wrapped(line.plain, width)]
        return _fill(lines, most, self._dots)[:most] if len(lines) > most else lines

    def _last_moves(self, width: int) -> Text:
        """Return as many of the newest moves as find room on one line."""
        plies = self.scene.plies
        for count in range(min(len(plies), width // 3), 0, -1):
            first, *others = plies[-count:]
            words = [each.title if each.color is Color.WHITE else each.san for each in others]
            told = " ".join([first.title, *words])
            if cell_len(told) <= width:
                return Text(told)
        return Text("")

    def _reason(self, width: int) -> list[Text]:
        ply = self.scene.last_ply
        reason = "" if ply is None else ply.reason
        return _shortened(
            [Text(line, "italic") for line in wrapped(reason, width)], _REASON, self._dots
        )

    # --- what is said ---

    def _talk(self, width: int, rows: int) -> list[Text]:
        """Return what is said of this turn, or was of the last, as far as it finds room."""
        talk = self.scene.talk
        if talk.is_empty:
            talk = self.scene.last_talk
        if talk.is_empty or rows < 2:
            return []
        head = f"Before {talk.before}:" if talk.before else "Now:"
        speeches = self._speeches(talk, width)[-(rows - 1) :]
        return [Text(head, "dim"), *_in_room(speeches, rows - 1, self._dots)]

    def _speeches(self, talk: Talk, width: int) -> list[_Speech]:
        told = [_Speech(self._said(said, width), said.is_speaking) for said in talk.said]
        for move, why in talk.refused:
            lines = wrapped(f"Refused: {refusal(move, why)}", width)
            told.append(_Speech([Text(line, "red") for line in lines]))
        return told

    def _said(self, said: Said, width: int) -> list[Text]:
        if said.abstained:
            told = f"{said.by} says nothing: {said.abstained}"
            return [Text(line, "dim") for line in wrapped(told, width)]
        moves = " ".join(move for move, _ in said.candidates)
        lines = [Text(line, "bold") for line in wrapped(f"{said.by}: {moves}", width)]
        for move, reason in said.candidates if any(why for _, why in said.candidates) else ():
            lines += [Text(line) for line in wrapped(f"{move}: {reason}", width)]
        lines += [Text(line, "dim") for line in wrapped(said.words, width)]
        return lines

    # --- what the terminal can show ---

    @property
    def _due(self) -> str:
        return ">" if self.look.ascii else "▶"

    @property
    def _dots(self) -> str:
        return "..." if self.look.ascii else "…"

    def _subtitle(self, width: int) -> Text:
        scene = self.scene
        control = "" if scene.control is None else str(scene.control)
        told = Text(", ".join(filter(None, (scene.match_id, scene.variant, control))), "dim")
        self._cut(told, width)
        return told

    def _cut(self, line: Text, width: int, *, pad: bool = False) -> None:
        """Let a line be no wider."""
        if line.cell_len > width:
            line.truncate(max(width - len(self._dots), 0), overflow="crop")
            line.append(self._dots[:width])
        if pad:
            line.pad_right(max(width - line.cell_len, 0))

    def _text(self, lines: Iterable[Text], width: int) -> Text:
        """Return lines as one text, each of them as wide as the others."""
        whole = Text(no_wrap=True, overflow="crop")
        for number, line in enumerate(lines):
            shown = line.copy()
            if self.look.ascii:
                shown.plain = shown.plain.encode("ascii", "replace").decode()
            self._cut(shown, width, pad=True)
            whole.append("\n" * bool(number)).append_text(shown)
        return whole


@dataclass(frozen=True)
class _Speech:
    """What somebody said, on lines. Of somebody who still speaks the last ones count."""

    lines: list[Text]
    is_speaking: bool = False

    def cut(self, rows: int, dots: str) -> list[Text]:
        if self.is_speaking and rows > 1 and len(self.lines) > rows:
            return [self.lines[0], *self.lines[1 - rows :]]
        return _shortened(self.lines, rows, dots)


def score(evaluation: Evaluation) -> str:
    """Return an evaluation from White's side: `+0.35`, `#3`, `#-3`."""
    if evaluation.mate is not None:
        return f"#{evaluation.mate}" if evaluation.mate else "#"
    return f"{(evaluation.centipawns or 0) / 100:+.2f}"


def wrapped(text: str, width: int) -> list[str]:
    """Return words on lines that are no wider; a longer word is cut in pieces."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:  # no letter is wider than two
            lines += chop_cells(word, max(width, 2))
    return lines


def _in_room(speeches: Sequence[_Speech], rows: int, dots: str) -> list[Text]:
    """Return as much of each as finds room: the short ones whole, and equal shares of the rest."""
    shares = [0] * len(speeches)
    while rows > 0:
        wanting = [at for at, each in enumerate(speeches) if shares[at] < len(each.lines)]
        if not wanting:
            break
        for at in wanting[:rows]:
            shares[at] += 1
        rows -= len(wanting[:rows])
    told = zip(speeches, shares, strict=True)
    return [line for speech, share in told for line in speech.cut(share, dots)]


def _score_sheet(plies: Sequence[SeenPly], rows: int, width: int) -> list[Text]:
    """Return the last moves, a number on each line, and always as many lines."""
    by_number: dict[int, dict[Color, SeenPly]] = {}
    for ply in plies[-2 * rows - 1 :]:
        by_number.setdefault(ply.number, {})[ply.color] = ply
    place = _VALUED_MOVE if width >= 2 * _VALUED_MOVE + 5 else _MOVE
    sheet = []
    for number in sorted(by_number)[-rows:]:
        line = Text(f"{number:3}. ", "dim")
        for color in (Color.WHITE, Color.BLACK):
            seen = by_number[number].get(color)
            told = Text("" if seen is None else seen.san, "dim" if seen and seen.is_opening else "")
            if seen is not None and seen.evaluation is not None and place == _VALUED_MOVE:
                told.append(f" {score(seen.evaluation)}", "dim")
            told.truncate(place - 1, pad=True)
            line.append_text(told).append(" ")
        sheet.append(line)
    return _fill(sheet, rows)


def _fill(lines: list[Text], rows: int, dots: str = "") -> list[Text]:
    """Return as many lines, whatever there is to say, so that nothing below moves."""
    return _shortened(lines, rows, dots) + [Text("")] * (rows - len(lines))


def _shortened(lines: list[Text], rows: int, dots: str) -> list[Text]:
    if len(lines) <= rows:
        return lines
    return [*lines[: rows - 1], Text(f"{lines[rows - 1].plain} {dots}", lines[rows - 1].style)]


def _clock(left: timedelta | None) -> str:
    return "" if left is None else format_clock(left)
