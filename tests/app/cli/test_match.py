"""`kibitz match` as people run it: in this process, as a real one, and on a terminal."""

import json
import os
import re
import shlex
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import chess
import chess.pgn
import pytest

from app.series import series as series_module
from tests.support import team_matches
from tests.support.command_line import KIBITZ, kibitz
from tests.support.model_server import (
    AnswersSchema,
    Fails,
    model_server_in_thread,
)
from tests.support.pgn_oracle import games_in
from tests.support.processes import HANGS_AFTER

PAGE = Path(__file__).parents[3] / "docs/how-to/play-matches-in-the-terminal.md"
#: Players who are quick, one of whom is much the stronger.
WEAK, STRONG = "random", "classical@nodes=50"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Be in a folder of one's own, with nothing set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    return tmp_path


def match(*arguments, **environment):
    return kibitz("match", *map(str, arguments), **environment)


def told(*arguments, **environment):
    """Return what a match says as JSON, which went well."""
    run = match(*arguments, "--json", **environment)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def rows_of(text):
    """Return the rows of a table, by what stands first in them."""
    rows = [re.split("[│┃]", line)[1:-1] for line in text.splitlines() if line[:1] in "│┃"]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows}


def opening_of(game, plies):
    """Return the first moves of a game, and where it starts."""
    moves = [move.uci() for move in game.mainline_moves()]
    return game.headers.get("FEN"), moves[:plies]


# --- what comes of it ---


def test_a_single_game_is_told_in_a_sentence():
    run = match(STRONG, WEAK, "--seed", 4)
    assert (run.returncode, run.stderr) == (0, "")
    assert re.fullmatch(
        r"classical at 50 nodes \(White\) against random \(Black\): 1-0,"
        r" White wins by checkmate \(\d+ moves\)\.\n",
        run.stdout,
    )


def test_several_games_are_told_one_by_one_and_in_a_table():
    run = match(WEAK, STRONG, "--games", 4, "--seed", 4, "--pgn", "games.pgn")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert [line.partition(" (White) against ")[0] for line in lines[:4]] == [
        "Game 1: random", "Game 2: classical at 50 nodes",
        "Game 3: random", "Game 4: classical at 50 nodes",
    ]  # fmt: skip
    assert lines[3].endswith("; random +0 =0 -4")
    assert rows_of(run.stdout) == {
        "": ["random", "classical at 50 nodes"],
        "points": ["0 of 4", "4 of 4"],
        "won-drawn-lost": ["0-0-4", "4-0-0"],
        "as White": ["0-0-2", "2-0-0"],
        "as Black": ["0-0-2", "2-0-0"],
        "illegal tries": ["0", "0"],
        "lost on time": ["0", "0"],
        "lost by illegal moves": ["0", "0"],
    }
    assert re.search(
        r"^random against classical at 50 nodes: < -\d+ Elo; all results are", run.stdout, re.M
    )
    assert "Games ended by: checkmate 4." in run.stdout
    assert re.search(r"^All 4 games were played in \d+:\d\d\. The seed is 4\.$", run.stdout, re.M)

    games = games_in(Path("games.pgn").read_text())
    assert [game.headers["Result"] for game in games] == ["0-1", "1-0", "0-1", "1-0"]
    assert [game.headers["Round"] for game in games] == ["1", "2", "3", "4"]
    assert all(game.end().board().is_checkmate() for game in games)
    # Each opening is one of ours, and is played by both sides.
    assert [game.headers["ECO"] for game in games[::2]] == [
        game.headers["ECO"] for game in games[1::2]
    ]
    assert opening_of(games[0], 4) == opening_of(games[1], 4) != opening_of(games[2], 4)


def test_json_tells_all_that_the_table_does():
    found = told(WEAK, STRONG, "-n", 4, "--seed", 4)
    assert (found["status"], found["wanted"], found["seed"]) == ("finished", 4, 4)
    assert (found["first"], found["losses"], found["points"]) == ("random", 4, 0)
    assert found["pentanomial"]["counts"] == [2, 0, 0, 0, 0]
    assert found["rating"]["bound"] == "upper"
    assert found["terminations"] == {"checkmate": 4}
    assert [player["as_white"]["games"] for player in found["players"]] == [2, 2]
    assert [game["game"] for game in found["played"]] == [1, 2, 3, 4]
    assert found["played"][0]["result"] == "0-1"


def test_json_tells_nothing_that_nobody_can_tell():
    found = told(WEAK, WEAK, "-n", 2, "--max-plies", 4)  # none of our openings is too long for it
    assert found["draws"] == 2
    for each in (found["trinomial"], found["pentanomial"]):
        assert each["elo"] == pytest.approx(0)
        assert {each[name] for name in ("elo_margin", "los", "nelo", "nelo_margin")} == {None}


def test_the_same_seed_plays_the_same_games_also_at_the_same_time():
    def moves(*more):
        games = games_in(
            match(WEAK, STRONG, "-n", 4, "--max-plies", 30, "--pgn", "-", "-q", *more).stdout
        )
        games.sort(key=lambda game: int(game.headers["Round"]))
        return [str(game.mainline_moves()) for game in games[:4]]

    assert moves("--seed", 9) == moves("--seed", 9, "--concurrency", 2) != moves("--seed", 10)


def test_without_a_seed_one_is_drawn_and_told():
    seeds = {told(WEAK, WEAK, "--max-plies", 4)["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_players_of_the_same_name_are_told_apart():
    found = told(WEAK, WEAK, "--max-plies", 4)
    assert [player["player"] for player in found["players"]] == ["random (1)", "random (2)"]


def test_standard_output_has_nothing_but_pgn_if_that_is_wanted():
    run = match(WEAK, WEAK, "-n", 3, "--max-plies", 12, "--seed", 1, "--pgn", "-")
    assert len(games_in(run.stdout)) == 3
    assert run.stdout.startswith("[Event ")
    assert run.stdout.endswith(" 1/2-1/2\n\n")
    assert "Game 3: " in run.stderr
    assert "All 3 games were played" in run.stderr


def test_quiet_prints_the_result_alone():
    run = match(WEAK, WEAK, "-n", 2, "--max-plies", 12, "--quiet")
    assert "Game 1" not in run.stdout
    assert "All 2 games were played" in run.stdout


def test_a_test_ends_it_early():
    run = match(STRONG, WEAK, "--sprt", "0,300", "--seed", 4, "-q")
    assert run.returncode == 0
    assert "The test accepts 300 Elo (H1) rather than 0" in run.stdout
    assert re.search(
        r"\d+ of 20,000 games were played in .*, then the test had decided", run.stdout
    )


def test_the_commands_of_its_page_run():
    commands = re.findall(r"^\S*kibitz match (.*)$", PAGE.read_text(), re.M)
    assert len(commands) == 3
    for command in commands:
        run = match(*shlex.split(command))
        assert (run.returncode, run.stderr) == (0, ""), command
        assert run.stdout


# --- where games start ---

STARTS = [
    (("--openings", "Ruy Lopez: Open"), None, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
    (("--openings", "c80"), None, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
    (("--openings", "c80", "--opening-plies", 2), None, "e2e4 e7e5"),
    (("--openings", "1. e4 c5 2. Nf3"), None, "e2e4 c7c5 g1f3"),
    (("--openings", "book.pgn"), None, "d2d4 d7d5 c2c4"),
    (("--openings", "suite.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ""),
    (("--openings", "none"), None, ""),
    (("--fen", "4k3/8/8/8/8/8/4P3/4K3 w - -"), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", ""),
]


@pytest.mark.parametrize(("options", "fen", "moves"), STARTS)
def test_games_start_where_one_wants(folder, options, fen, moves):
    (folder / "book.pgn").write_text("1. d4 d5 2. c4 *\n\n1. e4 *\n")
    (folder / "suite.epd").write_text('# two\n4k3/8/8/8/8/8/4P3/4K3 w - - id "a";\n')
    run = match(WEAK, WEAK, "-n", 2, "--max-plies", 12, "--pgn", "-", *options)
    assert run.returncode == 0, run.stderr
    one, other = games_in(run.stdout)
    count = len(moves.split())
    assert opening_of(one, count) == opening_of(other, count) == (fen, moves.split())


def test_openings_are_played_in_the_order_in_which_they_are_named_or_by_lots():
    def openings(*more):
        found = told(
            WEAK, WEAK, "-n", 12, "--max-plies", 11, "--seed", 1, "--openings", "C4", *more
        )
        return [game["opening"] for game in found["played"][::2]]

    named = openings()
    assert named[:2] == ["Philidor Defence: Exchange", "Petrov Defence: Classical"]
    assert len(set(named)) == 6
    drawn = openings("--order", "random")
    assert drawn == openings("--order", "random") != named


def test_several_openings_may_be_named_and_begin_again_when_they_are_over():
    options = ("--openings", "e4 e5", "--openings", "B90,D01", "--no-swap")
    found = told(WEAK, WEAK, "-n", 5, "--max-plies", 12, *options)
    names = ["e4 e5", "Sicilian Defence: Najdorf", "Richter-Veresov Attack"]
    assert [game["opening"] for game in found["played"]] == [*names, *names[:2]]
    assert {game["white"] for game in found["played"]} == {"random (1)"}


def test_balanced_openings_differ_from_pair_to_pair():
    options = ("--openings", "balanced", "--opening-plies", 2, "--seed", 2)
    run = match(WEAK, WEAK, "-n", 4, "--max-plies", 4, "--pgn", "-", *options)
    games = games_in(run.stdout)
    assert opening_of(games[0], 2) == opening_of(games[1], 2) != opening_of(games[2], 2)


@pytest.mark.usefixtures("without_coverage")
def test_other_variants_have_starts_of_their_own(folder):
    run = match(WEAK, WEAK, "-n", 4, "--max-plies", 6, "--variant", "chess960", "--pgn", "-")
    fens = [game.headers["FEN"] for game in games_in(run.stdout)]
    assert fens[0] == fens[1] != fens[2]
    cooking = told(WEAK, "solver", "-n", 2, "--variant", "kings-cooking", "--seed", 4)
    assert cooking["losses"] == 2
    (folder / "starts.fen").write_text(f"{fens[0]}; a comment\nnonsense\n")
    run = match(
        WEAK,
        WEAK,
        "--max-plies",
        6,
        "--variant",
        "chess960",
        "--openings",
        "starts.fen",
        "--pgn",
        "-",
    )
    assert games_in(run.stdout)[0].headers["FEN"] == fens[0]
    assert run.stderr.startswith(
        "kibitz: starts.fen: line 2 is no opening: 'nonsense' is not a FEN"
    )


def test_of_many_faults_of_a_file_a_few_are_told(folder):
    (folder / "noise.epd").write_text("nonsense\n" * 50)
    run = match(WEAK, WEAK, "--games", 2, "--openings", "noise.epd")
    *told, more, conclusion = run.stderr.splitlines()
    assert [line.partition(" is no ")[0].rpartition(" ")[2] for line in told] == ["1", "2", "3"]
    assert more == "kibitz: noise.epd: so it is 47 more times"
    assert conclusion == "kibitz: noise.epd has no position of Chess"
    assert run.returncode == 2


def test_a_game_that_starts_elsewhere_gives_the_position_that_it_reaches(folder):
    start = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    (folder / "book.pgn").write_text(f'[SetUp "1"]\n[FEN "{start}"]\n\n1. e4 Kd7 2. e5 *\n')
    options = ("--max-plies", 4, "--openings", "book.pgn", "--opening-plies", 2, "--pgn", "-")
    (game,) = games_in(match(WEAK, WEAK, *options).stdout)
    assert game.headers["FEN"] == "8/3k4/8/8/4P3/8/8/4K3 w - - 1 2"


def test_openings_come_from_a_pipe_too(folder):
    os.mkfifo(folder / "pipe")
    epd = "4k3/8/8/8/8/8/4P3/4K3 w - -"
    for text, opening in (("1. e4 c5 *\n", (None, ["e2e4", "c7c5"])), (epd, (f"{epd} 0 1", []))):
        thread = threading.Thread(target=(folder / "pipe").write_text, args=(text,))
        thread.start()
        run = match(WEAK, WEAK, "--max-plies", 4, "--openings", "pipe", "--pgn", "-")
        thread.join()
        (game,) = games_in(run.stdout)
        assert opening_of(game, len(opening[1])) == opening


# --- rules ---


def test_clocks_run_down():
    found = told(WEAK, "stockfish:1", "--tc", "0.5+1", "--max-plies", 6)
    assert found["time_control"] == "30+1"


def test_scores_end_games_if_that_is_wanted():
    options = ("--resign", "300,2", "--analysis", 500, "--seed", 3)
    found = told("stockfish:8@nodes=500", WEAK, *options)
    assert found["terminations"] == {"adjudication": 1}
    assert found["wins"] == 1
    level = ("--draw", "1000,2,1", "--analysis", 0, "--openings", "none")
    found = told("classical@nodes=50", "stockfish:8@nodes=50", *level)
    assert (found["terminations"], found["draws"]) == ({"adjudication": 1}, 1)


def test_a_team_has_a_budget_for_all_games_and_its_cost_is_told():
    with model_server_in_thread(AnswersSchema()) as server:
        providers = json.dumps({"openai": {"base_url": server.base_url}})
        run = match(
            "solo:default", WEAK, "-n", 2, "--max-plies", 4, "--openings", "none", "-q",
            KIBITZ_PROVIDERS=providers, OPENAI_API_KEY="sk-secret-of-the-test",
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        calls = len(server.requests)
        assert calls == 4
        rows = rows_of(run.stdout)
        assert rows["calls"] == [str(calls), "0"]
        assert int(rows["tokens"][0]) > 0
        assert rows["cost"][1] == "$0"
        assert re.search(
            rf"^Spent in all: \$[\d.e-]+, {calls} calls, [\d,]+ tokens\.$", run.stdout, re.M
        )
        poor = match(
            "solo:default", WEAK, "-n", 4, "--max-plies", 4, "--openings", "none", "--calls", 3,
            "--json", KIBITZ_PROVIDERS=providers, OPENAI_API_KEY="sk-secret-of-the-test",
        )  # fmt: skip
    assert poor.returncode == 1
    assert "budget is spent" in poor.stderr
    assert "sk-secret" not in run.stdout + run.stderr + poor.stdout + poor.stderr
    found = json.loads(poor.stdout)
    assert (found["status"], len(found["played"]), len(found["void"])) == ("budget", 1, 1)
    # What the void game has cost is told, too.
    assert found["players"][0]["spent"]["calls"] == 3
    assert len(server.requests) == calls + 3


def test_a_provider_that_is_down_costs_nobody_a_game(monkeypatch):
    team_matches.hurry(monkeypatch)
    monkeypatch.setattr(series_module, "FIRST_PAUSE", timedelta(milliseconds=1))
    with model_server_in_thread(Fails(503)) as server:
        providers = json.dumps({"openai": {"base_url": server.base_url}})
        run = match(
            "solo:default", WEAK, "-n", 2, "--openings", "none",
            KIBITZ_PROVIDERS=providers, OPENAI_API_KEY="sk-secret-of-the-test",
        )  # fmt: skip
    assert run.returncode == 1
    assert run.stdout.startswith("0 of 2 games were played in 0:0")
    assert "Void, and not scored: 1 game, 0 of them played again." in run.stdout
    assert run.stderr.count("kibitz: game 1 goes on in 0 s: solo:default could not decide") == 2
    last = run.stderr.splitlines()[-1]
    assert last.startswith("kibitz: game 1 came to nothing: solo:default could not decide: ")


# --- what cannot be ---

MISTAKES = [
    (("human", WEAK), "nobody moves for a human here: write `kibitz play`"),
    ((WEAK, "nobody"), "'nobody' is not a player; known are"),
    (("random@nodes=5", WEAK), "white: depth, nodes and time_ms are for UCI engines"),
    (("stockfish:3@foo=0", WEAK), "'stockfish:3@foo=0' is no player; a limit is written"),
    (("stockfish:3@nodes=0", WEAK), "nodes must be a whole number from 1"),
    (("team:default", WEAK), "OPENAI_API_KEY is not set"),
    (("stockfish:3", WEAK, "--variant", "kings-cooking"), "cannot play kings-cooking"),
    ((WEAK, WEAK, "--variant", "draughts"), "'draughts' is not a variant"),
    ((WEAK, WEAK, "--fen", "x"), "'x' is not a FEN"),
    ((WEAK, WEAK, "--fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "the game is over there"),
    ((WEAK, WEAK, "--fen", chess.STARTING_FEN, "--openings", "all"), "exclude each other"),
    ((WEAK, WEAK, "--openings", "Ruy Lopes"), "did you mean 'Ruy Lopez"),
    ((WEAK, WEAK, "--openings", "e4 e5 Ke3"), "cannot be played: 'Ke3'"),
    ((WEAK, WEAK, "--openings", "E99"), "none of our openings has the code E99"),
    ((WEAK, WEAK, "--openings", " "), "' ' is neither a file, nor an opening of ours, nor moves"),
    ((WEAK, WEAK, "--openings", "x" * 5000), "is neither a file, nor an opening"),
    ((WEAK, WEAK, "--openings", "\x1b[31m"), r"'\x1b[31m' is neither"),
    ((WEAK, WEAK, "--openings", "nothing.pgn"), "nothing.pgn cannot be read: No such file"),
    ((WEAK, WEAK, "--openings", "nothing.epd"), "'nothing.epd' cannot be read: No such file"),
    ((WEAK, WEAK, "--openings", "over.pgn"), "over.pgn has no opening of Chess"),
    ((WEAK, WEAK, "--openings", "over.epd"), "over.epd has no position of Chess"),
    ((WEAK, WEAK, "--openings", "e4", "--variant", "chess960"), "'e4' is no file"),
    ((WEAK, WEAK, "--openings", "over.pgn", "--variant", "chess960"), "no opening: it is of Chess"),
    ((WEAK, WEAK, "--openings", "all", "--openings", "none"), "balanced and none stand alone"),
    ((WEAK, WEAK, "--openings", "balanced", "--variant", "kings-cooking"), "to balance openings"),
    ((WEAK, WEAK, "--openings", "balanced", "--opening-plies", "3"), "an even number of plies"),
    ((WEAK, WEAK, "--openings", "B", "--max-plies", "4"), "the opening has as many plies already"),
    ((WEAK, WEAK, "--tc", "soon"), "'soon' is not a time control"),
    ((WEAK, WEAK, "--resign", "much"), "--resign takes whole numbers, not 'much'"),
    ((WEAK, WEAK, "--resign", "0"), "--resign takes numbers from 1 on, not '0'"),
    ((WEAK, WEAK, "--draw", "10,8,40,2"), "--draw takes whole numbers, not '10,8,40,2'"),
    ((WEAK, WEAK, "--sprt", "x"), "--sprt takes two numbers, as in 0,50"),
    ((WEAK, WEAK, "--sprt", "50,0"), "the bounds 50 and 0 cannot be"),
    ((WEAK, WEAK, "--sprt", "0,50", "--no-swap"), "--sprt counts pairs"),
    ((WEAK, WEAK, "--games", "0"), "'--games'"),
    ((WEAK, WEAK, "--usd", "inf"), "'--usd': Input should be less than"),
    ((WEAK, WEAK, "--usd", "nan"), "'--usd': Input should be"),
    ((WEAK, WEAK, "--tokens", "9" * 23), "'--tokens'"),
    ((WEAK, WEAK, "--calls", "9" * 23), "'--calls'"),
    ((WEAK, WEAK, "--pgn", "/nowhere/x.pgn"), "'/nowhere/x.pgn' cannot be written"),
    ((WEAK, WEAK, "--pgn", "-", "--json"), "both print on standard output"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_a_sentence_before_anything_is_played(
    folder, monkeypatch, arguments, sentence
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (folder / "over.pgn").write_text("1. f3 e5 2. g4 Qh4# 0-1\n")
    (folder / "over.epd").write_text("7k/5Q2/6K1/8/8/8/8/8 b - -\nnonsense\n")
    run = match(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert sentence in " ".join(run.stderr.split())
    assert "\x1b" not in run.stderr


def test_a_full_device_ends_the_games_with_a_sentence():
    run = match(WEAK, WEAK, "-n", 3, "--max-plies", 20, "--pgn", "/dev/full")
    assert run.returncode == 1
    assert run.stderr == (
        "kibitz: game 1 counts and is not kept: '/dev/full' cannot be written:"
        " No space left on device\n"
    )
    assert "1 of 3 games" in run.stdout


def test_games_are_kept_also_where_nobody_listens(folder):
    """Rich and others take for granted that there is a standard output."""
    command = f"exec {KIBITZ} match {WEAK} {WEAK} -n 2 --max-plies 12 --pgn games.pgn >&-"
    run = subprocess.run(
        ["sh", "-c", command], capture_output=True, timeout=HANGS_AFTER, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert len(games_in((folder / "games.pgn").read_text())) == 2
