"""King's Cooking solved: the retrograde analysis against a plain search, and against real games."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from engine import (
    Color,
    Game,
    KingsCookingPosition,
    Move,
    NotSolved,
    Position,
    Solver,
    Value,
    Verdict,
    seen_twice,
)
from tests.support import cooking_oracle as oracle
from tests.support.cooking_positions import engine_position

EXPLANATION = Path(__file__).parents[2] / "docs" / "explanation" / "kings-cooking.md"


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


def position_of(fen: str) -> Position:
    return Position.from_fen(fen, "kings-cooking")


# --- two methods ---


def alike(position: oracle.Reduced) -> tuple[str, int]:
    """Return what is equal for positions that differ by colours and left and right only."""
    board, white, difference = position
    rows = [board[row : row + 3] for row in (0, 3, 6)]
    if not white:
        rows, difference = [row.swapcase() for row in rows[::-1]], -difference
    return min("".join(rows), "".join(row[::-1] for row in rows)), difference


@pytest.mark.usefixtures("without_coverage")
def test_retrograde_analysis_and_plain_search_agree_on_every_reachable_position(solver):
    found = oracle.solve(oracle.reachable())
    each_once = {oracle.reduced(position): position for position in found}
    for position in each_once.values():
        ours = solver.verdict(engine_position(position))
        assert (ours.value, ours.plies) == found[position], oracle.line(position)

    # What the documentation tells is what both methods found.
    values = Counter(result.value for result in found.values())
    longest = {value: max(r.plies for r in found.values() if r.value == value) for value in values}
    start = found[oracle.START]
    told = [
        f"**{len(found):,} positions can be reached**",
        f"{len(each_once):,} that differ",
        f"together, {len({*map(alike, each_once)}):,}",
        f"| won | {values[1]:,} | {longest[1]} |",
        f"| drawn | {values[0]:,} | {longest[0]} |",
        f"| lost | {values[-1]:,} | {longest[-1]} |",
        f"is a **{Value(start.value).name.lower()}**",
        f"within {start.plies} plies",
    ]
    page = re.sub(r"\s+", " ", EXPLANATION.read_text())
    assert [fact for fact in told if fact not in page] == []


@pytest.mark.usefixtures("without_coverage")
def test_level_by_level_or_one_by_one_the_plain_search_finds_the_same():
    few = [position for position in sample(3000) if position.board.count(".") >= 6][:100]
    for position, (value, plies) in oracle.solve(few).items():
        now, before = oracle.bounds(position, plies), oracle.bounds(position, plies - 1)
        if value == -1:
            assert now.high == -1 < before.high
        else:
            assert now.low == value > before.low


# --- answers ---


def test_the_start_is_a_draw(solver):
    start = Position.start("kings-cooking")
    assert solver.verdict(start) == Verdict(Value.DRAW, 5)
    assert str(solver.verdict(start)) == "draw in 5"
    rated = solver.moves(start)
    assert {each.move for each in rated} == set(start.legal_moves())
    assert min(each.verdict.plies for each in rated) == 5


ANSWERS = [
    # Who is ahead when the game is over has won, in no plies.
    ("3/3/3 w - R NB rnb 9", Value.WIN, 0),
    ("3/3/3 b - R NB rnb 9", Value.LOSS, 0),
    ("3/3/3 w n R NB rb 9", Value.DRAW, 0),
    ("3/3/2N b - - RB rnb 9", Value.DRAW, 0),
    # The last piece leaves: one ply to win, and the next side has none.
    ("1N1/3/3 w - - RB rnb 9", Value.WIN, 1),
    ("1N1/3/3 w n - RB rb 9", Value.DRAW, 1),
    # White may take the knight and lose at once, or let it leave, and lose after one more move.
    ("3/1B1/n2 w r - RN b 9", Value.LOSS, 3),
]


@pytest.mark.parametrize(("fen", "value", "plies"), ANSWERS)
def test_positions_that_a_person_can_solve(solver, fen, value, plies):
    assert solver.verdict(position_of(fen)) == Verdict(value, plies)


#: No game reaches these: a bishop stands on the other colour.
BY_REPETITION = [
    ("1br/n2/1R1 w - - NB - 9", Value.DRAW),
    ("1br/n2/1R1 w - N B - 9", Value.WIN),
    ("1r1/B1N/R2 w n - - b 9", Value.LOSS),
    # A knight leaves, and what follows can only be gone round in.
    ("1Nr/n1b/1R1 w - - B - 9", Value.WIN),
    ("2r/nNb/1R1 w - - B - 9", Value.WIN),
]


@pytest.mark.parametrize(("fen", "value"), BY_REPETITION)
def test_repetition_decides_where_no_other_end_can_be_forced(solver, fen, value):
    verdict = solver.verdict(position_of(fen))
    assert verdict == Verdict(value, None)
    assert str(verdict) == f"{value.name.lower()} by repetition"
    game = Game(fen, variant="kings-cooking")
    while not game.is_over:
        game.play(solver.moves(game.position, seen_twice(game.line.positions))[0].move)
    assert game.winner == {1: Color.WHITE, 0: None, -1: Color.BLACK}[value]


@pytest.mark.usefixtures("without_coverage")
def test_any_position_is_worth_the_best_of_its_moves(solver):
    chance = random.Random(8)
    for _ in range(2000):
        # Wherever the pieces may be, reachable or not.
        letters = chance.sample("RNBrnb", chance.randint(1, 6))
        gone = [letter for letter in "RNBrnb" if letter not in letters]
        scored = "".join(letter for letter in gone if chance.random() < 0.5)
        captured = "".join(letter for letter in gone if letter not in scored)
        board = "".join(chance.sample([*letters, *"." * (9 - len(letters))], 9))
        turn = chance.choice(list(Color))
        position = KingsCookingPosition(board, turn, scored, captured, 1)
        if not position.can_move():
            continue
        rated = solver.moves(position)
        verdict = solver.verdict(position)
        assert rated[0].verdict.value == verdict.value == max(r.verdict.value for r in rated)
        for each in rated:
            assert each.verdict.value == -solver.verdict(position.play(each.move)).value
        if verdict.value is Value.WIN and verdict.plies is not None:
            assert verdict.plies == rated[0].verdict.plies


# --- perfect play, by the rules of the game ---


@cache
def sample(size: int) -> list[oracle.Position]:
    playable = sorted(p for p in oracle.reachable() if not oracle.is_over(p))
    return random.Random(3).sample(playable, size)


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("opponent", ["random", "itself"])
def test_the_verdict_comes_true_over_the_board(solver, opponent):
    chance = random.Random(4)
    for position in sample(100):
        game = Game(engine_position(position))
        side, verdict = game.turn, solver.verdict(game.position)
        while not game.is_over:
            perfect = game.turn is side or opponent == "itself"
            moves = game.position.legal_moves()
            if perfect:
                move = solver.moves(game.position, seen_twice(game.line.positions))[0].move
            else:
                move = chance.choice(sorted(moves, key=Move.uci))
            game.play(move)
        result = 0 if game.winner is None else 1 if game.winner is side else -1
        plies = len(game.line)
        if opponent == "itself":
            assert result == verdict.value, game.pgn()
            assert plies == verdict.plies or verdict.value is Value.DRAW, game.pgn()
        else:
            assert result >= verdict.value, game.pgn()
            assert plies <= verdict.plies or verdict.value is not Value.WIN, game.pgn()


# --- what has already occurred twice ---

W, D, L = Value.WIN, Value.DRAW, Value.LOSS
#: A round of four plies, gone from its first position almost twice; what the side to move then had
#: in a new game, what it has here, and whether repeating once more is its best.
ROUNDS = [
    # Black is ahead, and White to keep the draw: the third time is Black's win.
    ("2B/2N/R1b w n - - r 2", "a1a2 c1a3 a2a1 a3c1", (D, 4), (W, 1)),
    # The win leads through a position that would end the game level.
    ("2r/3/b1N w - - RB n 2", "c1b3 a1b2 b3c1 b2a1", (W, 6), (D, 1)),
    # So does the only way to a draw, while the other side is ahead.
    ("b2/2r/n1N w - B R - 2", "c1a2 a1b3 a2c1 b3a1", (D, 7), (L, 5)),
]


@pytest.mark.parametrize(("fen", "round_", "new", "here"), ROUNDS)
def test_repetition_changes_what_a_position_is_worth(solver, fen, round_, new, here):
    game = Game(fen, variant="kings-cooking")
    for move in (round_.split() * 2)[:-1]:
        game.play(move)
    twice = seen_twice(game.line.positions)
    assert len(twice) == 4
    assert solver.verdict(game.position) == Verdict(*new)
    assert solver.verdict(game.position, twice) == Verdict(*here)
    side = game.turn
    while not game.is_over:
        game.play(solver.moves(game.position, seen_twice(game.line.positions))[0].move)
    assert game.winner == {1: side, 0: None, -1: side.opponent}[here[0]]


def plain_search(
    position: oracle.Reduced,
    ends: set[oracle.Reduced],
    depth: int,
    known: dict[tuple[oracle.Reduced, int], oracle.Bounds],
) -> oracle.Bounds:
    """Return the bounds for the mover, if some positions end the game when they are entered."""
    if (position, depth) not in known:
        after = [
            oracle.search(child._replace(board="........."), 0)  # over, by the score
            if child in ends
            else plain_search(child, ends, depth - 1, known)
            for child in (oracle.children(position) if depth else ())
        ]
        known[position, depth] = oracle.best(after) if after else oracle.search(position, 0)
    return known[position, depth]


@pytest.mark.usefixtures("without_coverage")
def test_with_any_history_the_verdict_is_what_a_plain_search_finds(solver):
    chance = random.Random(6)
    decided = 0
    for position in [p for p in sample(4000) if p.board.count(".") >= 6][:60]:
        # Any positions near by will do as history, whether or not a game could have it.
        near = [*oracle.moves(position).values()]
        near += [after for p in near for after in oracle.moves(p).values()]
        same = sorted({p for p in near if p.board.count(".") == position.board.count(".")})
        twice = chance.sample(same, min(3, len(same)))
        ends = {oracle.reduced(p) for p in twice}
        low, high = plain_search(oracle.reduced(position), ends, 12, {})
        verdict = solver.verdict(engine_position(position), [engine_position(p) for p in twice])
        assert low <= verdict.value <= high, (oracle.line(position), [*map(oracle.line, twice)])
        decided += low == high and bool(twice)
    assert decided > 30


def test_slips_are_counted_alike_with_history(solver):
    position = position_of("2b/R2/1Nn b - - B r 3")
    new = {each.move: each.slips for each in solver.moves(position)}
    assert max(new.values()) > 0.7
    # That it has itself occurred twice changes nothing that follows a capture or a departure.
    for each in solver.moves(position, [position]):
        if position.play(each.move).view.count(".") != position.view.count("."):
            assert each.slips == new[each.move]


def test_a_question_about_another_game_is_refused(solver):
    for ask in (solver.verdict, solver.moves):
        with pytest.raises(NotSolved, match="standard is not solved"):
            ask(Position.start())


def test_positions_with_other_pieces_are_no_history(solver):
    game = Game(variant="kings-cooking")
    for move in ["Ra2", "Bb2", "Ra1", "Bc3", "Ra2", "Bb2", "Ra1", "Bxa1"]:
        game.play(move)
    twice = seen_twice(game.line.positions)
    assert twice
    assert solver.verdict(game.position, twice) == solver.verdict(game.position)
    assert game.turn is Color.WHITE
