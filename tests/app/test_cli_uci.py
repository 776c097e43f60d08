"""`kibitz calibrate`, `players` and `analyse` as a person runs them, with the real Stockfish."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from agents.uci.ratings import Ratings
from app.cli import cli
from app.evaluations.bradley_terry import Rating
from app.evaluations.calibration import Calibration, PlayedSoFar
from engine import read_games
from tests.app.test_cli import KIBITZ, kibitz

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
LEVELS = [f"stockfish:{level}" for level in range(1, 9)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place of one's own: no settings, no ratings but those that a test makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    return tmp_path


# --- calibrate ---


def test_ctrl_c_ends_a_calibration_and_what_was_played_counts(folder):
    process = subprocess.Popen(
        [KIBITZ, "calibrate", "--no-others", "--minutes", "30", "--output", "mine.json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    assert process.stderr is not None
    seen = ""
    while "16 games" not in seen:  # by then the ladder has been climbed up to level 6
        letters = process.stderr.read(1)
        assert letters, seen
        seen = (seen + letters)[-2000:]
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the levels did not come out in order" in errors
    for expected in ("random", *LEVELS[:6], "1320 (anchor)", "games in", "Written to mine.json."):
        assert expected in output
    written = json.loads((folder / "mine.json").read_text())
    assert written["anchors"] == {"stockfish:6": 1320.0}
    assert set(LEVELS[:6]) <= set(written["players"])
    assert [path.name for path in folder.iterdir()] == ["mine.json"]


def calibration(elos) -> Calibration:
    ratings = {
        name: Rating(name, elo, elo - 50, elo + 50, 100, name == "stockfish:6")
        for name, elo in zip(LEVELS, elos, strict=True)
    }
    return Calibration("Stockfish 99", ratings, {}, (), PlayedSoFar(games=400))


IN_ORDER = [200.0, 400.0, 700.0, 800.0, 1000.0, 1320.0, 1700.0, 3000.0]
OUT_OF_ORDER = [200.0, 400.0, 800.0, 700.0, 1000.0, 1320.0, 1700.0, 3000.0]


@pytest.mark.parametrize(
    ("elos", "arguments", "code", "written"),
    [
        (IN_ORDER, [], 0, "data/ratings.json"),
        (IN_ORDER, ["--output", "mine.json"], 0, "mine.json"),
        (OUT_OF_ORDER, [], 1, None),
        (OUT_OF_ORDER, ["--output", "mine.json", "--json"], 1, "mine.json"),
    ],
)
def test_levels_out_of_order_are_not_written_where_levels_are_read(
    folder, monkeypatch, elos, arguments, code, written
):
    async def played(*_: object) -> Calibration:
        return calibration(elos)

    # Instead of ten minutes of games. (The command has the name of its module.)
    monkeypatch.setattr(sys.modules["app.cli.calibrate"], "_run", played)
    run = CliRunner().invoke(cli, ["calibrate", *arguments])
    assert run.exit_code == code, run.output
    found = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert found == ([] if written is None else [written])
    if written is not None:
        assert Ratings.load(folder / written).players["stockfish:3"].elo == elos[2]


WRONG = [
    (("calibrate", "--minutes", "nan"), "a time must be from"),
    (("calibrate", "--minutes", "0"), "a time must be from"),
    (("calibrate", "--minutes", "1e99"), "a time must be from"),
    (("calibrate", "--games", "0"), "--games"),
    (("calibrate", "--other", "uci:nobody"), "'uci:nobody' is not a player"),
    (("calibrate", "--output", "."), "cannot be written"),
    (("calibrate", "--output", "/proc/nowhere/ratings.json"), "cannot be written"),
    (("calibrate", "--games", "1", "--no-others"), "no chain of games leads to an anchor"),
    (("analyse", "nonsense"), "is not a FEN"),
    (("analyse", "missing.pgn"), "cannot be read"),
    (("analyse", "--depth", "0"), "depth must be"),
    (("analyse", "--nodes", "-1"), "nodes must be"),
    (("analyse", "--seconds", "inf"), "a time must be from"),
    (("analyse", "--lines", "0"), "--lines"),
    (("analyse", "--variant", "kings-cooking"), "cannot play kings-cooking"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_a_mistake_gets_one_sentence(folder, arguments, sentence):
    run = kibitz(*arguments, COLUMNS="200")
    assert run.returncode == 2
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr


def test_without_stockfish_one_hears_how_to_install_it(folder):
    run = kibitz("analyse", STOCKFISH_PATH=str(folder / "gone"))
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: Stockfish was not found")
    assert len(run.stderr.splitlines()) == 1


def test_a_mistake_in_the_settings_gets_one_sentence(folder):
    (folder / "kibitz.toml").write_text("[engines.mine]\ncomand = 'x'\n")
    run = kibitz("players")
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: the setting engines.mine")
    assert len(run.stderr.splitlines()) == 1


# --- players ---


def test_players_lists_everybody_with_their_elo(folder):
    (folder / "kibitz.toml").write_text("[engines.mine]\ncommand = 'mine'\n")
    lines = kibitz("players").stdout.splitlines()
    (level_6,) = [line for line in lines if line.startswith("stockfish:6")]
    assert "1320" in level_6
    assert {"random", "solver", *LEVELS, "uci:mine"} <= {line.split()[0] for line in lines if line}
    listed = json.loads(kibitz("players", "--json").stdout)["players"]
    elos = [listed[name]["elo"] for name in LEVELS]
    assert elos == sorted(elos)
    assert all(listed[name]["low"] <= listed[name]["elo"] <= listed[name]["high"]
               for name in LEVELS)  # fmt: skip


def test_players_shows_the_ratings_of_the_last_calibration(folder):
    shown = json.loads(kibitz("players", "--json").stdout)
    (folder / "data").mkdir()
    ours = {"kibitz_ratings": 1, "engine": "Stockfish 99", "measured_at": "2030-01-01T00:00:00Z",
            "anchors": {"stockfish:6": 1320}, "players": {"stockfish:1": {
                "elo": 123.4, "low": 100, "high": 150, "games": 9}}}  # fmt: skip
    (folder / "data" / "ratings.json").write_text(json.dumps(ours))
    again = json.loads(kibitz("players", "--json").stdout)
    assert shown["players"]["stockfish:1"] != again["players"]["stockfish:1"]
    assert again["players"]["stockfish:1"]["elo"] == 123.4
    assert "123 ± 25" in kibitz("players").stdout
    (folder / "data" / "ratings.json").write_text("{")
    run = kibitz("players")
    assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)


# --- analyse ---


def test_analyse_tells_the_best_variations(folder):
    run = kibitz("analyse", MATE_IN_ONE, "--lines", "2", "--depth", "8")
    assert run.stderr == ""
    first, second = run.stdout.splitlines()[-2:]
    assert first.split()[:2] == ["1.", "#1"]
    assert first.endswith("1. Ra8#")
    assert second.startswith("2. ")
    data = json.loads(kibitz("analyse", MATE_IN_ONE, "--depth", "8", "--json").stdout)
    (best,) = data["variations"]
    assert best["score"] == {"centipawns": None, "mate": 1}
    assert (best["uci"], best["san"]) == (["a1a8"], ["Ra8#"])
    assert sum(best["wdl"]) == 1000


def test_scores_are_from_whites_side(folder):
    black_mates = "r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
    data = json.loads(kibitz("analyse", black_mates, "--depth", "8", "--json").stdout)
    assert data["variations"][0]["score"]["mate"] == -1


def test_analyse_says_when_the_game_is_over(folder):
    run = kibitz("analyse", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    assert run.stdout.endswith("The game is over: draw by stalemate.\n")


def test_analyse_notes_evaluations_in_games(folder):
    (folder / "games.pgn").write_text(
        '[White "A"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[White "B"]\n\n1. e4 e5 *\n'
    )
    run = kibitz("analyse", "games.pgn", "--nodes", "3000")
    first, second = read_games(run.stdout)
    assert (first.tags["White"], first.result, second.tags["White"]) == ("A", "0-1", "B")
    assert [ply.evaluation is not None for ply in first.plies] == [True, True, True, False]
    assert first.plies[2].evaluation.mate == -1
    assert all(ply.evaluation is not None for ply in second.plies)
    lines = kibitz("analyse", "games.pgn", "--nodes", "3000", "--json").stdout.splitlines()
    assert [len(json.loads(line)["positions"]) for line in lines] == [5, 3]


def test_analysis_by_nodes_is_the_same_twice(folder):
    runs = [kibitz("analyse", "--nodes", "20000", "--lines", "3").stdout for _ in range(2)]
    assert runs[0] == runs[1]
