"""Table: the moves that were proposed in a turn, and what there is to choose from at any time."""

from __future__ import annotations

from collections.abc import Collection

from agents.player import Advice
from agents.uci.info import Info
from engine import Move, MoveError, Position


class Table:
    """What a player has let know of its turn so far."""

    def __init__(self, position: Position, among: Collection[Move]) -> None:
        """`among` are the moves that may be chosen."""
        self._position = position
        self._among = among
        self.advice: list[Advice] = []
        #: What a search has come to, at last.
        self.info: Info | None = None

    def add(self, advice: Advice) -> bool:
        """Take advice; return False if it lay there already."""
        if advice in self.advice:
            return False
        self.advice.append(advice)
        return True

    def note(self, info: Info) -> bool:
        """Take what a search has come to; return False if that is no line of moves."""
        if info.rank > 1 or not info.pv:
            return False
        self.info = info
        return True

    def best(self) -> Move | None:
        """Return what a search likes best, or else what most members put first.

        Of those that as many did, it is what was put first by whoever spoke first.
        """
        if self.info is not None and (line := self.line()) and line[0] in self._among:
            return line[0]
        firsts = [
            next((each.move for each in advice.candidates if each.move in self._among), None)
            for advice in self.advice
        ]
        named = [move for move in firsts if move is not None]
        return max(named, key=named.count, default=None)

    def line(self) -> list[Move]:
        """Return the moves that a search expects, as far as they are legal."""
        return [] if self.info is None else legal_line(self._position, self.info.pv)


def legal_line(position: Position, texts: Collection[str]) -> list[Move]:
    """Return moves in UCI notation as far as they can be played one after the other."""
    moves: list[Move] = []
    try:
        for text in texts:
            move = Move.from_uci(text.lower())
            position = position.play(move)
            moves.append(move)
    except MoveError:
        pass  # what an engine writes behind its last sound move is no line
    return moves
