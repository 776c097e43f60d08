"""Session: a person, or two, who play one game after another by writing lines.

It takes lines and shows what comes of them; whatever is written, and whatever happens, it goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import SystemRandom
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agents.errors import AgentError
from app.errors import AppError
from app.matches.events import Event, EventType
from app.matches.match import MatchStatus
from app.matches.private import PrivateMatch
from app.matches.saves import TAG
from app.matches.settings import MAX_SEED, MatchSettings
from app.play.asking import another, save_first, whether_to_leave
from app.play.clocks import tell_control
from app.play.commands import read_line
from app.play.deeds import Deeds
from app.play.offers import offers, wants_saves
from app.play.refusal import refusal
from app.play.sitting import Sitting
from app.play.status import Voices, status_lines
from app.play.telling import Teller, tell_costs, tell_ending
from engine import Color, Position, RulesError

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from app.play.question import Question
    from app.play.screen import Screen
    from app.play.shelf import Shelf


@dataclass(frozen=True)
class Manners:
    """How a session deals with those who play."""

    #: Whether it asks back: before a game is lost, and whether there should be another.
    asks: bool = True
    #: Whether the board turns to whoever is to move, when two people play.
    turns: bool = True
    #: Whether it is seen from the other side.
    flipped: bool = False
    #: From which number the lots of the games are drawn; None: from any.
    seed: int | None = None


@dataclass
class _View:
    """From which side the board is seen."""

    turns: bool
    flipped: bool

    def perspective(self, sitting: Sitting) -> Color:
        """Return the side from which it is seen now."""
        base = Color.WHITE
        if sitting.is_hot_seat and self.turns:
            base = sitting.match.color
        elif not sitting.is_hot_seat and sitting.humans:
            base = sitting.humans[0]
        return base.opponent if self.flipped else base

    def flip(self, sitting: Sitting) -> None:
        """Turn the board round; by hand it turns no more by itself."""
        was = self.perspective(sitting)
        if sitting.is_hot_seat and self.turns:
            self.turns, self.flipped = False, was is Color.WHITE
        else:
            self.flipped = not self.flipped


@dataclass
class Session:
    """What is played now, what is asked, and how lines are taken. Enter it, and `begin`."""

    catalogue: Catalogue
    screen: Screen
    shelf: Shelf
    #: With what games begin, unless somebody says otherwise.
    settings: MatchSettings
    manners: Manners = Manners()
    #: Whether nothing more is to be asked.
    has_left: bool = False
    #: Whether somebody insisted on leaving.
    was_interrupted: bool = False
    #: What whoever was cut off should know.
    farewell: str = ""
    question: Question | None = None
    voices: Voices = field(default_factory=Voices)

    def __post_init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._sitting: Sitting | None = None
        self._played: MatchSettings = self.settings  # what this game was begun with
        self._teller = Teller()
        self._view = _View(self.manners.turns, self.manners.flipped)
        self._seeds = _seeds(self.manners.seed)
        self._deeds = Deeds(self)
        self._is_cut_off = False  # and so nobody is there to be told

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it; whoever was cut off, by whatever it was, finds the game among the saved ones."""
        try:
            if kind is not None and not self.has_left:
                self._is_cut_off = True
                await self._keep_unfinished()
            if self._sitting is not None:
                await self._sitting.leave()
        finally:
            # It would make a group of a mistake of the user's.
            is_cancelled = kind is asyncio.CancelledError
            given = (kind, error, traceback) if is_cancelled else (None, None, None)
            await self._group.__aexit__(*given)

    # --- how it stands ---

    @property
    def sitting(self) -> Sitting:
        """The game that is played."""
        if self._sitting is None:
            raise RuntimeError("no game was begun")
        return self._sitting

    @property
    def perspective(self) -> Color:
        """The side from which the board is seen."""
        return self._view.perspective(self.sitting)

    @property
    def prompt(self) -> str:
        """What stands before a line."""
        match = self.sitting.match
        if self.question is not None:
            return f"{self.question.prompt}> "
        if match.status is MatchStatus.PAUSED and not self.sitting.is_resting:
            return "paused> "
        is_ours = match.color in self.sitting.humans and not match.is_over
        return f"{match.color.value}> " if is_ours else "> "

    @property
    def has_running_clock(self) -> bool:
        """Whether what is to be seen changes by itself."""
        match = self.sitting.match
        return match.game.clock is not None and match.status is MatchStatus.RUNNING

    def status(self, now: datetime, width: int) -> Sequence[str]:
        """Return what is always to be seen, on lines of some width."""
        return status_lines(self.sitting.match, self.voices, now, width)

    async def offers(self, text: str) -> tuple[str, Sequence[str]]:
        """Return the end of a line that may be replaced, and by what."""
        saves: Sequence[str] = ()
        if wants_saves(text):
            with suppress(AppError):  # whoever writes the command is told what is wrong
                saves = await self.shelf.names()
        return offers(text, self.sitting.match, saves)

    def show(self) -> None:
        """Draw the board."""
        line = self.sitting.match.game.line
        last_move = line.moves[-1] if line.moves else None
        self.screen.draw(line.positions[-1], last_move, self.perspective)

    def flip(self) -> None:
        """Turn the board round."""
        self._view.flip(self.sitting)
        self.show()

    # --- beginning ---

    async def begin(self, settings: MatchSettings | None = None) -> None:
        """Begin a game. Raises what `PrivateMatch.create` raises, and then nothing has changed."""
        settings = replace(settings or self.settings, seed=next(self._seeds))
        private = PrivateMatch.create(
            settings, self.catalogue, told=self._told, say=self._say, stumbled=self._stumbled
        )
        await self._sit_down(Sitting(private, self._group), settings)
        self.screen.say(f"{self._who()}, {tell_control(settings.control)}.")
        self.sitting.go_on()
        await self.sitting.begun()

    async def load(self, name: str) -> None:
        """Go on with a saved game. Raises what `Saves.open` raises."""
        private, kept = await self.shelf.saves.open(
            name, self.catalogue, told=self._told, say=self._say, stumbled=self._stumbled
        )
        sitting = Sitting(private, self._group)
        sitting.keep_in_mind(kept)
        settings = private.match.settings
        tags = tuple(tag for tag in settings.tags if not tag.startswith(TAG))
        await self._sit_down(sitting, replace(settings, tags=tags))
        self.settings = replace(settings, initial_fen=None, opening=None, tags=())
        self.screen.say(f"Loaded {name!r}. {self._who()}.")
        self.show()
        if private.match.is_over:
            self.screen.say(tell_ending(private.match))
            self._offer_another()
        else:
            await self._deeds.resume("")

    def at(self, fen: str) -> MatchSettings:
        """Return the settings of this game from a position; raises what is wrong with that."""
        Position.from_fen(fen, self._played.variant)  # which says it best
        return replace(self._played, initial_fen=fen, opening=None)

    async def _sit_down(self, sitting: Sitting, settings: MatchSettings) -> None:
        if self._sitting is not None:
            await self._sitting.leave()
        self._sitting, self._played = sitting, settings
        self._teller, self.question = Teller(), None
        self.voices.hush()

    def _who(self) -> str:
        sitting, settings = self.sitting, self.sitting.match.settings
        if sitting.is_hot_seat:
            return "White and Black are both played here"
        color = sitting.hand
        opponent = settings.player(color.opponent)
        return f"You are {color.value.capitalize()} against {opponent.title or opponent.name}"

    # --- lines ---

    async def obey(self, line: str) -> None:
        """Do what a line says, or say in one line why not."""
        try:
            if self.question is not None and await self._answer(self.question, line):
                return
            said = read_line(line)
            if said is not None:
                await self._deeds.do(said)
        except (AppError, AgentError, RulesError) as error:
            self.screen.say(refusal(error, self.sitting.match))
        finally:
            self.screen.refresh()

    async def _answer(self, question: Question, line: str) -> bool:
        if not await question.take(line):
            return False
        if self.question is question:
            self.question = None
        return True

    async def interrupt(self) -> None:
        """Take Ctrl-C on an empty line: ask whether to leave; who insists leaves."""
        if self.question is not None and self.question.is_farewell:
            self.was_interrupted = True
            await self._keep_unfinished()
            await self.leave()
        elif self.sitting.is_worth_keeping:
            await self.unless_unsaved(self.leave, is_farewell=True)
        else:
            self.ask(whether_to_leave(self))

    async def end(self) -> None:
        """Take the end of all lines: leave, but ask first about a game that is not kept."""
        if self.question is not None and self.question.is_farewell:
            await self._keep_unfinished()
            await self.leave()
        else:
            await self.unless_unsaved(self.leave, is_farewell=True)

    async def leave(self) -> None:
        """Leave at once."""
        if not self.sitting.match.is_over:  # else they have been told
            self.screen.say(*tell_costs(self.sitting.private.ledger))
        self.has_left = True

    # --- questions ---

    def ask(self, question: Question) -> None:
        """Ask something; the next line may answer it."""
        self.question = question
        self.screen.say(question.text)
        self.screen.refresh()

    async def unless_unsaved(
        self, then: Callable[[], Awaitable[None]], *, is_farewell: bool = False
    ) -> None:
        """Do what would lose the game, at once or when it was asked whether it should be saved."""
        if not (self.manners.asks and self.sitting.is_worth_keeping):
            await then()
            return
        self.ask(save_first(self, then, is_farewell=is_farewell))

    def _offer_another(self) -> None:
        # What was asked before is still to be answered: whoever wanted to leave wants to leave.
        if self.manners.asks and self.question is None:
            self.ask(another(self))

    async def rematch(self) -> None:
        """Begin another game like this one, with colours swapped."""
        played, before = self._played, self.settings
        swapped = replace(played, white=played.black, black=played.white)
        await self.begin(swapped)
        start, opening = before.initial_fen, before.opening  # `new` does not begin where `load` did
        self.settings = replace(swapped, initial_fen=start, opening=opening)

    # --- what the match tells ---

    def _told(self, event: Event) -> None:
        sitting = self._sitting
        if sitting is None or event.match_id != sitting.match.id:
            return  # one that begins is told of when it is sat at, one that was left no more
        sitting.stir()
        if self._is_cut_off:
            return
        kind = event.type
        if kind is EventType.ADVICE:
            self.voices.hush(event.fields["by"])
        elif kind in _HUSHING:
            self.voices.hush()
        if not (sitting.is_resting and kind in _OF_A_REST):
            self.screen.say(*self._teller.tell(event, sitting.match))
        if self._is_worth_a_look(event):
            self.show()
        if kind is EventType.ENDED:
            self.screen.say(*tell_costs(sitting.private.ledger))
            self._offer_another()
        self.screen.refresh()

    def _is_worth_a_look(self, event: Event) -> bool:
        """Return whether the board is drawn after an event: for whoever moves, or waits long."""
        match = self.sitting.match
        if event.type in (EventType.STARTED, EventType.ENDED):
            return True
        if event.type not in (EventType.PLY, EventType.TAKEN_BACK) or match.is_over:
            return False
        mover = match.settings.player(match.color)
        return mover.is_human or bool(self.catalogue.models_of(mover.name))

    def _say(self, by: str, words: str) -> None:
        self.voices.hear(by, words)
        self.screen.refresh()

    def _stumbled(self, _player: str) -> None:
        self._teller.stumbled()

    async def _keep_unfinished(self) -> None:
        """Keep a game whose players cannot be asked, and remember to say so."""
        if self._sitting is None or not self._sitting.is_worth_keeping:
            return
        try:
            name = await self.shelf.keep_unfinished(self._sitting)
        except AppError as error:
            self.farewell = f"the game could not be saved: {error}"
        else:
            self.farewell = f"the game is saved as {name!r}: kibitz play --load {name}"


def _seeds(first: int | None) -> Iterator[int]:
    """Yield a seed for each game."""
    while True:
        yield SystemRandom().randint(0, MAX_SEED) if first is None else first
        first = None if first is None else (first + 1) % (MAX_SEED + 1)


#: After these, whoever spoke does not go on.
_HUSHING = (EventType.PLY, EventType.TURN, EventType.PAUSED, EventType.TAKEN_BACK, EventType.ENDED)
#: What nobody need be told of, if it was only for a moment.
_OF_A_REST = (EventType.PAUSED, EventType.RESUMED, EventType.TURN)
