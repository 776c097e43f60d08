"""King's Cooking: the search by its rules, held against the solver, who knows."""

from __future__ import annotations

import time
from random import Random

import pytest

from agents.classical.cooking import WON, CookingSearch, positional, tactical
from agents.classical.search import MATE_BOUND
from agents.classical.thinking import Question, think
from agents.player import Turn
from engine import Game, Position, Solver, Value


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


def middle(seed: int, plies: int) -> Game | None:
    """Return a game in which so many random plies were played, if it goes on."""
    rng, game = Random(seed), Game(variant="kings-cooking")
    for _ in range(plies):
        if game.is_over:
            return None
        game.play(rng.choice(sorted(game.position.legal_moves(), key=str)))
    return None if game.is_over else game


def test_near_the_end_it_plays_what_the_solver_would(solver):
    seen = set()
    for seed in range(40):
        game = middle(seed, 6)
        if game is None:
            continue
        rated = solver.moves(game.position)
        found = CookingSearch([game.position], nodes=4_000).run()
        verdict = next(each.verdict for each in rated if each.move is found.best.move)
        if abs(found.best.score) > WON // 2:
            assert verdict.value is (Value.WIN if found.best.score > 0 else Value.LOSS)
            seen.add(verdict.value)
        if found.best.score > WON // 2 or found.depth > 12:
            assert verdict.value is rated[0].verdict.value
    assert seen == {Value.WIN, Value.LOSS}


def test_it_counts_repetitions():
    # Black is ahead, and wins by going round once more; in a new game it would only draw.
    game = Game("2B/2N/R1b w n - - r 2", variant="kings-cooking")
    for move in ("a1a2", "c1a3", "a2a1", "a3c1", "a1a2", "c1a3", "a2a1"):
        game.play(move)
    found = CookingSearch(game.line.positions, nodes=5_000).run()
    assert found.best.move.uci() == "a3c1"
    assert found.best.score > WON // 2
    fresh = CookingSearch([game.position], nodes=5_000).run()
    assert abs(fresh.best.score) < WON // 2


def test_limits_and_words():
    position = Position.start("kings-cooking")
    found = CookingSearch([position], nodes=800).run(margin=10)
    assert found == CookingSearch([position], nodes=800).run(margin=10)
    assert CookingSearch([position], deadline=0.0).run().depth == 1
    assert CookingSearch([position], stopped=lambda: True).run().depth == 1
    advice = tactical(position, found, 2)
    assert advice.candidates[0].move is found.best.move
    assert len(positional(position, 3).candidates) == 3
    won = Position.from_fen("1N1/3/3 w - - RB rnb 9", "kings-cooking")
    (candidate,) = tactical(won, CookingSearch([won], nodes=100).run(), 3).candidates
    assert (candidate.move.uci(), candidate.reason[:4]) == ("b3off", "wins")


def test_a_win_by_three_pieces_is_no_mate():
    position = Position.from_fen("1N1/3/3 w - RB - rnb 9", "kings-cooking")
    question = Question.of(1, Turn.of(Game(position)), 1, None, 500)
    answer = think(question, time.monotonic())
    assert answer.evaluation(position.turn).mate is None
    assert answer.evaluation(position.turn).centipawns > 2 * WON
    assert "mate" not in " ".join(one.reason for each in answer.advice for one in each.candidates)
    assert 3 * WON < MATE_BOUND
