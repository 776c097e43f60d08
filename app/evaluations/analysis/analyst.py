"""Analyst: looks at the games of an evaluation in the background, within a number of nodes."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import structlog
from sqlalchemy import Connection

from agents.catalogue import Catalogue
from agents.errors import AgentError
from agents.timekeeping import now
from app.errors import AppError
from app.evaluations.analysis.game_analysis import TooManyNodes, analyse_game
from app.evaluations.analysis.table import stored_advice
from app.evaluations.plan import ReviewBody
from app.matches.service import MatchService
from app.persistence.database import Database
from app.persistence.errors import StorageRefused, StorageUnavailable
from app.persistence.evaluations import add_analysis, analysed_of
from engine import RulesError

_log = structlog.get_logger(__name__)

#: How often an analysis is tried that fails, and how soon it is tried again at first: an engine
#: may be away for a minute.
_TRIES = 6
FIRST_PAUSE = timedelta(seconds=2)


class Analyst:
    """Analyses games one after the other, each with all processes of Stockfish that are free.

    Games that cannot be analysed, or for which too few nodes are left, are left out.
    """

    def __init__(
        self,
        evaluation_id: str,
        review: ReviewBody,
        database: Database,
        matches: MatchService,
        catalogue: Catalogue,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called after each game."""
        self._evaluation_id = evaluation_id
        self._review = review
        self._database = database
        self._matches = matches
        self._catalogue = catalogue
        self._changed = changed
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._done: dict[str, int] = {}
        self._failures: Counter[str] = Counter()
        self._left_out: set[str] = set()
        self._known: set[str] = set()

    async def open(self) -> None:
        """Find out what was analysed before."""
        found = await self._database.read(
            lambda connection: analysed_of(connection, self._evaluation_id)
        )
        self._done |= found  # and what was stored since it was read
        self._known |= found.keys()

    def take(self, match_id: str) -> None:
        """Have a game analysed, unless it is or will be."""
        if self._review.nodes and match_id not in self._known:
            self._known.add(match_id)
            self._waiting.put_nowait(match_id)

    @property
    def analysed(self) -> int:
        """How many games are analysed."""
        return len(self._done)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing more to do."""
        return self._known == self._done.keys() | self._left_out

    async def run(self) -> None:
        """Analyse what is taken in, until cancelled."""
        while True:
            match_id = await self._waiting.get()
            try:
                await self._analyse(match_id)
            except (AgentError, StorageUnavailable) as error:
                _log.warning("no analysis of a game", match_id=match_id, error=str(error))
                await self._try_again(match_id)
            except (AppError, RulesError) as error:
                _log.warning("no analysis of a game", match_id=match_id, error=str(error))
                self._left_out.add(match_id)
            self._changed()

    async def _try_again(self, match_id: str) -> None:
        """Wait a while, longer each time, and have a game analysed after the others."""
        self._failures[match_id] += 1
        if self._failures[match_id] == _TRIES:
            self._left_out.add(match_id)
            return
        await asyncio.sleep((FIRST_PAUSE * 2 ** (self._failures[match_id] - 1)).total_seconds())
        self._waiting.put_nowait(match_id)

    async def _analyse(self, match_id: str) -> None:
        match = await self._matches.load(match_id)
        _, plies = await self._matches.plies(match_id)
        most = self._review.most_nodes
        left = None if most is None else max(most - sum(self._done.values()), 0)
        try:
            analysis = await analyse_game(
                self._catalogue.analyser(),
                match.game,
                stored_advice(plies),
                nodes=self._review.nodes,
                opening_plies=match.opening_plies,
                most_nodes=left,
            )
        except TooManyNodes:
            self._left_out.add(match_id)  # a shorter game may still fit
            return
        data = await asyncio.to_thread(json.dumps, analysis.to_json(), separators=(",", ":"))
        # What may have been searched, so that the bound holds.
        nodes = analysis.searches * self._review.nodes

        def add(connection: Connection) -> None:
            add_analysis(
                connection,
                self._evaluation_id,
                match_id,
                nodes,
                data,
                now(),
            )

        try:
            await self._database.write(add)
        except StorageRefused:
            await self.open()
            if match_id not in self._done:
                raise
            _log.info("a game was analysed twice", match_id=match_id)
        self._done[match_id] = nodes
