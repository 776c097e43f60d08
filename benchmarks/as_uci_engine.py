"""What it costs to be a UCI engine: `make bench-uci`.

A move of `random` through `kibitz uci`, with python-chess as the client, beside the same player
called directly and beside Stockfish that answers `go nodes 1` to the same client; in rounds that
alternate, along random games. And how long it takes from the start of a process to `uciok`, beside
processes that do nothing. All of it is wall time: somebody waits for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter

import chess
import chess.engine

from agents.player import Turn
from agents.random_player import RandomPlayer
from agents.uci.program import find_stockfish
from engine import Game

KIBITZ = str(Path(sys.executable).with_name("kibitz"))
MOVES, ROUND, STARTS = 2000, 50, 15
LONGEST_GAME = 100
_ONE_NODE = chess.engine.Limit(nodes=1)
_NO_LIMIT = chess.engine.Limit()

#: Answers so many turns, and returns the seconds that they took.
Answer = Callable[[int], Awaitable[float]]


@dataclass(frozen=True)
class Result:
    """A time in milliseconds: the median of all rounds, their quartiles, and ours by it."""

    what: str
    ms: float
    low: float
    high: float
    ours_by_it: float


def directly() -> Answer:
    """Ask the player in this process."""
    player, game = RandomPlayer(1), Game()

    async def answer(turns: int) -> float:
        nonlocal game
        began = perf_counter()
        for _ in range(turns):
            if game.is_over or len(game.line) >= LONGEST_GAME:
                game = Game()
            game.play((await player.decide(Turn.of(game))).move)
        return perf_counter() - began

    return answer


def by_client(engine: chess.engine.Protocol, limit: chess.engine.Limit) -> Answer:
    """Ask an engine by python-chess; the other side's moves, and their time, are no part of it."""
    board, random = chess.Board(), Random(1)
    number = 0

    async def answer(turns: int) -> float:
        nonlocal board, number
        took = 0.0
        for _ in range(turns):
            if board.is_game_over() or len(board.move_stack) >= LONGEST_GAME:
                board, number = chess.Board(), number + 1
            began = perf_counter()
            result = await engine.play(board, limit, game=number)
            took += perf_counter() - began
            if result.move is None:
                raise chess.engine.EngineError("no move")
            board.push(result.move)
            if not board.is_game_over():
                board.push(random.choice(list(board.legal_moves)))
        return took

    return answer


async def measure_moves(moves: int) -> list[Result]:
    """Return what a move costs, in each of the ways."""
    _, ours = await chess.engine.popen_uci([KIBITZ, "uci", "--player", "random", "--seed", "1"])
    _, stockfish = await chess.engine.popen_uci(find_stockfish().command[0])
    ways = {
        "`random` through `kibitz uci`": by_client(ours, _NO_LIMIT),
        "Stockfish at `go nodes 1`": by_client(stockfish, _ONE_NODE),
        "`random`, called directly": directly(),
    }
    times: dict[str, list[float]] = {what: [] for what in ways}
    try:
        for number in range(max(3, moves // ROUND) + 1):
            for what, answer in ways.items():
                each = await answer(ROUND) / ROUND * 1000
                if number:  # the first one is to warm up
                    times[what].append(each)
    finally:
        await ours.quit()
        await stockfish.quit()
    return results(times)


def measure_starts(starts: int) -> list[Result]:
    """Return how long processes take until they can be talked with."""
    ways = {
        "`kibitz uci`, until `uciok`": lambda: until_uciok([KIBITZ, "uci"]),
        "Stockfish, until `uciok`": lambda: until_uciok([find_stockfish().command[0]]),
        "`kibitz --version`": lambda: until_end([KIBITZ, "--version"]),
        "`python -c pass`": lambda: until_end([sys.executable, "-c", "pass"]),
    }
    times: dict[str, list[float]] = {what: [] for what in ways}
    for number in range(starts + 1):
        for what, start in ways.items():
            took = start() * 1000
            if number:
                times[what].append(took)
    return results(times)


def until_uciok(command: list[str]) -> float:
    """Return the seconds from the start of an engine to its `uciok`."""
    began = perf_counter()
    with subprocess.Popen(  # noqa: S603 - engines of our own choice
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipes")
        process.stdin.write(b"uci\n")
        told = b""
        while b"uciok" not in told:
            if not (piece := process.stdout.read(65536)):
                raise OSError(f"{command[0]} has ended without a word")
            told += piece
        took = perf_counter() - began
        process.stdin.write(b"quit\n")
        process.stdin.close()
    return took


def until_end(command: list[str]) -> float:
    """Return the seconds that a process takes."""
    began = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the same
    return perf_counter() - began


def results(times: dict[str, list[float]]) -> list[Result]:
    """Return what was measured, compared with the first of it round by round."""
    ours = next(iter(times.values()))
    found = []
    for what, each in times.items():
        low, _, high = quantiles(each, n=4)
        ratio = median(mine / theirs for mine, theirs in zip(ours, each, strict=True))
        values = (round(value, 3) for value in (median(each), low, high))
        found.append(Result(what, *values, round(ratio, 1)))
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="make bench-uci", description=main.__doc__)
    parser.add_argument("--moves", type=int, default=MOVES, help="how many are asked for")
    parser.add_argument("--starts", type=int, default=STARTS, help="how many processes of each")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    arguments = parser.parse_args()
    tables = {
        "a move": asyncio.run(measure_moves(arguments.moves)),
        "a start": measure_starts(arguments.starts),
    }
    for title, table in tables.items():
        if arguments.json:
            for each in table:
                print(json.dumps({"table": title, **asdict(each)}))
            continue
        print(f"\n| {title} | ms | quartiles | ours by it |\n| --- | ---: | ---: | ---: |")
        for each in table:
            print(f"| {each.what} | {each.ms} | {each.low}-{each.high} | {each.ours_by_it}x |")


if __name__ == "__main__":
    main()
