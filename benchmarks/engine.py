"""The rules engine beside python-chess: `python -m benchmarks.engine [--quick] [--json]`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from functools import partial
from itertools import islice

import chess

from benchmarks import agreement
from benchmarks import operations as op
from benchmarks.comparison import Comparison, Objects, Result, compare, table, verdict
from benchmarks.positions import (
    PERFT,
    fens_in_check,
    pgn_of,
    random_fens,
    random_game,
    shuffling_game,
)

ROUNDS = 21
QUICK_ROUNDS = 5
#: Positions of which never one is used twice, for a round.
UNSEEN = 600


def comparisons() -> list[Comparison]:
    """Return every row of the table, in order, once both sides agree on what it works on."""
    fens = list(islice(random_fens(seed=1), 400))
    in_check = fens_in_check(seed=1_000, amount=200)
    games = [random_game(seed, plies=120) for seed in range(2_000, 2_020)]
    shuffled = [shuffling_game(seed=3_000, plies=200)]
    scores = [random_game(seed, plies=80) for seed in range(4_000, 4_024)]
    recorded = sum(map(len, scores))
    plain_pgn = pgn_of(scores)
    rich_pgn = pgn_of(scores, annotated=True)

    agreement.check_perft()
    agreement.check_positions(fens + in_check)
    agreement.check_claims(shuffled[0])
    agreement.check_pgn(plain_pgn)
    agreement.check_pgn(rich_pgn)

    few = [(fen, chess.Board(fen)) for fen in fens[::7]]
    moves = [(fen, [move.uci() for move in board.legal_moves]) for fen, board in few]
    sans = [(fen, [board.san(move) for move in board.legal_moves]) for fen, board in few]
    for_fens = (lambda: fens,)
    for_checks = (lambda: in_check,)
    for_moves = (lambda: moves,)
    unseen = random_fens(seed=10_000)
    for_unseen = (lambda: list(islice(unseen, UNSEEN)),)

    def plies(games: list[list[chess.Move]]) -> int:
        return sum(map(len, games))

    def listed(items: op.Listed) -> int:
        return sum(len(texts) for _, texts in items)

    def pgn_plies(_: str) -> int:
        return recorded

    return [
        Comparison(
            "perft",
            "a leaf; six well-known trees",
            op.OUR_PERFT,
            op.THEIR_PERFT,
            cases=[partial(tuple, tree) for tree in PERFT],
            count=lambda tree: tree[2],
            bar=8,
        ),
        Comparison(
            "legal moves",
            "a position seen before, generated anew",
            op.OUR_MOVES,
            op.THEIR_MOVES,
            for_fens,
            bar=5,
            objects=Objects.RENEWED,  # a position remembers its moves, and that is not measured
        ),
        Comparison(
            "legal moves, never seen",
            "a position never seen before",
            op.OUR_MOVES,
            op.THEIR_MOVES,
            for_unseen,
            bar=3,
            objects=Objects.UNSEEN,
        ),
        Comparison(
            "SAN out",
            "a move that the position listed",
            op.OUR_SAN,
            op.THEIR_SAN,
            for_moves,
            listed,
            bar=4,
            objects=Objects.RENEWED,
        ),
        Comparison(
            "SAN in",
            "a move in strict SAN",
            op.OUR_PARSE,
            op.THEIR_PARSE,
            (lambda: sans,),
            listed,
            bar=3.5,
        ),
        Comparison(
            "play and undo",
            "a move that the position listed",
            op.OUR_PLAY,
            op.THEIR_PLAY,
            for_moves,
            listed,
            bar=6,
            objects=Objects.RENEWED,  # what a position learns of its moves on the way is measured
        ),
        Comparison(
            "play and undo, again",
            "the same, from positions that have played them before",
            op.OUR_PLAY,
            op.THEIR_PLAY,
            for_moves,
            listed,
        ),
        Comparison(
            "play and undo, checked",
            "a move from elsewhere; python-chess never checks it",
            op.OUR_CHECKED_PLAY,
            op.THEIR_PLAY,
            for_moves,
            listed,
            objects=Objects.RENEWED,
        ),
        Comparison(
            "games to their end and back",
            "a ply, checked; python-chess never checks it",
            op.OUR_GAMES,
            op.THEIR_GAMES,
            (lambda: games,),
            plies,
        ),
        Comparison(
            "FEN in",
            "a FEN seen before; python-chess does not check the position",
            op.OUR_FEN_IN,
            op.THEIR_FEN_IN,
            for_fens,
            bar=10,
        ),
        Comparison(
            "FEN in, never seen",
            "a FEN never seen before",
            op.OUR_FEN_IN,
            op.THEIR_FEN_IN,
            for_unseen,
            objects=Objects.UNSEEN,
        ),
        Comparison("FEN out", "a position", op.OUR_FEN_OUT, op.THEIR_FEN_OUT, for_fens, bar=6),
        Comparison("mate test", "a position", op.OUR_MATE, op.THEIR_MATE, for_fens, bar=2),
        Comparison(
            "stalemate test", "a position", op.OUR_STALEMATE, op.THEIR_STALEMATE, for_fens, bar=2
        ),
        Comparison(
            "mate test in check", "a position in check", op.OUR_MATE, op.THEIR_MATE, for_checks
        ),
        Comparison(
            "claims of a draw",
            "a ply of 200, played and asked: now, or with any next move",
            op.OUR_CLAIMS_WITH_A_MOVE,
            op.THEIR_CLAIMS,
            (lambda: shuffled,),
            plies,
            bar=15,
        ),
        Comparison(
            "claims for the position now",
            "the same, and neither tries a next move",
            op.OUR_CLAIMS,
            op.THEIR_DRAWS_NOW,
            (lambda: shuffled,),
            plies,
        ),
        Comparison(
            "PGN",
            "a ply; main lines only",
            op.OUR_PGN,
            op.THEIR_PGN,
            (lambda: plain_pgn,),
            pgn_plies,
            bar=7,
        ),
        Comparison(
            "PGN, annotated",
            "a ply of the main line; comments, clocks, variations",
            op.OUR_PGN,
            op.THEIR_PGN,
            (lambda: rich_pgn,),
            pgn_plies,
        ),
    ]


def run(rounds: int) -> list[Result]:
    """Return the result of every row, in the order of the table."""
    rows = comparisons()
    # What was never seen comes first, before other rows fill the tables of ready-made moves.
    order = sorted(rows, key=lambda row: row.objects is not Objects.UNSEEN)
    results = {}
    for row in order:
        if sys.stderr.isatty():
            print(f"{row.name} ...", file=sys.stderr)
        results[row.name] = compare(row, rounds)
    return [results[row.name] for row in rows]


def main() -> None:
    """Compare, and print a report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    results = run(rounds)
    if options.json:
        report = {
            "python": platform.python_version(),
            "python_chess": chess.__version__,
            "rounds": rounds,
            "rows": [result.as_dict() for result in results],
            "verdict": verdict(results),
        }
        print(json.dumps(report, indent=2))
        return
    print(f"Python {platform.python_version()}, python-chess {chess.__version__}.", end=" ")
    print(f"Medians of {rounds} rounds of processor time; a ratio is theirs by ours.\n")
    print(table(results))
    print(f"\n{verdict(results)}")


if __name__ == "__main__":
    main()
