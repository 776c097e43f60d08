"""The player `classical` through its port: whole games, clocks and draws."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.classical.allowance import Allowance
from agents.classical.errors import InvalidThinking
from agents.classical.player import ClassicalPlayer
from agents.classical.workers import ClassicalWorkers
from agents.player import Turn
from agents.random_player import RandomPlayer
from agents.uci.errors import InvalidLimit
from agents.uci.limits import Limit
from engine import VARIANTS, Clock, Color, Game, Move, TimeControl
from tests.support.processes import run


async def play(game: Game, white, black, most: int = 400) -> Game:
    while not game.is_over and len(game.line) < most:
        player = white if game.turn is Color.WHITE else black
        decision = await player.decide(Turn.of(game))
        for advice in decision.advice:
            for candidate in advice.candidates:
                assert game.position.is_legal(candidate.move)
                assert candidate.reason
        game.play(decision.move, evaluation=decision.evaluation)
    return game


def test_it_beats_random_in_every_variant():
    async def main():
        async with ClassicalWorkers() as workers:
            for number, variant in enumerate(("standard", "chess960", "kings-cooking")):
                ours, other = ClassicalPlayer(workers, number, nodes=200), RandomPlayer(number)
                color = Color.BLACK if number == 1 else Color.WHITE
                game = Game(variant=variant, claims_draws=True)
                seats = (ours, other) if color is Color.WHITE else (other, ours)
                assert (await play(game, *seats)).winner is color

    run(main())
    assert ClassicalPlayer.variants == tuple(VARIANTS)
    assert ClassicalPlayer.name == "classical"


def test_it_keeps_to_the_moves_that_are_wanted_and_tells_what_its_search_came_to():
    mate, others = Move.from_uci("h1h8"), tuple(map(Move.from_uci, ("h1g1", "a6a5")))
    turn = Turn.of(Game("k7/8/K7/8/8/8/8/7R w - - 0 1"))
    told = []

    async def main():
        async with ClassicalWorkers() as workers:
            player = ClassicalPlayer(workers, 1, nodes=200)
            free = await player.decide(replace(turn, informed=told.append))
            bound = await player.decide(replace(turn, among=others))
            return free, bound

    free, bound = run(main())
    assert free.move is mate
    assert bound.move in others
    assert {each.move for advice in bound.advice for each in advice.candidates} <= set(others)
    (info,) = told
    assert (info.score.mate, info.pv) == (1, ("h1h8",))
    assert info.depth >= 1
    assert info.nodes >= 1


def test_a_seed_repeats_a_game_and_another_one_does_not():
    async def main():
        async with ClassicalWorkers() as workers:

            async def played(seed: int) -> list[str]:
                game = Game()
                seats = (ClassicalPlayer(workers, seed + side, nodes=120) for side in (0, 1))
                await play(game, *seats, most=10)
                return [ply.uci for ply in game.plies]

            assert await played(1) == await played(1)
            assert len({tuple(await played(seed)) for seed in range(4)}) > 1

    run(main())


def test_the_smallest_clock_is_enough():
    async def main():
        async with ClassicalWorkers() as workers:
            player = ClassicalPlayer(workers)
            for control in ("0.05+0", "1/move", "40/0.1+0"):
                turn = Turn.of(Game(time_control=control))
                assert (await player.decide(turn)).move

    run(main())


THINK = timedelta(milliseconds=300)
BUDGETS = {
    "no clock": (None, 0, THINK, None, 0.3),
    "nodes alone": (None, 0, None, 1000, None),
    "plenty": ("600+5", 0, THINK, None, 0.3),
    "bullet": ("60+0", 0, THINK, None, 0.3),
    "little left": ("3+0", 0, THINK, None, 0.1),
    "hardly any": ("0.1+0", 0, THINK, None, 0.1 / 30),
    "much of it spent": ("3+0", 2.7, THINK, None, 0.01),
    "all of it spent": ("3+0", 3, THINK, None, 0.001),
    "each move": ("0.2/move", 0, THINK, None, 0.14),
    "a bonus": ("3+1", 0, THINK, None, 0.3),
    "nodes by a clock": ("3+0", 0, None, 1000, 2.94),
    "nodes and time": ("3+0", 0, THINK, 1000, 0.1),
    "moves to go": ("10/1+0", 0, THINK, None, 0.1),
}


@pytest.mark.parametrize(
    ("control", "spent", "think", "nodes", "seconds"), BUDGETS.values(), ids=BUDGETS
)
def test_how_long_it_may_think(control, spent, think, nodes, seconds):
    clock = None if control is None else Clock.start(TimeControl.parse(control))
    turn = Turn(Game().start, clock=clock, spent=timedelta(seconds=spent))
    found = Allowance.of(turn, think, nodes).seconds()
    assert found == (None if seconds is None else pytest.approx(seconds, abs=1e-4))


@pytest.mark.parametrize(
    ("left", "late"), [(None, 20), (100, 20), (10.3, 5), (2.3, 1), (0.1, 1)], ids=str
)
def test_how_late_an_answer_may_be(left, late):
    left = None if left is None else timedelta(seconds=left)
    allowance = Allowance(THINK, share=left, left=left)
    most = timedelta(seconds=20)
    assert allowance.lateness(most).total_seconds() == pytest.approx(late)


DRAWS = {
    "ahead": ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 40", False),
    "behind": ("4k3/q7/8/8/8/8/8/4K3 w - - 0 40", True),
    "level in an ending": ("8/5pk1/8/8/8/8/5PK1/8 w - - 0 40", True),
    "level in the opening": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", False),
}


@pytest.mark.parametrize(("fen", "takes"), DRAWS.values(), ids=DRAWS)
def test_which_draws_it_takes(fen, takes):
    async def main():
        async with ClassicalWorkers() as workers:
            player = ClassicalPlayer(workers, 1, nodes=200)
            start = Game(fen).start
            assert (await player.decide(Turn(start, draw_offered=True))).accepts_draw is takes
            decision = await player.decide(Turn(start))
            assert decision == replace(decision, accepts_draw=False, claims_draw=False)
            assert not decision.resigns

    run(main())


def test_it_claims_a_draw_when_behind():
    async def main():
        async with ClassicalWorkers() as workers:
            player = ClassicalPlayer(workers, 1, nodes=200)
            # Behind by a rook: the position has occurred three times, or will with a move.
            game = Game("6k1/5ppp/8/8/8/8/r4PPP/6K1 w - - 0 40")
            for move in ("Kf1", "Kf8", "Kg1", "Kg8", "Kf1", "Kf8", "Kg1", "Kg8"):
                game.play(move)
            assert (await player.decide(Turn.of(game))).claims_draw
            # Who is ahead does not.
            game.play("Kf1")
            assert not (await player.decide(Turn.of(game))).claims_draw

    run(main())


def test_a_catalogue_seats_it_with_a_limit():
    async def main():
        async with Catalogue() as catalogue:
            limit = Limit(nodes=150)
            players = [catalogue.seat("classical", seed=3, limit=each) for each in (limit, limit)]
            turn = Turn.of(Game("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 9"))
            first, second = [(await player.decide(turn)).move for player in players]
            assert first is second
            hurried = catalogue.seat("classical", limit=Limit(time=timedelta(milliseconds=1)))
            assert turn.position.is_legal((await hurried.decide(turn)).move)
        with pytest.raises(InvalidLimit, match="not to a depth"):
            catalogue.seat("classical", limit=Limit(depth=3))
        with pytest.raises(InvalidThinking, match="from 1 to 5000000"):
            catalogue.seat("classical", limit=Limit(nodes=5_000_001))

    run(main())
