"""Real replies of language models, and the laws that hold for any reply."""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import read_reply
from engine import AmbiguousMove, IllegalMove, Move, MoveError, Position, UnreadableMove
from tests.support.random_games import KINDS, random_moves

SHARED = Path(__file__).parents[4] / "shared" / "data" / "llm_replies.jsonl"

# --- real replies ---


def _reading_of(row):
    position = Position.start()
    for move in row["moves"].split():
        position = position.play(move)
    try:
        return read_reply(row["reply"], position).uci()
    except IllegalMove as error:
        return f"illegal {error.move}"
    except MoveError as error:
        return type(error).__name__


def test_real_replies():
    if not SHARED.exists():
        pytest.skip(f"{SHARED.name} is not there")
    rows = [json.loads(line) for line in SHARED.read_text().splitlines()]
    wrong = []
    for row in rows:
        meant = row["uci"] or f"illegal {row['attempted']}"
        if (read := _reading_of(row)) != meant:
            wrong.append(f"{row['model']}: {meant}, read as {read}: ...{row['reply'][-200:]!r}")
    assert len(wrong) <= len(rows) / 100, "\n".join(wrong)


# --- laws ---

WRAPPINGS = [
    "{}",
    "**{}**",
    "`{}`",
    "make_move {}",
    "'action': 'make_move {}'",
    "My move is {}.",
    "I'll play {}",
    "Final answer: {}",
    "<answer>{}</answer>",
    "<think>I'll play a1a1.</think>\n{}",
    "\\boxed{{{}}}",
    "$\\boxed{{\\text{{{}}}}}$",
    '{{"move": "{}"}}',
    '```json\n{{"reason": "because", "best_move": "{}"}}\n```',
    '{{"best_move": "{}", "reason": "because',
    "The position is difficult.\n\n{}",
    "The best move is **{}**, I think.",
    "After thinking about it for long, I choose {}.",
]


@cache
def _positions():
    rng = Random(7)
    positions = []
    for kind in KINDS.values():
        board = kind.deal(rng)
        random_moves(kind, board, rng, kind.plies // 4)
        fen = board.fen(en_passant="fen") if kind.variant == "standard" else board.shredder_fen()
        positions.append(Position.from_fen(fen, kind.variant))
    cooking = Position.start("kings-cooking")
    for _ in range(12):
        if cooking.outcome() is not None:
            cooking = Position.start("kings-cooking")
        positions.append(cooking)
        cooking = cooking.play(rng.choice(cooking.legal_moves()))
    return [position for position in positions if position.can_move()]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_legal_move_comes_back_from_every_wrapping(data):
    position = data.draw(st.sampled_from(_positions()))
    move = data.draw(st.sampled_from(position.legal_moves()))
    notation = data.draw(st.sampled_from([Move.uci, position.san, position.long_algebraic]))
    reply = data.draw(st.sampled_from(WRAPPINGS)).format(notation(move))
    assert read_reply(reply, position) is move, reply


def _parsed(text, position):
    return position.parse(text)


def _outcome(read, text, position):
    try:
        return read(text, position)
    except IllegalMove as error:
        return error.move, error.fen, error.reason


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_two_squares_are_never_read_as_another_move(data):
    position = data.draw(st.sampled_from(_positions()))
    squares = st.sampled_from([file + rank for file in "abcdefgh" for rank in "12345678"])
    origin, target = data.draw(st.tuples(squares, squares).filter(lambda pair: pair[0] != pair[1]))
    other = data.draw(st.sampled_from(position.legal_moves()))
    reply = f"I like {position.san(other)} here.\n\nmake_move {origin}{target}"
    assert _outcome(read_reply, reply, position) == _outcome(_parsed, origin + target, position)


FRAGMENTS = st.sampled_from(
    [
        "e4",
        "Nf3",
        "e2e4",
        "O-O",
        "Roff",
        "a3off",
        "make_move ",
        "I'll play ",
        "<answer>",
        "{",
        "}",
        "</answer>",
        '"move": "',
        "\\boxed{",
        "<think>",
        "</think>",
        "1. ",
        "\n",
        " or ",
        "best move",
        " is ",
        ": ",
        "I resign",
        "legal moves: ",
        "- ",
        "| ",
        "Final answer",
        "e8",
        " promotes to a",
        " queen",
        "castle kingside",
        "knight to f3",
        "♘",
        "[",
        "]",
        "...",
        "8/8/8",
        " ",
        "e7e5",
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(), st.lists(FRAGMENTS, max_size=12).map("".join)),
    st.sampled_from(["standard", "chess960", "kings-cooking"]),
)
def test_any_text_gives_a_legal_move_or_one_of_three_errors(text, variant):
    position = Position.start(variant)
    with suppress(UnreadableMove, AmbiguousMove, IllegalMove):
        assert position.is_legal(read_reply(text, position))
