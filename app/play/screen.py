"""Screen: the port through which a session is seen."""

from __future__ import annotations

from typing import Protocol

from engine import Color, Move, Position


class Screen(Protocol):
    """Whatever shows a game to those who play it, while they may be writing a line."""

    def say(self, *lines: str) -> None:
        """Show lines of text, which may hold what others have written."""

    def draw(self, position: Position, last_move: Move | None, perspective: Color) -> None:
        """Show the board as somebody of a colour sees it."""

    def refresh(self) -> None:
        """Show the prompt and the status as they are now."""
