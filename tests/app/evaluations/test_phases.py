"""Phases of a game: a table of positions, and that none comes back."""

from random import Random

import pytest

from app.evaluations.analysis.phases import Phase, phases_of
from engine import Game, Position

OPENING, MIDDLEGAME, ENDGAME = Phase

PHASES = {
    "the start": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", OPENING),
    "move 12": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 9 12", OPENING),
    "move 13": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 9 13", MIDDLEGAME),
    "11 pieces": ("r1bqk2r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 5", OPENING),
    "10 pieces": ("r2qk2r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 5", MIDDLEGAME),
    "7 pieces": ("4k3/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 5", MIDDLEGAME),
    "6 pieces": ("4k3/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB2 w - - 0 40", ENDGAME),
    "6 pieces, early": ("r1bqk3/8/8/8/8/8/8/R1BQK3 w - - 0 1", ENDGAME),
    "kings and pawns": ("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1", ENDGAME),
}


@pytest.mark.parametrize(("fen", "phase"), PHASES.values(), ids=PHASES)
def test_the_phase_of_a_position(fen, phase):
    assert phases_of([Position.from_fen(fen)]) == [phase]


def test_a_promotion_does_not_bring_the_middlegame_back():
    game = Game("q3k3/6P1/8/8/8/8/8/RNBQK2R w - - 0 40")
    game.play("g8=Q+")
    assert phases_of([game.position]) == [MIDDLEGAME]
    assert phases_of(game.line.positions) == [ENDGAME, ENDGAME]


@pytest.mark.parametrize("seed", range(5))
def test_phases_come_in_order(seed):
    rng = Random(seed)
    game = Game()
    while not game.is_over and len(game.line) < 300:
        game.play(rng.choice(sorted(game.position.legal_moves(), key=str)))
    phases = phases_of(game.line.positions)
    order = list(Phase)
    assert phases[0] is OPENING
    assert phases == sorted(phases, key=order.index)
    assert len(phases) == len(game.line) + 1
