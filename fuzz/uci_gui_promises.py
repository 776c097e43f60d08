"""What is promised about anything that a GUI may write to `kibitz uci`: it is read, or let be.

`check_commands` takes bytes, as they come out of a pipe. It is used as those in `fuzz.promises`
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from agents.uci.info import Info
from agents.uci.limits import Limit
from app.uci.commands import (
    LONGEST_LINE,
    CommandLines,
    Go,
    SetOption,
    SetPosition,
    read,
)
from app.uci.errors import OptionRefused, PositionRefused
from app.uci.limits import bounds_of
from app.uci.options import Preferences, declaration
from app.uci.position import Board, moves_of
from app.uci.words import info_line, info_string
from engine import Color
from fuzz.promises import check_refusal, require

#: Whose limits differ: one that models decide, Stockfish at a level, all of it, and ours.
PLAYERS = ("team:default", "stockfish:3", "stockfish:8", "uci:toga2", "classical")


def check_commands(raw: bytes) -> None:
    """Check that all that a GUI writes is read, line by line, and what comes of it sound."""
    board, preferences = Board(), Preferences("random")
    for line in check_lines(raw):
        if line is None:
            continue
        said = info_string(line)
        require(said.isprintable() and len(said) < 500, "words are one short line", said)
        info = info_line(Info.parse(line), board.game.position)
        require(info is None or info.isprintable(), "information is one line", info)
        match read(line):
            case SetPosition() as command:
                check_position(board, command)
            case SetOption(name, value):
                changed = check_option(preferences, name, value)
                if changed.variant != preferences.variant:
                    board = Board(changed.variant)
                preferences = changed
            case Go() as go:
                check_go(board, go, preferences)


def check_lines(raw: bytes) -> list[str | None]:
    """Return the lines of some bytes; check that they are the same byte by byte."""
    lines = CommandLines()
    whole = [*lines.feed(raw), *lines.end()]
    one = CommandLines()
    parts = [line for byte in raw for line in one.feed(bytes((byte,)))] + [*one.end()]
    require(parts == whole, "lines do not depend on pieces", raw)
    for line in whole:
        require(line is None or len(line) <= LONGEST_LINE, "a line is bounded", raw)
    return whole


def check_position(board: Board, command: SetPosition) -> None:
    """Check that a position is set up, or the last one stays and it is said why."""
    before, plies = board.game, board.game.plies
    try:
        board.set_up(command)
    except PositionRefused as error:
        check_refusal(error)
        require(board.game is before and before.plies == plies, "the last one stays", command)
        return
    game = board.game
    require(len(game.plies) == len(command.moves), "every move was played", command)
    require(game.variant == before.variant, "it is of the variant", command)
    again = Board(game.variant)
    again.set_up(command)
    require(again.game.position.fen() == game.position.fen(), "it is the same anew", command)


def check_option(preferences: Preferences, name: str, value: str) -> Preferences:
    """Check that an option is set, or refused for people."""
    try:
        changed = preferences.changed(name, value)
    except OptionRefused as error:
        check_refusal(error)
        return preferences
    for option in changed.options():
        require(declaration(option).isprintable(), "a declaration is one line", option)
    return changed


def check_go(board: Board, go: Go, preferences: Preferences) -> None:
    """Check that whoever plays can be told of any limits, and when an answer is due."""
    moves, refused = moves_of(board.game.position, go.among)
    require(set(moves) <= set(board.game.position.legal_moves()), "moves are legal", go)
    require(all(map(str.isprintable, refused)), "refusals can be shown", go)
    for player, color, own in _cases():
        bounds = bounds_of(go, color, player=player, own=own, overhead=preferences.overhead)
        if bounds.due is not None:
            require(bounds.due > timedelta(0) and not go.infinite, "it is due later", go, bounds)
        if bounds.clock is not None:
            budget = bounds.clock.budget(color)
            require(bool(budget), "there is time on the clock", go, bounds)
        if bounds.limit is not None and bounds.limit.is_set:
            command = bounds.limit.command(color)
            require(command.isprintable(), "it can be told", go)


def _cases() -> Iterator[tuple[str, Color, Limit]]:
    for player in PLAYERS:
        for color in Color:
            yield player, color, Limit()
    yield "classical", Color.WHITE, Limit(nodes=1, time=timedelta(milliseconds=1))
    yield "stockfish:8", Color.BLACK, Limit(depth=1)
