"""Players that do what a test tells them, when it tells them.

stage = Stage()
with serving_page(folder, stage.catalogue()) as served:
    match = start(client, "prompted", "human")
    player = stage.asked()                      # once it is to move
    player.does(lambda turn: turn.listener.said("tactical", "Look at f7"))
    player.plays("e4")
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from agents.catalogue import Catalogue
from agents.player import Decision, Player, Turn
from tests.support.processes import HANGS_AFTER
from tests.web.page_service import SCRIPTS, script_follower

#: What is done in a turn; a decision ends it.
Act: TypeAlias = Callable[[Turn], Decision | None]

PROMPTED = "prompted"


class Prompted:
    """A player that waits for what it is told; to be told from another thread."""

    name = PROMPTED

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._acts: deque[Act] = deque()
        self._lock = threading.Lock()
        self._wake: Callable[[], object] = lambda: None
        self._is_known = False

    def does(self, act: Act) -> None:
        """Do something in this turn, or in the next."""
        with self._lock:
            self._acts.append(act)
            self._wake()

    def plays(self, move: str, **decision: object) -> None:
        """Decide for a move."""
        self.does(lambda turn: Decision(move, **decision))  # type: ignore[arg-type]

    async def decide(self, turn: Turn) -> Decision:
        """Do what is told, until it is a decision."""
        if not self._is_known:
            self._is_known = True
            self._stage.players.put(self)
        told, loop = asyncio.Event(), asyncio.get_running_loop()
        with self._lock:
            self._wake = lambda: loop.call_soon_threadsafe(told.set)
        try:
            while True:
                told.clear()
                while self._acts:
                    decision = self._acts.popleft()(turn)
                    if decision is not None:
                        return decision
                await told.wait()
        finally:
            with self._lock:
                self._wake = lambda: None


class Stage:
    """Where prompted players meet those who prompt them."""

    def __init__(self) -> None:
        self.players: queue.Queue[Prompted] = queue.Queue()

    def asked(self) -> Prompted:
        """Return the next player that is asked for its first decision, once it is."""
        return self.players.get(timeout=HANGS_AFTER)

    def catalogue(self) -> Catalogue:
        """Return everybody who needs no key, those who follow a script, and `prompted`."""
        makers: dict[str, Callable[[int | None], Player]] = {
            name: script_follower(name) for name in SCRIPTS
        }
        return Catalogue(players={**makers, PROMPTED: lambda seed: Prompted(self)}, processes=1)
