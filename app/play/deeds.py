"""Deeds: what each command does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.dollars import read_dollars
from app.errors import AppError
from app.matches.commands import Draw, DrawAction, Pause, PlayMove, Resign, Resume
from app.matches.errors import MatchIsOver, NotYourTurn
from app.play.clocks import read_numbers
from app.play.commands import NotUnderstood, Said, help_text, neither
from app.play.hints import hint
from app.play.question import Question
from app.play.sitting import Undo
from engine import Color, MoveError, Ply, UnreadableMove
from engine.errors import shown
from engine.squares import SQUARE_OF_NAME

if TYPE_CHECKING:
    from app.matches.match import Match
    from app.play.session import Session
    from app.play.sitting import Sitting


class CannotWrite(AppError):
    """A file that cannot be written."""


class Deeds:
    """Does what is written in a session. All may raise what keeps it from being done."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._deeds: dict[str, Callable[[str], Awaitable[None]]] = {
            "move": self.move,
            "new": self.new,
            "show": self.show,
            "moves": self.moves,
            "history": self.history,
            "fen": self.fen,
            "load": self.load,
            "pgn": self.pgn,
            "undo": self.undo,
            "hint": self.hint,
            "resign": self.resign,
            "draw": self.draw,
            "save": self.save,
            "saves": self.saves,
            "flip": self.flip,
            "pause": self.pause,
            "resume": self.resume,
            "help": self.help,
            "quit": self.quit,
        }

    async def do(self, said: Said) -> None:
        """Do what was said."""
        await self._deeds[said.command](said.argument)

    # --- the game ---

    async def move(self, text: str) -> None:
        """Play a move."""
        if not text:
            raise NotUnderstood("which move? e4, for example")
        if not self._match.is_over:
            try:
                self._match.game.position.parse(text)
            except UnreadableMove:
                raise neither(text) from None
            except MoveError:
                pass  # whose turn it is matters more
        await self._sitting.command(PlayMove(self._sitting.hand, text))

    async def undo(self, _argument: str) -> None:
        """Take back the last move of whoever writes, and what was answered."""
        sitting = self._sitting
        mover = self._match.color
        await sitting.command(Undo(mover.opponent if sitting.is_hot_seat else sitting.hand))

    async def resign(self, _argument: str) -> None:
        """Give up."""
        await self._sitting.command(Resign(self._sitting.hand))

    async def draw(self, argument: str) -> None:
        """Offer a draw, answer an offer, or claim one."""
        action, _, intended = argument.partition(" ")
        sitting, offer = self._sitting, self._match.draw_offer
        is_for_us = offer is not None and offer.opponent in sitting.humans
        if not action:
            action = DrawAction.ACCEPT if is_for_us else DrawAction.OFFER
        if action.lower() not in tuple(DrawAction) or (
            intended and action.lower() != DrawAction.CLAIM
        ):
            raise NotUnderstood(
                f"{shown(argument)} is nothing that can be done about a draw:"
                " write draw offer, accept, decline, or claim and perhaps a move"
            )
        what = DrawAction(action.lower())
        is_answer = what in (DrawAction.ACCEPT, DrawAction.DECLINE)
        color = offer.opponent if offer and is_for_us and is_answer else sitting.hand
        await sitting.command(Draw(color, what, intended or None))

    async def pause(self, _argument: str) -> None:
        """Stop the clocks."""
        await self._sitting.command(Pause())

    async def resume(self, argument: str) -> None:
        """Go on, perhaps with another budget."""
        budget = None
        if argument:
            budget = replace(self._match.budget, usd=read_dollars(argument))
        await self._sitting.command(Resume(budget))

    async def hint(self, _argument: str) -> None:
        """Ask for a move, while no clock runs."""
        sitting, match = self._sitting, self._match
        _refuse_if_over(match)
        if match.color is not sitting.hand:
            raise NotYourTurn(sitting.hand)
        async with sitting.at_rest():
            self._say(await hint(match.game, self._session.catalogue))

    # --- what is to be seen ---

    async def show(self, _argument: str) -> None:
        """Draw the board."""
        self._session.show()

    async def flip(self, _argument: str) -> None:
        """Turn the board round."""
        self._session.flip()

    async def moves(self, argument: str) -> None:
        """List the legal moves."""
        _refuse_if_over(self._match)
        position = self._match.game.position
        moves = position.legal_moves()
        if argument:
            square = SQUARE_OF_NAME.get(argument.lower())
            if square is None:
                raise NotUnderstood(f"{shown(argument)} is not a square")
            moves = [move for move in moves if move.from_square == square]
        told = " ".join(sorted(position.san(move) for move in moves))
        self._say(told or f"Nothing on {argument.lower()} can move.")

    async def history(self, _argument: str) -> None:
        """List what was played."""
        plies = self._match.game.plies
        self._say(*(score_sheet(plies) or ["Nothing was played yet."]))

    async def fen(self, _argument: str) -> None:
        """Print the position."""
        self._say(self._match.game.position.fen())

    async def pgn(self, argument: str) -> None:
        """Print the game, or write it to a file."""
        text = self._match.game.pgn()
        if argument:
            await asyncio.to_thread(_write_new, argument, text)
            self._say(f"The game is written to {argument}.")
        else:
            self._say(*text.rstrip("\n").split("\n"))

    async def help(self, argument: str) -> None:
        """Tell what can be written."""
        self._say(*help_text(argument))

    # --- games ---

    async def new(self, argument: str) -> None:
        """Begin another game."""
        session = self._session
        settings = session.settings
        if argument:
            settings = replace(settings, time_control=read_numbers(argument))

        async def begin() -> None:
            await session.begin(settings)
            session.settings = settings

        await session.unless_unsaved(begin)

    async def load(self, argument: str) -> None:
        """Begin from a position, go on with a saved game, or ask with which."""
        session = self._session
        if "/" in argument:  # which no name has
            settings = session.at(argument)
            await session.unless_unsaved(lambda: session.begin(settings))
        elif argument:
            await self._load_saved(argument)
        else:
            await self._choose()

    async def _load_saved(self, choice: str) -> None:
        # Nobody is asked to save a game for nothing; and a game that is saved changes the numbers.
        name = await self._session.shelf.find(choice)
        await self._session.unless_unsaved(lambda: self._session.load(name))

    async def _choose(self) -> None:
        session = self._session
        lines = await session.shelf.lines()
        if not lines:
            self._say("Nothing is saved yet.")
            return
        if not session.manners.asks:
            self._say(*lines, "Which one? Write load, and its number or name.")
            return

        async def take(line: str) -> bool:
            choice = line.strip()
            if choice:
                session.question = None
                await self._load_saved(choice)
            return True

        self._say(*lines)
        session.ask(Question("Which one? (its number or name; Enter for none)", "load", take))

    async def save(self, argument: str) -> None:
        """Keep the game."""
        name = argument or self._sitting.name
        self._say(*await self._session.shelf.keep(self._sitting, name))

    async def saves(self, _argument: str) -> None:
        """List the saved games."""
        self._say(*(await self._session.shelf.lines() or ["Nothing is saved yet."]))

    async def quit(self, _argument: str) -> None:
        """Leave."""
        await self._session.unless_unsaved(self._session.leave, is_farewell=True)

    # --- what they act on ---

    @property
    def _sitting(self) -> Sitting:
        return self._session.sitting

    @property
    def _match(self) -> Match:
        return self._session.sitting.match

    def _say(self, *lines: str) -> None:
        self._session.screen.say(*lines)


def score_sheet(plies: Sequence[Ply]) -> Sequence[str]:
    """Return moves as score sheets have them, a line for each number."""
    return list(_score_lines(plies))


def _score_lines(plies: Sequence[Ply]) -> Iterator[str]:
    line = ""
    for ply in plies:
        before = ply.before
        san = before.san(ply.move)
        if before.turn is Color.WHITE:
            line = f"{before.fullmove_number:4}. {san:9}"
        else:
            line = line or f"{before.fullmove_number:4}. {'...':9}"
            yield f"{line}{san}"
            line = ""
    if line:
        yield line.rstrip()


def _refuse_if_over(match: Match) -> None:
    if match.is_over:
        raise MatchIsOver(match.id, match.ending)


def _write_new(name: str, text: str) -> None:
    try:
        path = Path(name).expanduser()
        with path.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:  # half of it is of no use, and would be in the way of another try
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise CannotWrite(f"there is a file {shown(name)} already; name another one") from None
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the name; a home of nobody
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotWrite(f"{shown(name)} cannot be written: {reason}") from None
