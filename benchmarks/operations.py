"""The operations that are timed, ours and python-chess's one beside the other.

A `Side` is made of a function that prepares, which is not timed, and the loop that is.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

import chess
import chess.pgn

from benchmarks.comparison import Side
from engine import Game, Move, Position, perft, read_games

Fens = Iterable[str]
#: FENs, each with moves in UCI or SAN.
Listed = Iterable[tuple[str, list[str]]]


def our_positions(fens: Fens) -> list[Position]:
    return [Position.from_fen(fen) for fen in fens]


def their_boards(fens: Fens) -> list[chess.Board]:
    return [chess.Board(fen) for fen in fens]


# --- move generation ---


def our_perft(tree: tuple[Position, int]) -> int:
    return perft(*tree)


def their_perft(tree: tuple[chess.Board, int]) -> int:
    board, depth = tree
    if depth == 1:
        return len(list(board.legal_moves))
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += their_perft((board, depth - 1))
        board.pop()
    return leaves


OUR_PERFT = Side(lambda tree: (Position.from_fen(tree[0]), tree[1]), our_perft)
THEIR_PERFT = Side(lambda tree: (chess.Board(tree[0]), tree[1]), their_perft)


def our_moves(positions: list[Position]) -> None:
    for position in positions:
        position.legal_moves()


def their_moves(boards: list[chess.Board]) -> None:
    for board in boards:
        list(board.legal_moves)


OUR_MOVES = Side(our_positions, our_moves)
THEIR_MOVES = Side(their_boards, their_moves)

# --- playing ---


def our_asked_moves(listed: Listed) -> list[tuple[Position, list[Move]]]:
    """Return positions with the moves they were asked for."""
    return [(position, position.legal_moves()) for position in our_positions(f for f, _ in listed)]


def our_given_moves(listed: Listed) -> list[tuple[Position, list[Move]]]:
    """Return positions with moves that came from elsewhere."""
    return [(Position.from_fen(fen), [Move.from_uci(m) for m in moves]) for fen, moves in listed]


def their_asked_moves(listed: Listed) -> list[tuple[chess.Board, list[chess.Move]]]:
    return [(board, list(board.legal_moves)) for board in their_boards(f for f, _ in listed)]


def our_play(items: list[tuple[Position, list[Move]]]) -> None:
    for position, moves in items:
        for move in moves:
            position.play(move)


def their_play(items: list[tuple[chess.Board, list[chess.Move]]]) -> None:
    for board, moves in items:
        for move in moves:
            board.push(move)
            board.pop()


OUR_PLAY = Side(our_asked_moves, our_play)
OUR_CHECKED_PLAY = Side(our_given_moves, our_play)
THEIR_PLAY = Side(their_asked_moves, their_play)


def our_copies(games: list[list[chess.Move]]) -> list[list[Move]]:
    return [[Move.from_uci(move.uci()) for move in moves] for moves in games]


def our_games(games: list[list[Move]]) -> None:
    for moves in games:
        game = Game()
        for move in moves:
            game.play(move)
        for _ in moves:
            game.undo()


def their_games(games: list[list[chess.Move]]) -> None:
    for moves in games:
        board = chess.Board()
        for move in moves:
            board.push(move)
        for _ in moves:
            board.pop()


OUR_GAMES = Side(our_copies, our_games)
THEIR_GAMES = Side(list, their_games)

# --- notation ---


def our_san(items: list[tuple[Position, list[Move]]]) -> None:
    for position, moves in items:
        for move in moves:
            position.san(move)


def their_san(items: list[tuple[chess.Board, list[chess.Move]]]) -> None:
    for board, moves in items:
        for move in moves:
            board.san(move)


OUR_SAN = Side(our_asked_moves, our_san)
THEIR_SAN = Side(their_asked_moves, their_san)


def our_parse(items: list[tuple[Position, list[str]]]) -> None:
    for position, sans in items:
        for san in sans:
            position.parse(san)


def their_parse(items: list[tuple[chess.Board, list[str]]]) -> None:
    for board, sans in items:
        for san in sans:
            board.parse_san(san)


OUR_PARSE = Side(lambda listed: [(Position.from_fen(fen), sans) for fen, sans in listed], our_parse)
THEIR_PARSE = Side(lambda listed: [(chess.Board(fen), sans) for fen, sans in listed], their_parse)


def our_fen_in(fens: list[str]) -> None:
    for fen in fens:
        Position.from_fen(fen)


def their_fen_in(fens: list[str]) -> None:
    for fen in fens:
        chess.Board(fen)


OUR_FEN_IN = Side(list, our_fen_in)
THEIR_FEN_IN = Side(list, their_fen_in)


def our_fen_out(positions: list[Position]) -> None:
    for position in positions:
        position.fen()


def their_fen_out(boards: list[chess.Board]) -> None:
    for board in boards:
        board.fen(en_passant="fen")  # as ours does; it is faster than their default, too


OUR_FEN_OUT = Side(our_positions, our_fen_out)
THEIR_FEN_OUT = Side(their_boards, their_fen_out)


def our_pgn(text: str) -> None:
    for _ in read_games(text):
        pass


def their_pgn(text: str) -> None:
    stream = io.StringIO(text)
    while chess.pgn.read_game(stream):
        pass


OUR_PGN = Side(str, our_pgn)
THEIR_PGN = Side(str, their_pgn)

# --- endings ---


def our_mate(positions: list[Position]) -> None:
    for position in positions:
        position.is_checkmate()


def their_mate(boards: list[chess.Board]) -> None:
    for board in boards:
        board.is_checkmate()


OUR_MATE = Side(our_positions, our_mate)
THEIR_MATE = Side(their_boards, their_mate)


def our_stalemate(positions: list[Position]) -> None:
    for position in positions:
        position.is_stalemate()


def their_stalemate(boards: list[chess.Board]) -> None:
    for board in boards:
        board.is_stalemate()


OUR_STALEMATE = Side(our_positions, our_stalemate)
THEIR_STALEMATE = Side(their_boards, their_stalemate)


def our_claims(games: list[list[Move]]) -> None:
    for moves in games:
        game = Game()
        for move in moves:
            game.play(move)
            game.claimable_draws()


def our_claims_with_a_move(games: list[list[Move]]) -> None:
    for moves in games:
        game = Game()
        for move in moves:
            game.play(move)
            if not game.claimable_draws():
                game.claiming_moves()


def their_claims(games: list[list[chess.Move]]) -> None:
    """Ask for claims: python-chess also tries every next move."""
    for moves in games:
        board = chess.Board()
        for move in moves:
            board.push(move)
            board.can_claim_threefold_repetition()
            board.can_claim_fifty_moves()


def their_draws_now(games: list[list[chess.Move]]) -> None:
    for moves in games:
        board = chess.Board()
        for move in moves:
            board.push(move)
            board.is_repetition(3)
            board.is_fifty_moves()


OUR_CLAIMS = Side(our_copies, our_claims)
OUR_CLAIMS_WITH_A_MOVE = Side(our_copies, our_claims_with_a_move)
THEIR_CLAIMS = Side(list, their_claims)
THEIR_DRAWS_NOW = Side(list, their_draws_now)
