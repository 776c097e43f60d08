"""Games that a command is given: a PGN file, or standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import BinaryIO

from app.cli.complaints import complain
from app.errors import AppError
from engine import Game, InvalidPgn, read_games

STANDARD_INPUT = "-"


class CannotReadGames(AppError):
    """A file that cannot be read, or in which there is no game."""


def names_file(text: str, *endings: str) -> bool:
    """Tell whether a text names a file, by its ending or since it is there: a pipe or device, too.

    A folder is one only if it is written as a path: its name may be a word that means more.
    """
    if text.lower().endswith(endings):
        return True
    try:
        path = Path(text)
        return path.exists() and (not path.is_dir() or "/" in text or text == ".")
    except (OSError, ValueError):
        return False  # such as a text that is too long for a name, or with a NUL in it


def read_file(what: str) -> tuple[dict[int, Game], int]:
    """Return the games of a file that can be read, by their numbers, and how many there are.

    Of each that cannot be read, one sentence is said on standard error. Raises `CannotReadGames`.
    """
    name = "standard input" if what == STANDARD_INPUT else what
    try:
        if what != STANDARD_INPUT:
            with Path(what).open("rb") as file:
                games, count = _read_from(file, name)
        elif sys.stdin is None:
            raise CannotReadGames(f"{name} is closed")
        else:
            games, count = _read_from(sys.stdin.buffer, name)
    except OSError as error:
        raise CannotReadGames(f"{name} cannot be read: {error.strerror}") from None
    if not count:
        raise CannotReadGames(f"{name} has no game")
    return games, count


def read_text(text: str, name: str) -> dict[int, Game]:
    """Return the games of a text as those of a file."""
    return _read_from(io.BytesIO(text.encode()), name)[0]


def _read_from(file: BinaryIO, name: str) -> tuple[dict[int, Game], int]:
    games: dict[int, Game] = {}
    errors: list[InvalidPgn] = []
    for game in read_games(file, on_error=errors.append):
        games[len(games) + len(errors) + 1] = game
    for error in errors:
        complain(f"{name}: {error}")
    return games, len(games) + len(errors)
