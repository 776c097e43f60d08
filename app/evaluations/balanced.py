"""Balanced openings: as many as an evaluation needs, made by lots, and level by Stockfish's word.

At each ply the legal moves draw lots, and the first one is played after which nobody stands much
better by a search of so many nodes: by twice the window on the way, and within it at the end. So no
queen hangs that nobody has taken yet, and yet common openings, which give White a little, are not
left out. What comes out depends on the seed and the number alone, for the same engine and limit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from agents.uci.analyser import Analyser
from agents.uci.info import Score
from agents.uci.limits import Limit
from app.errors import AppError
from engine import Line, Position
from engine.variant import find_variant

PLIES = 8
#: In centipawns, for either side.
WINDOW = 40
LIMIT = Limit(nodes=5_000)

#: How much wider the window is on the way than at the end.
_ON_THE_WAY = 2
_MOST_PLIES = 40
#: How often a line is begun anew that leads nowhere. Hardly ever is any.
_ATTEMPTS = 20


@dataclass(eq=False)
class NoBalancedOpening(AppError):
    """Openings that cannot be had as they were asked for."""

    reason: str

    def __str__(self) -> str:
        return f"there is no balanced opening: {self.reason}"


async def balanced_opening(
    analyser: Analyser,
    seed: int,
    number: int,
    *,
    plies: int = PLIES,
    window: int = WINDOW,
    limit: Limit = LIMIT,
) -> str:
    """Return moves from the starting position in short notation, as a match takes them.

    White is to move after them, and not in check. Raises `NoBalancedOpening` for plies, windows or
    limits that make none, and what `Analyser.analyse` raises.
    """
    maker = _Maker(analyser, plies, window, limit)
    return _san(await maker.line(seed, number, Position.start()))


async def balanced_position(
    analyser: Analyser,
    seed: int,
    number: int,
    *,
    variant: str = "chess960",
    plies: int = PLIES,
    window: int = WINDOW,
    limit: Limit = LIMIT,
) -> Position:
    """Return the position after a balanced opening from a start that is drawn by lot, too.

    For variants with more than one start, whose matches are given a position and no moves. Raises
    `UnknownVariant`, and what `balanced_opening` raises.
    """
    starts = find_variant(variant).starts
    start = int.from_bytes(_lot(seed, number, "start")[:8]) % starts
    maker = _Maker(analyser, plies, window, limit)
    return (await maker.line(seed, number, Position.start(variant, start))).last


@dataclass(frozen=True, slots=True)
class _Maker:
    analyser: Analyser
    plies: int
    window: int
    limit: Limit

    def __post_init__(self) -> None:
        if self.plies % 2 or not 2 <= self.plies <= _MOST_PLIES:
            raise NoBalancedOpening(f"it has an even number of plies, from 2 to {_MOST_PLIES}")
        if self.window < 1:
            raise NoBalancedOpening("its window has at least one centipawn")
        if not self.limit.is_effort:
            raise NoBalancedOpening("only a limit of nodes or depth makes the same one again")

    async def line(self, seed: int, number: int, start: Position) -> Line:
        """Return an opening from a start."""
        for attempt in range(_ATTEMPTS):
            line = Line(start)
            while await self._prolong(line, f"{seed}/{number}/{attempt}"):
                if len(line) == self.plies:
                    return line
        raise NoBalancedOpening(
            f"none of {self.plies} plies was found within {self.window} centipawns"
        )

    async def _prolong(self, line: Line, lots: str) -> bool:
        """Add a move that leaves the game level, if there is any."""
        position, ply = line.last, len(line) + 1
        is_last = ply == self.plies
        window = self.window if is_last else _ON_THE_WAY * self.window
        seen = {each.key() for each in line.positions}
        for move in sorted(position.legal_moves(), key=lambda move: _lot(lots, ply, move.uci())):
            after = position.play(move)
            if after.key() in seen or after.outcome() is not None:
                continue
            if is_last and after.is_check():
                continue
            score = (await self.analyser.analyse(after, self.limit)).score
            if score is not None and _is_within(score, window):
                line.append(move, after)
                return True
        return False


def _is_within(score: Score, window: int) -> bool:
    return score.centipawns is not None and abs(score.centipawns) <= window


def _lot(*parts: object) -> bytes:
    # a digest, since the order that `random` gives to a seed may change with Python's version
    return hashlib.sha256("/".join(map(str, parts)).encode()).digest()


def _san(line: Line) -> str:
    return " ".join(ply.san for ply in line.plies)
