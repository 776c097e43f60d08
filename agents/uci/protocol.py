"""The UCI protocol without input or output: what engines print, and what they are told.

`LineSplitter` cuts bytes into lines, `read` turns a line into a message, and the functions named
`..._command` write lines. Only a line without end makes them fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from agents.player import Turn
from agents.uci.options import Kind, Option
from engine import ChessPosition, Position

#: A line may be this long. Those of a deep search with many moves reach a few kilobytes.
LONGEST_LINE = 64 * 1024
_GOOD_DEAL = 16 * 1024

_START = Position.start()


class LineTooLong(ValueError):
    """So many bytes without a line break that they can be no line of an engine."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`id name ...` or `id author ...`."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """`option name ...`."""

    option: Option


@dataclass(frozen=True, slots=True)
class UciOk:
    """`uciok`: everything has been declared."""


@dataclass(frozen=True, slots=True)
class ReadyOk:
    """`readyok`: everything before `isready` has been done."""


@dataclass(frozen=True, slots=True)
class InfoLine:
    """`info ...`, not yet read: most of them never need to be."""

    text: str


@dataclass(frozen=True, slots=True)
class BestMove:
    """`bestmove ...`: the search is over. The moves are as the engine wrote them."""

    move: str
    ponder: str | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """Any other line: a greeting, a remark, or worse."""

    text: str


Message = Identity | Declaration | UciOk | ReadyOk | InfoLine | BestMove | Noise

_UCI_OK, _READY_OK = UciOk(), ReadyOk()


def read(line: str) -> Message:
    """Return what a line says. Any blanks will do, and nothing is an error."""
    word, rest = _first_word(line)
    if word == "info":
        return InfoLine(rest)
    if word == "bestmove":
        words = rest.split()
        ponder = words[2] if len(words) > 2 and words[1] == "ponder" else None
        return BestMove(words[0] if words else "", ponder)
    if word == "readyok":
        return _READY_OK
    if word == "uciok":
        return _UCI_OK
    if word == "option":
        option = Option.parse(rest.split())
        return Noise(line) if option is None else Declaration(option)
    if word == "id":
        return Identity(*_first_word(rest))
    return Noise(line)


def _first_word(text: str) -> tuple[str, str]:
    """Return the first word of a text, and the rest."""
    word, rest, *_ = *text.strip().split(None, 1), "", ""
    return word, rest


class LineSplitter:
    """Cuts what comes in, in pieces of any size, into lines."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes, patient: bool = False) -> list[str]:
        """Return the lines that are complete now, or raise `LineTooLong`.

        If `patient`, none is returned before there is a best move, or a good deal of others.
        """
        self._rest += data
        if patient and len(self._rest) < _GOOD_DEAL and b"bestmove" not in self._rest:
            return []
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in lines):
            raise LineTooLong
        # Engines print ASCII; authors' names come in any encoding, and are not worth failing for.
        return [line.decode("utf-8", "replace").rstrip("\r") for line in lines]


def option_command(option: Option, text: str) -> str:
    """Return the line that sets an option to a value that `Option.text` has approved."""
    if option.kind is Kind.BUTTON:
        return f"setoption name {option.name}"
    return f"setoption name {option.name} value {text}"


def position_command(turn: Turn) -> str:
    """Return the line that sets up a turn of chess, with the moves that could still be repeated.

    Earlier ones cannot matter, and old engines read only so much of a line.
    """
    plies = turn.plies
    first = max(0, len(plies) - cast(ChessPosition, turn.position).halfmove_clock)
    base = cast(ChessPosition, plies[first - 1].after if first else turn.start)
    if base == _START:
        words = ["position startpos"]
    else:
        words = [f"position fen {base.fen(legal_en_passant=True)}"]
    if first < len(plies):
        words.append("moves")
        words += [ply.move.uci() for ply in plies[first:]]
    return " ".join(words)
