"""When a position is critical, and that the test for it agrees with the facts."""

from __future__ import annotations

from random import Random

import pytest

from agents.team.critical import why_critical
from agents.team.facts import facts_of
from engine import Position
from tests.support.random_games import KINDS, random_moves

CHESS = {
    "the start": (Position.start().fen(), ""),
    "in check": ("4k3/8/8/8/8/8/8/r3K3 w - -", "White is in check"),
    "two legal moves": ("k7/8/8/8/8/2r5/8/K7 w - -", ""),
    "checkmate": ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -", ""),
    "stalemate": ("7k/8/6QK/8/8/8/8/8 b - -", ""),
    "drawn by material": ("4k3/8/8/8/8/8/4b3/4K3 w - -", ""),
    "a rook to win": ("4k3/8/8/8/8/8/7r/4K1B1 w - -", "White can win 5.0 by exchange"),
    "mate in one": ("6k1/5ppp/8/8/8/8/8/R5K1 w - -", "White has mate in one"),
    "mate in one for Black": ("r5k1/8/8/8/8/8/5PPP/6K1 w - -", "Black threatens mate in one"),
    "a pawn to win": ("6k1/8/3p4/8/8/8/8/3R2K1 w - -", "White can win 1.0 by exchange"),
    "a guarded pawn": ("6k1/2p5/3p4/8/8/8/8/3R2K1 w - -", ""),
    "a bishop for a knight": ("6k1/2p5/3b4/8/4N3/8/8/6K1 w - -", ""),
    "a knight that can be lost": (
        "6k1/8/2p5/3p4/4N3/8/8/6K1 w - -",
        "Black threatens to win 3.2 by exchange",
    ),
    "both": (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
        "White can win 3.3 by exchange; Black threatens to win 2.2 by exchange",
    ),
    "a passed pawn on its fifth rank": ("6k1/8/8/P7/8/8/8/6K1 w - -", ""),
    "a passed pawn on its sixth rank": (
        "6k1/8/P7/8/8/8/8/6K1 b - -",
        "passed pawn far advanced: white a6 (2 steps from promotion)",
    ),
    "a passed pawn of Black on its sixth rank": (
        "6k1/8/8/8/8/p7/8/6K1 w - -",
        "passed pawn far advanced: black a3 (2 steps from promotion)",
    ),
    "a pawn on its sixth rank that is not passed": ("6k1/p7/P7/8/8/8/8/6K1 w - -", ""),
    "a promotion": (
        "8/P5k1/8/8/8/8/8/6K1 w - -",
        "White can win 8.0 by exchange; passed pawn far advanced: white a7 (1 step from promotion)",
    ),
}


@pytest.mark.parametrize(("fen", "reason"), CHESS.values(), ids=CHESS)
def test_chess(fen: str, reason: str):
    assert why_critical(facts_of(Position.from_fen(fen))) == reason


@pytest.mark.parametrize(
    ("fen", "variant"),
    [
        ("1r5k/8/8/8/8/8/8/K5r1 w - -", "standard"),
        ("k7/8/8/8/8/8/1r6/K7 w - -", "standard"),
        ("k7/8/8/8/8/8/1r6/K7 w - -", "chess960"),
        ("1r1/1N1/3 w nb - RB - 9", "kings-cooking"),
    ],
    ids=["in check", "to win a rook", "chess960", "King's Cooking"],
)
def test_one_legal_move_is_never_critical(fen: str, variant: str):
    position = Position.from_fen(fen, variant)
    assert len(position.legal_moves()) == 1
    assert why_critical(facts_of(position)) == ""


COOKING = {
    "the start": ("rnb/3/RNB w - - - - 1", "White can capture; Black threatens to capture"),
    "only scoring": ("3/1B1/1b1 w rn R N - 9", ""),
    "an end for the mover": (
        "R2/b2/3 w n B N r 9",
        "White can end the game; White can capture",
    ),
    "every move ends it alike": ("3/B2/3 w rb R N n 9", ""),
    "moves that end it differently": ("2R/3/3 w n B N rb 9", "White can end the game"),
    "an end for the opponent": (
        "3/3/N1r w nb - RB - 9",
        "Black threatens to end the game; Black threatens to capture",
    ),
    "over": ("3/3/R2 b rb - NB n 9", ""),
}


@pytest.mark.parametrize(("line", "reason"), COOKING.values(), ids=COOKING)
def test_kings_cooking(line: str, reason: str):
    assert why_critical(facts_of(Position.from_fen(line, "kings-cooking"))) == reason


def test_facts_that_are_known_need_no_second_look():
    rng = Random("critical")
    kind = KINDS["standard"]
    board = kind.deal(rng)
    seen = set()
    for move in random_moves(kind, board.copy(), rng, 60):
        position = Position.from_fen(board.fen())
        reason = why_critical(facts_of(position))
        assert why_critical(facts_of(position)) == reason
        seen.add(bool(reason))
        board.push(move)
    assert seen == {True, False}
