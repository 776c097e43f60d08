"""The openings: legal, distinct, young, balanced, and dealt in an order that a seed repeats."""

import re
import shutil

import chess
import chess.engine
import pytest

from app.matches.openings import OPENINGS, shuffled
from engine import Color, Position

STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"


@pytest.mark.parametrize("opening", OPENINGS, ids=lambda opening: opening.name)
def test_its_moves_are_legal_and_lead_to_a_young_game(opening):
    position = Position.start()
    for move in opening.moves:
        assert position.san(position.parse(move)) == move
        position = position.play(move)
    assert opening.position == position
    assert 4 <= len(opening.moves) <= 10
    assert position.turn is Color.WHITE
    assert position.outcome() is None
    assert not position.is_check()


def test_there_are_enough_and_no_two_meet():
    assert len(OPENINGS) >= 60
    assert len({opening.position.key() for opening in OPENINGS}) == len(OPENINGS)
    assert len({opening.name for opening in OPENINGS}) == len(OPENINGS)


def test_codes_are_well_formed_in_order_and_of_every_volume():
    codes = [opening.eco for opening in OPENINGS]
    assert all(re.fullmatch("[A-E][0-9]{2}", code) for code in codes)
    assert codes == sorted(codes)
    for volume in "ABCDE":
        assert sum(code.startswith(volume) for code in codes) >= 10


#: What the first moves of a game say of its volume.
VOLUMES = [
    ("C", ("e4", "e5")),
    ("C", ("e4", "e6")),
    ("B", ("e4",)),
    ("D", ("d4", "d5")),
    ("D", ("d4", "Nf6", "c4", "g6", "Nc3", "d5")),
    ("E", ("d4", "Nf6", "c4", "g6")),
    ("E", ("d4", "Nf6", "c4", "e6")),
    ("A", ()),
]


@pytest.mark.parametrize("opening", OPENINGS, ids=lambda opening: opening.name)
def test_its_code_is_of_the_volume_its_first_moves_belong_to(opening):
    volume = next(each for each, moves in VOLUMES if opening.moves[: len(moves)] == moves)
    assert opening.eco[0] == volume


def test_neither_side_stands_much_better():
    with chess.engine.SimpleEngine.popen_uci(STOCKFISH) as stockfish:
        for opening in OPENINGS:
            board = chess.Board(opening.position.fen())
            # a game of its own clears the hash, so that the order does not matter
            analysis = stockfish.analyse(board, chess.engine.Limit(nodes=15_000), game=object())
            centipawns = analysis["score"].white().score(mate_score=10_000)
            assert abs(centipawns) <= 120, f"{opening.name}: {centipawns}"


def test_a_seed_repeats_its_order():
    # by value: an evaluation's manifest must give the same games years later
    assert shuffled(1) == shuffled(1)
    assert [opening.eco for opening in shuffled(1)[:5]] == ["D15", "B31", "A25", "B11", "B80"]


def test_seeds_give_orders_of_their_own_of_all_openings():
    assert len({tuple(shuffled(seed)) for seed in range(20)}) == 20
    for seed in range(20):
        assert sorted(shuffled(seed), key=OPENINGS.index) == list(OPENINGS)


def test_any_opening_may_come_first():
    assert len({shuffled(seed)[0] for seed in range(1000)}) > 0.95 * len(OPENINGS)
