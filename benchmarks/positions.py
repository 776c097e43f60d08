"""What the benchmarks work on: well-known positions, and seeded random games by python-chess."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from itertools import count, islice

import chess
import chess.engine
import chess.pgn

#: The positions every move generator is tested with, a depth and its leaves. Three plies are short
#: enough for a round, and deep enough that most positions of the tree differ.
PERFT = (
    (chess.STARTING_FEN, 3, 8_902),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97_862),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2_812),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9_467),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62_379),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 3, 89_890),
)

#: Positions of the first plies are in every game, so no sample takes them.
_OPENING = 8
#: Every board that a sample took: no other sample takes it again.
_taken: set[str] = set()


def random_game(seed: int, plies: int) -> list[chess.Move]:
    """Return the moves of a random game, of so many plies at most."""
    choice = random.Random(seed).choice
    board = chess.Board()
    while len(board.move_stack) < plies and not board.is_game_over():
        board.push(choice(list(board.legal_moves)))
    return board.move_stack


def random_fens(seed: int, every: int = 3, plies: int = 120) -> Iterator[str]:
    """Yield positions of random games, every few plies, and no board that any sample has."""
    for number in count(seed):
        board = chess.Board()
        for ply, move in enumerate(random_game(number, plies)):
            board.push(move)
            if ply < _OPENING or ply % every:
                continue
            placement = board.board_fen()
            if placement not in _taken:
                _taken.add(placement)
                yield board.fen(en_passant="fen")


def fens_in_check(seed: int, amount: int) -> list[str]:
    """Return positions of random games with the side to move in check, mates among them."""
    fens = random_fens(seed, every=1, plies=400)
    return list(islice((fen for fen in fens if chess.Board(fen).is_check()), amount))


def shuffling_game(seed: int, plies: int) -> list[chess.Move]:
    """Return the moves of a game that goes there and back a lot, and that nothing ends.

    From the middle on there are only quiet moves: in 200 plies, fifty moves can be claimed.
    """
    rng = random.Random(seed)
    board = chess.Board()
    while len(board.move_stack) < plies:
        moves = list(board.legal_moves)
        quiet = [move for move in moves if not board.is_zeroing(move)]
        if quiet and (2 * len(board.move_stack) > plies or rng.random() < 0.9):
            moves = quiet
        rng.shuffle(moves)
        if len(board.move_stack) > 1 and rng.random() < 0.6:
            last = board.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
            moves.sort(key=lambda move: move != back)
        for move in moves:
            board.push(move)
            if not board.is_game_over():
                break
            board.pop()
        else:
            raise ValueError(f"seed {seed} leads to a position that every move ends")
    return board.move_stack


def pgn_of(games: list[list[chess.Move]], annotated: bool = False) -> str:
    """Return games as PGN, on request with comments, clocks, evaluations and variations."""
    texts = []
    for number, moves in enumerate(games, 1):
        game = chess.pgn.Game()
        game.headers.update(Event="Benchmark", White="Random", Black="Random", Round=str(number))
        game.add_line(moves)
        if annotated:
            _annotate(game, random.Random(number))
        texts.append(str(game))
    return "\n\n".join(texts)


def _annotate(game: chess.pgn.Game, rng: random.Random) -> None:
    for ply, node in enumerate(list(game.mainline())):
        if rng.random() < 0.1:
            node.comment = "A remark of a few words about the move."
            node.nags.add(chess.pgn.NAG_DUBIOUS_MOVE)
        node.set_eval(chess.engine.PovScore(chess.engine.Cp(rng.randint(-300, 300)), chess.WHITE))
        node.set_clock(timedelta(minutes=10, seconds=-2 * ply).total_seconds())
        if ply % 8 == 7:
            variation: chess.pgn.GameNode = node.parent
            for _ in range(3):
                moves = [m for m in variation.board().legal_moves if not variation.has_variation(m)]
                if not moves:
                    break
                variation = variation.add_variation(rng.choice(moves))
