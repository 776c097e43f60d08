"""Openings that a command is given: names and codes of ours, moves, files of PGN, EPD or FEN."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.complaints import complain
from app.cli.files.game_files import CannotReadGames, names_file, read_file, read_text
from app.errors import AppError
from app.matches.openings import OPENINGS, find_opening
from engine import VARIANTS, Game, IllegalPosition, InvalidFen, MoveError, Position
from engine.errors import shown

if TYPE_CHECKING:
    from app.evaluations.starts import Start

#: All of ours, and those that Stockfish makes.
ALL, BALANCED, NONE = "all", "balanced", "none"

_STANDARD = "standard"
#: Of so many faults of a file each is told; of more, how many there are.
_MOST_TOLD = 3
#: An ECO code, or its beginning.
_CODE = re.compile(r"[A-Ea-e](?:[0-9]{1,2})?")
#: A line with which only games begin.
_OF_GAME = re.compile(r"\s*(\[\w+ \"|1\.)")
_PGN, _LINES = (".pgn",), (".epd", ".fen", ".txt")


class NoSuchOpening(AppError):
    """Openings that cannot be had as they were asked for."""


def read_openings(wanted: Sequence[str], variant: str, plies: int | None = None) -> list[Start]:
    """Return what is meant, in the order in which it was written, at most so many plies of each.

    Of games and lines of a file that cannot be read, one sentence is said on standard error. Raises
    `NoSuchOpening` or `CannotReadGames`.
    """
    return [start for text in wanted for start in _read(text, variant, plies)]


def _read(text: str, variant: str, plies: int | None) -> Iterable[Start]:
    if names_file(text, *_PGN, *_LINES):
        return _of_file(text, variant, plies)
    if variant != _STANDARD:
        raise NoSuchOpening(
            f"{shown(text)} is no file: openings with a name, and moves, are of standard chess;"
            f" {VARIANTS[variant].title} takes a file of positions"
        )
    named = _named(text)
    if named:
        return [_start(Position.start(), moves, plies, name) for name, moves in named]
    return [_start(Position.start(), _moves(text), plies)]


# --- openings of ours, and moves ---


def _named(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the openings of a name, of a code or its beginning, or of several with commas."""
    if text.strip().casefold() == ALL:
        return [(each.name, each.moves) for each in OPENINGS]
    found = None if _CODE.fullmatch(text.strip()) else find_opening(text)
    if found is not None:
        return [(found.name, found.moves)]
    named = []
    for part in map(str.strip, text.split(",")):
        if not _CODE.fullmatch(part):
            return []
        of_code = [each for each in OPENINGS if each.eco.startswith(part.upper())]
        if not of_code:
            raise NoSuchOpening(f"none of our openings has the code {part.upper()}")
        named += [(each.name, each.moves) for each in of_code]
    return named


def _moves(text: str) -> list[str]:
    """Return moves in short notation, or say what was meant instead."""
    position = Position.start()
    moves: list[str] = []
    for word in (word for word in text.split() if not word.rstrip(".").isdigit()):
        try:
            move = position.parse(word)
        except MoveError as error:
            if moves:
                raise NoSuchOpening(
                    f"the opening {shown(text)} cannot be played: {error}"
                ) from error
            raise NoSuchOpening(_unknown(text)) from error
        moves.append(position.san(move))
        position = position.play(move)
    if not moves:
        raise NoSuchOpening(_unknown(text))
    return moves


def _unknown(text: str) -> str:
    names = {each.name.casefold(): each.name for each in OPENINGS}
    near = get_close_matches(text.casefold(), names, 1, 0.5)
    hint = f"; did you mean {names[near[0]]!r}?" if near else ""
    return f"{shown(text)} is neither a file, nor an opening of ours, nor moves{hint}"


def _start(
    position: Position, moves: Sequence[str], plies: int | None, name: str | None = None
) -> Start:
    """Return the start after moves from a position; after the usual one, moves are told."""
    from app.evaluations.starts import Start

    kept = moves[:plies]
    if position == Position.start():
        return Start(opening=name if name and len(kept) == len(moves) else " ".join(kept) or None)
    for move in kept:
        position = position.play(position.parse(move))
    return Start(fen=position.fen())


# --- files ---


def _of_file(path: str, variant: str, plies: int | None) -> Iterable[Start]:
    if path.lower().endswith(_PGN):
        return _games(path, read_file(path)[0], variant, plies)
    lines = _lines(path)
    # A pipe has no name that tells what comes, and can be read only once.
    if not path.lower().endswith(_LINES) and any(map(_OF_GAME.match, lines)):
        return _games(path, read_text("\n".join(lines), path), variant, plies)
    return _positions(path, lines, variant)


def _games(
    path: str, games: Mapping[int, Game], variant: str, plies: int | None
) -> Iterable[Start]:
    starts, faults = [], list[str]()
    for number, game in games.items():
        why = _unfit(game, variant, plies)
        if why:
            faults.append(f"{path}: game {number} is no opening: {why}")
        else:
            starts.append(_start(game.start, [ply.san for ply in game.line.plies], plies))
    _tell(path, faults)
    if not starts:
        raise NoSuchOpening(f"{path} has no opening of {VARIANTS[variant].title}")
    return starts


def _unfit(game: Game, variant: str, plies: int | None) -> str:
    """Return why a game can be no opening, if it cannot."""
    if game.variant != variant:
        return f"it is of {VARIANTS[game.variant].title}"
    played = len(game.line)
    outcome = game.line.positions[played if plies is None else min(plies, played)].outcome()
    return "" if outcome is None else f"it is over ({outcome})"


def _positions(path: str, lines: Iterable[str], variant: str) -> Iterable[Start]:
    from app.evaluations.starts import Start

    starts, faults = [], list[str]()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            position = _position(text, number, variant)
        except (InvalidFen, IllegalPosition, AppError) as error:
            faults.append(f"{path}: line {number} is no opening: {error}")
            continue
        outcome = position.outcome()
        if outcome is not None:
            faults.append(f"{path}: line {number} is no opening: it is over ({outcome})")
            continue
        starts.append(Start(fen=position.fen()))
    _tell(path, faults)
    if not starts:
        raise NoSuchOpening(f"{path} has no position of {VARIANTS[variant].title}")
    return starts


def _tell(path: str, faults: list[str]) -> None:
    """Tell of some faults of a file, and of all others how many there are."""
    for fault in faults[:_MOST_TOLD]:
        complain(fault)
    if (more := len(faults) - _MOST_TOLD) > 0:
        complain(f"{path}: so it is {more} more times")


def _position(text: str, number: int, variant: str) -> Position:
    if variant == _STANDARD:
        from app.evaluations.suites.epd import parse_epd

        return parse_epd(text, number).position
    return Position.from_fen(text.partition(";")[0], variant)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8-sig", "replace").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no proper name"
        raise CannotReadGames(f"{shown(path)} cannot be read: {reason}") from None
