"""Line: moves from a position onwards, each with what was noted about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

from engine.chess_position import ChessPosition, position_of
from engine.moves import Move
from engine.pieces import Color
from engine.position import Position
from engine.state import State


@dataclass(frozen=True)
class Evaluation:
    """What an engine or annotator thought of a position, from White's side.

    Either centipawns, or moves to mate: positive when White mates, negative when Black does.
    """

    centipawns: int | None = None
    mate: int | None = None

    def __post_init__(self) -> None:
        if (self.centipawns is None) == (self.mate is None):
            raise ValueError("an evaluation is either in centipawns or in moves to mate")


@dataclass
class Note:
    """What was noted about a ply: comments, NAGs, times, evaluation, variations instead of it."""

    before: str = ""
    comment: str = ""
    nags: list[int] = field(default_factory=list)
    clock: timedelta | None = None
    evaluation: Evaluation | None = None
    source: str | None = None
    elapsed: timedelta | None = None
    played_at: datetime | None = None
    variations: list[Line] = field(default_factory=list)


class Line:
    """A position and the moves played from it, in order."""

    __slots__ = ("_plies", "_positions", "_states", "moves", "notes")

    def __init__(self, start: Position) -> None:
        self._positions: list[Position] = [start]
        # States of positions that nobody has asked for yet: a PGN has many, and few are looked at.
        self._states: list[State] = []
        # Plies that somebody has asked for: a match asks for all of them at every turn.
        self._plies: list[Ply] = []
        self.moves: list[Move] = []
        #: By the index of the move; most moves have none.
        self.notes: dict[int, Note] = {}

    @property
    def positions(self) -> list[Position]:
        """The start, and the position after each move."""
        if self._states:
            self._positions += map(position_of, self._states)
            self._states.clear()
        return self._positions

    @property
    def last(self) -> Position:
        """The position after the last move."""
        return position_of(self._states[-1]) if self._states else self._positions[-1]

    def append(self, move: Move, after: Position) -> None:
        """Add a move and the position it leads to."""
        self.positions.append(after)
        self.moves.append(move)

    def lists(self) -> tuple[list[Move], list[State], State]:
        """Return the lists to which a reader may add moves and states, and the last state.

        For lines of chess only. Between two calls, only the reader may touch the line.
        """
        if self._states:
            return self.moves, self._states, self._states[-1]
        return self.moves, self._states, cast(ChessPosition, self._positions[-1]).state

    def __len__(self) -> int:
        return len(self.moves)

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The moves with their numbers, positions and notes."""
        made, moves, positions, notes = self._plies, self.moves, self.positions, self.notes
        del made[len(moves) :]
        while made and made[-1].after is not positions[len(made)]:
            made.pop()  # taken back since, and something else played
        for index in range(len(made), len(moves)):
            before, after = positions[index], positions[index + 1]
            made.append(Ply(index + 1, moves[index], before, after, notes.get(index)))
        return tuple(made)

    def note(self, index: int) -> Note:
        """Return the note of a move, to be written to."""
        if index not in self.notes:
            self.notes[index] = Note()
            del self._plies[index:]  # made without it
        return self.notes[index]


#: What was noted about a ply of which nothing was. Nobody writes to it.
_NOTHING = Note()


class Ply:
    """A move that was played, with its number, positions and notes."""

    __slots__ = ("_note", "after", "before", "move", "number")

    def __init__(
        self, number: int, move: Move, before: Position, after: Position, note: Note | None
    ) -> None:
        #: Which ply of the line it is, from 1.
        self.number = number
        self.move = move
        #: The positions it was played in and led to.
        self.before = before
        self.after = after
        self._note = note or _NOTHING

    @property
    def color(self) -> Color:
        """Who played it."""
        return self.before.turn

    @property
    def move_number(self) -> int:
        """The number of the move as score sheets count."""
        return self.before.fullmove_number

    @property
    def san(self) -> str:
        """The move in SAN."""
        return self.before.san(self.move)

    @property
    def uci(self) -> str:
        """The move as UCI engines write it."""
        return self.move.uci()

    @property
    def comment(self) -> str:
        """What was remarked after the move."""
        return self._note.comment

    @property
    def comment_before(self) -> str:
        """What was remarked before the move."""
        return self._note.before

    @property
    def nags(self) -> tuple[int, ...]:
        """Numeric annotation glyphs: 1 for `!`, 2 for `?`, ..."""
        return tuple(self._note.nags)

    @property
    def clock(self) -> timedelta | None:
        """What was left on the mover's clock after the move."""
        return self._note.clock

    @property
    def evaluation(self) -> Evaluation | None:
        """What the position after the move was thought to be worth."""
        return self._note.evaluation

    @property
    def source(self) -> str | None:
        """Who or what proposed the move, when it was told."""
        return self._note.source

    @property
    def elapsed(self) -> timedelta | None:
        """How long the mover thought, when it was told."""
        return self._note.elapsed

    @property
    def played_at(self) -> datetime | None:
        """When it was played, in UTC, when it was told."""
        return self._note.played_at

    @property
    def variations(self) -> tuple[Line, ...]:
        """Lines that could have been played instead."""
        return tuple(self._note.variations)

    def __repr__(self) -> str:
        dots = "." if self.color is Color.WHITE else "..."
        return f"<Ply {self.move_number}{dots}{self.san}>"
