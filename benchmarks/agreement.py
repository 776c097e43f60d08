"""Whether both sides give the same answers: if they do not, comparing their speed is idle."""

from __future__ import annotations

import io
from collections.abc import Iterable

import chess
import chess.pgn

from benchmarks.positions import PERFT
from engine import Game, Move, Position, Termination, perft, read_games


class Disagreement(Exception):
    """The two sides answer a question differently."""


def check_positions(fens: Iterable[str]) -> None:
    """Ask both sides everything about some positions."""
    for fen in fens:
        position, board = Position.from_fen(fen), chess.Board(fen)
        _same("FEN", fen, position.fen(), board.fen(en_passant="fen"))
        ours = {move.uci(): position.san(move) for move in position.legal_moves()}
        theirs = {move.uci(): board.san(move) for move in board.legal_moves}
        _same("legal moves and their SAN", fen, ours, theirs)
        for uci, san in theirs.items():
            _same(f"parsing {san}", fen, position.parse(san).uci(), board.parse_san(san).uci())
            after = position.play(Move.from_uci(uci)).fen()
            board.push_uci(uci)
            _same(f"playing {san}", fen, after, board.fen(en_passant="fen"))
            board.pop()
        _same("checkmate", fen, position.is_checkmate(), board.is_checkmate())
        _same("stalemate", fen, position.is_stalemate(), board.is_stalemate())


def check_perft() -> None:
    """Count the smaller well-known trees."""
    for fen, depth, leaves in PERFT:
        _same("perft", fen, perft(Position.from_fen(fen), depth), leaves)


def check_claims(moves: Iterable[chess.Move]) -> None:
    """Ask both sides after every ply which draws can be claimed, now and with some next move."""
    game, board = Game(), chess.Board()
    for move in moves:
        game.play(Move.from_uci(move.uci()))
        board.push(move)
        now = game.claimable_draws()
        soon = {claim for next_move in game.claiming_moves()
                for claim in game.claimable_draws(next_move)}.union(now)  # fmt: skip
        for claim, theirs_now, theirs_soon in (
            (
                Termination.THREEFOLD_REPETITION,
                board.is_repetition(3),
                board.can_claim_threefold_repetition(),
            ),
            (Termination.FIFTY_MOVES, board.is_fifty_moves(), board.can_claim_fifty_moves()),
        ):
            _same(f"{claim} now", board.fen(), claim in now, theirs_now)
            _same(f"{claim} with a move", board.fen(), claim in soon, theirs_soon)


def check_pgn(text: str) -> None:
    """Read games on both sides."""
    stream = io.StringIO(text)
    for game in read_games(text):
        theirs = chess.pgn.read_game(stream)
        moves = [] if theirs is None else [move.uci() for move in theirs.mainline_moves()]
        _same("main line", game.pgn(), [move.uci() for move in game.line.moves], moves)
    if chess.pgn.read_game(stream) is not None:
        raise Disagreement("python-chess reads more games than we do")


def _same(what: str, where: str, ours: object, theirs: object) -> None:
    if ours != theirs:
        raise Disagreement(f"{what}: we say {ours}, python-chess says {theirs}; {where}")
