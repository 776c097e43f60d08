"""Analyses that clients ask for: how many at a time, and by whom."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci.analyser import Analysis
from agents.uci.limits import Limit
from app.http.bounds import Places
from engine import Game, RatedMove, Solver, Verdict, seen_twice

_NODES = 200_000
_MOST_TIME = timedelta(seconds=10)
#: How many may wait for each one that is looked into.
_WAITING = 8


class Analyses:
    """Lets a few analyses run at a time, so that matches get UCI engines and threads, too."""

    def __init__(self, catalogue: Catalogue, processes: int, solver: Solver | None = None) -> None:
        self._catalogue = catalogue
        at_a_time = max(1, processes // 2)
        self._turns = asyncio.Semaphore(at_a_time)
        self._places = Places("analyses", 2 * _WAITING * at_a_time, _WAITING * at_a_time)
        self._solver = solver or Solver()
        # It answers one at a time anyway, and whoever waits need not keep a thread from others.
        self._solver_turn = asyncio.Lock()

    async def by_stockfish(self, turn: Turn, limit: Limit, lines: int, client: str) -> Analysis:
        """Return what Stockfish thinks of a turn, within a limit and never for over 10 s.

        Raises `Refusal` if too many wait already, and what `Analyser.analyse` raises.
        """
        with self._places.taking(client):
            async with self._turns:
                analyser = self._catalogue.analyser()
                return await analyser.analyse(turn, bounded(limit), lines=lines)

    async def by_solver(self, game: Game, client: str) -> tuple[Verdict, list[RatedMove]]:
        """Return what perfect play makes of a game that goes on, and every move, best first.

        Raises `Refusal` if too many wait already, and `NotSolved`.
        """
        with self._places.taking(client):
            async with self._solver_turn:
                return await asyncio.to_thread(self._solve, game)

    def _solve(self, game: Game) -> tuple[Verdict, list[RatedMove]]:
        twice = seen_twice(game.line.positions)
        position = game.position
        return self._solver.verdict(position, twice), self._solver.moves(position, twice)


def bounded(limit: Limit) -> Limit:
    """Return a limit with a bound on its time; the usual one, if there is none."""
    nodes = limit.nodes if limit.is_set else _NODES
    return Limit(depth=limit.depth, nodes=nodes, time=min(limit.time or _MOST_TIME, _MOST_TIME))
