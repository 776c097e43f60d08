"""Playing a saved game of King's Cooking again, from as few of its fields as possible.

No field is trusted: each is of its type and can be played, or `InvalidSavedGame` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias
from uuid import UUID

from engine.clock import Clock
from engine.errors import GameOver, InvalidSavedGame, InvalidTimeControl, SavedGameFault
from engine.game import Game
from engine.moves import Move
from engine.outcome import Outcome, Termination
from engine.pieces import Color
from engine.position import Position
from engine.variants.kings_cooking import NAME
from engine.variants.kings_cooking_sealing import canonical

VERSION = 1
MICROSECOND = timedelta(microseconds=1)
FLAG_FELL = "f"
#: Endings that the moves do not show, by the letters that stand for them in a token.
ENDINGS = {
    "r": Termination.RESIGNATION,
    "a": Termination.AGREEMENT,
    "u": Termination.UNKNOWN,
    "t": Termination.TIME_FORFEIT,
    FLAG_FELL: Termination.TIME_FORFEIT,
}

Fields: TypeAlias = Mapping[str, object]

_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


class Rebuilt(NamedTuple):
    """A game played again, its id, and the names of its players."""

    game: Game
    game_id: UUID
    white_player: str
    black_player: str


def rebuild(fields: Fields, history: Iterable[object], *, flag_fell: bool) -> Rebuilt:
    """Play a game again from as few fields as possible, and the entries of its history."""
    game = _started(text_of(fields, "start"), text_or_none(fields, "time_control"))
    for entry in history:
        _replay(game, entry)
    outcome = _outcome(fields)
    if outcome is not None and not game.is_over:
        _end(game, outcome, flag_fell=flag_fell)
    return Rebuilt(
        game, _uuid(fields), text_of(fields, "white_player"), text_of(fields, "black_player")
    )


def _started(start: str, time_control: str | None) -> Game:
    try:
        return Game(start, variant=NAME, time_control=time_control)
    except ValueError as error:
        is_control = isinstance(error, InvalidTimeControl)
        raise wrong_value("time_control" if is_control else "start") from error


def _replay(game: Game, entry: object) -> None:
    if not isinstance(entry, dict):
        raise wrong_value("move_history")
    move, source = text_of(entry, "move"), text_or_none(entry, "source")
    elapsed, played_at = _elapsed(entry), _played_at(entry)
    try:
        game.play(Move.from_uci(move), elapsed=elapsed, source=source, played_at=played_at)
    except ValueError as error:  # the rules refuse it, or a clock cannot go backwards
        raise InvalidSavedGame(SavedGameFault.NOT_PLAYABLE, move) from error


def _end(game: Game, outcome: Outcome, *, flag_fell: bool) -> None:
    """End a game as its moves do not show, unless it cannot end so."""
    budget = None if game.clock is None else game.clock.budget(game.turn)
    if flag_fell and budget is not None:
        with suppress(GameOver):  # the flag falls as it fell: in a move that took all the time
            game.play(game.position.legal_moves()[0], elapsed=budget)
    elif _can_end(game.position, outcome):
        game.end(outcome)


def _can_end(position: Position, outcome: Outcome) -> bool:
    if outcome.termination is not Termination.TIME_FORFEIT:
        return outcome.termination in ENDINGS.values()
    if outcome.winner is None:
        return not all(map(position.can_win, Color))
    return position.can_win(outcome.winner)


def compare(read: Fields, rebuilt: Fields) -> None:
    """Refuse fields that differ from those of the game played again."""
    if unknown := read.keys() - rebuilt.keys():
        raise InvalidSavedGame(SavedGameFault.WRONG_FIELDS, min(unknown))
    for field, value in rebuilt.items():
        # Compared as JSON: to Python, true is 1.
        if canonical(field_of(read, field)) != canonical(value):
            raise InvalidSavedGame(SavedGameFault.CONTRADICTION, field)


# --- single fields ---


def wrong_value(field: str) -> InvalidSavedGame:
    """Return the refusal of a field that holds what it cannot hold."""
    return InvalidSavedGame(SavedGameFault.WRONG_VALUE, field)


def field_of(fields: Fields, name: str) -> object:
    """Return a field, or refuse that it is missing."""
    if name not in fields:
        raise InvalidSavedGame(SavedGameFault.WRONG_FIELDS, name)
    return fields[name]


def text_of(fields: Fields, name: str) -> str:
    """Return a field that holds text."""
    value = field_of(fields, name)
    if not isinstance(value, str):
        raise wrong_value(name)
    return value


def text_or_none(fields: Fields, name: str) -> str | None:
    """Return a field that holds text or nothing."""
    return None if field_of(fields, name) is None else text_of(fields, name)


def list_of(fields: Fields, name: str) -> list[object]:
    """Return a field that holds a list."""
    value = field_of(fields, name)
    if not isinstance(value, list):
        raise wrong_value(name)
    return value


def check_version(fields: Fields) -> None:
    """Refuse another version than ours."""
    if canonical(field_of(fields, "version")) != canonical(VERSION):
        raise InvalidSavedGame(SavedGameFault.WRONG_VERSION)


def _uuid(fields: Fields) -> UUID:
    text = text_of(fields, "game_id")
    with suppress(ValueError):
        return UUID(text)
    raise wrong_value("game_id")


def _played_at(entry: Fields) -> datetime | None:
    text = text_or_none(entry, "timestamp")
    if text is None:
        return None
    with suppress(ValueError):  # such as the 30th of February
        if _TIMESTAMP.fullmatch(text):
            return datetime.fromisoformat(text)
    raise wrong_value("timestamp")


def integer(value: object, field: str) -> int:
    """Return a value that is an integer."""
    # `type` and not `isinstance`: to Python, true is 1.
    if type(value) is not int:
        raise wrong_value(field)
    return value


def _elapsed(entry: Fields) -> timedelta | None:
    value = field_of(entry, "elapsed_us")
    with suppress(OverflowError):
        return None if value is None else integer(value, "elapsed_us") * MICROSECOND
    raise wrong_value("elapsed_us")


def clock_of(state: Fields) -> Clock | None:
    """Return the clock of a game, if it has one."""
    value = field_of(state, "clock")
    with suppress(InvalidTimeControl):
        return None if value is None else Clock.from_json(value)
    raise wrong_value("clock")


def has_flag_fallen(clock: Clock | None) -> bool:
    """Return whether a clock shows that somebody ran out of time."""
    return clock is not None and (clock.white.flagged or clock.black.flagged)


def _outcome(fields: Fields) -> Outcome | None:
    winner, termination = text_or_none(fields, "winner"), text_or_none(fields, "termination")
    if termination is None:
        return None
    with suppress(ValueError):  # such as a resignation that nobody won by
        return Outcome(Color(winner) if winner else None, Termination(termination))
    raise wrong_value("termination")
