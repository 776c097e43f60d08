"""Static exchange evaluation: positions worked out by hand, and a slow oracle on random games."""

from __future__ import annotations

from random import Random

import chess
import pytest

from engine import Illegality, IllegalMove, Move, PieceType, Position, exchange_value
from engine.exchange import PIECE_VALUES
from tests.support.random_games import KINDS, Kind

#: Each kind of game is played until so many positions were compared.
POSITIONS_EACH = 40
VALUES = {"p": 100, "n": 320, "b": 330, "r": 500, "q": 900, "k": 0}

TABLE = {
    # The two examples of the chess programming wiki.
    "a pawn that nothing guards": ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "e1e5", 100),
    "a knight for a pawn, with batteries on both sides": (
        "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -",
        "d3e5",
        100 - 320,
    ),
    # What is taken, and with what.
    "a guarded pawn": ("4k3/8/3p4/4p3/8/8/8/4RK2 w - -", "e1e5", 100 - 500),
    "a guarded rook": ("4k3/8/3p4/4r3/8/8/8/4RK2 w - -", "e1e5", 0),
    "a pawn takes a guarded knight": ("4k3/8/3p4/4n3/3P4/8/8/4K3 w - -", "d4e5", 320 - 100),
    "a knight for a bishop": ("4k3/8/3p4/4b3/8/5N2/8/4K3 w - -", "f3e5", 330 - 320),
    "a queen goes where a pawn takes her": ("6k1/8/3p4/8/8/8/4Q3/4K3 w - -", "e2e5", -900),
    "a quiet move to a safe square": ("6k1/8/3p4/8/8/8/4Q3/4K3 w - -", "e2e4", 0),
    "the pawn takes, though the queen could": (
        "4k3/8/8/3p4/4P3/8/8/3QK3 w - -",
        "e4d5",
        100,
    ),
    "the queen takes back only if it pays": (
        "3qk3/8/8/3p4/4P3/8/8/3QK3 w - -",
        "e4d5",
        100,  # Qxd5 would lose her for a pawn
    ),
    "it stops where going on costs": ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - -", "d2d5", 100),
    # Sliders behind others.
    "rook behind rook": ("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - -", "d2d5", 100 - 500),
    "queen behind rook": ("3rk3/8/8/3p4/8/8/3R4/3QK3 w - -", "d2d5", 100),
    "bishop behind pawn": ("4k3/6b1/5p2/4p3/3P4/5N2/8/4K3 w - -", "d4e5", 0),
    # Pins and kings.
    "its guard is pinned": ("4k3/4n3/8/3p4/8/2N5/8/4RK2 w - -", "c3d5", 100),
    "a pinned piece takes along the line": ("4k3/8/4r3/8/4Q3/8/8/5K2 w - -", "e4e5", -900),
    "its guard is pinned by the other rook": ("4k3/8/4n3/8/3p4/8/8/3RRK2 w - -", "d1d4", 100),
    "the pin ends when the pinner takes": ("4k3/8/4n3/8/3pR3/8/8/5K2 w - -", "e4d4", 100 - 500),
    "the king guards": ("8/8/8/3pk3/8/8/8/3R1K2 w - -", "d1d5", 100 - 500),
    "the king may not take what is guarded": ("8/8/8/3pk3/8/8/3R4/3R1K2 w - -", "d2d5", 100),
    "the king takes": ("8/8/8/3pk3/3R4/8/8/5K2 b - -", "e5d4", 500),
    "a discovered check: it cannot take back": (
        "4k3/2p5/3r4/4N3/8/8/8/4RK2 w - -",
        "e5c6",
        0,
    ),
    "a check by the piece itself: it can": ("4k3/8/3p4/8/8/8/8/3QK3 w - -", "d1d6", 100),
    # Pawns.
    "en passant": ("4k3/8/8/3pP3/8/8/8/4K3 w - d6", "e5d6", 100),
    "en passant, and it is taken": ("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6", "e5d6", 0),
    "en passant opens the file": ("3rk3/8/8/3pP3/8/8/8/3RK3 w - d6", "e5d6", 100),
    "a double step that can be taken en passant": ("4k3/8/8/8/3p4/8/4P3/4K3 w - -", "e2e4", -100),
    "en passant, but it is taken back": ("4k3/8/8/8/3p4/5P2/3PP3/4K3 w - -", "e2e4", 0),
    "a double step, worse than en passant": ("4k3/8/8/3p4/3p4/8/4PP2/4K3 w - -", "e2e4", -100),
    "promotion": ("7k/P7/8/8/8/8/8/4K3 w - -", "a7a8q", 800),
    "promotion to a knight": ("7k/P7/8/8/8/8/8/4K3 w - -", "a7a8n", 220),
    "promotion, and it is taken": ("1r5k/P7/8/8/8/8/8/4K3 w - -", "a7a8q", -100),
    "promotion by capture": ("1r5k/P7/8/8/8/8/8/4K3 w - -", "a7b8r", 500 + 400),
    "it is taken back by a pawn that promotes": (
        "7k/8/8/8/8/8/2p5/1R1r2K1 w - -",
        "b1d1",
        500 - 500 - 800,
    ),
    # Castling.
    "castling": ("4k3/8/8/8/8/8/8/4K2R w K -", "e1g1", 0),
}


@pytest.mark.parametrize(("fen", "move", "value"), TABLE.values(), ids=TABLE)
def test_table(fen: str, move: str, value: int):
    assert exchange_value(Position.from_fen(fen), Move.from_uci(move)) == value


@pytest.mark.parametrize(("fen", "move", "value"), TABLE.values(), ids=TABLE)
def test_the_table_is_what_the_oracle_says(fen: str, move: str, value: int):
    assert slow_value(chess.Board(fen + " 0 1"), chess.Move.from_uci(move)) == value


def test_castling_in_chess960_wins_no_rook():
    position = Position.from_fen("4k3/8/8/8/8/8/8/4KR2 w F -", "chess960")
    assert exchange_value(position, Move.from_uci("e1f1")) == 0


def test_an_illegal_move_is_refused():
    with pytest.raises(IllegalMove) as refusal:
        exchange_value(Position.start(), Move.from_uci("e2e5"))
    assert refusal.value.reason is Illegality.NOT_HOW_IT_MOVES


def test_every_kind_of_piece_has_a_value():
    assert {piece.value: value for piece, value in PIECE_VALUES.items()} == VALUES
    assert set(PIECE_VALUES) == set(PieceType)


@pytest.mark.parametrize("name", KINDS)
def test_random_games(name: str):
    kind, rng = KINDS[name], Random(f"exchange {name}")
    compared = 0
    while compared < POSITIONS_EACH:
        compared += compare_game(kind, rng, POSITIONS_EACH - compared)


def compare_game(kind: Kind, rng: Random, positions: int) -> int:
    """Compare every move of positions of a random game; return of how many."""
    board = kind.deal(rng)
    for compared in range(positions):
        position = Position.from_fen(board.fen(en_passant="fen"), kind.variant)
        moves = list(board.legal_moves)
        if not moves:
            return compared
        for move in moves:
            found = exchange_value(position, Move.from_uci(move.uci()))
            assert found == slow_value(board, move), (board.fen(), move.uci())
        for _ in range(rng.randrange(1, 5)):
            if moves := list(board.legal_moves):
                board.push(kind.taste.choose(board, moves, rng))
    return positions


def slow_value(board: chess.Board, move: chess.Move) -> int:
    """Return what a move wins, as the captures that python-chess finds legal tell it."""
    if board.is_castling(move):
        return 0
    won = taken_by(board, move)
    board.push(move)
    lost = slow_best(board, move.to_square)
    for reply in list(board.legal_moves):
        if board.is_en_passant(reply):
            lost = max(lost, slow_value(board, reply))
    board.pop()
    return won - lost


def slow_best(board: chess.Board, square: chess.Square) -> int:
    """Return what the side to move wins by taking on a square, or by leaving it at that."""
    takers = [
        move
        for move in board.generate_legal_moves(to_mask=chess.BB_SQUARES[square])
        if move.promotion in (None, chess.QUEEN) and board.color_at(square) == (not board.turn)
    ]
    if not takers:
        return 0
    # A king comes last: its value in an exchange is nothing, but it takes only as a last resort.
    least = min(takers, key=lambda move: (board.piece_type_at(move.from_square), move.from_square))
    won = taken_by(board, least)
    board.push(least)
    value = won - slow_best(board, square)
    board.pop()
    return max(0, value)


def taken_by(board: chess.Board, move: chess.Move) -> int:
    """Return what a move takes and promotes to."""
    victim = board.piece_at(move.to_square)
    won = VALUES[victim.symbol().lower()] if victim else 0
    if board.is_en_passant(move):
        won = VALUES["p"]
    if move.promotion:
        won += VALUES[chess.piece_symbol(move.promotion)] - VALUES["p"]
    return won
