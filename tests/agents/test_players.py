"""Players through their port: who can be seated, and how they play."""

from __future__ import annotations

import asyncio
import pickle
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.errors import CannotPlayVariant, UnknownPlayer
from agents.player import Player, Turn
from engine import VARIANTS, Color, Game, UnknownVariant


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


async def play(game: Game, white: Player, black: Player) -> Game:
    while not game.is_over:
        player = white if game.turn is Color.WHITE else black
        decision = await player.decide(Turn.of(game))
        game.play(decision.move, source=player.name)
    return game


# --- the port ---


def test_a_turn_tells_the_whole_game():
    game = Game(variant="kings-cooking", time_control="60+1")
    assert Turn.of(game).position == game.position
    game.play("Rxa3", elapsed=timedelta(seconds=2))
    turn = Turn.of(game)
    assert turn.positions == (game.start, game.position)
    assert turn.position == game.position
    assert turn.clock == game.clock
    game.undo()
    assert turn.position.fen() == "Rnb/3/1NB b - - - r 1"  # whatever becomes of the game


# --- the catalogue ---


def test_who_can_be_seated(catalogue):
    for name in catalogue.names:
        assert catalogue.seat(name, "kings-cooking").name == name
    assert set(catalogue.names) >= {"random", "solver"}


REFUSED = [
    ("stockfish:5", "kings-cooking", CannotPlayVariant, "it plays standard, chess960 only"),
    ("stockfish", "kings-cooking", CannotPlayVariant, "'stockfish' cannot play kings-cooking"),
    ("uci:toga2", "kings-cooking", CannotPlayVariant, "'uci:toga2' cannot play kings-cooking"),
    ("solver", "standard", CannotPlayVariant, "it plays kings-cooking only"),
    ("solver", "chess960", CannotPlayVariant, "it plays kings-cooking only"),
    ("nobody", "kings-cooking", UnknownPlayer, "known are random, solver"),
    ("solver:5", "kings-cooking", UnknownPlayer, "'solver:5' is not a player"),
    ("solver:5", "standard", UnknownPlayer, "'solver:5' is not a player"),
    ("stockfish:5", "standard", UnknownPlayer, "known are random, solver"),
    ([], "standard", UnknownPlayer, "'[]' is not a player"),
    ("", "standard", UnknownPlayer, "'' is not a player"),
    (None, "standard", UnknownPlayer, "'None' is not a player"),
    ("random", "atomic", UnknownVariant, "'atomic' is not a variant"),
]


@pytest.mark.parametrize(("name", "variant", "error", "sentence"), REFUSED)
def test_who_cannot_be_seated_hears_why(catalogue, name, variant, error, sentence):
    with pytest.raises(error) as caught:
        catalogue.seat(name, variant)
    assert sentence in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# --- random ---


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_plays_every_variant_and_a_seed_repeats_it(catalogue, variant):
    def played(seed: int) -> list[str]:
        game = Game(variant=variant, claims_draws=True)
        players = [catalogue.seat("random", variant, seed + side) for side in (0, 1)]
        asyncio.run(play(game, *players))
        return [ply.uci for ply in game.plies]

    assert played(5) == played(5)
    assert played(5) != played(6)


# --- solver ---


@pytest.mark.parametrize("color", Color)
def test_the_solver_never_loses_from_the_start(catalogue, color):
    results = []
    for seed in range(30):
        solver, other = (
            catalogue.seat(name, "kings-cooking", seed) for name in ("solver", "random")
        )
        players = (solver, other) if color is Color.WHITE else (other, solver)
        results.append(asyncio.run(play(Game(variant="kings-cooking"), *players)).winner)
    assert color.opponent not in results
    assert results.count(color) > 15


def test_the_solver_against_itself_draws(catalogue):
    solver = catalogue.seat("solver", "kings-cooking")
    game = asyncio.run(play(Game(variant="kings-cooking"), solver, solver))
    assert (game.result, game.plies[0].source) == ("1/2-1/2", "solver")


def test_the_solver_gives_its_verdict_on_every_move(catalogue):
    game = Game("1N1/3/2n w r - RB b 9", variant="kings-cooking")
    solver = catalogue.seat("solver", "kings-cooking")
    decision = asyncio.run(solver.decide(Turn.of(game)))
    (advice,) = decision.advice
    assert advice.by == "solver"
    assert decision.move is advice.candidates[0].move
    assert {candidate.move for candidate in advice.candidates} == set(game.position.legal_moves())
    words = [candidate.reason.split()[0] for candidate in advice.candidates]
    assert set(words) <= {"win", "draw", "loss"}


def test_the_solver_knows_what_a_third_repetition_would_bring(catalogue):
    # Black is ahead, and wins by going round once more; in a new game it would only draw.
    game = Game("2B/2N/R1b w n - - r 2", variant="kings-cooking")
    for move in ("a1a2", "c1a3", "a2a1", "a3c1", "a1a2", "c1a3", "a2a1"):
        game.play(move)
    solver = catalogue.seat("solver", "kings-cooking")
    decision = asyncio.run(solver.decide(Turn.of(game)))
    assert decision.advice[0].candidates[0].reason == "win in 1"
    game.play(decision.move)
    assert (game.winner, game.outcome.termination) == (Color.BLACK, "repetition")


def test_the_solver_does_not_hold_up_the_event_loop():
    async def count_while_it_thinks() -> int:
        turns = 0
        solver = Catalogue().seat("solver", "kings-cooking")  # one that knows nothing yet
        async with asyncio.TaskGroup() as group:
            task = group.create_task(solver.decide(Turn.of(Game(variant="kings-cooking"))))
            while not task.done():
                await asyncio.wait([task], timeout=0.01)
                turns += 1
        return turns

    assert asyncio.run(count_while_it_thinks()) > 5


def test_the_solver_refuses_another_game(catalogue):
    solver = catalogue.seat("solver", "kings-cooking")
    with pytest.raises(CannotPlayVariant, match="standard"):
        asyncio.run(solver.decide(Turn.of(Game())))
