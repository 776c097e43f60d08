"""A file of results against opponents of known rating: what `kibitz rate` reads.

A table of comma-separated values. The first line names the columns: `opponent_elo`, `wins`, `draws`
and `losses`, and as one likes `opponent_elo_se` (the rating's standard error), `colour` (the
agent's: white, black, w or b) and `opponent` (a name). Other columns are left alone.

    UnreadableResults    a line that is not what it should be
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.errors import AppError
from app.evaluations.ratings import LARGEST_ELO, MOST_GAMES, AnchorResult
from engine import Color
from engine.errors import shown

REQUIRED = ("opponent_elo", "wins", "draws", "losses")
OPTIONAL = ("opponent_elo_se", "colour", "opponent")

#: How the column may be called as well.
_SYNONYMS = {"color": "colour"}
_COLORS = {
    "": None,
    "white": Color.WHITE,
    "w": Color.WHITE,
    "black": Color.BLACK,
    "b": Color.BLACK,
}
#: With zeros behind a point, too: who reads a table with a gap in it writes 7 as 7.0 (pandas does).
_COUNT = re.compile(r"([0-9]{1,12})(\.0+)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


@dataclass(eq=False)
class UnreadableResults(AppError):
    """A file, or a line of it, that does not hold results."""

    source: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        where = self.source if self.line is None else f"line {self.line} of {self.source}"
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """What was read: the results, line by line, and columns that nobody knows."""

    results: tuple[AnchorResult, ...]
    unknown_columns: tuple[str, ...] = ()


def read_results(data: bytes, source: str) -> ResultsFile:
    """Read a file's bytes, or raise `UnreadableResults`, which names the source and the line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableResults(source, None, "it is not text in UTF-8") from None
    lines = _lines(text, source)
    number, header = next(lines, (None, []))
    if number is None:
        raise UnreadableResults(source, None, "it is empty")
    columns = _columns(header, source, number)
    results = tuple(_result(columns, fields, source, number) for number, fields in lines)
    if not results:
        raise UnreadableResults(source, None, "it holds no results, only names of columns")
    known = {*REQUIRED, *OPTIONAL}
    return ResultsFile(results, tuple(name for name in columns if name not in known))


def _lines(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Return each line's number and its fields, but for blank ones."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UnreadableResults(source, reader.line_num, f"{error}") from None
        if any(field.strip() for field in fields):
            yield reader.line_num, [field.strip() for field in fields]


def _columns(header: list[str], source: str, line: int) -> list[str]:
    columns = [_SYNONYMS.get(name.lower(), name.lower()) for name in header]
    if missing := [name for name in REQUIRED if name not in columns]:
        names = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        what = "column" if len(missing) == 1 else "columns"
        raise UnreadableResults(
            source, line, f"it must name the columns, and lacks the {what} {names}"
        )
    for name in columns:
        if name and columns.count(name) > 1:
            raise UnreadableResults(source, line, f"the column {shown(name)} is there twice")
    return columns


def _result(columns: list[str], fields: list[str], source: str, line: int) -> AnchorResult:
    def refuse(reason: str) -> UnreadableResults:
        return UnreadableResults(source, line, reason)

    def count(name: str) -> int:
        found = _COUNT.fullmatch(values[name])
        if found is None or int(found[1]) > MOST_GAMES:
            raise refuse(f"{name} must be a whole number of games, not {shown(values[name])}")
        return int(found[1])

    def elo(name: str, least: float) -> float:
        number = float(values[name]) if _NUMBER.fullmatch(values[name]) else math.nan
        if not least <= number <= LARGEST_ELO:
            raise refuse(f"{name} must be a number of Elo points, not {shown(values[name])}")
        return number

    while len(fields) > len(columns) and not fields[-1]:
        fields = fields[:-1]  # a comma at the end of the line
    if len(fields) != len(columns):
        raise refuse(f"there are {len(fields)} fields for {len(columns)} columns")
    values = dict(zip(columns, fields, strict=True))
    color = values.get("colour", "").lower()
    if color not in _COLORS:
        raise refuse(f"colour must be white or black, not {shown(values['colour'])}")
    return AnchorResult(
        elo("opponent_elo", -LARGEST_ELO),
        count("wins"),
        count("draws"),
        count("losses"),
        elo_se=elo("opponent_elo_se", 0) if values.get("opponent_elo_se") else 0.0,
        color=_COLORS[color],
        anchor=values.get("opponent", ""),
    )
