"""EPD: a position in a line, and what is to be known of it, as test suites are written.

    r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; id "scholar";

Four fields of a FEN are followed by operations: an opcode, its operands, a semicolon. Lenient where
files differ: a FEN may have all its six fields, moves may be in any notation, text may lack its
quotes and the last operation its semicolon. Strict about chess: positions and moves are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from app.errors import AppError
from engine import IllegalPosition, InvalidFen, Move, MoveError, Position
from engine.errors import shown

_LONGEST_LINE = 20_000
_FIELDS = 4
_SPACE = re.compile(r"\s*")
#: The end of an operation, a text in quotes, or a word. A quote without its partner fits nothing.
_TOKEN = re.compile(r'(?P<end>;)|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<word>[^\s";]+)', re.DOTALL)
_OPCODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_ESCAPED = re.compile(r'\\(["\\])')
_COUNT = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_COMMENT = re.compile(r"c[0-9]")
#: What would break a line, or could not be written to a file.
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]+")
_BEST, _AVOID, _ID, _SCORE, _CLOCK, _MOVE_NUMBER = "bm", "am", "id", "ce", "hmvc", "fmvn"
_OURS = frozenset((_BEST, _AVOID, _ID, _SCORE, _CLOCK, _MOVE_NUMBER))


@dataclass(eq=False)
class InvalidEpd(AppError):
    """A line that is not EPD, or whose position or moves the rules refuse."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line} of the EPD: {self.reason}"


@dataclass(frozen=True)
class Epd:
    """A line of EPD. Its moves have to be legal."""

    position: Position
    #: The best moves, any of which will do, and moves that are mistakes.
    best: tuple[Move, ...] = ()
    avoid: tuple[Move, ...] = ()
    id: str = ""
    #: What c0 to c9 say, by their numbers.
    comments: Mapping[int, str] = field(default_factory=dict)
    #: What the position is worth to the side to move.
    centipawns: int | None = None
    #: All other operations: opcodes, and their operands as they were written.
    others: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Write the line, without its end. Characters that would break it become blanks."""
        *fields, clock, number = self.position.fen().split()
        operations = [
            _moves(_BEST, self.position, self.best),
            _moves(_AVOID, self.position, self.avoid),
            f"{_ID} {_quoted(self.id)};" if self.id else "",
            *(f"c{number} {_quoted(text)};" for number, text in sorted(self.comments.items())),
            "" if self.centipawns is None else f"{_SCORE} {self.centipawns};",
            *(_written(f"{opcode} {operands}") for opcode, operands in self.others.items()),
            f"{_CLOCK} {clock};" if clock != "0" else "",
            f"{_MOVE_NUMBER} {number};" if number != "1" else "",
        ]
        return " ".join((*fields, *filter(None, operations)))


def read_epd(source: str | Iterable[str]) -> Iterator[tuple[int, Epd]]:
    """Yield the lines of a text or file, with their numbers.

    Empty lines, and those that begin with `#`, are passed over. Raises `InvalidEpd`.
    """
    lines = re.split(r"\r\n?|\n", source) if isinstance(source, str) else source
    for number, line in enumerate(lines, 1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if text and not text.startswith("#"):
            yield number, parse_epd(text, number)


def parse_epd(text: str, line: int = 1) -> Epd:
    """Read one line, or raise `InvalidEpd` with its number."""
    if len(text) > _LONGEST_LINE:
        raise InvalidEpd(line, f"it is longer than {_LONGEST_LINE:,} characters")
    words = text.split(maxsplit=_FIELDS)
    if len(words) < _FIELDS:
        raise InvalidEpd(line, f"{shown(text)} lacks a field: a position has four")
    counts, rest = _counts(words[_FIELDS] if len(words) > _FIELDS else "")
    operations = _Operations(rest, line)
    if _CLOCK in operations.found:
        counts[0] = operations.count(_CLOCK)
    if _MOVE_NUMBER in operations.found:
        counts[1] = operations.count(_MOVE_NUMBER)
    try:
        position = Position.from_fen(" ".join((*words[:_FIELDS], *counts)))
    except (InvalidFen, IllegalPosition) as error:
        raise InvalidEpd(line, str(error)) from error
    return Epd(
        position,
        operations.moves(_BEST, position),
        operations.moves(_AVOID, position),
        operations.text(_ID),
        {int(code[1]): operations.text(code) for code in operations.comments},
        operations.number(_SCORE),
        {code: each.source for code, each in operations.found.items() if code not in _OURS
         and code not in operations.comments},
    )  # fmt: skip


def _counts(rest: str) -> tuple[list[str], str]:
    """Return the last two fields of a FEN, if a line has them, and what follows."""
    counts = ["0", "1"]
    for place in range(2):
        words = rest.split(maxsplit=1)
        if not words or not _COUNT.fullmatch(words[0]):
            break
        counts[place], rest = words[0], words[1] if len(words) > 1 else ""
    return counts, rest


@dataclass(frozen=True, slots=True)
class _Operands:
    #: Each operand, without its quotes; and all of them as they were written.
    values: tuple[str, ...]
    source: str


class _Operations:
    """The operations of a line, by opcode."""

    def __init__(self, text: str, line: int) -> None:
        self._line = line
        self.found: dict[str, _Operands] = {}
        at, end = 0, len(text.rstrip())
        while at < end:
            at = self._read(text, at, end)
        self.comments = [code for code in self.found if _COMMENT.fullmatch(code)]

    def _read(self, text: str, at: int, end: int) -> int:
        """Read an operation, and return where the next one begins."""
        opcode = _OPCODE.match(text, at)
        if opcode is None or not _is_whole(text, opcode.end()):
            raise InvalidEpd(self._line, f"{shown(text[at:], 20)} begins with no opcode")
        code, at = opcode.group(), opcode.end()
        if code in self.found:
            raise InvalidEpd(self._line, f"{code} is there twice")
        values: list[str] = []
        start = stop = at
        while at < end:
            at = _skip(text, at)
            token = _TOKEN.match(text, at)
            if token is None:
                raise InvalidEpd(self._line, f"the text of {code} has no closing quote")
            at = token.end()
            if token["end"]:
                break
            stop = at
            values.append(token["word"] or _ESCAPED.sub(r"\1", token["text"] or ""))
        source = _UNWRITABLE.sub(" ", text[start:stop]).strip()
        self.found[code] = _Operands(tuple(values), source)
        return _skip(text, at)

    def text(self, code: str) -> str:
        return " ".join(self.found[code].values) if code in self.found else ""

    def moves(self, code: str, position: Position) -> tuple[Move, ...]:
        if code not in self.found:
            return ()
        if not self.found[code].values:
            raise InvalidEpd(self._line, f"{code} names no move")
        try:
            moves = [position.parse(text) for text in self.found[code].values]
        except MoveError as error:
            raise InvalidEpd(self._line, f"{code}: {error}") from error
        return tuple(dict.fromkeys(moves))

    def number(self, code: str) -> int | None:
        return int(self._only(code, _NUMBER)) if code in self.found else None

    def count(self, code: str) -> str:
        return self._only(code, _COUNT)

    def _only(self, code: str, pattern: re.Pattern[str]) -> str:
        values = self.found[code].values
        if len(values) != 1 or not pattern.fullmatch(values[0]):
            raise InvalidEpd(self._line, f"{code} has no number")
        return values[0]


def _is_whole(text: str, end: int) -> bool:
    """Return whether a word ends there."""
    return end == len(text) or text[end].isspace() or text[end] in '";'


def _skip(text: str, at: int) -> int:
    """Return where the next character is that is no blank."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _moves(opcode: str, position: Position, moves: Iterable[Move]) -> str:
    words = " ".join(map(position.san, moves))
    return f"{opcode} {words};" if words else ""


def _quoted(text: str) -> str:
    escaped = _UNWRITABLE.sub(" ", text).replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _written(operation: str) -> str:
    return f"{_UNWRITABLE.sub(' ', operation).rstrip()};"
