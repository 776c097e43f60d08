"""What solving King's Cooking costs, and how the solver fares: `make bench-kings-cooking`."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from agents.catalogue import Catalogue
from agents.player import Player, Turn
from engine import Color, Game, Position, Solver, seen_twice

GAMES = 1_000
LOOK_UPS = 2_000
VARIANT = "kings-cooking"
#: All six pieces are on the board, and seven positions have occurred.
SHUFFLE = "Ra2 Bb2 Ra1 Bc3 Ra2 Bb2 Ra1"


def costs() -> dict[str, float]:
    """Return seconds of processor time, by what they were spent on."""
    solver, start = Solver(), Position.start(VARIANT)
    game = Game(variant=VARIANT)
    for move in SHUFFLE.split():
        game.play(move)
    began = time.process_time()
    solver.moves(start)
    first = time.process_time()
    for _ in range(LOOK_UPS):
        solver.moves(start)
    again = time.process_time()
    solver.moves(game.position, seen_twice(game.line.positions))
    return {
        "the first question, about the start": first - began,
        "each one after it": (again - first) / LOOK_UPS,
        "one with six pieces on the board, after repetitions": time.process_time() - again,
    }


async def play(white: Player, black: Player) -> Game:
    """Return a game from the start to its end."""
    game = Game(variant=VARIANT)
    while not game.is_over:
        player = white if game.turn is Color.WHITE else black
        game.play((await player.decide(Turn.of(game))).move)
    return game


async def results(catalogue: Catalogue, white: str, black: str) -> str:
    """Return White's wins, draws and losses over many games, and how long they were."""
    counts: Counter[str] = Counter()
    plies = 0
    for seed in range(GAMES):
        seats = [
            catalogue.seat(name, VARIANT, seed + side * GAMES)
            for side, name in enumerate((white, black))
        ]
        game = await play(*seats)
        counts[game.result] += 1
        plies += len(game.line)
    won, drawn, lost = (counts[result] for result in ("1-0", "1/2-1/2", "0-1"))
    return f"| {white} | {black} | {won} | {drawn} | {lost} | {plies / GAMES:.1f} |"


def main() -> None:
    """Print both tables."""
    print("| processor time for | seconds |\n|---|---:|")
    for name, seconds in costs().items():
        print(f"| {name} | {seconds:.2g} |")
    print("\n| White | Black | won | drawn | lost | plies a game |\n|---|---|---:|---:|---:|---:|")
    catalogue = Catalogue()
    for pair in (("solver", "random"), ("random", "solver"), ("random", "random")):
        print(asyncio.run(results(catalogue, *pair)))


if __name__ == "__main__":
    main()
