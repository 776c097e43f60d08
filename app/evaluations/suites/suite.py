"""Suite: positions with a best move, to tell how strong somebody is by a turn instead of a game.

A suite is a file of EPD that every program reads. What Kibitz knows besides is in its comments:

    c0 "difficulty=1234.5 se=87.2"    the rating whose owner solves it half of the time
    c1 "gap=34.6"                     how much better the best move is than the next, in Win%
    c2 "source=stockfish:5 - stockfish:6, ply 31"
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from app.errors import AppError
from app.evaluations.suites.epd import Epd, InvalidEpd, read_epd
from engine import Move, Position
from engine.errors import shown

#: A larger file is no suite of positions that somebody means to ask.
MOST_POSITIONS = 100_000
_LARGEST_FILE = 50_000_000

_NUMBER = r"-?[0-9]{1,6}(?:\.[0-9]{1,6})?"
_DIFFICULTY = re.compile(rf"difficulty=({_NUMBER}) se=({_NUMBER})")
_GAP = re.compile(rf"gap=({_NUMBER})")
_SOURCE = "source="
_SHIPPED = files(__package__)


@dataclass(eq=False)
class InvalidSuite(AppError):
    """A file that is no suite, or cannot be read or written."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"the suite {self.name} cannot be used: {self.reason}"


@dataclass(frozen=True, slots=True)
class SuitePosition:
    """A position with its best move, or moves of which any will do."""

    id: str
    fen: str
    best: tuple[Move, ...]
    #: The rating of whoever solves it half of the time, and its standard error, if measured.
    difficulty: float | None = None
    difficulty_se: float | None = None
    #: How far the best move is ahead of the next one, in points of Win%.
    gap: float | None = None
    source: str = ""

    @property
    def position(self) -> Position:
        """The position itself."""
        return Position.from_fen(self.fen)

    @property
    def uci(self) -> tuple[str, ...]:
        """The best moves as UCI engines write them."""
        return tuple(move.uci() for move in self.best)

    @property
    def san(self) -> tuple[str, ...]:
        """The best moves in short notation."""
        return tuple(map(self.position.san, self.best))

    def is_right(self, answer: Move | None) -> bool:
        """Return whether an answer solves it; none at all does not."""
        return answer in self.best

    def to_epd(self) -> Epd:
        """Return it as a line of EPD."""
        comments: dict[int, str] = {}
        if self.difficulty is not None:
            comments[0] = f"difficulty={self.difficulty:z.1f} se={self.difficulty_se or 0.0:.1f}"
        if self.gap is not None:
            comments[1] = f"gap={self.gap:z.1f}"
        if self.source:
            comments[2] = f"{_SOURCE}{self.source}"
        return Epd(self.position, self.best, (), self.id, comments)

    @classmethod
    def from_epd(cls, epd: Epd, name: str) -> SuitePosition:
        """Return what a line of EPD says, by that name if it has none of its own.

        Where only moves are named that are mistakes (`am`), all others are right. Raises
        `ValueError` if no move is right, or all are.
        """
        legal = epd.position.legal_moves()
        best = epd.best
        if not best and epd.avoid:
            best = tuple(sorted(set(legal).difference(epd.avoid), key=Move.uci))
        if not best:
            raise ValueError("it has no best move (bm)")
        if len(best) == len(legal):
            raise ValueError("any legal move is right")
        difficulty = _DIFFICULTY.fullmatch(epd.comments.get(0, ""))
        gap = _GAP.fullmatch(epd.comments.get(1, ""))
        source = epd.comments.get(2, "")
        return cls(
            epd.id or name,
            epd.position.fen(),
            best,
            None if difficulty is None else float(difficulty[1]),
            None if difficulty is None else abs(float(difficulty[2])),
            None if gap is None else float(gap[1]),
            source.removeprefix(_SOURCE) if source.startswith(_SOURCE) else "",
        )


@dataclass(frozen=True)
class Suite:
    """Positions with a name; no two have the same id."""

    name: str
    positions: tuple[SuitePosition, ...]

    @cached_property
    def digest(self) -> str:
        """What is equal for two suites exactly when their positions are: 64 hexadecimal digits."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        """Write it as EPD, a position a line."""
        return "".join(f"{position.to_epd().text()}\n" for position in self.positions)

    def spread(self, count: int) -> Suite:
        """Return so many of its positions, in its order, from the easiest to the hardest evenly.

        Those that crowd between their neighbours go first; and all whose difficulty is not known.
        """
        places = [at for at, each in enumerate(self.positions) if each.difficulty is not None]
        places.sort(key=lambda at: (self.positions[at].difficulty, self.positions[at].id))
        while len(places) > max(count, 2):
            elos = [self.positions[at].difficulty or 0.0 for at in places]
            room = [after - before for before, after in zip(elos, elos[2:], strict=False)]
            del places[1 + room.index(min(room))]
        chosen = sorted(places[: max(count, 0)])
        return Suite(self.name, tuple(self.positions[at] for at in chosen))

    @classmethod
    def read(cls, name: str, text: str) -> Suite:
        """Read EPD, or raise `InvalidSuite`."""
        positions: dict[str, SuitePosition] = {}
        try:
            for line, epd in read_epd(text):
                try:
                    position = SuitePosition.from_epd(epd, f"{name}.{line}")
                except ValueError as error:
                    raise InvalidEpd(line, str(error)) from None
                if position.id in positions:
                    raise InvalidEpd(line, f"the id {shown(position.id)} is there twice")
                positions[position.id] = position
                if len(positions) > MOST_POSITIONS:
                    raise InvalidEpd(line, f"there are more than {MOST_POSITIONS:,} positions")
        except InvalidEpd as error:
            raise InvalidSuite(name, str(error)) from error
        if not positions:
            raise InvalidSuite(name, "it has no position")
        return cls(name, tuple(positions.values()))

    @classmethod
    def load(cls, path: Path) -> Suite:
        """Read a file, or raise `InvalidSuite`. Its name is that of the file, without `.epd`."""
        try:
            with path.open("rb") as file:
                raw = file.read(_LARGEST_FILE + 1)
        except (OSError, ValueError) as error:  # the latter for a name with a NUL in it
            raise InvalidSuite(shown(str(path)), f"it cannot be read: {_why(error)}") from None
        if len(raw) > _LARGEST_FILE:
            raise InvalidSuite(shown(str(path)), "it is larger than 50 MB")
        return cls.read(path.name.removesuffix(".epd"), _decoded(raw))


def shipped_suites() -> tuple[str, ...]:
    """Return the names of the suites that come with Kibitz."""
    names = (each.name for each in _SHIPPED.iterdir() if each.name.endswith(".epd"))
    return tuple(sorted(name.removesuffix(".epd") for name in names))


def find_suite(name: str) -> Suite:
    """Return a suite that comes with Kibitz, by its name, or one from a file; or `InvalidSuite`."""
    if name in shipped_suites():
        return Suite.read(name, (_SHIPPED / f"{name}.epd").read_text(encoding="utf-8"))
    return Suite.load(Path(name))


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
