"""How strong the player `classical` is: a match against another player.

`python -m benchmarks.classical --opponent stockfish:5 --games 40 --move-time 300`

Games are played in pairs from the same start, with colours changed: from the openings of matches in
an order that the seed decides, from starts of Chess960 that it draws, or from the one start of
King's Cooking. Draws are claimed as soon as they can be. With `--nodes` instead of a time the
result does not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from itertools import cycle
from math import sqrt
from random import Random

from agents.catalogue import Catalogue
from agents.classical.allowance import Allowance
from agents.classical.player import ClassicalPlayer
from agents.classical.thinking import Answer
from agents.classical.workers import ClassicalWorkers
from agents.player import Player, Turn
from agents.solver_player import SolverPlayer
from app.matches.openings import shuffled
from engine import Color, Game, Position
from engine.variants import CHESS960, KINGS_COOKING, STANDARD

GAMES, MOVE_TIME = 40, 300
#: A game that is longer is a draw.
LONGEST_GAME = 400
#: For 95 %.
_DEVIATIONS = 1.96


class CountingWorkers(ClassicalWorkers):
    """Workers that note how much was searched, how deep and for how long."""

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self.answers: list[Answer] = []
        self.seconds = 0.0

    async def think(self, turn: Turn, seed: int, allowance: Allowance) -> Answer:
        """Return what the team decides."""
        began = time.perf_counter()
        answer = await super().think(turn, seed, allowance)
        self.seconds += time.perf_counter() - began
        self.answers.append(answer)
        return answer


@dataclass
class Result:
    """A match, as `classical` sees it."""

    opponent: str
    variant: str
    thinking: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    seconds: float = 0.0
    plies: int = 0
    #: How games ended, and how often.
    ends: dict[str, int] = field(default_factory=dict)
    nodes_per_second: int = 0
    depth: float = 0.0

    @property
    def games(self) -> int:
        """How many were played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points for each game."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """Between what the score lies with 95 %: Wilson's, which holds at the ends, too."""
        games, spread = self.games, _DEVIATIONS**2
        middle = (self.score + spread / (2 * games)) / (1 + spread / games)
        inside = self.score * (1 - self.score) / games + spread / (4 * games**2)
        half = _DEVIATIONS / (1 + spread / games) * sqrt(inside)
        return middle - half, middle + half


def starts(variant: str, seed: int) -> Iterator[Position]:
    """Return a start for each pair of games, without end."""
    if variant == STANDARD.name:
        return cycle([opening.position for opening in shuffled(seed)])
    if variant == KINGS_COOKING.name:
        return cycle([Position.start(variant)])
    rng = Random(seed)
    return (Position.start(CHESS960.name, rng.randrange(960)) for _ in iter(int, 1))


async def play(start: Position, white: Player, black: Player) -> Game:
    """Play a game to its end."""
    game = Game(start, claims_draws=True)
    while not game.is_over and len(game.line) < LONGEST_GAME:
        player = white if game.turn is Color.WHITE else black
        decision = await player.decide(Turn.of(game))
        if decision.move is None:
            raise RuntimeError(f"{player.name} did not move")
        game.play(decision.move)
    return game


async def measure(arguments: argparse.Namespace) -> Result:
    """Play the match."""
    think = None if arguments.nodes else timedelta(milliseconds=arguments.move_time)
    thinking = f"{arguments.nodes} nodes" if arguments.nodes else f"{arguments.move_time} ms"
    variant = arguments.variant
    result = Result(arguments.opponent, variant, f"{thinking} a move")
    positions = starts(variant, arguments.seed)
    pairs = [next(positions) for _ in range((arguments.games + 1) // 2)]
    workers = CountingWorkers(arguments.parallel)
    turns = iter(range(arguments.games))
    async with Catalogue(processes=arguments.parallel) as catalogue, workers:
        await workers.warm(arguments.parallel)

        async def games() -> None:
            for number in turns:
                seed = 1000 * arguments.seed + number
                ours = ClassicalPlayer(workers, seed, think=think, nodes=arguments.nodes)
                other = catalogue.seat(arguments.opponent, variant, seed)
                color = Color.BLACK if number % 2 else Color.WHITE
                seats = (ours, other) if color is Color.WHITE else (other, ours)
                game = await play(pairs[number // 2], *seats)
                end = game.outcome.termination.value if game.outcome else "too long"
                result.ends[end] = result.ends.get(end, 0) + 1
                result.plies += len(game.line)
                result.wins += game.winner is color
                result.losses += game.winner is color.opponent
                result.draws += game.winner is None
                if arguments.verbose:
                    print(number, color.value, game.result, end, len(game.line), flush=True)

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(arguments.parallel):
                group.create_task(games())
        result.seconds = round(time.perf_counter() - began, 1)
    nodes = sum(answer.nodes for answer in workers.answers)
    result.nodes_per_second = round(nodes / workers.seconds)
    result.depth = round(sum(each.depth for each in workers.answers) / len(workers.answers), 1)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.classical", description="The strength of `classical`."
    )
    parser.add_argument("--opponent", default="stockfish:5", help="a player of the catalogue")
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--move-time", type=int, default=MOVE_TIME, help="milliseconds")
    parser.add_argument("--nodes", type=int, help="instead of a time")
    variants = (STANDARD.name, CHESS960.name, KINGS_COOKING.name)
    parser.add_argument("--variant", default=STANDARD.name, choices=variants)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=1, help="games at a time")
    parser.add_argument("--verbose", action="store_true", help="print each game as it ends")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.opponent == SolverPlayer.name:
        arguments.variant = KINGS_COOKING.name  # it plays nothing else
    result = asyncio.run(measure(arguments))
    low, high = result.interval
    if arguments.json:
        print(json.dumps({**asdict(result), "score": result.score, "interval": (low, high)}))
        return
    print("| opponent | variant | thinking | W-D-L | score | 95 % | nodes/s | depth |")
    print("|---|---|---|---|---:|---|---:|---:|")
    print(f"| {result.opponent} | {result.variant} | {result.thinking} "
          f"| {result.wins}-{result.draws}-{result.losses} | {result.score:.1%} "
          f"| {low:.1%} to {high:.1%} | {result.nodes_per_second} | {result.depth} |")  # fmt: skip
    print(f"\n{result.games} games, {result.plies} plies, {result.seconds} s; {result.ends}")


if __name__ == "__main__":
    main()
