"""Games that a command is given: a PGN file, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import typer

from app.errors import AppError
from engine import Game, InvalidPgn, read_games

STANDARD_INPUT = "-"


class CannotReadGames(AppError):
    """A file that cannot be read, or in which there is no game."""


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


def complain(sentence: str) -> None:
    """Say on standard error what could not be done, while the rest goes on."""
    typer.echo(f"kibitz: {sentence}", err=True)


def _read_from(file: BinaryIO, name: str) -> tuple[dict[int, Game], int]:
    games: dict[int, Game] = {}
    errors: list[InvalidPgn] = []
    for game in read_games(file, on_error=errors.append):
        games[len(games) + len(errors) + 1] = game
    for error in errors:
        complain(f"{name}: {error}")
    return games, len(games) + len(errors)
