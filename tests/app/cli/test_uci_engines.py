"""`kibitz calibrate`, `players` and `analyse` as a person runs them, with the real Stockfish.

Real processes where signals, pipes and full disks are the point; else as in `test_commands`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agents.random_player import RandomPlayer
from agents.uci.analyser import Analyser, Analysis, Variation
from agents.uci.info import Bound, Score, Wdl
from agents.uci.ratings import Ratings
from app.cli.commands import cli
from app.evaluations.bradley_terry import Rating
from app.evaluations.calibration import Calibration, Contestant, PlayedSoFar
from engine import Evaluation, Game, Position, read_games
from tests.support import uci_engine
from tests.support.command_line import KIBITZ, kibitz
from tests.support.processes import LINUX

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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_a_calibration_and_what_was_played_counts(folder, number):
    process = subprocess.Popen(
        [KIBITZ, "calibrate", "--no-others", "--minutes", "30", "--output", "mine.json",
         "--concurrency", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    assert process.stderr is not None
    seen = ""
    # By then those next to level 6 have played.
    while max(map(int, re.findall(r"(\d+) games", seen)), default=0) < 6:
        letters = process.stderr.read(1)
        assert letters, seen
        seen = (seen + letters)[-2000:]
    process.send_signal(number)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "not all levels were rated; play longer" in errors
    unheard = "stockfish:8 did not get to play; play longer."
    written_to = "Written to mine.json."
    for expected in (*LEVELS[3:7], "1320 (anchor)", unheard, "games in", written_to):
        assert expected in output
    written = json.loads((folder / "mine.json").read_text())
    assert written["anchors"] == {"stockfish:6": 1320.0}
    assert set(LEVELS[3:7]) <= set(written["players"])
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
    assert ("the levels did not come out in order; play longer" in run.output) is (code == 1)


def test_a_calibration_writes_only_the_file_that_is_named(folder, monkeypatch):
    async def played(*_: object) -> Calibration:
        return calibration(IN_ORDER)

    monkeypatch.setattr(sys.modules["app.cli.calibrate"], "_run", played)
    (folder / "mine.json.new").write_text("precious")
    (folder / "mine.json").symlink_to("real.json")
    os.mkfifo(folder / "pipe")
    assert kibitz("calibrate", "--output", "mine.json").returncode == 0
    assert (folder / "mine.json").is_symlink()
    assert Ratings.load(folder / "real.json").players["stockfish:3"].elo == IN_ORDER[2]
    assert (folder / "mine.json.new").read_text() == "precious"
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert kibitz("calibrate", "--output", "pipe").returncode == 0
        piped = json.loads(os.read(reader, 100_000))
    finally:
        os.close(reader)
    filed = json.loads((folder / "real.json").read_text())
    assert piped == filed | {"measured_at": piped["measured_at"]}
    assert (folder / "pipe").is_fifo()


def test_a_calibration_prints_wide_rows_and_who_did_not_play(folder, monkeypatch):
    how = "a long story " * 3 + "to its end"
    names = ("stockfish:6", "uci:idle", "uci:far", "uci:gone")
    people = tuple(Contestant(name, 0.0, how, RandomPlayer) for name in names)
    results = {name: Counter(wins=1) for name in ("stockfish:6", "uci:far")}
    so_far = PlayedSoFar(1, left_out={"uci:gone": "it is gone"})
    result = replace(calibration(IN_ORDER), results=results, contestants=people, played=so_far)

    async def played(*_: object) -> Calibration:
        return result

    monkeypatch.setattr(sys.modules["app.cli.calibrate"], "_run", played)
    lines = CliRunner().invoke(cli, ["calibrate"]).output.splitlines()
    (row,) = [line for line in lines if "stockfish:6" in line]
    assert how in row
    assert len(row) > 80
    assert [line for line in lines if line.startswith("uci:")] == [
        "uci:gone was left out: it is gone.",
        "uci:idle did not get to play; play longer.",
        "uci:far is not linked to level 6 by games; play longer.",
    ]


WRONG = [
    (("calibrate", "--minutes", "nan"), "a time must be from"),
    (("calibrate", "--minutes", "0"), "a time must be from"),
    (("calibrate", "--minutes", "1e99"), "a time must be from"),
    (("calibrate", "--games", "0"), "--games"),
    (("calibrate", "--other", "uci:nobody"), "--other takes a UCI engine, as uci:NAME"),
    (("calibrate", "--other", "stockfish:1"), "--other takes a UCI engine, as uci:NAME"),
    (("calibrate", "--other", "uci:mine", "--no-others"), "exclude each other"),
    (("calibrate", "--output", "."), "cannot be written"),
    (("calibrate", "--output", "/proc/nowhere/ratings.json"), "cannot be written"),
    (("analyse", "nonsense"), "is not a FEN"),
    (("analyse", "missing.pgn"), "cannot be read"),
    (("analyse", "/dev/null"), "/dev/null has no game"),
    (("analyse", "/"), "/ cannot be read: Is a directory"),
    (("analyse", "--depth", "0"), "depth must be"),
    (("analyse", "--nodes", "-1"), "nodes must be"),
    (("analyse", "--seconds", "inf"), "a time must be from"),
    (("analyse", "--lines", "0"), "--lines"),
    (("analyse", "--variant", "kings-cooking"), "cannot play kings-cooking"),
    (("analyse", "--engine", "uci:nobody"), "'uci:nobody' is not a player"),
    (("analyse", "--engine", "stockfish:3"), "say stockfish or uci:NAME"),
    (("analyse", "-", "--lines", "2"), "more need --json"),
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
            "anchors": {"stockfish:6": 1400, "random": 5}, "players": {"stockfish:1": {
                "elo": 123.4, "low": 100, "high": 150, "games": 9}}}  # fmt: skip
    (folder / "data" / "ratings.json").write_text(json.dumps(ours))
    again = json.loads(kibitz("players", "--json").stdout)
    assert shown["players"]["stockfish:1"] != again["players"]["stockfish:1"]
    assert again["players"]["stockfish:1"]["elo"] == 123.4
    run = kibitz("players")
    assert "123 ± 25" in run.stdout
    assert run.stdout.endswith("on 2030-01-01; stockfish:6 is 1400; random is 5.\n")
    assert again["anchors"] == {"stockfish:6": 1400, "random": 5}
    (folder / "data" / "ratings.json").write_text("{")
    run = kibitz("players")
    assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)
    assert kibitz("analyse", "--depth", "1").returncode == 0  # which needs no ratings


@pytest.mark.skipif(not LINUX, reason="it needs a disk that is always full")
@pytest.mark.parametrize("arguments", [("players",), ("--help",), ("players", "--json")])
def test_a_full_disk_gets_one_sentence(folder, arguments):
    with Path("/dev/full").open("w") as full:
        run = subprocess.run([KIBITZ, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        assert run.returncode == 1
        assert run.stderr == "kibitz: the output cannot be written: No space left on device\n"
        run = subprocess.run([KIBITZ, *arguments], stdout=full, stderr=full)
        assert run.returncode == 1


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
    best = data["variations"][0]
    assert best["score"]["mate"] == -1
    assert best["wdl"] == [0, 0, 1000]
    assert best["bound"] is None
    assert best["seldepth"] >= 1
    assert best["time_ms"] >= 0


@pytest.mark.parametrize(
    ("color", "bound", "shown", "told", "wdl"),
    [
        ("w", Bound.LOWER, "≥+0.50", "lowerbound", [700, 200, 100]),
        ("w", Bound.UPPER, "≤+0.50", "upperbound", [700, 200, 100]),
        ("b", Bound.LOWER, "≤-0.50", "upperbound", [100, 200, 700]),
        ("b", Bound.UPPER, "≥-0.50", "lowerbound", [100, 200, 700]),
        ("b", None, "-0.50", None, [100, 200, 700]),
    ],
)
def test_bounds_are_from_whites_side(folder, monkeypatch, color, bound, shown, told, wdl):
    async def analyse(_: Analyser, position: Position, *_a: object, **_b: object) -> Analysis:
        score, chances = Score(centipawns=50, bound=bound), Wdl(700, 200, 100)
        variation = Variation(1, score, chances, 9, 12, 5000, None, (), ())
        return Analysis(position, (variation,))

    monkeypatch.setattr(Analyser, "analyse", analyse)
    fen = f"7k/8/8/8/8/8/8/R6K {color} - - 0 1"
    run = CliRunner().invoke(cli, ["analyse", fen])
    assert run.output.splitlines()[-1].split()[1] == shown
    best = json.loads(CliRunner().invoke(cli, ["analyse", fen, "--json"]).output)["variations"][0]
    assert (best["bound"], best["wdl"], best["time_ms"]) == (told, wdl, None)


def test_scores_that_are_only_bounds_are_not_noted_in_games(folder, monkeypatch):
    async def analyse_game(_: Analyser, game: Game, *_a: object, **_b: object) -> list[Analysis]:
        scores = (Score(10), Score(20, bound=Bound.LOWER), Score(30))
        return [
            Analysis(game.start, (Variation(1, score, None, 9, 9, 9, None, (), ()),))
            for score in scores
        ]

    monkeypatch.setattr(Analyser, "analyse_game", analyse_game)
    run = CliRunner().invoke(cli, ["analyse", "-"], input="1. e4 e5 *")
    (game,) = read_games(run.output)
    assert [ply.evaluation for ply in game.plies] == [None, Evaluation(centipawns=30)]


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


def test_standard_input_without_a_game_gets_one_sentence(folder):
    run = subprocess.run(
        [KIBITZ, "analyse", "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (2, "kibitz: standard input has no game\n")


def test_names_in_latin_1_stay_as_they_are(folder):
    (folder / "games.pgn").write_bytes('[White "Müller"]\n\n1. e4 *\n'.encode("latin-1"))
    (game,) = read_games(kibitz("analyse", "games.pgn", "--nodes", "100").stdout)
    assert game.tags["White"] == "Müller"


def test_games_come_from_standard_input_and_go_to_standard_output(folder):
    run = subprocess.run(
        [KIBITZ, "analyse", "-", "--nodes", "100", "--json", "--lines", "2"],
        input='[White "A"]\n\n1. e4 *\n', capture_output=True, text=True,
        env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm"},  # with a bar, as in a terminal
    )  # fmt: skip
    data = json.loads(run.stdout)
    assert data["tags"]["White"] == "A"
    assert [len(each["variations"]) for each in data["positions"]] == [2, 2]


def test_a_bad_game_does_not_stop_the_others(folder):
    games = (
        '[White "A"]\n\n1. e4 e4 *\n',
        '[White "B"]\n\n1. e4 *\n',
        '[White "C"]\n[Variant "kings-cooking"]\n\n1. Ra2 *\n',
        '[White "D"]\n\n1. d4 *\n',
    )
    (folder / "games.pgn").write_text("\n".join(games))
    run = kibitz("analyse", "games.pgn", "--nodes", "100")
    assert run.returncode == 1
    first, second = run.stderr.splitlines()
    assert first.startswith("kibitz: games.pgn: line 3 of the PGN: ")
    assert second.startswith("kibitz: game 3: ")
    assert "cannot play kings-cooking" in second
    assert [game.tags["White"] for game in read_games(run.stdout)] == ["B", "D"]
    (folder / "games.pgn").write_text(games[0])
    run = kibitz("analyse", "games.pgn")
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 1)


def test_another_engine_can_analyse(folder):
    command = [sys.executable, "-I", "-S", uci_engine.__file__, "Engine", "e2e4"]
    (folder / "kibitz.toml").write_text(f"[engines.mine]\ncommand = {json.dumps(command)}\n")
    run = kibitz("analyse", "--engine", "uci:mine", "--depth", "1", "--json")
    assert run.stderr == ""
    assert [each["uci"] for each in json.loads(run.stdout)["variations"]] == [["e2e4"]]


@pytest.mark.skipif(not LINUX, reason="it looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_engines_too(folder, number):
    process = subprocess.Popen(
        [KIBITZ, "analyse", "--seconds", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        assert process.poll() is None
        time.sleep(0.005)  # leaves the processor to it
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 128 + number
    assert not Path(f"/proc/{found[0]}").exists()


def test_analysis_by_nodes_is_the_same_twice(folder):
    runs = [kibitz("analyse", "--nodes", "20000", "--lines", "3").stdout for _ in range(2)]
    assert runs[0] == runs[1]
