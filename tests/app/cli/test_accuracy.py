"""`kibitz accuracy` as a person runs it, with the real Stockfish where there has to be one."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from typer.testing import CliRunner

from app.cli.commands import cli
from tests.support.command_line import KIBITZ, kibitz
from tests.support.processes import HANGS_AFTER

CPS = [20, 25, 10, 60, -80, -75, -150, -140, -300, -280]
MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "d4", "exd4"]
EVALUATED = '[White "Ada"]\n[Black "Bob"]\n\n{} *\n'.format(
    " ".join(f"{move} {{[%eval {cp / 100}]}}" for move, cp in zip(MOVES, CPS, strict=True))
)
FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1\n"
NOT_ONE = "1. e4 e5 2. Ke7 *\n"
COOKING = '[Variant "King\'s Cooking"]\n\n*\n'
NO_STOCKFISH = {"STOCKFISH_PATH": "/nowhere/stockfish"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    return tmp_path


def accuracy(folder, pgn, *options, **environment):
    (folder / "games.pgn").write_text(pgn)
    return kibitz("accuracy", "games.pgn", *options, **environment)


# --- evaluations that are there ---


def test_what_is_noted_costs_nothing(folder):
    run = accuracy(folder, EVALUATED, **NO_STOCKFISH)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines() == [
        "Game 1: Ada - Bob, *",
        "Evaluated by what is noted in the game, without an engine.",
        "",
        "             moves  accuracy   ACPL  inaccuracies  mistakes  blunders",
        "White            5    68.1 %     78             1         2         0",
        "  opening        5    68.1 %     78             1         2         0",
        "Black            5    91.8 %     18             0         0         0",
        "  opening        5    91.8 %     18             0         0         0",
        "",
    ]


def test_each_move_is_told_if_asked(folder):
    lines = accuracy(folder, EVALUATED, "--moves").stdout.splitlines()
    assert lines[3:6] == [
        "     1. e4         +0.20   100.0 %",
        "   1... e5         +0.25    99.0 %",
        "     2. Nf3        +0.10    95.0 %",
    ]
    assert lines[7] == "     3. Bb5        -0.80    56.9 %  mistake"
    assert len([line for line in lines if "%" in line]) == 10 + 4


def test_json(folder):
    (line,) = accuracy(folder, EVALUATED, "--json", **NO_STOCKFISH).stdout.splitlines()
    data = json.loads(line)
    assert (data["game"], data["engine"], data["nodes_per_position"]) == (1, None, None)
    assert data["tags"] == {"White": "Ada", "Black": "Bob"}
    assert round(data["white"]["accuracy"], 4) == 68.1181
    assert round(data["black"]["accuracy"], 4) == 91.8448
    assert data["white"]["phases"]["opening"]["mistakes"] == 2
    assert "moves" not in data
    told = json.loads(accuracy(folder, EVALUATED, "--json", "--moves").stdout)["moves"]
    assert [each["san"] for each in told] == MOVES
    assert [each["evaluation"]["centipawns"] for each in told] == CPS
    assert told[4]["judgement"] == "mistake"


def test_a_mate_needs_no_evaluation(folder):
    pgn = "1. f3 {[%eval -0.9]} e5 {[%eval -0.9]} 2. g4 {[%eval #-1]} Qh4# 0-1"
    run = accuracy(folder, pgn, "--moves", **NO_STOCKFISH)
    assert run.returncode == 0
    assert "   2... Qh4#        mate   100.0 %" in run.stdout.splitlines()
    assert "#-1" in run.stdout


def test_a_move_that_mates_is_listed_and_not_weighed(folder):
    cps = [30, 30, -50, -20, -10, "#1"]
    moves = ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6"]
    noted = " ".join(
        f"{move} {{[%eval {cp if isinstance(cp, str) else cp / 100}]}}"
        for move, cp in zip(moves, cps, strict=True)
    )
    mated, unmated = (
        json.loads(accuracy(folder, f"{noted}{end}", "--json", "--moves", **NO_STOCKFISH).stdout)
        for end in (" Qxf7# 1-0", " *")
    )
    assert [each["san"] for each in mated["moves"]] == [*moves, "Qxf7#"]
    assert (mated["white"]["moves"], unmated["white"]["moves"]) == (4, 3)
    for name in ("accuracy", "acpl", "games"):
        assert mated["white"][name] == unmated["white"][name]
    assert mated["white"]["acpl"] == pytest.approx(80 / 3)
    assert mated["black"] == unmated["black"]


def test_a_game_without_moves(folder):
    lines = accuracy(folder, "*", "--moves", **NO_STOCKFISH).stdout.splitlines()
    assert lines[0] == "Game 1: ? - ?, *"
    assert lines[-3:] == [
        "White            0         -      -             0         0         0",
        "Black            0         -      -             0         0         0",
        "",
    ]


# --- an engine ---


def test_stockfish_analyses_what_is_not_evaluated(folder):
    run = accuracy(folder, FOOLS_MATE, "--nodes", "2000", "--moves")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[1].startswith("Evaluated by Stockfish ")
    assert lines[1].endswith(", 2,000 nodes for each position.")
    (blunder,) = [line for line in lines if "2. g4" in line]
    assert "#-1" in blunder
    assert "  blunder; better was " in blunder
    (black,) = [line for line in lines if line.startswith("Black")]
    assert black.split() == ["Black", "2", "100.0", "%", "0", "0", "0", "0"]


def test_evaluations_are_not_taken_from_anywhere_if_one_wants_fresh_ones(folder):
    options = ("--json", "--moves", "--fresh", "--nodes", "500")
    data = json.loads(accuracy(folder, EVALUATED, *options).stdout)
    assert data["engine"].startswith("Stockfish ")
    assert data["nodes_per_position"] == 500
    assert all(abs(each["evaluation"]["centipawns"]) < 200 for each in data["moves"])
    run = accuracy(folder, EVALUATED, "--fresh", **NO_STOCKFISH)
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: Stockfish was not found")


def test_analyse_and_accuracy_agree(folder):
    (folder / "game.pgn").write_text("1. e4 f5 2. exf5 g5 3. Qh5# 1-0\n")
    evaluated = kibitz("analyse", "game.pgn", "--nodes", "2000").stdout
    noted = json.loads(accuracy(folder, evaluated, "--json", **NO_STOCKFISH).stdout)
    searched = json.loads(kibitz("accuracy", "game.pgn", "--nodes", "2000", "--json").stdout)
    for color in ("white", "black"):
        assert noted[color] == searched[color]
    assert (noted["engine"], searched["nodes_per_position"]) == (None, 2000)


# --- several games, and some that cannot be read ---


def test_games_that_cannot_be_analysed_are_left_out(folder):
    pgn = "\n".join((EVALUATED, NOT_ONE, COOKING, FOOLS_MATE))
    run = accuracy(folder, pgn, "--nodes", "500", "--json")
    assert run.returncode == 1
    unread, refused = run.stderr.splitlines()
    assert unread.startswith("kibitz: games.pgn: line ")
    assert "'Ke7'" in unread
    assert refused.startswith("kibitz: game 3: games of kings-cooking cannot be analysed")
    assert [json.loads(line)["game"] for line in run.stdout.splitlines()] == [1, 4]


def test_games_from_standard_input():
    run = CliRunner().invoke(cli, ["accuracy", "-", "--json"], input=EVALUATED * 3)
    assert run.exit_code == 0
    assert [json.loads(line)["game"] for line in run.output.splitlines()] == [1, 2, 3]


def test_a_real_process(folder):
    run = subprocess.run(
        [KIBITZ, "accuracy", "-"], input=EVALUATED, capture_output=True, text=True, check=False,
        env=os.environ | NO_STOCKFISH, timeout=HANGS_AFTER,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert "68.1 %" in run.stdout
    assert "91.8 %" in run.stdout


WRONG = {
    "no file": (["accuracy", "missing.pgn"], "missing.pgn cannot be read: No such file"),
    "a folder": (["accuracy", "."], ". cannot be read: Is a directory"),
    "no game": (["accuracy", "-"], "standard input has no game"),
    "no argument": (["accuracy"], "Missing argument"),
    "no nodes": (["accuracy", "-", "--nodes", "0"], "nodes must be a whole number from 1"),
    "too many nodes": (["accuracy", "-", "--nodes", str(10**16)], "nodes must be a whole number"),
    "nodes that are none": (["accuracy", "-", "--nodes", "many"], "--nodes"),
    "a player": (["accuracy", "-", "--engine", "stockfish:3"], "say stockfish or uci:NAME"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG.values(), ids=WRONG)
def test_a_mistake_gets_one_sentence(arguments, sentence):
    run = kibitz(*arguments, COLUMNS="200")
    assert run.returncode == 2
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_an_unknown_engine_gets_one_sentence(folder):
    run = accuracy(folder, FOOLS_MATE, "--engine", "uci:nobody")
    assert run.returncode == 2
    assert "'uci:nobody' is not a player" in run.stderr
