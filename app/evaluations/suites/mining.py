"""Mining: positions of games in which Stockfish sees one move far better than all others.

Every position of a game is screened with few nodes, and what looks promising is verified with many.
One is kept if both searches agree on the best move, and it is ahead of the next one by the gap, in
points of Win%. The rest are filters against positions that tell nothing:

- the first plies, the last position of a game that is over, and positions with one legal move;
- a side that is lost whatever it plays (the best move leaves it under 30 %), or has won whatever it
  plays (the next best leaves it over 70 %);
- a position that was there before, and a best move to a square that an earlier one of the same side
  and game went to: a queen that hangs for three moves is one position, and not three.

The same games, nodes and engine give the same positions, on however many processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

from agents.uci.analyser import Analyser, Analysis
from agents.uci.info import Score
from agents.uci.limits import MAX_NODES, Limit
from app.errors import AppError
from app.evaluations.accuracy import CEILING, win_percent
from app.evaluations.crew import share_out
from app.evaluations.suites.suite import SuitePosition
from engine import Color, Game, Move, Position

#: By how much fewer nodes are looked at to screen than to verify.
_SCREENING = 20
#: What is screened may turn out better than it looks by so much.
_LENIENCE = 0.75
#: The Win% of a side that has lost, or won, whatever it plays.
_LOST, _WON = 30.0, 70.0
_ID_DIGITS = 10


@dataclass(eq=False)
class InvalidRules(AppError):
    """Rules of mining that cannot be followed."""

    reason: str

    def __str__(self) -> str:
        return f"positions cannot be mined so: {self.reason}"


@dataclass(frozen=True, slots=True)
class MiningRules:
    """What is looked for, and how far. Raises `InvalidRules`."""

    #: How far the best move is ahead of the next one, in points of Win%.
    gap: float = 20.0
    #: Of the search that verifies; screening takes a twentieth.
    nodes: int = 200_000
    #: How many plies of each game are passed over.
    skip: int = 8

    def __post_init__(self) -> None:
        if not 1 <= self.gap <= 90:
            raise InvalidRules("the gap must be from 1 to 90 points of Win%")
        if not 100 <= self.nodes <= MAX_NODES:
            raise InvalidRules(f"the nodes must be from 100 to {MAX_NODES}")
        if not 0 <= self.skip <= 10_000:
            raise InvalidRules("the plies to pass over must be from 0 to 10000")


@dataclass(slots=True)
class MinedSoFar:
    """What has been looked at, and found."""

    games: int = 0
    #: Games of variants of which suites have no positions.
    passed_over: int = 0
    screened: int = 0
    verified: int = 0
    found: int = 0


@dataclass(frozen=True, slots=True)
class _Find:
    best: Move
    gap: float


class Miner:
    """Looks through games, one after the other, and never finds the same twice."""

    def __init__(
        self,
        analyser: Analyser,
        rules: MiningRules | None = None,
        watcher: Callable[[MinedSoFar], None] | None = None,
    ) -> None:
        """`watcher` is told after every search."""
        self._analyser = analyser
        self._rules = rules or MiningRules()
        self._watcher = watcher
        self._seen: set[Hashable] = set()
        self.so_far = MinedSoFar()

    async def mine(self, game: Game) -> list[SuitePosition]:
        """Return what there is in a game, in its order.

        Raises what `Analyser.analyse` raises.
        """
        self.so_far.games += 1
        if game.variant != "standard":
            self.so_far.passed_over += 1
            return []
        positions = self._worth_a_look(game)
        few, many = Limit(nodes=self._rules.nodes // _SCREENING), Limit(nodes=self._rules.nodes)
        screened = await self._search(positions, few, _LENIENCE * self._rules.gap, "screened")
        promising = {number: positions[number] for number in screened}
        verified = await self._search(promising, many, self._rules.gap, "verified")
        found: dict[tuple[Color, int], SuitePosition] = {}
        for number, find in verified.items():
            goal = positions[number].turn, find.best.to_square
            if find.best is screened[number].best and goal not in found:
                found[goal] = _suite_position(game, number, find)
        self.so_far.found += len(found)
        return list(found.values())

    def _worth_a_look(self, game: Game) -> dict[int, Position]:
        """Return positions by the number of plies before them, if there is something to decide."""
        positions: dict[int, Position] = {}
        for number, position in enumerate(game.line.positions):
            if number < self._rules.skip or position.key() in self._seen:
                continue
            self._seen.add(position.key())
            if position.outcome() is None and len(position.legal_moves()) > 1:
                positions[number] = position
        return positions

    async def _search(
        self,
        positions: Mapping[int, Position],
        limit: Limit,
        gap: float,
        counter: Literal["screened", "verified"],
    ) -> dict[int, _Find]:
        """Return where one move is that far ahead."""

        async def look(position: Position) -> _Find | None:
            lines = _LastWhole()
            await self._analyser.analyse(position, limit, lines=2, watcher=lines)
            return _find(lines.analysis)

        def count() -> None:
            setattr(self.so_far, counter, getattr(self.so_far, counter) + 1)
            if self._watcher is not None:
                self._watcher(self.so_far)

        finds = await share_out(positions.values(), look, self._analyser.concurrency, count)
        pairs = zip(positions, finds, strict=True)
        return {number: find for number, find in pairs if find is not None and find.gap >= gap}


class _LastWhole:
    """Keeps the last analysis whose two lines are of one depth, and whose scores are no bounds.

    A limit of nodes ends a search anywhere. Then the first line may be of a depth that the second
    has not reached, and may even be the same move, which was not the best one before.
    """

    def __init__(self) -> None:
        self.analysis: Analysis | None = None

    def __call__(self, analysis: Analysis) -> None:
        if len(analysis.variations) < 2:
            return
        best, following = analysis.variations[:2]
        are_exact = best.score.bound is None and following.score.bound is None
        are_of_one_depth = best.depth == following.depth and best.moves[:1] != following.moves[:1]
        if are_exact and are_of_one_depth:
            self.analysis = analysis


def _find(analysis: Analysis | None) -> _Find | None:
    """Return the best move and how far it is ahead, unless all is lost or won anyway."""
    if analysis is None or not analysis.variations[0].moves:
        return None
    best, following = (_win(variation.score) for variation in analysis.variations[:2])
    if best < _LOST or following > _WON:
        return None
    return _Find(analysis.variations[0].moves[0], best - following)


def _win(score: Score) -> float:
    """Return the Win% of the side to move."""
    if score.mate is not None:
        return win_percent(CEILING if score.mate > 0 else -CEILING)
    return win_percent(score.centipawns or 0)


def _suite_position(game: Game, number: int, find: _Find) -> SuitePosition:
    fen = game.line.positions[number].fen()
    # By the position alone, so that it has the same name in every suite.
    digest = hashlib.sha256(" ".join(fen.split()[:4]).encode()).hexdigest()
    players = " - ".join(game.tags.get(color, "?") for color in ("White", "Black"))
    return SuitePosition(
        f"kibitz-{digest[:_ID_DIGITS]}",
        fen,
        (find.best,),
        gap=find.gap,
        source=f"{players}, ply {number}",
    )
