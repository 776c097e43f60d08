"""Conversation: what a GUI says to its engine, one line after the other, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from agents.errors import AgentError
from app.errors import AppError
from app.uci.commands import (
    Command,
    Debug,
    Go,
    IsReady,
    NewGame,
    PonderHit,
    Quit,
    Register,
    SetOption,
    SetPosition,
    Stop,
    Uci,
    Unknown,
    read,
)
from app.uci.errors import OptionRefused, PositionRefused
from app.uci.ledger import call_words
from app.uci.options import PLAYER, Preferences, declaration
from app.uci.position import Board, moves_of
from app.uci.reserve import Reserve
from app.uci.words import info_string
from engine import RulesError
from engine.errors import shown

if TYPE_CHECKING:
    from agents.models.ledger import ModelCall
    from agents.player import Player
    from agents.uci.limits import Limit
    from app.uci.ledger import UciLedger
    from app.uci.seats import Seats
    from app.uci.thinking import Thinking

AUTHOR: Final = "the Kibitz authors"
#: So many seconds nothing else is heard while a player gets ready.
_SOON_READY: Final = 1.0
#: So many seconds the GUI has to want something, before we look for whoever plays.
_FIRST_WISH: Final = 1.0


class Conversation:
    """Everything between the first line of a GUI and the last. `tell` gets each line for it."""

    def __init__(
        self,
        preferences: Preferences,
        seats: Seats,
        ledger: UciLedger,
        tell: Callable[[str], None],
        *,
        own: Limit,
    ) -> None:
        """`own` is how far the player may think, whatever the GUI asks for."""
        self._preferences = preferences
        self._seats = seats
        self._ledger = ledger
        self._tell = tell
        self._own = own
        self._reserve = Reserve()
        self._board = Board(preferences.variant)
        self._thinking: Thinking | None = None
        self._searching: asyncio.Task[None] | None = None
        self._readying: asyncio.Task[None] | None = None
        self._is_debugging = False
        self._stirred = asyncio.Event()
        #: What need not be said again: what a player lacks, and what means nothing to it.
        self._said_once: set[str] = set()
        ledger.told = self._called

    async def run(self, lines: AsyncIterable[str | None]) -> None:
        """Listen until `quit` or the end of the lines; whoever still thinks then answers first.

        Raises `NobodyMoves`, or what is wrong with the player that was named at first.
        """
        failure: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                checking = group.create_task(self._check())
                has_quit = await self._listen(lines, group)
                if not has_quit:
                    await self._finish()
                    await asyncio.gather(checking, *filter(None, (self._readying,)))
                for task in (checking, self._readying, self._searching):
                    if task is not None:
                        task.cancel()
                self._seats.stop_warming()
        except* (AppError, AgentError, RulesError) as errors:
            failure = errors.exceptions[0]
        finally:
            await self._reserve.aclose()
            await self._seats.aclose()
        if failure is not None:
            raise failure

    async def _listen(self, lines: AsyncIterable[str | None], group: asyncio.TaskGroup) -> bool:
        """Do as the GUI says; return whether it said `quit`."""
        async for line in lines:
            if line is None:
                self._say("a line was too long for any command, and is left out")
                continue
            command = read(line)
            if isinstance(command, Quit):
                return True
            if not isinstance(command, Uci):  # a GUI that lists engines says no more than that
                self._stirred.set()
            await self._obey(command, group, asyncio.get_running_loop().time())
        self._stirred.set()
        return False

    async def _obey(self, command: Command, group: asyncio.TaskGroup, now: float) -> None:
        match command:
            case Uci():
                self._introduce()
            case IsReady():
                self._readying = group.create_task(self._get_ready(group))
                # What takes longer goes on beside: `quit` has to be heard meanwhile.
                await asyncio.wait({self._readying}, timeout=_SOON_READY)
            case SetOption(name, value):
                await self._set_option(name, value)
            case NewGame():
                await self._finish()
                self._begin_game()
            case SetPosition():
                await self._finish()
                self._set_position(command)
            case Go():
                await self._finish()
                await self._go(command, group, now)
            case Stop() if self._thinking is not None:
                self._thinking.stop()
            case PonderHit() if self._thinking is not None:
                self._thinking.ponder_hit()
            case Debug(is_on):
                self._is_debugging = is_on
            case Unknown(text) if text.strip():
                self._say(f"unknown command: {shown(text)}")
            case Register() | Stop() | PonderHit() | Unknown():
                pass  # as the standard says, nothing comes of it

    # --- getting ready ---

    def _introduce(self) -> None:
        self._tell(f"id name Kibitz {_version()} ({self._preferences.player})")
        self._tell(f"id author {AUTHOR}")
        for option in self._preferences.options():
            self._tell(declaration(option))
        self._tell("uciok")

    async def _check(self) -> None:
        """See that there is the player that was named at first; raises what is wrong with it."""
        player = self._preferences.player
        # Who is asked for its name should answer at once, and not while it looks for players.
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_WISH):
                await self._stirred.wait()
        await self._lament(player)

    async def _lament(self, player: str) -> None:
        """Tell what a player lacks; raises `PlayerRefused` or an `AgentError` if it is nobody."""
        lack = await self._seats.lack_of(player)
        if lack is not None:
            self._say_once(lack)

    async def _get_ready(self, group: asyncio.TaskGroup) -> None:
        if self._thinking is None or self._thinking.answered.is_set():
            player = self._preferences.player
            await self._lament(player)
            try:
                await self._seats.warm(player, group)
                if self._preferences.emergency and await self._seats.is_team(player):
                    await self._reserve.warm()
            except AgentError as error:  # the turn will tell, and is tried again
                self._say_once(str(error))
        self._tell("readyok")

    async def _set_option(self, name: str, value: str) -> None:
        before = self._preferences
        try:
            wanted = before.changed(name, value)
            if wanted.player != before.player:
                await self._take_player(wanted)
        except OptionRefused as error:
            self._say(str(error))
            return
        self._preferences = wanted
        self._ledger.rebudget(wanted.budget)
        if wanted.chess960 != before.chess960:
            await self._finish()
            self._board = Board(wanted.variant)

    async def _take_player(self, wanted: Preferences) -> None:
        try:
            await self._lament(wanted.player)
        except (AppError, AgentError, RulesError) as error:
            raise OptionRefused(PLAYER, str(error)) from None

    # --- games ---

    def _begin_game(self) -> None:
        self._seats.begin_game()
        self._ledger.begin_game()
        self._board = Board(self._preferences.variant)

    def _set_position(self, command: SetPosition) -> None:
        try:
            self._board.set_up(command)
        except PositionRefused as error:
            self._say(str(error))

    async def _go(self, go: Go, group: asyncio.TaskGroup, now: float) -> None:
        await self._seats.catalogue()  # which imports what follows, too, off the loop
        from agents.catalogue import is_uci
        from agents.player import Turn
        from app.uci.limits import bounds_of
        from app.uci.thinking import Task, Thinking

        wishes, game = self._preferences, self._board.game
        player = wishes.player
        bounds = bounds_of(
            go,
            game.turn,
            player=player,
            own=self._own,
            overhead=wishes.overhead,
        )
        if bounds.ignored:
            self._say_once(bounds.ignored)
        among, refused = moves_of(game.position, go.among)
        for each in refused:
            self._say(f"searchmoves: {each}")
        if refused and not among:
            self._say("none of the moves to search can be played: all others are looked at")
        ledger = self._ledger.for_turn()
        task = Task(
            replace(Turn.of(game), clock=bounds.clock, among=among),
            player,
            bounds,
            wishes.retries,
            wishes.emergency,
            is_infinite=go.infinite,
            is_pondering=go.ponder,
            shows_its_search=is_uci(player),
        )

        async def seat() -> Player:
            await self._seats.warm(player, group)
            return await self._seats.seat(player, wishes.variant, bounds.limit)

        thinking = Thinking(task, seat, self._reserve, ledger, self._ledger, self._tell, now)
        self._searching = group.create_task(thinking.run(group))
        self._thinking = thinking

    async def _finish(self) -> None:
        """End the search under way, as if `stop` had come: each `go` gets its answer."""
        if self._thinking is not None:
            self._thinking.stop()
            await self._thinking.answered.wait()
            self._thinking = None

    # --- words ---

    def _called(self, call: ModelCall) -> None:
        if self._is_debugging:
            self._say(call_words(call))

    def _say_once(self, text: str) -> None:
        if text not in self._said_once:
            self._said_once.add(text)
            self._say(text)

    def _say(self, text: str) -> None:
        self._tell(info_string(text))


@cache
def _version() -> str:
    return version("kibitz")  # which is looked for among all files of all packages
