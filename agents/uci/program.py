"""UciProgram: which program to start for a UCI engine, and where Stockfish and others are found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from agents.uci.errors import UciNotFound
from agents.uci.limits import Limit
from agents.uci.options import Value

STOCKFISH_VARIABLE = "STOCKFISH_PATH"
#: Where Debian and Homebrew put chess programs; looked at before PATH.
USUAL_PLACES = tuple(
    map(Path, ("/usr/games", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/local/games"))
)
INSTALL_STOCKFISH = (
    "install it (Debian: apt install stockfish, macOS: brew install stockfish) "
    f"or set {STOCKFISH_VARIABLE} to its program"
)

#: Engines that work without being configured, wherever they are installed.
_WELL_KNOWN = {
    "fairy-stockfish": ("Fairy-Stockfish", ("fairy-stockfish",)),
    "ethereal": ("Ethereal", ("ethereal-chess",)),
    "glaurung": ("Glaurung", ("glaurung",)),
    "gnuchess": ("GNU Chess", ("gnuchess", "--uci")),
    "toga2": ("Toga II", ("toga2",)),
}


@dataclass(frozen=True)
class Patience:
    """How long a UCI engine is waited for."""

    #: From its start to `uciok`.
    start: timedelta = timedelta(seconds=20)
    #: From `isready` to `readyok`: clearing gigabytes of memory takes a while.
    ready: timedelta = timedelta(seconds=20)
    #: For a search whose work is limited, but not its time. Then it is told to stop.
    search: timedelta = timedelta(seconds=120)
    #: From `stop` to the best move, and from `quit` to the end. Then it is killed.
    stop: timedelta = timedelta(seconds=2)


@dataclass(frozen=True)
class UciProgram:
    """A UCI engine as the operator names it."""

    #: For people: `Stockfish`.
    title: str
    #: The program and its arguments; never through a shell.
    command: tuple[str, ...]
    options: Mapping[str, Value] = field(default_factory=dict)
    #: What it is given besides the few variables that every program gets.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Always; besides, it is told the clock when there is one.
    limit: Limit | None = None
    patience: Patience = Patience()


def find_stockfish() -> UciProgram:
    """Return Stockfish: from STOCKFISH_PATH, the usual places or PATH; else raise `UciNotFound`."""
    named = os.environ.get(STOCKFISH_VARIABLE)
    if named:
        # Named outright, so nothing else will do.
        if not Path(named).is_file():
            raise UciNotFound("Stockfish", named, f"{STOCKFISH_VARIABLE} names it")
        # A bare name would be looked for on PATH.
        return UciProgram("Stockfish", (str(Path(named).absolute()),))
    found = find_program("stockfish")
    if found is None:
        raise UciNotFound("Stockfish", "the usual places and PATH", INSTALL_STOCKFISH)
    return UciProgram("Stockfish", (found,))


def find_well_known() -> dict[str, UciProgram]:
    """Return the well-known UCI engines that are installed, by the names to seat them by."""
    programs = {}
    for name, (title, (program, *arguments)) in _WELL_KNOWN.items():
        found = find_program(program)
        if found is not None:
            programs[name] = UciProgram(title, (found, *arguments))
    return programs


def find_program(name: str) -> str | None:
    """Return where a program is installed: in the usual places, or on PATH."""
    return shutil.which(name, path=os.pathsep.join(map(str, USUAL_PLACES))) or shutil.which(name)
