"""The search: mates, material and draws; and that it finds what a plain search would."""

from __future__ import annotations

import time
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.classical.captures import captures, is_safe
from agents.classical.evaluation import evaluate
from agents.classical.search import MATE, Search, Stopped
from agents.classical.words import mate_in, material_gain
from engine import Move, Position
from engine.material import is_dead
from engine.movegen import legal_moves, perft
from engine.state import CLOCK, State, is_check, make
from tests.agents.classical.test_evaluation import board_of, state_of
from tests.support.random_games import KINDS, scattered

MATES = {
    "back rank": ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -", 1, "d1d8"),
    "smothered": ("6rk/6pp/8/6N1/8/8/8/7K w - -", 1, "g5f7"),
    "by promotion": ("k7/7P/1K6/8/8/8/8/8 w - -", 1, "h7h8q"),
    "two rooks": ("7k/8/8/8/8/8/R7/1R5K w - -", 2, None),
    "queen sacrificed": ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - -", 2, "g3g6"),
    "king and queen": ("k7/8/1K6/8/8/8/8/6Q1 w - -", 1, None),
    "black to move": ("3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - -", 1, "d8d1"),
    "three moves": ("8/8/8/8/8/5K2/R7/7k w - -", 2, None),
}


@pytest.mark.parametrize(("fen", "moves", "first"), MATES.values(), ids=MATES)
def test_mates_are_found(fen, moves, first):
    position = Position.from_fen(fen)
    found = Search(position.state, nodes=60_000).run()
    assert mate_in(found.best.score) == moves
    assert len(found.best.moves) == 2 * moves - 1
    assert first in (None, found.best.move.uci())
    for move in found.best.moves:
        position = position.play(move)
    assert position.outcome().termination == "checkmate"


def test_being_mated_is_put_off():
    found = Search(Position.from_fen("k7/8/1K6/8/8/8/8/7R b - -").state, nodes=1_000).run()
    assert mate_in(found.best.score) == -1
    # In the corner it would be over at once.
    found = Search(Position.from_fen("6k1/8/6K1/8/8/8/8/R7 b - -").state, nodes=3_000).run()
    assert found.best.move.uci() == "g8f8"


WINS = {
    "a hanging queen": ("rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/RNBQKB1R w KQkq -", "f3h4"),
    "a knight's fork": ("4k3/8/8/q7/4N3/8/8/4K3 w - -", None),
    "a pin": ("4k3/4r3/8/8/8/8/8/R3K2B w - -", None),
    "a skewer": ("8/8/1k6/8/1q6/8/7K/5R2 b - -", None),
    "en passant": ("8/8/8/1pP5/8/8/6k1/K7 w - b6", "c5b6"),
    "a promotion": ("8/P7/8/8/8/8/6k1/K7 w - -", "a7a8q"),
    "no poisoned pawn": ("4k3/1p6/p7/8/8/8/8/Q3K3 w - -", None),
}


@pytest.mark.parametrize(("fen", "move"), WINS.values(), ids=WINS)
def test_material_is_won_and_not_lost(fen, move):
    state = Position.from_fen(fen).state
    found = Search(state, nodes=15_000).run()
    assert move in (None, found.best.move.uci())
    won = material_gain(state, found.best.moves)
    worth = sum(number * each for number, each in zip(won, (1, 3, 3, 5, 9), strict=True))
    assert worth >= 0


def test_the_search_does_not_give_stalemate():
    # Queen to c7 or b6 is stalemate; nearly everything else wins.
    state = Position.from_fen("k7/8/8/1Q6/8/8/8/4K3 w - -").state
    found = Search(state, nodes=5_000).run()
    assert found.best.score > 500
    assert not Position.from_fen("k7/8/8/1Q6/8/8/8/4K3 w - -").play(found.best.move).is_stalemate()


def test_stalemate_is_a_draw():
    # Black keeps the pawn by giving stalemate, or loses it.
    state = Position.from_fen("8/8/8/8/8/4k3/5p2/5K2 b - -").state
    assert Search(state, nodes=2_000).run(depth=4).best.score == 0


def test_a_third_occurrence_is_a_draw():
    # A queen for a rook behind, White likes to go where the game has been twice already.
    state = Position.from_fen("6k1/5pp1/7p/8/8/8/q4PPP/3R2K1 w - - 8 30").state
    move = Move.from_uci("g1f1")
    twice = Counter({make(state, move)[:15]: 2})
    found = Search(state, twice, nodes=3_000).run()
    assert (found.best.move, found.best.score) == (move, 0)
    once = Counter({make(state, move)[:15]: 1})
    assert Search(state, once, nodes=3_000).run().best.score < -200


def test_who_is_behind_repeats():
    # A rook down, White can check for ever.
    state = Position.from_fen("7k/5p1p/8/6Q1/8/8/1qr3PP/7K w - -").state
    found = Search(state, nodes=25_000).run()
    assert (found.best.move.uci(), found.best.score) == ("g5d8", 0)


def test_fifty_moves_are_a_draw():
    state = Position.from_fen("8/8/8/3k4/8/8/8/K6R w - - 99 90").state
    assert Search(state, nodes=3_000).run(depth=3).best.score == 0
    # A mate with the last of them is a mate.
    state = Position.from_fen("k7/8/1K6/8/8/8/8/7R w - - 99 90").state
    assert mate_in(Search(state, nodes=3_000).run().best.score) == 1


def test_a_dead_position_is_a_draw():
    state = Position.from_fen("8/8/8/3k4/3p4/8/8/K6N b - -").state
    assert Search(state, nodes=3_000).run(depth=4).best.score != 0
    state = Position.from_fen("8/8/8/8/8/3k4/3Q4/K7 b - -").state
    assert Search(state, nodes=3_000).run(depth=4).best.move.uci() == "d3d2"
    assert Search(state, nodes=3_000).run(depth=4).best.score == 0


# --- against a plain search ---


def plain(state: State, depth: int, ply: int) -> int:
    """Return what a position is worth by the rules alone, every move looked at."""
    if depth == 0:
        return settled(state, -MATE - 1, MATE + 1, ply)
    if not (state[0] or state[3] or state[6] or state[9]) and is_dead(state):
        return 0
    moves = legal_moves(state)
    if not moves:
        return ply - MATE if is_check(state) else 0
    if state[16] & CLOCK >= 100:
        return 0
    return max(-plain(make(state, move), depth - 1, ply + 1) for move in moves)


def settled(state: State, alpha: int, beta: int, ply: int) -> int:
    """Return what is left when all captures are made."""
    if is_check(state):
        moves = legal_moves(state)
        best = ply - MATE
    else:
        moves = [move for _, _, move in captures(state) if is_safe(state, move)]
        best = evaluate(state)
    for move in moves:
        if best >= beta:
            break
        best = max(best, -settled(make(state, move), -beta, -max(alpha, best), ply + 1))
    return best


#: Kinds in which captures do not go on and on.
SPARSE = ("endgames", "mates and stalemates", "shuffles")


@settings(max_examples=25, deadline=None)
@given(st.tuples(st.sampled_from(SPARSE), st.integers(0, 10**6), st.integers(0, 10)))
def test_it_finds_what_a_plain_search_would(dealt):
    state = state_of(board_of(dealt))
    moves = legal_moves(state)
    if not moves:
        return
    # Up to four plies no position comes twice on a way, nor once nearer and once further on.
    depth = max((each for each in (2, 3, 4) if perft(state, each) < 4_000), default=1)
    scores = {move: -plain(make(state, move), depth - 1, 1) for move in moves}
    found = Search(state, selective=False).run(depth=depth)
    assert found.best.score == max(scores.values())
    for line in found.lines:
        assert scores[line.move] == line.score
    near = Search(state, selective=False).run(depth=depth, margin=50)
    if abs(found.best.score) < MATE - 1000:
        expected = {move for move, score in scores.items() if score >= found.best.score - 50}
        assert {line.move for line in near.lines} == expected


@pytest.mark.parametrize("seed", [0, 2, 19, 47])
def test_what_is_remembered_of_one_way_holds_on_another(seed):
    # Pawns alone: many orders of moves lead to the same position, each with another window.
    board = scattered(Random(seed), "KkPPpp")
    board.halfmove_clock = 0
    state = state_of(board)
    scores = {move: -plain(make(state, move), 3, 1) for move in legal_moves(state)}
    near = {move: score for move, score in scores.items() if score >= max(scores.values()) - 400}
    found = Search(state, selective=False).run(depth=4, margin=400)
    assert {line.move: line.score for line in found.lines} == near


# --- limits ---


def test_nodes_limit_it_and_repeat_it():
    state = Position.start().state
    found = Search(state, nodes=3_000).run(margin=10)
    assert found == Search(state, nodes=3_000).run(margin=10)
    assert found.nodes == 3_000
    assert Search(state, nodes=6_000).run().depth >= found.depth


def test_it_answers_however_little_it_may_think():
    state = Position.start().state
    for search in (
        Search(state, deadline=time.monotonic() - 1),
        Search(state, stopped=lambda: True),
    ):
        found = search.run()
        assert found.best.move in legal_moves(state)
        assert found.depth == 1


def test_without_any_line_it_is_the_first_move_and_the_position_as_it_stands():
    state = Position.from_fen("4k3/8/8/3q4/4P3/8/8/4K3 w - -").state
    found = Search(state, nodes=1).run(margin=10)
    (line,) = found.lines
    assert (line.move.uci(), line.moves, line.score) == ("e4d5", (line.move,), evaluate(state))
    assert (found.depth, found.nodes) == (0, 1)
    first = Move.from_uci("e1f2")
    assert Search(state, nodes=1).run(first=first).best.move is first


#: With so many captures, even a search of one ply goes on and on.
CROWDED = "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1"


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"nodes": 300}, 300), ({"deadline": 0.0}, 128), ({"stopped": lambda: True}, 128)],
    ids=["nodes", "deadline", "stopped"],
)
def test_every_limit_holds_from_the_first_ply_on(limits, most):
    state = Position.from_fen(CROWDED).state
    found = Search(state, **limits).run(margin=10)
    assert found.nodes == most
    assert found.best.move in legal_moves(state)
    assert found == Search(state, **limits).run(margin=10)


@pytest.mark.parametrize("limits", [{"nodes": 300}, {"deadline": 0.0}, {"stopped": lambda: True}])
def test_every_limit_holds_for_what_is_asked_of_a_move(limits):
    state = Position.from_fen(CROWDED).state
    search = Search(state, **limits)
    with pytest.raises(Stopped):
        search.holds(make(state, Move.from_uci("a2a7")), 0)
    assert search.nodes <= 300
    # Which takes nothing from the search itself.
    assert search.run() == Search(state, **limits).run()


class Sounding(Search):
    """A search that notes how many plies it looks at beyond its horizon."""

    deepest = 0

    def _quiesce(self, state, alpha, beta, ply, bottom):
        self.deepest = max(self.deepest, ply)
        return super()._quiesce(state, alpha, beta, ply, bottom)


def test_captures_are_followed_far_but_not_for_ever():
    state = Position.from_fen(CROWDED).state
    search = Sounding(state, nodes=2_000)
    search.run(depth=1)
    assert search.deepest == 1 + 12
    every = Sounding(state, nodes=2_000, selective=False)
    every.run(depth=1)
    assert every.deepest > 1 + 12


@pytest.mark.parametrize("name", ["standard", "chess960", "promotions", "castling chess960"])
def test_lines_are_legal(name):
    for seed in range(3):
        board = KINDS[name].deal(Random(seed))
        state = state_of(board)
        for line in Search(state, nodes=1_500).run(margin=30).lines:
            after = state
            for move in line.moves:
                assert move in legal_moves(after)
                after = make(after, move)
