"""The catalogue: who can be seated, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from agents.classical.player import ClassicalPlayer
from agents.classical.workers import ClassicalWorkers
from agents.errors import CannotPlayVariant, PlayerUnavailable, UnknownPlayer
from agents.models.access import ModelAccess
from agents.models.errors import ModelNotConfigured
from agents.models.pricing import Prices
from agents.models.providers import DEFAULT_MODEL
from agents.player import Player
from agents.random_player import RandomPlayer
from agents.solver_player import SolverPlayer
from agents.team.appraisal import Appraisal, appraise
from agents.team.library import Team, load_teams
from agents.team.player import SOLO, TEAM, TeamPlayer, models_of
from agents.uci.analyser import Analyser
from agents.uci.errors import InvalidLimit, PoolClosed
from agents.uci.levels import LEVELS, STOCKFISH, find_level
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.player import UciPlayer
from agents.uci.pool import UciPool
from agents.uci.program import UciProgram, find_stockfish, find_well_known
from agents.uci.ratings import Ratings
from engine import VARIANTS, Solver
from engine.variant import find_variant

UCI = "uci"
_UCI_KINDS = (STOCKFISH, UCI)


def is_uci(name: str) -> bool:
    """Return whether a name is that of a UCI engine."""
    return name.partition(":")[0] in _UCI_KINDS


def takes_limit(name: str) -> bool:
    """Return whether a player thinks as far as a limit allows."""
    return is_uci(name) or name == ClassicalPlayer.name


class Catalogue:
    """Makes players by their names. Those of one catalogue share processes and what they work out.

    `programs` are the UCI engines that the operator names, besides well-known ones that are
    installed; `processes` is how many of each may run at a time; `ratings_file` says how strong the
    levels are, if it was measured here; `players` are more players, each by a function that makes
    one from a seed; `teams` are those that ask `models`, and members that name none ask the
    `default_model`. Close it, or use it as a context, if others than random ones were seated.
    """

    def __init__(
        self,
        programs: Mapping[str, UciProgram] | None = None,
        *,
        stockfish: UciProgram | None = None,
        stockfish_options: Mapping[str, Value] | None = None,
        processes: int = 2,
        ratings_file: Path | None = None,
        players: Mapping[str, Callable[[int | None], Player]] | None = None,
        teams: Mapping[str, Team] | None = None,
        models: ModelAccess | None = None,
        default_model: str = DEFAULT_MODEL,
    ) -> None:
        self._ratings_file = ratings_file
        known = find_well_known() | dict(programs or {})
        self._programs = {f"{UCI}:{name}": program for name, program in known.items()}
        self._stockfish = stockfish
        self._stockfish_options = dict(stockfish_options or {})
        self._processes = processes
        self._pools: dict[str, UciPool] = {}
        self._closed = False
        self._solver = Solver()
        self._thinkers = ClassicalWorkers(processes)
        self._models = models or ModelAccess()
        self._default_model = default_model
        self._teams = {
            name: team
            for each in (load_teams() if teams is None else teams).values()
            for name, team in (
                (f"{TEAM}:{each.name}", each),
                (f"{SOLO}:{each.name}", each.control()),
            )
        }
        self._makers: dict[str, Callable[[int | None], Player]] = {
            RandomPlayer.name: RandomPlayer,
            SolverPlayer.name: lambda seed: SolverPlayer(self._solver),
            ClassicalPlayer.name: self._seat_classical,
            **(players or {}),
        }

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End all processes and connections, for good. Safe to call twice."""
        self._closed = True
        async with asyncio.TaskGroup() as group:
            for pool in self._pools.values():
                group.create_task(pool.aclose())
            group.create_task(self._thinkers.aclose())
            group.create_task(self._models.aclose())

    @cached_property
    def ratings(self) -> Ratings:
        """How strong the levels and others are; raises `InvalidRatings` if the file is damaged."""
        return Ratings.load(self._ratings_file)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that can be seated."""
        levels = (level.name for level in LEVELS)
        return (*self._makers, *self._teams, *levels, *self._programs)

    def team(self, name: str) -> Team | None:
        """Return the team that plays under a name (`team:NAME` or `solo:NAME`), if one does."""
        return self._teams.get(name)

    def models_of(self, name: str) -> tuple[str, ...]:
        """Return the models that a player may ask, as `provider/model`."""
        team = self._teams.get(name)
        return () if team is None else models_of(team, self._default_model)

    def lack_of(self, name: str) -> str | None:
        """Return what a team lacks to be seated, such as a key, in words."""
        try:
            self._check_models(name)
        except PlayerUnavailable as error:
            return error.reason
        return None

    def unpriced(self, name: str) -> tuple[str, ...]:
        """Return the models of a player of which nobody knows what they cost."""
        prices = self._models.prices
        return tuple(model for model in self.models_of(name) if prices.of(model) is None)

    def appraise(self, name: str, *, written: float = 0.5) -> Appraisal:
        """Return what one decision of a player will likely cost; nothing, if it asks no model.

        `written` is how much its members write of what they may.
        """
        team = self._teams.get(name)
        if team is None:
            return Appraisal()
        return appraise(team, self._default_model, self._models.prices, written=written)

    @property
    def prices(self) -> Prices:
        """What models cost."""
        return self._models.prices

    def seat(
        self,
        name: str,
        variant: str = "standard",
        seed: int | None = None,
        limit: Limit | None = None,
    ) -> Player:
        """Return a player for a game of a variant.

        A `limit` is for those of whom `takes_limit` says so, and holds instead of their own. Raises
        `UnknownVariant`, `CannotPlayVariant`, `UnknownPlayer`, `InvalidLevel`, `InvalidLimit`,
        `InvalidThinking`, `UciNotFound` or `PlayerUnavailable`.
        """
        find_variant(variant)
        kind, _, which = str(name).partition(":")
        if kind not in _UCI_KINDS and str(name) not in {*self._makers, *self._teams}:
            raise UnknownPlayer(str(name), self.names)
        plays = self._plays(kind)
        if variant not in plays:
            raise CannotPlayVariant(name, variant, plays)
        if kind == STOCKFISH:
            return find_level(which).player(self.pool(STOCKFISH), seed, limit)
        if kind == UCI:
            pool = self.pool(name)
            own = pool.program.limit
            return UciPlayer(name, pool, limit=limit if limit and limit.is_set else own)
        if name in self._teams:
            return self._seat_team(name, seed)
        if name == ClassicalPlayer.name:
            return self._seat_classical(seed, limit)
        return self._makers[name](seed)

    def _seat_classical(self, seed: int | None, limit: Limit | None = None) -> Player:
        limit = limit or Limit()
        if limit.depth is not None:
            raise InvalidLimit(f"{ClassicalPlayer.name} thinks by nodes or time, not to a depth")
        return ClassicalPlayer(self._thinkers, seed, think=limit.time, nodes=limit.nodes)

    def _seat_team(self, name: str, seed: int | None) -> Player:
        self._check_models(name)
        team, caller, default = self._teams[name], self._models.caller, self._default_model
        return TeamPlayer(name, team, caller, default_model=default, seed=seed)

    def _check_models(self, name: str) -> None:
        """Raise `PlayerUnavailable` if a model of a team cannot be asked, or not be paid for."""
        for model in self.models_of(name):
            try:
                self._models.check(model)
            except ModelNotConfigured as error:
                raise PlayerUnavailable(name, str(error)) from None
        unpriced = self.unpriced(name)
        if unpriced and self._teams[name].definition.budget.usd is not None:
            raise PlayerUnavailable(
                name,
                f"it has a budget in USD, and nobody knows what {unpriced[0]} costs;"
                " set its price, or give the team a budget of tokens or calls",
            )

    async def warm(self, name: str) -> None:
        """Start a process of a player before it is needed; raises what `warm` of it raises."""
        if name == ClassicalPlayer.name:
            await self._thinkers.warm()
        elif name in self._teams:
            await self._models.warm()
        elif is_uci(name):
            await self.pool(STOCKFISH if name.startswith(STOCKFISH) else name).warm()

    def analyser(self, name: str = STOCKFISH) -> Analyser:
        """Return an analyser by `stockfish` or `uci:NAME`; raises what `pool` raises."""
        return Analyser(self.pool(name))

    def pool(self, name: str) -> UciPool:
        """Return the processes of `stockfish`, or of `uci:NAME`.

        Raises `UciNotFound`, `UnknownPlayer`, or `PoolClosed` after the catalogue was closed.
        """
        if name not in self._pools:
            if self._closed:
                raise PoolClosed(name)
            if name == STOCKFISH:
                program = self._stockfish or find_stockfish()
                program = replace(program, options={**program.options, **self._stockfish_options})
            elif name in self._programs:
                program = self._programs[name]
            else:
                raise UnknownPlayer(name, self.names)
            self._pools[name] = UciPool(program, self._processes)
        return self._pools[name]

    def _plays(self, kind: str) -> tuple[str, ...]:
        """Return the variants that a kind of player knows."""
        if kind == SolverPlayer.name:
            return SolverPlayer.variants
        if kind in _UCI_KINDS:
            return tuple(name for name, each in VARIANTS.items() if each.has_uci_engines)
        return tuple(VARIANTS)
