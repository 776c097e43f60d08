"""Seats: who plays. Players are found, and seated, once somebody needs them.

What takes long to import is imported only then: a GUI that asks for our name wants it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, TypeAlias

from agents.errors import AgentError, CannotPlayVariant, UnknownPlayer
from agents.uci.errors import InvalidLevel
from app.uci.errors import PlayerRefused

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from agents.player import Player
    from agents.uci.limits import Limit

#: Opens the catalogue; it may take a while.
Opening: TypeAlias = "Callable[[], AbstractAsyncContextManager[Catalogue]]"
#: What whoever named a player got wrong; anything else can be mended meanwhile.
_MISTAKES = (UnknownPlayer, CannotPlayVariant, InvalidLevel)


class Seats:
    """Seats players of a catalogue, and remembers who sits there."""

    def __init__(self, opening: Opening, seed: int | None = None) -> None:
        self._opening = opening
        self._seed = seed
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._catalogue: Catalogue | None = None
        self._seated: tuple[tuple[str, str, Limit | None], Player] | None = None
        #: Whose processes are being started, or were at last.
        self._warming: tuple[str, asyncio.Task[Exception | None]] | None = None

    async def catalogue(self) -> Catalogue:
        """Return the catalogue, opened by whoever comes first; raises what opening it raises."""
        async with self._lock:
            if self._catalogue is None:
                self._catalogue = await self._stack.enter_async_context(self._opening())
            return self._catalogue

    async def lack_of(self, name: str) -> str | None:
        """Return what a player lacks to be seated, in a sentence.

        Raises `PlayerRefused` or an `AgentError` if nobody is called so, or they play no chess.
        """
        from app.matches.settings import HUMAN

        if name == HUMAN:
            raise PlayerRefused(name, "whoever moves by hand needs no UCI engine for it")
        catalogue = await self.catalogue()
        try:
            catalogue.seat(name)
        except _MISTAKES:
            raise
        except AgentError as error:
            return str(error)
        return None

    async def is_team(self, name: str) -> bool:
        """Return whether a player asks models."""
        return (await self.catalogue()).team(name) is not None

    async def seat(self, name: str, variant: str, limit: Limit | None) -> Player:
        """Return a player, the same as before if nothing is different: it may remember its game.

        Raises what `Catalogue.seat` raises.
        """
        catalogue = await self.catalogue()
        key = (name, variant, limit)
        if self._seated is None or self._seated[0] != key:
            self._seated = key, catalogue.seat(name, variant, self._seed, limit)
        return self._seated[1]

    def begin_game(self) -> None:
        """Let whoever plays next know nothing of what was played before."""
        self._seated = None

    async def warm(self, name: str, group: asyncio.TaskGroup) -> None:
        """Start what a player needs before it is asked; raises what `Catalogue.warm` raises.

        It starts in the group, whoever waits for it: a process that was begun for a search which
        had too little time is there for the next one.
        """
        catalogue = await self.catalogue()

        async def start() -> Exception | None:
            try:
                await catalogue.warm(name)
            except Exception as error:  # raised in here, it would end the group
                return error
            return None

        while self._warming is not None and not self._warming[1].done():
            whose, starting = self._warming
            error = await asyncio.shield(starting)
            if whose == name:
                break
        else:
            starting = group.create_task(start())
            self._warming = name, starting
            error = await asyncio.shield(starting)
        if error is not None:
            raise error

    def stop_warming(self) -> None:
        """Start nothing any more: nobody will want it."""
        if self._warming is not None:
            self._warming[1].cancel()

    async def aclose(self) -> None:
        """End all processes and connections. Safe to call twice."""
        await self._stack.aclose()
