"""`kibitz suite` as a person runs it, with the real Stockfish and few nodes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from random import Random

import chess
import pytest

from app.evaluations.suites.suite import Suite, shipped_suites
from app.matches.settings import MatchSettings, PlayerSettings
from app.services import open_services
from app.settings import load_settings
from tests.support.command_line import KIBITZ, kibitz
from tests.support.processes import HANGS_AFTER

TRAP = "d4 d5 c4 e6 Nc3 Nf6 Bg5 Nbd7 cxd5 exd5 Nxd5 Nxd5 Bxd8"
GAMES = f"""[White "A"]
[Black "B"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. h3 h6 5. a3 g6 6. c3 axb5 7. d3 b6 *

[White "C"]
[Black "D"]

{TRAP} Bb4+ Qd2 Kxd8 *
"""
CHESS960 = '\n[Variant "Chess960"]\n\n1. e4 e5 *\n'
BROKEN = '\n[White "E"]\n\n1. e4 e4 *\n'
FEW = ("--nodes", "4000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place of one's own: no settings, and no database but those that a test makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    (tmp_path / "games.pgn").write_text(GAMES)
    return tmp_path


def test_positions_are_mined_rated_and_written(folder):
    run = kibitz("suite", "mine", "games.pgn", *FEW, "--output", "mine.epd")
    assert (run.returncode, run.stderr) == (0, "")
    looked, described, written = run.stdout.splitlines()
    assert re.fullmatch(r"Looked at \d+ positions of 2 games, and verified \d+\.", looked)
    assert re.fullmatch(r"\d+ positions of difficulty .*, the middle one -?\d+\.", described)
    assert written == "Written to mine.epd."
    suite = Suite.load(folder / "mine.epd")
    assert ("Bb4+",) in [each.san for each in suite.positions]
    for each in suite.positions:
        assert each.difficulty is not None
        assert each.difficulty_se is not None
        assert each.gap is not None
        assert each.gap >= 20
    for line in (folder / "mine.epd").read_text().splitlines():
        board, operations = chess.Board.from_epd(line)
        assert operations["bm"][0] in board.legal_moves
    assert sorted(path.name for path in folder.iterdir()) == ["games.pgn", "mine.epd"]


def test_only_the_file_that_is_named_is_written(folder):
    (folder / "mine.epd.new").write_text("precious")
    (folder / "suites").mkdir()
    (folder / "mine.epd").symlink_to("suites/real.epd")
    wanted = ("suite", "mine", "games.pgn", *FEW, "--no-difficulty", "--count", "1", "--output")
    assert kibitz(*wanted, "mine.epd").returncode == 0
    assert (folder / "mine.epd").is_symlink()
    assert len(Suite.load(folder / "suites/real.epd").positions) == 1
    assert (folder / "mine.epd.new").read_text() == "precious"
    run = kibitz(*wanted, "-")
    assert run.stdout == (folder / "mine.epd").read_text()
    assert "1 position, whose" in run.stderr


def test_without_a_file_the_positions_are_printed(folder):
    run = kibitz("suite", "mine", "games.pgn", *FEW, "--no-difficulty", "--count", "1")
    assert run.returncode == 0
    (position,) = Suite.read("printed", run.stdout).positions
    assert position.difficulty is None
    assert "1 position, whose difficulty is not known." in run.stderr


def test_what_is_mined_is_told_to_programs_also_if_it_is_written(folder):
    run = kibitz(
        "suite", "mine", "games.pgn", *FEW, "--no-difficulty", "--output", "mine.epd", "--json"
    )
    assert run.returncode == 0
    assert "Written to mine.epd." in run.stderr
    shown = json.loads(kibitz("suite", "show", "mine.epd", "--json").stdout)["positions"]
    told = json.loads(run.stdout)["positions"]
    assert [(each["fen"], each["uci"]) for each in told] == [
        (each["fen"], each["uci"]) for each in shown
    ]
    assert told


def test_files_and_standard_input_are_read_one_after_the_other(folder):
    run = subprocess.run(
        [KIBITZ, "suite", "mine", "games.pgn", "-", *FEW, "--no-difficulty"],
        input=CHESS960, capture_output=True, text=True, timeout=HANGS_AFTER, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "positions of 3 games" in run.stderr
    assert "1 games of other variants were passed over." in run.stderr


def test_a_game_that_cannot_be_read_is_left_out(folder):
    (folder / "games.pgn").write_text(GAMES + BROKEN)
    run = kibitz("suite", "mine", "games.pgn", *FEW, "--no-difficulty", "--output", "mine.epd")
    assert run.returncode == 1
    assert run.stderr.startswith("kibitz: games.pgn: line ")
    assert "positions of 2 games" in run.stdout
    assert Suite.load(folder / "mine.epd").positions


def test_where_nothing_is_found_nothing_is_written(folder):
    (folder / "games.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *")
    run = kibitz("suite", "mine", "games.pgn", *FEW, "--output", "mine.epd")
    assert (run.returncode, run.stderr) == (1, "kibitz: no such position was found\n")
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["games.pgn"]


def test_a_spread_looks_through_all_games(folder):
    run = kibitz(
        "suite", "mine", "games.pgn", *FEW, "--count", "2", "--spread", "--output", "mine.epd"
    )
    assert run.returncode == 0
    assert "positions of 2 games" in run.stdout
    assert len(Suite.load(folder / "mine.epd").positions) == 2


def test_matches_of_the_service_are_mined(folder):
    random = PlayerSettings("random")
    settings = MatchSettings(random, random, opening=TRAP, max_plies=14)
    other = MatchSettings(random, random, variant="kings-cooking")

    async def play() -> None:
        async with open_services(load_settings()) as services:
            created = [
                await services.matches.create(each, client="test") for each in (settings, other)
            ]
            async with asyncio.timeout(HANGS_AFTER):
                for match_id in (each.record.id for each in created):
                    while not (await services.matches.snapshot(match_id)).is_over:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)

    asyncio.run(play())
    run = kibitz("suite", "mine", "--matches", *FEW, "--no-difficulty", "--output", "mine.epd")
    assert run.returncode == 0, run.stderr
    assert "positions of 1 games" in run.stdout
    suite = Suite.load(folder / "mine.epd")
    (trap,) = [each for each in suite.positions if each.san == ("Bb4+",)]
    assert trap.source == "random - random, ply 13"


def test_without_any_match_there_is_nothing_to_mine(folder):
    run = kibitz("suite", "mine", "--matches", *FEW)
    assert run.returncode == 1
    assert run.stderr.endswith("kibitz: no such position was found\n")


def wild_game(dice):
    board = chess.Board()
    while board.ply() < 100 and not board.is_game_over():
        board.push(dice.choice(list(board.legal_moves)))
    return f"\n{chess.Board().variation_san(board.move_stack)} *\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_keeps_what_was_found(folder, number):
    """It is looked at more games than anybody could be done with by then."""
    dice = Random(1)
    (folder / "games.pgn").write_text(GAMES + "".join(wild_game(dice) for _ in range(40)))
    process = subprocess.Popen(
        [KIBITZ, "suite", "mine", "games.pgn", "--nodes", "200000", "--output", "mine.epd"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    assert process.stderr is not None
    seen = ""
    while not re.search(r"[1-9]\d* found", seen):
        letters = process.stderr.read(1)
        assert letters, seen
        seen = (seen + letters)[-2000:]
    process.send_signal(number)
    output, _ = process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 0
    assert output.startswith("Stopped early.\n")
    assert "Written to mine.epd." in output
    positions = Suite.load(folder / "mine.epd").positions
    assert positions
    assert all(each.difficulty is not None for each in positions)


WRONG = [
    (("mine",), "name PGN files, or say --matches"),
    (("mine", "missing.pgn"), "missing.pgn cannot be read: No such file"),
    (("mine", "games.pgn", "--gap", "0"), "the gap must be from 1 to 90"),
    (("mine", "games.pgn", "--gap", "nan"), "the gap must be from 1 to 90"),
    (("mine", "games.pgn", "--nodes", "5"), "the nodes must be from 100"),
    (("mine", "games.pgn", "--count", "0"), "--count"),
    (("mine", "games.pgn", "--spread"), "--spread needs a --count"),
    (("mine", "games.pgn", "--spread", "--count", "3", "--no-difficulty"), "--spread needs"),
    (("mine", "games.pgn", "--output", "."), "cannot be written"),
    (("mine", "games.pgn", "--output", "/proc/nowhere/x.epd"), "cannot be written"),
    (("show", "missing.epd"), "the suite 'missing.epd' cannot be used: it cannot be read"),
    (("show", "games.pgn"), "the suite games.pgn cannot be used: line 1 of the EPD"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_a_mistake_gets_one_sentence(folder, arguments, sentence):
    run = kibitz("suite", *arguments, COLUMNS="200")
    assert run.returncode == 2
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["games.pgn"]


def test_a_database_that_is_none_gets_one_sentence(folder, monkeypatch):
    (folder / "odd.db").write_text("no database at all " * 100)
    monkeypatch.setenv("KIBITZ_DATABASE", f"sqlite:///{folder / 'odd.db'}")
    run = kibitz("suite", "mine", "--matches")
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: ")
    assert len(run.stderr.splitlines()) == 1


# --- show ---

PLAIN = """\
r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; id "[red]mate"; \
c0 "difficulty=-120.5 se=80.0"; c1 "gap=44.4"; c2 "source=A - B, ply 6";
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4 d4;
"""


def test_show_tells_what_is_in_a_suite(folder):
    (folder / "plain.epd").write_text(PLAIN)
    run = kibitz("suite", "show", "plain.epd")
    assert (run.returncode, run.stderr) == (0, "")
    (mate,) = [line for line in run.stdout.splitlines() if "Qxf7#" in line]
    for expected in ("[red]mate", "-120 ± 157", " 44 ", "r1bqkbnr/pppp1ppp"):
        assert expected in mate
    assert "plain.2" in run.stdout
    assert "2 positions of difficulty -120 to -120, the middle one -120, 1 of unknown" in run.stdout


def test_show_speaks_json(folder):
    (folder / "plain.epd").write_text(PLAIN)
    told = json.loads(kibitz("suite", "show", "plain.epd", "--json").stdout)
    assert told["name"] == "plain"
    assert told["digest"] == Suite.load(folder / "plain.epd").digest
    first, second = told["positions"]
    assert first == {
        "id": "[red]mate",
        "fen": "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1",
        "uci": ["h5f7"],
        "san": ["Qxf7#"],
        "difficulty": -120.5,
        "difficulty_se": 80.0,
        "gap": 44.4,
        "source": "A - B, ply 6",
    }
    assert (second["id"], second["san"], second["difficulty"]) == ("plain.2", ["e4", "d4"], None)


def test_show_names_the_suites_that_come_along(folder):
    assert kibitz("suite", "show").stdout.split() == list(shipped_suites())
    assert json.loads(kibitz("suite", "show", "--json").stdout) == {"suites": [*shipped_suites()]}
    for name in shipped_suites():
        assert json.loads(kibitz("suite", "show", name, "--json").stdout)["name"] == name


def test_it_is_a_real_process_too(folder):
    (folder / "plain.epd").write_text(PLAIN)
    run = subprocess.run(
        [KIBITZ, "suite", "show", "plain.epd"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == kibitz("suite", "show", "plain.epd").stdout
