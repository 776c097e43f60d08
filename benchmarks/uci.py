"""What handing a move through costs us, beside python-chess's `chess.engine`: `make bench-uci`.

Both let Stockfish play itself at `nodes 1000`, on one thread each, in rounds that alternate: the
position goes out, the best move comes in, its SAN is worked out, and it is played. Only the time of
our own process counts; Stockfish is another one. Ours goes the way of a match: through a player and
the pool, with the move's legality checked and a reason read from the engine's last line.

It is done in two ways: the engine keeps its memory during a game, or forgets it before each search,
so that the game can be repeated. The latter is what we do by default when nodes are limited. It
costs both sides more, since clearing the engine's memory empties the processor's caches.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from statistics import mean, median, quantiles
from time import process_time

import chess
import chess.engine

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci.levels import LEVELS, STOCKFISH
from agents.uci.limits import Limit
from agents.uci.player import UciPlayer
from agents.uci.program import find_stockfish
from app.matches.openings import OPENINGS
from engine import Game

NODES, PLIES, ROUND = 1000, 2000, 50
#: The most that a ply may cost us, in milliseconds.
BAR = 0.5
#: A game is broken off here, so that long endings do not fill the benchmark.
LONGEST_GAME = 200

#: Plays so many plies, and returns the seconds that they cost.
Play = Callable[[int], Awaitable[float]]


@dataclass(frozen=True)
class Result:
    """What a ply costs, in milliseconds, and theirs by ours with the quartiles of all rounds."""

    memory: str
    plies: int
    ours_ms: float
    python_chess_ms: float
    ratio: float
    low: float
    high: float
    reached: bool


@asynccontextmanager
async def ours(forgets: bool) -> AsyncIterator[Play]:
    """Play by our own player."""
    async with Catalogue(processes=1) as catalogue:
        openings = cycle(OPENINGS)
        game = Game()

        def seat() -> UciPlayer:
            pool, limit = catalogue.pool(STOCKFISH), Limit(nodes=NODES)
            return UciPlayer(LEVELS[-1].name, pool, limit=limit, forgets=forgets)

        player = seat()

        async def play(plies: int) -> float:
            nonlocal game, player
            began = process_time()
            for _ in range(plies):
                if game.is_over or len(game.line) >= LONGEST_GAME:
                    game, player = Game(), seat()
                    for move in next(openings).moves:
                        game.play(move)
                decision = await player.decide(Turn.of(game))
                game.position.san(decision.move)
                game.play(decision.move)
            return process_time() - began

        yield play


@asynccontextmanager
async def python_chess(forgets: bool) -> AsyncIterator[Play]:
    """Play by python-chess."""
    _, engine = await chess.engine.popen_uci(find_stockfish().command[0])
    openings = cycle(OPENINGS)
    board = chess.Board()
    key = 0

    async def play(plies: int) -> float:
        nonlocal board, key
        began = process_time()
        for _ in range(plies):
            is_new = board.is_game_over() or len(board.move_stack) >= LONGEST_GAME
            if is_new:
                board = chess.Board()
                for move in next(openings).moves:
                    board.push_san(move)
            key += forgets or is_new  # another key is another game, before which it clears memory
            result = await engine.play(board, chess.engine.Limit(nodes=NODES), game=key)
            if result.move is None:
                raise chess.engine.EngineError("no move")
            board.san(result.move)
            board.push(result.move)
        return process_time() - began

    try:
        yield play
    finally:
        await engine.quit()


async def measure(forgets: bool, plies: int) -> Result:
    """Let both sides play so many plies, and say what one costs."""
    mine: list[float] = []
    theirs: list[float] = []
    async with ours(forgets) as play_ours, python_chess(forgets) as play_theirs:
        sides = [(play_ours, mine), (play_theirs, theirs)]
        for play, _ in sides:
            await play(ROUND)  # to warm up
        for number in range(max(1, plies // ROUND)):
            for play, costs in reversed(sides) if number % 2 else sides:
                costs.append(await play(ROUND) / ROUND * 1000)
    ratios = [their_cost / cost for cost, their_cost in zip(mine, theirs, strict=True)]
    low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Result(
        "forgotten before each search" if forgets else "kept during a game",
        len(ratios) * ROUND,
        round(mean(mine), 3),
        round(mean(theirs), 3),
        round(median(ratios), 2),
        round(low, 2),
        round(high, 2),
        mean(mine) <= BAR and median(ratios) >= 1,
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="make bench-uci", description="CPU for each ply.")
    parser.add_argument("--plies", type=int, default=PLIES, help="how many each side plays")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    arguments = parser.parse_args()
    results = [asyncio.run(measure(forgets, arguments.plies)) for forgets in (False, True)]
    if arguments.json:
        for result in results:
            print(json.dumps(asdict(result)))
        return
    print(f"Our processor time for a ply at nodes {NODES}; at most {BAR} ms, and at most theirs.\n")
    print("| engine's memory | plies | ours, ms | python-chess, ms | ratio | quartiles | |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for each in results:
        verdict = "ok" if each.reached else "MISSED"
        print(f"| {each.memory} | {each.plies} | {each.ours_ms:.3f} | {each.python_chess_ms:.3f} "
              f"| {each.ratio:.2f}x | {each.low:.2f}-{each.high:.2f} | {verdict} |")  # fmt: skip


if __name__ == "__main__":
    main()
