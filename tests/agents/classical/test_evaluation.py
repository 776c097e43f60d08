"""The evaluation: the same for both colours, the sum of its terms, and sensible about chess."""

from __future__ import annotations

from random import Random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.classical.captures import captures, is_safe
from agents.classical.evaluation import MOST, evaluate, terms
from agents.classical.search import MATE_BOUND
from agents.classical.weights import TEMPO, pack, unpack
from engine import Position
from engine.movegen import legal_moves
from engine.state import State, is_check
from tests.support.random_games import KINDS, random_moves

#: For some seeds, rooks that castle and rooks that do not leave no legal way to be dealt.
DEALABLE = sorted(KINDS.keys() - {"castling chess960"})
#: A game, by its kind and seed, and how far it goes.
DEALT = st.tuples(st.sampled_from(DEALABLE), st.integers(0, 10**6), st.integers(0, 60))


def board_of(dealt: tuple[str, int, int]) -> chess.Board:
    name, seed, plies = dealt
    kind, rng = KINDS[name], Random(seed)
    board = kind.deal(rng)
    random_moves(kind, board, rng, plies)
    return board


def state_of(board: chess.Board) -> State:
    variant = "chess960" if board.chess960 else "standard"
    return Position.from_fen(board.shredder_fen() if board.chess960 else board.fen(), variant).state


@settings(max_examples=70, deadline=None)
@given(DEALT)
def test_the_same_position_with_colours_changed_is_worth_the_same(dealt):
    board = board_of(dealt)
    assert evaluate(state_of(board)) == evaluate(state_of(board.mirror()))


@settings(max_examples=70, deadline=None)
@given(DEALT)
def test_the_terms_add_up_to_the_evaluation(dealt):
    state = state_of(board_of(dealt))
    told = terms(state)
    assert told.total == evaluate(state)
    if not has_few_pieces(state):
        assert abs(told.ending) <= 9  # nothing but rounding: a centipawn for each term


@settings(max_examples=70, deadline=None)
@given(DEALT)
def test_what_is_good_for_one_side_is_bad_for_the_other(dealt):
    state = state_of(board_of(dealt))
    passed = (*state[6:12], *state[:6], state[12], 0, not state[14], *state[15:])
    # The move itself is worth something to whoever has it; halves are rounded.
    assert abs(evaluate(state) - TEMPO + evaluate(passed) - TEMPO) <= 2


def has_few_pieces(state):
    return sum(material(side) for side in (state[:6], state[6:12])) <= 8


def material(side):
    _, knights, diagonals, orthogonals, _, _ = side
    return knights.bit_count() + diagonals.bit_count() + 2 * orthogonals.bit_count()


@settings(max_examples=90, deadline=None)
@given(DEALT)
def test_captures_are_what_the_rules_say_they_are(dealt):
    state = state_of(board_of(dealt))
    if is_check(state):
        return
    legal = {
        move
        for move in legal_moves(state)
        if (move.to_bit & state[11] or move.promotion == "q" or is_en_passant(state, move))
        and move.promotion in (None, "q")
    }
    found = [move for _, _, move in captures(state) if is_safe(state, move)]
    assert set(found) == legal
    # The same move may be there twice only if a queen takes along both kinds of lines: never.
    assert len(found) == len(legal)


def is_en_passant(state, move):
    return bool(state[13] == move.to_bit and state[0] & move.from_bit)


@given(st.integers(-20_000, 20_000), st.integers(-20_000, 20_000))
def test_two_values_in_one_number(middle, end):
    assert unpack(pack(middle, end)) == (middle, end)
    assert unpack(pack(middle, end) - pack(5, 7)) == (middle - 5, end - 7)


BETTER = {
    "a queen more": ("4k3/8/8/8/8/8/8/3QK3 w - -", "4k3/8/8/8/8/8/8/3RK3 w - -"),
    "the pair of bishops": (
        "4k3/pppp4/8/8/8/8/PPPP4/2B1KB2 w - -",
        "4k3/pppp4/8/8/8/8/PPPP4/2B1K1N1 w - -",
    ),
    "a passed pawn": ("4k3/5p2/8/8/1P6/8/8/4K3 w - -", "4k3/1p6/8/8/1P6/8/8/4K3 w - -"),
    "a passed pawn further on": ("4k3/8/1P6/8/8/8/8/4K3 w - -", "4k3/8/8/8/1P6/8/8/4K3 w - -"),
    "no doubled pawns": ("4k3/pp6/8/8/8/8/PP6/4K3 w - -", "4k3/pp6/8/8/8/P7/P7/4K3 w - -"),
    "a castled king": (
        "r1bq1rk1/pppp1ppp/2n2n2/4p3/4P3/2N2N2/PPPP1PPP/R1BQ1RK1 w - -",
        "r1bq1rk1/pppp1ppp/2n2n2/4p3/4P3/2N2N2/PPPPKPPP/R1BQ3R w - -",
    ),
    "a rook on an open file": (
        "4k3/ppp1pppp/8/8/8/8/PPP1PPPP/3RK3 w - -",
        "4k3/ppp1pppp/8/8/8/8/PPP1PPPP/R3K3 w - -",
    ),
    "a knight in the centre": ("4k3/pp6/8/3N4/8/8/PP6/4K3 w - -", "4k3/pp6/8/8/8/8/PP6/N3K3 w - -"),
    "a lone king at the edge": ("k7/8/2K5/8/8/8/8/7R w - -", "8/8/8/3k4/8/8/8/K6R w - -"),
    "not two knights alone": ("4k3/8/8/8/8/8/7P/4K3 w - -", "4k3/8/8/8/8/8/8/1NK3N1 w - -"),
}


@pytest.mark.parametrize("queens", [10, 30, 34, 36, 40, 47])
def test_however_many_queens_are_no_mate_and_no_loss(queens):
    pieces = "K" + "Q" * queens
    rows = [pieces[at : at + 8] for at in range(0, 48, 8)]
    fen = "/".join(["k1n5", "8", *(f"{row}{8 - len(row) or ''}" for row in reversed(rows))])
    worth = evaluate(Position.from_fen(f"{fen} b - - 0 1").state)
    assert -MATE_BOUND < -MOST <= worth < -8_000


@pytest.mark.parametrize(("better", "worse"), BETTER.values(), ids=BETTER)
def test_what_is_better(better, worse):
    assert evaluate(Position.from_fen(better).state) > evaluate(Position.from_fen(worse).state)
