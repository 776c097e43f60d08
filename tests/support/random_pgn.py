"""Random games as PGN with everything a PGN may have, and what an oracle reads in one.

python-chess writes those of chess and Chess960, and reads both; we write those of King's Cooking.
"""

from __future__ import annotations

import io
import re
from datetime import timedelta
from random import Random
from typing import Any

import chess.engine
import chess.pgn

from engine import Evaluation, Game
from tests.support.random_games import KINDS, Kind, random_moves

WORDS = ("good", "Ïmpossible", "e4!?", 'so "they" say', "a; b", "(no)", "50 %", "♞", "1-0", "$7")
NAMES = ("Ada", "Bob", "Zoë", 'O\\"Neil', "Carlsen, Magnus", "=SUM(A1)", "?", "棋士")

_BY_THE_BOARD = (
    chess.Termination.CHECKMATE,
    chess.Termination.STALEMATE,
    chess.Termination.INSUFFICIENT_MATERIAL,
    chess.Termination.SEVENTYFIVE_MOVES,
    chess.Termination.FIVEFOLD_REPETITION,
)


def random_pgn(rng: Random) -> str:
    """Return a random game as PGN."""
    return _cooking(rng) if rng.random() < 0.15 else _chess(rng, rng.choice([*KINDS.values()]))


def read_by_oracle(pgn: str) -> list[dict[str, Any]]:
    """Return what python-chess reads of games: tags, comments, moves, notes and variations."""
    text = io.StringIO(pgn)
    found = []
    while (game := chess.pgn.read_game(text)) is not None:
        assert not game.errors, game.errors
        # It leaves the backslashes before quotes where they are.
        tags = {name: re.sub(r"\\(.)", r"\1", value) for name, value in game.headers.items()}
        found.append({"tags": tags, "game": _node(game)})
    return found


def _node(node: chess.pgn.GameNode) -> dict[str, Any]:
    score = node.eval()
    told: dict[str, Any] = {
        "move": None if node.parent is None else node.uci(),
        "glyphs": sorted(node.nags),
        "clock": node.clock(),
        "score": None if score is None else str(score.white()),
        "before": _plain(getattr(node, "starting_comment", "")),
        "comment": _plain(node.comment),
        "following": [_node(each) for each in node.variations],
    }
    return told


def _plain(comment: Any) -> str:
    # The order of commands in a comment means nothing.
    return " ".join(re.sub(r"\[%(?:clk|eval)[^\]]*\]", " ", str(comment)).split())


def _chess(rng: Random, kind: Kind) -> str:
    board = kind.deal(rng)
    game = chess.pgn.Game.without_tag_roster()
    game.setup(board)
    _describe(game.headers, rng)
    moves = random_moves(kind, board.copy(), rng, rng.randrange(0, 60))
    left = {chess.WHITE: 300.0, chess.BLACK: 300.0}
    node: chess.pgn.GameNode = game
    is_timed = rng.random() < 0.5
    for move in moves:
        color = node.turn()
        aside = [each for each in node.board().legal_moves if each != move]
        parent, node = node, node.add_main_variation(move)
        if is_timed:
            left[color] = max(0.0, left[color] + rng.choice((-1, -0.125, -30, 2)))
            node.set_clock(left[color])
        if rng.random() < 0.2:
            node.set_eval(chess.engine.PovScore(chess.engine.Cp(rng.randrange(-900, 900)), True))
        _remark(node, rng)
        if aside and rng.random() < 0.15:
            comment = rng.choice(("", *WORDS))
            _remark(parent.add_variation(rng.choice(aside), starting_comment=comment), rng)
    outcome = node.board().outcome()
    # Other draws are for players to claim.
    is_over = outcome is not None and outcome.termination in _BY_THE_BOARD
    game.headers["Result"] = (
        outcome.result() if is_over else rng.choice(("1-0", "0-1", "1/2-1/2", "*"))
    )
    return f"{game}\n\n"


def _describe(tags: Any, rng: Random) -> None:
    tags["White"], tags["Black"] = rng.choice(NAMES), rng.choice(NAMES)
    tags["Event"] = f"game {rng.randrange(10**9)}"
    tags["Date"] = rng.choice(("????.??.??", "1851.06.21", "2024.02.??", "2023.02.31"))
    if rng.random() < 0.5:
        tags["TimeControl"] = rng.choice(("300", "300+2", "40/300:60", "?", "-", "1/86400"))
    if rng.random() < 0.3:
        tags["Annotator"] = rng.choice(WORDS)


def _remark(node: chess.pgn.GameNode, rng: Random) -> None:
    if rng.random() < 0.2:
        # What is said already are the clock and the evaluation.
        node.comment = f"{node.comment} {rng.choice(WORDS)}"
    if rng.random() < 0.1:
        node.nags.add(rng.choice((1, 2, 6, 14, 146, 255)))


def _cooking(rng: Random) -> str:
    game = Game(variant="kings-cooking")
    _describe(game.tags, rng)
    for _ in range(rng.randrange(20)):
        moves = sorted(game.position.legal_moves(), key=lambda move: move.uci())
        if not moves or game.is_over:
            break
        game.play(rng.choice(moves), clock=timedelta(seconds=rng.randrange(300)))
        if rng.random() < 0.3:
            note = game.line.note(len(game.line) - 1)
            note.comment = rng.choice(WORDS)
            note.evaluation = Evaluation(mate=rng.choice((-3, 4)))
    return f"{game.pgn()}\n"
