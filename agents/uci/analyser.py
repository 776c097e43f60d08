"""Analyser: what a UCI engine thinks of positions, and of whole games."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from agents.errors import AgentError
from agents.player import Turn
from agents.uci.info import Info, Score, Wdl
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.pool import UciPool
from engine import Game, Move, MoveError, Outcome, Position

_DEFAULT = Limit(nodes=200_000)
_LINES_OPTION = "MultiPV"


@dataclass(frozen=True, slots=True)
class Variation:
    """A line that an engine looked at. Score and chances are those of the side to move."""

    rank: int
    score: Score
    #: None if the engine does not tell.
    wdl: Wdl | None
    depth: int | None
    selective_depth: int | None
    nodes: int | None
    time: timedelta | None
    moves: tuple[Move, ...]
    san: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an engine thinks of a position: variations, best first; none if the game is over."""

    position: Position
    variations: tuple[Variation, ...]
    #: How the game has ended, if there is nothing to think about.
    outcome: Outcome | None = None

    @property
    def best(self) -> Variation | None:
        """The best variation."""
        return self.variations[0] if self.variations else None

    @property
    def score(self) -> Score | None:
        """What the position is worth to the side to move; None if the engine did not tell."""
        if self.outcome is not None:
            return Score(centipawns=0) if self.outcome.winner is None else Score(mate=0)
        return self.variations[0].score if self.variations else None


class Analyser:
    """Asks the processes of a pool. The same limit of depth or nodes gives the same analysis."""

    def __init__(self, pool: UciPool, limit: Limit = _DEFAULT) -> None:
        self._pool = pool
        self._limit = limit

    @property
    def concurrency(self) -> int:
        """How many positions can be looked at at a time."""
        return self._pool.size

    @property
    def engine(self) -> str:
        """What the engine calls itself, version included; its title until it has been started."""
        title = self._pool.program.title
        told = (each.name for each in self._pool.processes if each.name != title)
        return next(told, title)

    async def analyse(
        self,
        turn: Turn | Position,
        limit: Limit | None = None,
        *,
        lines: int = 1,
        watcher: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Return the best lines of a position, or of the turn of a game, where repetitions count.

        `watcher` is told what is known whenever the search has got deeper. Raises what
        `UciPool.search` raises; more than one line is an option of the engine, too.
        """
        turn = Turn(turn) if isinstance(turn, Position) else turn
        position = turn.position
        outcome = position.outcome()
        if outcome is not None:
            return Analysis(position, (), outcome)
        limit = limit or self._limit
        listener = None if watcher is None else _Deepening(position, lines, watcher)
        options: dict[str, Value] = {} if lines == 1 else {_LINES_OPTION: lines}
        result = await self._pool.search(
            turn, limit, options=options, forget=True, listener=listener
        )
        return _analysis(position, result.infos)

    async def analyse_game(
        self,
        game: Game,
        limit: Limit | None = None,
        *,
        lines: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Analysis]:
        """Analyse every position of a game, from the first to the last; as `analyse_all` does."""
        plies = game.plies
        turns = [Turn(game.start, plies[:number]) for number in range(len(plies) + 1)]
        return await self.analyse_all(turns, limit, lines=lines, progress=progress)

    async def analyse_all(
        self,
        turns: Sequence[Turn],
        limit: Limit | None = None,
        *,
        lines: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Analysis]:
        """Analyse several turns, and return the analyses in their order.

        All processes of the pool are put to work, and no more is asked of them at a time than they
        can do, so that others get their turn in between. `progress` is told how many are done, and
        of how many. Raises what `analyse` raises.
        """
        analyses: dict[int, Analysis] = {}
        waiting = iter(enumerate(turns))

        failures: list[AgentError] = []

        async def work() -> None:
            for number, turn in waiting:
                if failures:
                    return
                try:
                    analyses[number] = await self.analyse(turn, limit, lines=lines)
                except AgentError as error:
                    failures.append(error)  # and not a group of it, as it would leave the tasks
                    return
                if progress is not None:
                    progress(len(analyses), len(turns))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._pool.size, len(turns))):
                group.create_task(work())
        if failures:
            raise failures[0]
        return [analyses[number] for number in range(len(turns))]


class _Deepening:
    """Gathers lines as they come, and tells the watcher when all ranks have got deeper."""

    def __init__(self, position: Position, lines: int, watcher: Callable[[Analysis], None]) -> None:
        self._position = position
        self._lines = min(lines, len(position.legal_moves()))
        self._watcher = watcher
        self._infos: dict[int, Info] = {}

    def __call__(self, info: Info) -> None:
        self._infos[info.rank] = info
        if info.rank == self._lines and len(self._infos) == self._lines:
            self._watcher(_analysis(self._position, tuple(self._infos.values())))


def _analysis(position: Position, infos: Iterable[Info]) -> Analysis:
    ordered = sorted(infos, key=lambda info: info.rank)
    variations = (_variation(position, info, info.score) for info in ordered if info.score)
    return Analysis(position, tuple(variations))


def _variation(position: Position, info: Info, score: Score) -> Variation:
    moves: list[Move] = []
    san: list[str] = []
    for text in info.pv:
        try:
            move = Move.from_uci(text.lower())
            after = position.play(move)
        except MoveError:
            break  # engines cut their lines from memory, where the end may have been overwritten
        san.append(position.san(move))
        moves.append(move)
        position = after
    return Variation(
        info.rank,
        score,
        info.wdl,
        info.depth,
        info.selective_depth,
        info.nodes,
        info.time,
        tuple(moves),
        tuple(san),
    )
