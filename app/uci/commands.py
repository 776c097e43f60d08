"""The UCI protocol as an engine hears it, without input or output.

`CommandLines` cuts bytes into lines, and `read` turns a line into a command. Nothing makes them
fail: of a line, what cannot be understood is left out, as the standard says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

#: A line may be this long, in bytes. The longest game that there can be takes 60,000.
LONGEST_LINE: Final = 256 * 1024
#: Larger numbers mean the same as this one: for ever.
LARGEST = 10**15
#: As the standard says, what comes before the first word that is known does not count; but nobody
#: means a command by the hundredth word of a line.
_MOST_NOISE = 16

_MILLISECOND = timedelta(milliseconds=1)
_LONGEST_TIME = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Uci:
    """`uci`: introduce yourself."""


@dataclass(frozen=True, slots=True)
class Debug:
    """`debug on|off`."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class IsReady:
    """`isready`: say when everything before has been done."""


@dataclass(frozen=True, slots=True)
class SetOption:
    """`setoption name ... value ...`; without a value it is empty."""

    name: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Register:
    """`register ...`: nobody has to."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """`ucinewgame`: what comes has nothing to do with what was."""


@dataclass(frozen=True, slots=True)
class SetPosition:
    """`position startpos|fen ... moves ...`; without a FEN, the starting position if it is named.

    The moves are as the GUI wrote them.
    """

    fen: str | None = None
    moves: tuple[str, ...] = ()
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Go:
    """`go ...`: think, within these limits."""

    among: tuple[str, ...] = ()
    ponder: bool = False
    infinite: bool = False
    white_time: timedelta | None = None
    black_time: timedelta | None = None
    white_increment: timedelta | None = None
    black_increment: timedelta | None = None
    moves_to_go: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    move_time: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """`stop`: say what you have."""


@dataclass(frozen=True, slots=True)
class PonderHit:
    """`ponderhit`: the move that was pondered on has been played."""


@dataclass(frozen=True, slots=True)
class Quit:
    """`quit`."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Any other line; an empty one, too."""

    text: str


Command = (
    Uci | Debug | IsReady | SetOption | Register | NewGame | SetPosition | Go | Stop | PonderHit
    | Quit | Unknown
)  # fmt: skip


# --- lines ---


class CommandLines:
    """Cuts what comes in, in pieces of any size, into lines, and keeps no more than one of them."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_too_long = False

    def feed(self, data: bytes) -> Iterator[str | None]:
        """Return each line that has ended; None for one that was too long to be kept."""
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._keep(line)
            yield self._take()
        self._keep(rest)

    def end(self) -> Iterator[str | None]:
        """Return what is left when nothing more comes: a last line without an end."""
        if self._rest or self._is_too_long:
            yield self._take()

    def _keep(self, part: bytes) -> None:
        if self._is_too_long or len(self._rest) + len(part) > LONGEST_LINE:
            self._is_too_long = True
            self._rest.clear()
        else:
            self._rest += part

    def _take(self) -> str | None:
        line = None if self._is_too_long else self._rest.decode("utf-8", "replace")
        self._rest.clear()
        self._is_too_long = False
        return line


# --- commands ---


def read(line: str) -> Command:
    """Return what a line says."""
    words = line.replace("\0", " ").split()
    for number, word in enumerate(words[:_MOST_NOISE]):
        reader = _READERS.get(word.lower())
        if reader is not None and (command := reader(words[number + 1 :])) is not None:
            return command
    return Unknown(line)


def _debug(words: list[str]) -> Command | None:
    if not words or words[0].lower() not in ("on", "off"):
        return None
    return Debug(words[0].lower() == "on")


def _set_option(words: list[str]) -> Command | None:
    if not words or words[0].lower() != "name":
        return None
    lowered = [word.lower() for word in words]
    end = lowered.index("value") if "value" in lowered else len(words)
    return SetOption(" ".join(words[1:end]), " ".join(words[end + 1 :]))


def _position(words: list[str]) -> Command:
    """Read the parts of a position, in whichever order they come."""
    fen: list[str] = []
    moves: list[str] = []
    into = fen  # a FEN alone is one, too
    is_named = is_missing = False
    for word in (each.strip("\"'") for each in words):
        match word.lower():
            case "startpos":
                into, is_named, is_missing = [], True, False
            case "fen":
                into, is_named, is_missing = fen, True, True
            case "moves":
                into = moves
            case _:
                into.append(word)
    whole = " ".join(fen) or ("" if is_missing else None)  # an empty one is refused
    return SetPosition(whole, tuple(moves), is_named or bool(fen))


def _go(words: list[str]) -> Command:
    found: dict[str, object] = {}
    among: list[str] = []
    at = 0
    while at < len(words):
        word = words[at].lower()
        at += 1
        if word in _FLAGS:
            found[word] = True
        elif word == "searchmoves":
            while at < len(words) and words[at].lower() not in _GO_WORDS:
                among.append(words[at])
                at += 1
        elif word in _TIMES or word in _COUNTS:
            number = _number(words[at]) if at < len(words) else None
            if number is None:
                continue
            at += 1
            if word in _TIMES:
                # A clock that has run out may be told as less than nothing.
                found[_TIMES[word]] = min(max(number, 0) * _MILLISECOND, _LONGEST_TIME)
            elif number > 0:
                found[_COUNTS[word]] = number
    return Go(tuple(among), **found)  # type: ignore[arg-type]  # each is what its name says


_FLAGS = frozenset({"ponder", "infinite"})
_TIMES = {
    "wtime": "white_time",
    "btime": "black_time",
    "winc": "white_increment",
    "binc": "black_increment",
    "movetime": "move_time",
}
_COUNTS = {"movestogo": "moves_to_go", "depth": "depth", "nodes": "nodes", "mate": "mate"}
_GO_WORDS = _FLAGS | set(_TIMES) | set(_COUNTS) | {"searchmoves"}


def _number(word: str) -> int | None:
    """Return a whole number, cut to what somebody may mean; None if it is none."""
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return None
    size = LARGEST if len(digits) > 15 else int(digits)
    return -size if word.startswith("-") else size


_READERS: dict[str, Callable[[list[str]], Command | None]] = {
    "uci": lambda _: Uci(),
    "debug": _debug,
    "isready": lambda _: IsReady(),
    "setoption": _set_option,
    "register": lambda _: Register(),
    "ucinewgame": lambda _: NewGame(),
    "position": _position,
    "go": _go,
    "stop": lambda _: Stop(),
    "ponderhit": lambda _: PonderHit(),
    "quit": lambda _: Quit(),
}
