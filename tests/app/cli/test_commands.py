"""`kibitz` as a person runs it: what it prints, and its exit code.

Most of it runs in this process, by the same `main` that the installed program calls; a start of the
program costs a second. That a real process of each command does the same is a test of its own.
"""

import json

import pytest

from app.persistence.schema import HEAD
from tests.support.command_line import kibitz, process

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"

AS_A_PROCESS = [
    (("perft", "2", "--divide"), 0),
    (("solve", "3/1B1/n2 w r - RN b 9"), 0),
    (("players", "--json"), 0),
    (("analyse", "7k/8/8/8/8/8/8/R6K w - - 0 1", "--nodes", "1000"), 0),
    (("calibrate", "--minutes", "0"), 2),  # a mistake that we find
    (("perft", "2", "--fen", "nonsense"), 2),  # one that the rules find
    (("perft", "x"), 2),  # one that Typer finds
    (("--version",), 0),
]


@pytest.mark.parametrize(("arguments", "code"), AS_A_PROCESS)
def test_a_real_process_does_the_same(tmp_path, monkeypatch, arguments, code):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    run, ours = process(*arguments), kibitz(*arguments)
    assert run.returncode == code
    assert (run.stdout == "") is (code != 0)
    assert (run.returncode, run.stdout, run.stderr) == (ours.returncode, ours.stdout, ours.stderr)


COUNTS = [
    (("perft", "0"), "1"),
    (("perft", "3"), "8902"),
    (("perft", "2", "--fen", KIWIPETE), "2039"),
    (("perft", "2", "--variant", "chess960", "--fen",
      "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"), "528"),
    (("perft", "2", "--variant", "chess960"), "400"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "count"), COUNTS)
def test_perft_prints_the_count(arguments, count):
    run = kibitz(*arguments)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{count}\n", "")


def test_perft_divides():
    run = kibitz("perft", "3", "--divide")
    lines = run.stdout.splitlines()
    assert len(lines) == 22
    assert "e2e4: 600" in lines
    assert lines[-1] == "8902"
    assert sum(int(line.split()[1]) for line in lines[:20]) == 8902


def test_perft_speaks_json():
    run = kibitz("perft", "2", "--divide", "--json")
    data = json.loads(run.stdout)
    assert (data["depth"], data["nodes"], data["divide"]["a2a3"]) == (2, 400, 20)
    assert "divide" not in json.loads(kibitz("perft", "1", "--json").stdout)


def test_perft_zero_divides_into_nothing():
    assert kibitz("perft", "0", "--divide").stdout.split() == ["1"]


def test_perft_counts_kings_cooking():
    assert kibitz("perft", "3", "--variant", "kings-cooking").stdout.split() == ["147"]


@pytest.mark.usefixtures("without_coverage")
def test_solve_tells_what_the_start_and_each_move_are_worth():
    lines = kibitz("solve").stdout.splitlines()
    assert "3 r n b" in lines
    assert "White to move: a draw; White can end the game, not losing, within 5 plies." in lines
    assert any(line.startswith("  Rxa3  draw in 5, ") for line in lines)
    assert len([line for line in lines if " draw in " in line]) == 6


SOLVED = [
    ("1N1/3/3 w - - RB rnb 9", "", "White to move: a win; the game ends in 1 ply."),
    ("3/1B1/n2 w r - RN b 9", "", "White to move: a loss; the game ends in 3 plies."),
    ("1br/n2/1R1 w - - NB - 9", "", "White to move: a draw; only a repetition ends the game."),
    ("3/3/3 w - R NB rnb 9", "", "The game is over: White wins with more pieces off the board"),
    ("rnb/3/RNB", "1. Rxa3 Nxc1 2. Roff", "Black to move: a draw"),
    # Gone round almost twice; the side that is ahead wins by a third time.
    (
        "2B/2N/R1b w n - - r 2",
        "a1a2 c1a3 a2a1 a3c1 a1a2 c1a3 a2a1",
        "Black to move: a win; the game ends in 1 ply.",
    ),
]


@pytest.mark.parametrize(("fen", "moves", "sentence"), SOLVED)
def test_solve_in_a_sentence(fen, moves, sentence):
    assert sentence in kibitz("solve", fen, "--moves", moves).stdout


def test_solve_speaks_json():
    run = kibitz("solve", "R1b/3/1Nn w - - B r 2", "--moves", "Roff", "--json")
    data = json.loads(run.stdout)
    assert (data["fen"], data["player_to_move"]) == ("2b/3/1Nn b - R B r 2", "black")
    assert (data["result"], data["termination"]) == ("*", None)
    assert data["verdict"] == {"value": "draw", "plies": 6}
    best = data["moves"][0]
    assert best.keys() == {"move", "notation", "value", "plies", "slips"}
    over = json.loads(kibitz("solve", "3/3/3 w - R NB rnb 9", "--json").stdout)
    assert (over["result"], over["termination"], over["verdict"]) == ("1-0", "empty_board", None)
    assert over["moves"] == []


MISTAKES = [
    (("solve", "nonsense"), "is not a FEN of kings-cooking"),
    (("solve", "8/8/8/8/8/8/8/8 w - - 0 1"), "a chess position cannot be played"),
    (("solve", "--moves", "Ra2 e4"), "'e4' cannot be read as a move"),
    (("solve", "--moves", "Roff"), "another piece is in the way"),
    (("solve", "3/3/3 w - R NB rnb 9", "--moves", "Ra2"), "the game is over"),
    (("perft", "1", "--fen", "rnb/3/RNB w - - - - 1"), "3 ranks instead of 8"),
    (("perft", "2", "--fen", "nonsense"), "is not a FEN"),
    (("perft", "2", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"), "exactly one king"),
    (("perft", "2", "--variant", "atomic"), "known are standard, chess960, kings-cooking"),
    (("perft", "-1"), "No such option: -1"),
    (("perft", "21"), "depth"),
    (("perft", "x"), "depth"),
    (("perft",), "depth"),
    (("nonsense",), "No such command"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_a_sentence_and_exit_code_2(arguments, sentence):
    run = kibitz(*arguments)
    assert run.returncode == 2
    assert sentence.lower() in run.stderr.lower()
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_db_tells_programs_which_revision_there_is_and_whether_it_is_enough(tmp_path):
    url = f"sqlite:///{tmp_path / 'kibitz.db'}"

    def told(*arguments):
        run = kibitz("db", *arguments, "--json", "--database", url)
        assert run.stderr == ""
        return run.returncode, json.loads(run.stdout)

    empty = {"revision": None, "newest": HEAD, "is_newest": False}
    assert told("current") == (0, empty)
    assert told("current", "--check") == (1, empty)
    assert not (tmp_path / "kibitz.db").exists()
    assert told("upgrade") == (0, {"revision": HEAD, "before": None})
    assert told("upgrade") == (0, {"revision": HEAD, "before": HEAD})
    newest = {"revision": HEAD, "newest": HEAD, "is_newest": True}
    assert told("current", "--check") == told("current") == (0, newest)


def test_help_names_the_commands_and_shows_examples():
    assert "perft" in kibitz("--help").stdout
    assert "kibitz perft 5" in kibitz("perft", "--help").stdout
    assert "kibitz solve --moves" in kibitz("solve", "--help").stdout


def test_help_can_be_read_where_there_is_only_ascii():
    run = process("solve", "--help", PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stderr) == (0, "")
    assert kibitz("--version").stdout.startswith("kibitz 0.")
