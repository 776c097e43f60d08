"""Lines cut from bytes, read as messages, and written as commands."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.player import Turn
from agents.uci.options import Kind, Option
from agents.uci.protocol import (
    LONGEST_LINE,
    BestMove,
    Declaration,
    Identity,
    InfoLine,
    LineSplitter,
    LineTooLong,
    Noise,
    ReadyOk,
    UciOk,
    option_command,
    position_command,
    read,
)
from engine import ChessPosition, Game, Move, Ply, Position
from fuzz.uci_promises import split
from tests.support.random_games import KINDS, random_moves

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

# --- messages ---

MESSAGES = [
    # as real engines print them
    ("id name Stockfish 15.1", Identity("name", "Stockfish 15.1")),
    (
        "id author Andrew Grant, Alayan & Laldon",
        Identity("author", "Andrew Grant, Alayan & Laldon"),
    ),
    ("uciok", UciOk()),
    ("readyok", ReadyOk()),
    ("option name Clear Hash type button", Declaration(Option("Clear Hash", Kind.BUTTON))),
    ("info depth 0 score mate 0", InfoLine("depth 0 score mate 0")),
    ("info string NNUE evaluation", InfoLine("string NNUE evaluation")),
    ("bestmove d2d4 ponder d7d5", BestMove("d2d4", "d7d5")),
    ("bestmove d1d8", BestMove("d1d8")),
    ("bestmove d1d8 ", BestMove("d1d8")),
    ("bestmove (none)", BestMove("(none)")),
    ("bestmove a1a1", BestMove("a1a1")),
    ("bestmove e7e8q ponder a1a1", BestMove("e7e8q", "a1a1")),
    ("EgbbProbe not Loaded!", Noise("EgbbProbe not Loaded!")),
    ("No such option: OwnBook", Noise("No such option: OwnBook")),
    ("copyprotection ok", Noise("copyprotection ok")),
    ("registration checking", Noise("registration checking")),
    # blanks
    ("", Noise("")),
    (" \t ", Noise(" \t ")),
    ("  uciok  ", UciOk()),
    ("\treadyok\t", ReadyOk()),
    ("\t  bestmove \t  \t\te2e4\t  ponder\te7e5\t", BestMove("e2e4", "e7e5")),
    ("info\tdepth 3", InfoLine("depth 3")),
    ("  info   depth  3  ", InfoLine("depth  3")),
    ("id\tname\tA  B ", Identity("name", "A  B")),
    ("  id   author   Ann  ", Identity("author", "Ann")),
    ("option\tname X\ttype  button", Declaration(Option("X", Kind.BUTTON))),
    ("\rbestmove e2e4", BestMove("e2e4")),
    ("bestmove e2e4\x0bponder e7e5", BestMove("e2e4", "e7e5")),
    # parts that are missing, or too many
    ("info", InfoLine("")),
    ("bestmove", BestMove("")),
    ("bestmove ", BestMove("")),
    ("bestmove e2e4 ponder", BestMove("e2e4")),
    ("bestmove ponder e7e5", BestMove("ponder")),
    ("bestmove e2e4 e7e5", BestMove("e2e4")),
    ("bestmove e2e4 e7e5 ponder", BestMove("e2e4")),
    ("bestmove e2e4 ponder e7e5 g1f3", BestMove("e2e4", "e7e5")),
    ("bestmove E2E4", BestMove("E2E4")),
    ("id", Identity("", "")),
    ("id name", Identity("name", "")),
    ("id  name  ", Identity("name", "")),
    ("uciok at last", UciOk()),
    ("readyok readyok", ReadyOk()),
    ("option", Noise("option")),
    ("option name", Noise("option name")),
    ("option name X", Noise("option name X")),
    ("option X type check", Noise("option X type check")),
    # other characters
    ("id name Žofie ♘", Identity("name", "Žofie ♘")),
    ("id author J\ufffdrgen", Identity("author", "J\ufffdrgen")),
    ("bestmove ♘", BestMove("♘")),
    ("bestmove \x00", BestMove("\x00")),
    ("option name X\x1b[2J type button", Noise("option name X\x1b[2J type button")),
    # what only looks alike
    ("UCIOK", Noise("UCIOK")),
    ("Bestmove e2e4", Noise("Bestmove e2e4")),
    ("INFO depth 3", Noise("INFO depth 3")),
    ("uciok.", Noise("uciok.")),
    ("bestmovee2e4", Noise("bestmovee2e4")),
    ("information", Noise("information")),
    ("idname X", Noise("idname X")),
    ("so bestmove e2e4", Noise("so bestmove e2e4")),
    ("uci ok", Noise("uci ok")),
    ("info\u200bdepth 3", Noise("info\u200bdepth 3")),
]


@pytest.mark.parametrize(("line", "message"), MESSAGES, ids=[repr(line) for line, _ in MESSAGES])
def test_a_line_is_read(line, message):
    assert read(line) == message


# --- lines ---

SPLIT = [
    ("nothing", [b""], []),
    ("no line yet", [b"uciok"], []),
    ("one", [b"uciok\n"], ["uciok"]),
    ("one and a part", [b"uciok\nread"], ["uciok"]),
    ("in two parts", [b"uci", b"ok\n"], ["uciok"]),
    ("its end comes later", [b"uciok", b"\n"], ["uciok"]),
    ("empty ones", [b"\n\na\n\n"], ["", "", "a", ""]),
    ("Windows", [b"uciok\r\nreadyok\r\n"], ["uciok", "readyok"]),
    ("Windows, cut", [b"uciok\r", b"\nreadyok", b"\r", b"\n"], ["uciok", "readyok"]),
    ("returns too many", [b"uciok\r\r\n"], ["uciok"]),
    ("a lone return ends none", [b"uci\rok\n"], ["uci\rok"]),
    ("a lone return ends none, at the end", [b"uciok\r"], []),
    ("a lone return ends none, at the start", [b"\ruciok\n"], ["\ruciok"]),
    ("other ends of lines", ["a\u2028b\x85c\x0b\x0cd\n".encode()], ["a\u2028b\x85c\x0b\x0cd"]),
    ("UTF-8", ["id name Žofie ♘\n".encode()], ["id name Žofie ♘"]),
    ("UTF-8, cut", [b"\xe2\x99", b"\x98\n"], ["♘"]),
    ("Latin-1", [b"id author J\xf6rgen\n"], ["id author J\ufffdrgen"]),
    ("a surrogate", [b"\xed\xa0\x80\n"], ["\ufffd\ufffd\ufffd"]),
    ("half a character", [b"\xe2\x99\nuciok\n"], ["\ufffd", "uciok"]),
    ("zeros", [b"\0\0\n"], ["\0\0"]),
    ("many", [b"x\n" * 100_000], ["x"] * 100_000),
    ("many, and more than a line's bytes", [b"12345678\n" * 50_000], ["12345678"] * 50_000),
    ("the longest", [b"x" * LONGEST_LINE + b"\n"], ["x" * LONGEST_LINE]),
    ("the longest, cut", [b"x" * LONGEST_LINE, b"\n"], ["x" * LONGEST_LINE]),
    ("two of the longest", [(b"x" * LONGEST_LINE + b"\n") * 2], ["x" * LONGEST_LINE] * 2),
]


@pytest.mark.parametrize(
    ("chunks", "lines"), [row[1:] for row in SPLIT], ids=[row[0] for row in SPLIT]
)
def test_bytes_are_cut_into_lines(chunks, lines):
    assert split(chunks) == lines


TOO_LONG = [
    ("complete", [b"x" * (LONGEST_LINE + 1) + b"\n"]),
    ("not complete", [b"x" * (LONGEST_LINE + 1)]),
    ("by one byte more", [b"x" * LONGEST_LINE, b"x"]),
    ("its return counts", [b"x" * LONGEST_LINE + b"\r\n"]),
    ("after others", [b"uciok\nreadyok\n" + b"x" * (LONGEST_LINE + 1)]),
    ("before others", [b"x" * (LONGEST_LINE + 1) + b"\nuciok\n"]),
    ("in many parts", [b"x" * 1000] * (LONGEST_LINE // 1000 + 1)),
    ("a megabyte at once", [b"x" * 1_000_000]),
    ("bytes count, not characters", ["♘".encode() * (LONGEST_LINE // 2)]),
]


@pytest.mark.parametrize("chunks", [row[1] for row in TOO_LONG], ids=[row[0] for row in TOO_LONG])
def test_a_line_that_is_too_long_is_refused(chunks):
    splitter = LineSplitter()
    for chunk in chunks[:-1]:
        splitter.feed(chunk)
    with pytest.raises(LineTooLong):
        splitter.feed(chunks[-1])


#: Lines of every length up to the limit and over it.
lengths = st.integers(0, 5) | st.integers(LONGEST_LINE - 2, LONGEST_LINE + 2)


@settings(max_examples=100, deadline=None)
@given(st.lists(lengths, max_size=4), st.lists(st.integers(0, 2 * LONGEST_LINE), max_size=6))
def test_chunks_change_nothing(lines, cuts):
    raw = b"".join(b"x" * length + b"\n" for length in lines)
    places = [0, *sorted(cut for cut in cuts if cut < len(raw)), len(raw)]
    chunks = [raw[start:end] for start, end in pairwise(places)]
    expected = None if max(lines, default=0) > LONGEST_LINE else ["x" * length for length in lines]
    assert split(chunks) == split([raw]) == expected


# --- options ---

OPTION_COMMANDS = [
    (Option("Hash", Kind.SPIN), "16", "setoption name Hash value 16"),
    (Option("Skill Level", Kind.SPIN), "-3", "setoption name Skill Level value -3"),
    (Option("Ponder", Kind.CHECK), "false", "setoption name Ponder value false"),
    (Option("Style", Kind.COMBO), "Fail High", "setoption name Style value Fail High"),
    (Option("EvalFile", Kind.STRING), "<empty>", "setoption name EvalFile value <empty>"),
    (Option("Clear Hash", Kind.BUTTON), "", "setoption name Clear Hash"),
]


@pytest.mark.parametrize(
    ("option", "text", "command"), OPTION_COMMANDS, ids=[row[2] for row in OPTION_COMMANDS]
)
def test_an_option_is_set(option, text, command):
    assert option_command(option, text) == command


# --- positions ---


def turn_of(moves: str, fen: str | None = None, variant: str = "standard") -> Turn:
    game = Game(fen, variant=variant)
    for move in moves.split():
        game.play(move)
    return Turn.of(game)


#: Where a game starts (None: as ever), what was played, and what an engine is told.
STANDARD_COMMANDS = {
    "the start": (None, "", "startpos"),
    "pawn moves cannot be repeated": (
        None,
        "e4 e5",
        "fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    ),
    "knight moves can": (None, "Nf3 Nf6", "startpos moves g1f3 g8f6"),
    "a pawn move cuts": (
        None,
        "Nf3 Nf6 e3 Ng8 Ng1",
        "fen rnbqkb1r/pppppppp/5n2/8/8/4PN2/PPPP1PPP/RNBQKB1R b KQkq - 0 2 moves f6g8 f3g1",
    ),
    "a capture cuts": (
        None,
        "Nf3 Nc6 Nd4 Nxd4 a3 Nc6 Nc3",
        "fen r1bqkbnr/pppppppp/8/8/3n4/P7/1PPPPPPP/RNBQKB1R b KQkq - 0 3 moves d4c6 b1c3",
    ),
    "a capture that was last": (
        "4k3/8/8/8/8/8/r7/R3K3 w - - 7 30",
        "Kf1 Ke7 Rxa2",
        "fen 8/4k3/8/8/8/8/R7/5K2 b - - 0 31",
    ),
    "from a FEN": (
        "4k3/8/8/8/8/8/8/R3K3 w - - 7 30",
        "",
        "fen 4k3/8/8/8/8/8/8/R3K3 w - - 7 30",
    ),
    "from a FEN, with moves": (
        "4k3/8/8/8/8/8/8/R3K3 w - - 7 30",
        "Kf1 Kf8",
        "fen 4k3/8/8/8/8/8/8/R3K3 w - - 7 30 moves e1f1 e8f8",
    ),
    "the start, written as FEN": (START, "Nf3", "startpos moves g1f3"),
    "the start, later": (
        START.replace("0 1", "0 5"),
        "Nf3",
        f"fen {START.replace('0 1', '0 5')} moves g1f3",
    ),
    "the start, after some moves": (
        START.replace("0 1", "4 3"),
        "",
        f"fen {START.replace('0 1', '4 3')}",
    ),
    "Black to move": (
        "4k3/8/8/8/8/8/8/R3K3 b - - 0 1",
        "Kf8",
        "fen 4k3/8/8/8/8/8/8/R3K3 b - - 0 1 moves e8f8",
    ),
    "en passant": (
        None,
        "e4 a6 e5 d5",
        "fen rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
    ),
    "no pawn can take en passant": (
        None,
        "e4",
        "fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    ),
    "a pinned pawn cannot": (
        "8/8/8/K2pP2r/8/8/8/7k w - d6 0 2",
        "",
        "fen 8/8/8/K2pP2r/8/8/8/7k w - - 0 2",
    ),
    "castling": (
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "O-O O-O-O",
        "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    ),
    "promotion": (
        "7k/P7/8/8/8/8/8/K7 w - - 0 1",
        "a8=R+ Kg7 Rb8",
        "fen R6k/8/8/8/8/8/8/K7 b - - 0 1 moves h8g7 a8b8",
    ),
}

CHESS960_COMMANDS = {
    "the start": (
        "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1",
        "",
        "fen bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1",
    ),
    "the king takes his rook": (
        "1r1k2r1/1p4p1/8/8/8/8/1P4P1/1R1K2R1 w KQkq - 0 1",
        "O-O O-O-O",
        "fen 1r1k2r1/1p4p1/8/8/8/8/1P4P1/1R1K2R1 w KQkq - 0 1 moves d1g1 d8b8",
    ),
    "from where he always stood, too": (
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "O-O O-O-O",
        "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1h1 e8a8",
    ),
    "a rook further out": (
        "1r1k2r1/8/8/8/8/8/8/RR1K2R1 w GBkq - 0 1",
        "Ra7",
        "fen 1r1k2r1/8/8/8/8/8/8/RR1K2R1 w KBkq - 0 1 moves a1a7",
    ),
}

COMMANDS = [
    pytest.param(variant, *row, id=f"{variant}: {name}")
    for variant, rows in (("standard", STANDARD_COMMANDS), ("chess960", CHESS960_COMMANDS))
    for name, row in rows.items()
]


@pytest.mark.parametrize(("variant", "fen", "moves", "command"), COMMANDS)
def test_a_turn_is_set_up(variant, fen, moves, command):
    assert position_command(turn_of(moves, fen, variant)) == f"position {command}"


def arrived(command: str, chess960: bool) -> chess.Board:
    """Return the board that somebody sets up who is told a command; wrong moves are refused."""
    setup, _, moves = command.removeprefix("position ").partition(" moves ")
    fen = chess.STARTING_FEN if setup == "startpos" else setup.removeprefix("fen ")
    board = chess.Board(fen, chess960=chess960)
    for move in moves.split():
        board.push_uci(move)
    return board


def occurrences(board: chess.Board) -> int:
    """Return how often the position on a board has been there, as far as the board remembers."""
    seen = [position_on(board)]
    earlier = board.copy()
    while earlier.move_stack:
        earlier.pop()
        seen.append(position_on(earlier))
    return seen.count(seen[0])


def position_on(board: chess.Board) -> list[str]:
    return board.fen(en_passant="legal").split()[:4]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", KINDS)
def test_whole_games_are_told(name: str, seed: int):
    kind = KINDS[name]
    rng = Random(f"{name} {seed}")
    board = kind.deal(rng)
    start = position = Position.from_fen(board.fen(en_passant="fen"), kind.variant)
    seen = Counter([position.key()])
    plies: list[Ply] = []
    for played in random_moves(kind, board, rng, kind.plies):
        move = Move.from_uci(played.uci())
        after = position.play(move)
        plies.append(Ply(len(plies) + 1, move, position, after, None))
        position = after
        seen[position.key()] += 1

        assert isinstance(position, ChessPosition)
        command = position_command(Turn(start, tuple(plies)))
        there = arrived(command, board.chess960)
        assert there.fen(en_passant="legal") == position.fen(legal_en_passant=True)
        assert occurrences(there) == seen[position.key()]
        assert len(there.move_stack) == min(len(plies), position.halfmove_clock)


# --- patience ---


def test_a_patient_splitter_waits_for_the_best_move():
    splitter = LineSplitter()
    assert splitter.feed(b"info depth 1\ninfo depth 2\nbest", patient=True) == []
    assert splitter.feed(b"mov", patient=True) == []
    lines = splitter.feed(b"e e2e4\nrest", patient=True)
    assert lines == ["info depth 1", "info depth 2", "bestmove e2e4"]
    assert splitter.feed(b"\n") == ["rest"]


def test_patience_has_an_end():
    splitter = LineSplitter()
    lines: list[str] = []
    fed = 0
    while not lines:
        lines = splitter.feed(b"no best move\n" * 10, patient=True)
        fed += 10
        assert fed < 10_000
    assert lines == ["no best move"] * fed


def test_the_impatient_gets_what_a_patient_feed_left():
    splitter = LineSplitter()
    splitter.feed(b"info depth 1\ninfo", patient=True)
    assert splitter.feed(b" depth 2\n") == ["info depth 1", "info depth 2"]
