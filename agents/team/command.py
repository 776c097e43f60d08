"""Command: `make_move` with both squares, which tells a move beyond doubt.

Whoever writes it has done what was asked for. So it is looked for in the text as it stands: marks
of emphasis keep it apart from the next word, and no word before it makes it another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PIECE = r"(?P<piece>queen|rook|bishop|knight|[qrbn])(?![\w-])"
_SQUARES = (
    r"(?P<squares>[a-h][1-8]-?[a-h][1-8](?:[qrbn](?![a-z]))?)(?![a-h]?\d)"
    rf"(?:(?=[ \t=/(*`$]{{0,3}}{_PIECE}))?"
)
_COMMAND = re.compile(
    # Markdown escapes an underscore, and some write a call or a quotation: make\_move("e2e4").
    rf"make\\?_move[*`]{{0,3}}\s*+[:=(]?\s*+[(<\[{{\"'`*“‘]{{0,4}}{_SQUARES}",
    re.IGNORECASE,
)
#: The squares in the argument of any command: together, or apart, or in an argument for each.
_TOGETHER = re.compile(_SQUARES, re.IGNORECASE)
_APART = re.compile(
    r"(?P<origin>[a-h][1-8])(?:(?P<space>\s)|[\"']\s[\"']|[\"']?,\s?(?:to(?:_\w{1,8})?\W{1,3}"
    r"|[\"']?(?=[a-h][1-8][\"']?[,)\]])))(?P<target>[a-h][1-8])"
    rf"(?:(?=(?:\s?|[\"']?,\s?[\"']?){_PIECE})|(?!\w))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """The squares that a command names, with the piece if it stands right behind them."""

    start: int
    end: int
    squares: str
    #: The letter of a piece that is named beside them. It may begin another thought, and counts
    #: only where a pawn must become something.
    piece: str = ""
    #: They may also be two moves of pawns: `e4 e5`.
    may_be_two: bool = False


def find_commands(text: str) -> Iterator[Command]:
    """Yield the commands of a text that name both squares, in order."""
    return map(_command, _COMMAND.finditer(text))


def squares_of(argument: str) -> Command | None:
    """Return the squares that the argument of a command begins with, if it names both."""
    if together := _TOGETHER.match(argument):
        return _command(together)
    if apart := _APART.match(argument):
        squares = (apart["origin"] + apart["target"]).lower()
        may_be_two = apart["space"] is not None
        return Command(0, apart.end(), squares, _letter(apart["piece"]), may_be_two)
    return None


def _command(found: re.Match[str]) -> Command:
    squares = found["squares"].replace("-", "").lower()
    return Command(*found.span(), squares, _letter(found["piece"]))


def _letter(piece: str | None) -> str:
    """Return the letter of a piece that is named by it or in full."""
    name = (piece or "").lower()
    return {"knight": "n"}.get(name, name[:1])
