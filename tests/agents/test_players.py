"""Players through their port: who can be seated, and how they play."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.errors import CannotPlayVariant, UnknownPlayer
from agents.models.access import ModelAccess
from agents.player import Player, Turn
from agents.uci.errors import InvalidLevel, PoolClosed, UciNotFound
from agents.uci.limits import Limit
from agents.uci.program import STOCKFISH_VARIABLE
from engine import VARIANTS, Color, Game, Move, UnknownVariant
from tests.support.processes import program, run, survivors, told


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    # What is installed here makes no difference to who can be seated.
    return Catalogue({"mine": program()}, stockfish=program())


async def play(game: Game, white: Player, black: Player) -> Game:
    while not game.is_over:
        player = white if game.turn is Color.WHITE else black
        decision = await player.decide(Turn.of(game))
        game.play(decision.move, source=player.name)
    return game


# --- the port ---


@pytest.mark.parametrize("name", ["random", "stockfish:1"])
def test_only_the_moves_that_are_wanted_are_played(name):
    wanted = tuple(map(Move.from_uci, ("a2a3", "h2h3")))

    async def main():
        async with Catalogue(processes=1) as real:
            return [
                (await real.seat(name, seed=seed).decide(replace(turn, among=wanted))).move
                for seed in range(12)
            ]

    turn = Turn.of(Game())
    assert turn.moves == tuple(sorted(turn.position.legal_moves(), key=Move.uci))
    assert set(run(main())) == set(wanted)


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


SEATED = ["random", "solver", *(f"stockfish:{level}" for level in range(1, 9)), "uci:mine"]
#: What UCI engines know. Others know every game, or King's Cooking alone.
CHESS = ("standard", "chess960")


def test_who_can_be_seated():
    access = ModelAccess(environment={"OPENAI_API_KEY": "none"})
    catalogue = Catalogue({"mine": program()}, stockfish=program(), models=access)
    for name in catalogue.names:
        variants = ("kings-cooking",) if name == "solver" else CHESS
        assert [catalogue.seat(name, variant).name for variant in variants] == [name] * len(
            variants
        )
    assert set(catalogue.names) >= set(SEATED)


REFUSED = [
    ("stockfish:5", "kings-cooking", CannotPlayVariant, "it plays standard, chess960 only"),
    ("stockfish", "kings-cooking", CannotPlayVariant, "'stockfish' cannot play kings-cooking"),
    ("uci:toga2", "kings-cooking", CannotPlayVariant, "'uci:toga2' cannot play kings-cooking"),
    ("solver", "standard", CannotPlayVariant, "it plays kings-cooking only"),
    ("solver", "chess960", CannotPlayVariant, "it plays kings-cooking only"),
    ("nobody", "kings-cooking", UnknownPlayer, "known are random, solver"),
    ("solver:5", "kings-cooking", UnknownPlayer, "'solver:5' is not a player"),
    ("solver:5", "standard", UnknownPlayer, "'solver:5' is not a player"),
    ("stockfish:0", "standard", InvalidLevel, "level must be between 1 and 8, not '0'"),
    ("stockfish:9", "chess960", InvalidLevel, "level must be between 1 and 8, not '9'"),
    ("stockfish:5:5", "standard", InvalidLevel, "level must be between 1 and 8, not '5:5'"),
    ("stockfish", "standard", InvalidLevel, "level must be between 1 and 8, not ''"),
    ("Stockfish:5", "standard", UnknownPlayer, "'Stockfish:5' is not a player"),
    ("stockfish:9", "atomic", UnknownVariant, "'atomic' is not a variant"),
    ("uci:nobody", "standard", UnknownPlayer, "'uci:nobody' is not a player; known are random"),
    ("uci:", "standard", UnknownPlayer, "'uci:' is not a player"),
    ("uci", "standard", UnknownPlayer, "'uci' is not a player"),
    ("mine", "standard", UnknownPlayer, "'mine' is not a player"),
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


def test_without_stockfish_its_levels_say_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv(STOCKFISH_VARIABLE, str(tmp_path / "stockfish"))
    catalogue = Catalogue()
    assert "stockfish:5" in catalogue.names
    for ask in (lambda: catalogue.seat("stockfish:5"), catalogue.analyser):
        with pytest.raises(UciNotFound, match="STOCKFISH_PATH"):
            ask()
    with pytest.raises(InvalidLevel):  # nothing would make that one right
        catalogue.seat("stockfish:9")
    assert catalogue.seat("random").name == "random"


def test_the_operators_engine_wins_over_a_well_known_one_of_that_name():
    mine = program()
    assert Catalogue({"toga2": mine}).pool("uci:toga2").program is mine


def test_players_of_one_engine_share_its_processes():
    async def main():
        async with Catalogue({"mine": program()}, stockfish=program(), processes=1) as catalogue:
            turn = Turn.of(Game())
            for name in ("stockfish:6", "stockfish:8", "stockfish:8", "uci:mine", "uci:mine"):
                await catalogue.seat(name).decide(turn)
            assert catalogue.pool("stockfish").size == 1
            assert len(survivors()) == 2
            await catalogue.aclose()
            assert survivors() == set()
            with pytest.raises(PoolClosed):
                await catalogue.seat("uci:mine").decide(turn)

    run(main())


LIMITED = {
    "its own": (Limit(nodes=500), None, "go nodes 500"),
    "the caller's": (Limit(nodes=500), Limit(depth=7), "go depth 7"),
    "none": (None, None, "go movetime 1000"),
}


@pytest.mark.parametrize(("own", "given", "go"), LIMITED.values(), ids=LIMITED)
def test_how_long_an_engine_may_think(own, given, go, tmp_path):
    log = tmp_path / "log"

    async def main():
        mine = replace(program(log=log), limit=own)
        async with Catalogue({"mine": mine}) as catalogue:
            await catalogue.seat("uci:mine", limit=given).decide(Turn.of(Game()))

    run(main())
    assert [line for line in told(log) if line.startswith("go")] == [go]


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


@pytest.mark.usefixtures("without_coverage")
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


@pytest.mark.usefixtures("without_coverage")
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
