"""Asking: what a session asks before a game is lost, before somebody leaves, and after a game."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from app.play.commands import read_line
from app.play.question import Question, is_no, is_yes
from engine import MoveError, UnreadableMove

if TYPE_CHECKING:
    from app.play.session import Session
    from engine import Position

_SAVE_FIRST = "The game is not over. Save it first? (y, n, or a name; Enter to play on)"
_LEAVE = "Leave? (y, or n)"
_AGAIN = "Another game, with colours swapped? (y or n, or any command)"


def save_first(
    session: Session, then: Callable[[], Awaitable[None]], *, is_farewell: bool
) -> Question:
    """Return the question whether a game is to be saved before something that would lose it.

    Whoever writes a command or a move instead has thought better of it.
    """
    sitting = session.sitting

    async def take(line: str) -> bool:
        if not line.strip():
            return True
        if not is_no(line):
            name = "" if is_yes(line) else _name(line, sitting.match.game.position)
            if name is None:
                session.question = None
                return False
            keep, name = session.shelf.keep, name or sitting.name
            told = await (keep(sitting, name) if name else session.shelf.keep_unnamed(sitting))
            session.screen.say(*told)
        session.question = None
        await then()
        return True

    return Question(_SAVE_FIRST, "save", take, is_farewell=is_farewell)


def whether_to_leave(session: Session) -> Question:
    """Return the question whether somebody leaves, who would lose nothing."""

    async def take(line: str) -> bool:
        if is_yes(line):
            await session.leave()
        elif line.strip() and not is_no(line):
            session.question = None  # it is a command, and so an answer, too
            return False
        return True

    return Question(_LEAVE, "leave", take, is_farewell=True)


def another(session: Session) -> Question:
    """Return the question whether there is to be another game."""

    async def take(line: str) -> bool:
        if is_yes(line):
            await session.rematch()
        elif is_no(line):
            await session.leave()
        else:
            return False
        return True

    return Question(_AGAIN, "again", take)


def _name(line: str, position: Position) -> str | None:
    """Return the name that an answer gives, of `save` alone none; None if it is no name.

    What can be read as a move is one, also if it is illegal: nobody would look for a game there.
    """
    said = read_line(line)
    if said is None:
        return ""
    if said.command == "save":
        return said.argument
    if said.command != "move" or said.argument != " ".join(line.split()):
        return None
    try:
        position.parse(said.argument)
    except UnreadableMove:
        return said.argument
    except MoveError:
        pass
    return None
