"""The screen of `kibitz play`: boards and sentences on a terminal, or as plain text."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from app.cli.boards.board import Look, draw_board
from app.cli.processes.output import unless_hung_up
from engine import Color, Move, Position

if TYPE_CHECKING:
    from rich.console import Console


def _nothing() -> None:
    """Do nothing."""


class ConsoleScreen:
    """Writes below what is there. Whoever edits a line at the same time asks to be refreshed.

    When the terminal is gone, it writes nothing, and the game need not know.
    """

    def __init__(self, console: Console, look: Look) -> None:
        self._console = console
        self._look = look
        #: Called before something is written, and when the prompt may be another.
        self.before_writing: Callable[[], None] = _nothing
        self.refreshed: Callable[[], None] = _nothing

    def say(self, *lines: str) -> None:
        """Write lines, without anything that a terminal would obey."""
        from rich.text import Text

        if not lines:
            return
        self.before_writing()
        self._measure()
        for line in lines:
            text = self._plain(line)
            with unless_hung_up():
                self._console.print(Text(text), soft_wrap=self._is_for_others_to_fold(text))

    def draw(self, position: Position, last_move: Move | None, perspective: Color) -> None:
        """Draw the board."""
        self.before_writing()
        board = draw_board(position, self._look, last_move=last_move, perspective=perspective)
        with unless_hung_up():
            self._console.print(board)

    def refresh(self) -> None:
        """Have the line that is edited drawn anew."""
        self.refreshed()

    def _is_for_others_to_fold(self, line: str) -> bool:
        """Return whether a line is written as it is.

        What is piped to somebody is theirs; and an address that we broke could not be copied.
        """
        from rich.cells import cell_len

        is_piped, width = not self._console.is_terminal, self._console.width
        return is_piped or any(cell_len(word) > width for word in line.split())

    def _measure(self) -> None:
        """Go by the size of the window now, and not by what the environment says it was."""
        if self._console.is_terminal:
            with suppress(OSError):  # it is none that the system knows
                columns = os.get_terminal_size(self._console.file.fileno()).columns
                self._console.width = columns or self._console.width

    def _plain(self, line: str) -> str:
        # Unlike `printable`, which is for words, this keeps the columns of a table.
        plain = "".join(char for char in line if char.isprintable())
        return plain.replace("…", "...") if self._look.ascii else plain
