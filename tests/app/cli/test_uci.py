"""`kibitz uci` as GUIs use it; the client is that of python-chess, the processes are real.

What needs no process of its own runs in this one.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from random import Random

import chess
import chess.engine
import pytest
import typer

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci.limits import Limit
from agents.uci.program import UciProgram
from app.cli.uci import uci
from engine import Game
from tests.support import processes
from tests.support.command_line import KIBITZ, kibitz
from tests.support.model_server import AnswersSchema, Hangs, model_server_in_thread
from tests.support.processes import HANGS_AFTER, LINUX, MARK
from tests.support.team_matches import MODEL, PROVIDER, by_role
from tests.support.terminal import on_terminal

pytestmark = pytest.mark.usefixtures("measured_processes")

SECRET = "sk-hush-hush-0123456789"
UNLIMITED = chess.engine.Limit()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place of one's own: no settings but those that a test makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path))
    monkeypatch.setenv("UCI_MARK", MARK)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def settings_for(folder, base_url):
    """Write settings with a provider of our own."""
    (folder / "kibitz.toml").write_text(
        f'model = "{MODEL}"\n[providers.{PROVIDER}]\nbase_url = "{base_url}"\n'
        'api_key_env = "LOOP_KEY"\n'
    )


@contextlib.contextmanager
def client(*arguments):
    """An engine of python-chess, with us as the engine."""
    with chess.engine.SimpleEngine.popen_uci(
        [str(KIBITZ), "uci", *arguments], timeout=HANGS_AFTER
    ) as engine:
        yield engine
        engine.quit()  # which waits for the end, where leaving the context would kill


# --- whole games ---


def test_whole_games_are_played():
    """One of ours beats another, with clocks, in standard chess and in Chess960."""
    with (
        client("--player", "stockfish:8", "--nodes", "300") as strong,
        client("--player", "random", "--seed", "1") as weak,
    ):
        assert re.fullmatch(r"Kibitz [\d.]+ \(stockfish:8\)", strong.id["name"])
        for board in (chess.Board(), chess.Board.from_chess960_pos(959)):
            clock = chess.engine.Limit(
                white_clock=600, black_clock=600, white_inc=1, black_inc=1, remaining_moves=40
            )
            while not board.is_game_over(claim_draw=False):
                engine = strong if board.turn is chess.WHITE else weak
                result = engine.play(board, clock, info=chess.engine.INFO_ALL)
                if engine is strong:
                    assert result.info["pv"][0] == result.move
                    assert result.info["score"].turn is chess.WHITE
                board.push(result.move)
            assert board.result() == "1-0"


def test_a_team_plays_is_stopped_and_ponders(folder, monkeypatch):
    monkeypatch.setenv("LOOP_KEY", SECRET)
    with model_server_in_thread(AnswersSchema()) as server:
        settings_for(folder, server.base_url)
        ledger = folder / "calls.jsonl"
        with client("--ledger", str(ledger), "--log", str(folder / "log")) as engine:
            _play_as_a_team(engine)
            _stop_a_team(engine, server)
    log = (folder / "log").read_text()
    calls = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert {"ok", "cancelled"} == {each["outcome"] for each in calls}
    assert " > isready\n" in log
    assert re.search(r"< info string selector: \S+ \(because\)\n", log)
    assert SECRET not in log + ledger.read_text()
    assert processes.survivors() == set()


def _play_as_a_team(engine):
    """A game against random moves; every answer is legal, or the client would raise."""
    board, random = chess.Board(), Random(5)
    engine.configure({"Retries": 1, "Budget Calls": 100})
    for _ in range(6):
        result = engine.play(board, chess.engine.Limit(time=60), ponder=True)
        board.push(result.move)
        board.push(random.choice(list(board.legal_moves)))
    result = engine.play(board, UNLIMITED, root_moves=[random.choice(list(board.legal_moves))])
    assert result.move in board.legal_moves
    with pytest.raises(chess.engine.EngineError):
        engine.configure({"Hash": 16})


def _stop_a_team(engine, server):
    asked = len(server.requests)
    server.behave(by_role(selector=Hangs()))
    with engine.analysis(chess.Board()) as analysis:
        told = next(info["string"] for info in analysis if "string" in info)
        assert re.match(r"(tactical|positional): ", told)
        server.received(asked + 3)
        analysis.stop()
        best = analysis.wait()
    assert best.move in chess.Board().legal_moves
    engine.ping()


def test_our_own_client_plays_with_us():
    """`uci:kibitz` is one of us, as a UCI engine of one of us."""

    async def play():
        program = UciProgram(
            "Kibitz",
            (str(KIBITZ), "uci", "--player", "random", "--seed", "3"),
            environment={"UCI_MARK": MARK},
        )
        async with Catalogue({"kibitz": program}, processes=1) as catalogue:
            us = catalogue.seat("uci:kibitz", "chess960", limit=Limit(time=timedelta(seconds=30)))
            other, game = catalogue.seat("random", seed=4), Game(variant="chess960")
            while not game.is_over and len(game.plies) < 60:
                player = us if len(game.plies) % 2 == 0 else other
                game.play((await player.decide(Turn.of(game))).move)
            (process,) = catalogue.pool("uci:kibitz").processes
            assert process.name.endswith("(random)")
            assert "UCI_Chess960" in process.options

    processes.run(play(), hangs_after=2 * HANGS_AFTER)


# --- what comes over a real pipe ---


def started(*arguments, **streams):
    return subprocess.Popen(
        [str(KIBITZ), "uci", *arguments],
        stdin=streams.pop("stdin", subprocess.PIPE),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **streams,
    )


def heard(process, beginning):
    """Return the next line that begins so; one that falls silent is killed, and that fails."""
    silent = threading.Timer(HANGS_AFTER, process.kill)
    silent.start()
    try:
        for line in process.stdout:
            if line.startswith(beginning):
                return line.decode().rstrip()
        raise AssertionError(process.stderr.read().decode())
    finally:
        silent.cancel()


def test_garbage_does_not_keep_it_from_playing():
    with started("--player", "random") as process:
        noise = Random(1).randbytes(100_000).replace(b"quit", b"QUIZ") + b"\n\0\0\n\xff\xfe\n"
        noise += b"position startpos moves " + b"e2e4 " * 1_000_000 + b"\n"
        noise += b"setoption name \xff value \0\nposition fen \xff\ngo\xff\n"
        told = threading.Thread(target=lambda: process.stdin.write(noise + b"isready\n"))
        told.start()
        told_not_read = heard(process, b"info string a line was too long")
        assert told_not_read
        process.stdin.flush()
        told.join(HANGS_AFTER)
        process.stdin.flush()
        heard(process, b"readyok")
        process.stdin.write(b"position startpos\ngo\n")
        process.stdin.flush()
        move = heard(process, b"bestmove").split()[1]
        assert chess.Move.from_uci(move) in chess.Board().legal_moves
        out, err = process.communicate(b"quit\n", timeout=HANGS_AFTER)
    assert (process.returncode, out, err) == (0, b"", b"")


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (signal.SIGTERM, 143),
        ("deaf", 143),
        ("deaf and gone", 0),
        ("broken pipe", 0),
        ("end of input", 0),
    ],
)
def test_it_ends_and_leaves_nothing_behind(end, code):
    with started("--player", "stockfish:8") as process:
        process.stdin.write(b"isready\ngo infinite\n")
        process.stdin.flush()
        heard(process, b"info depth 5")
        children = children_of(process.pid)
        assert bool(children) == LINUX
        if end == "broken pipe":
            process.stdout.close()
        elif end == "end of input":
            process.stdin.close()
            assert heard(process, b"bestmove")
        elif end == "deaf":  # it is told more than a pipe holds, and reads none of it
            stuff(process.stdin.fileno())
            process.send_signal(signal.SIGTERM)
        elif end == "deaf and gone":
            stuff(process.stdin.fileno())
            process.stdin.close()
        else:
            process.send_signal(end)
        assert process.wait(HANGS_AFTER) == code
        assert process.stderr.read() == b""
        process.stdin.close()
    assert processes.survivors() == set()
    assert not [each for each in children if Path(f"/proc/{each}").exists()]


def stuff(pipe):
    """Write until nobody reads it any more."""
    os.set_blocking(pipe, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(pipe, b"uci\n" * 1000)


def children_of(pid):
    """Return the processes that another one has started."""
    return {
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[1] == str(pid)
    }


def test_somebody_types_by_hand():
    with on_terminal("uci", "--player", "random") as terminal:
        terminal.see("Kibitz is a UCI engine here: `uci`, `isready`")
        terminal.enter("uci")
        terminal.see("uciok")
        terminal.enter("go")
        terminal.see("bestmove ")
        terminal.press("ctrl-d")
        assert terminal.see_end() == 0


# --- in this process ---


def said(result):
    return result.stdout.splitlines()


def test_a_file_of_commands_is_answered():
    result = kibitz(
        "uci", "--player", "random", stdin=b"uci\ngo\nucinewgame\nplease quit now\ngo\n"
    )
    assert result.returncode == 0
    assert said(result)[0].startswith("id name Kibitz")
    assert sum(line.startswith("bestmove") for line in said(result)) == 1  # `quit` it said


def test_limits_hold_whatever_the_gui_asks_for():
    mate = b"position fen k7/8/K7/8/8/8/8/7R w - - 0 1\ngo depth 30 nodes 5000000\n"
    result = kibitz("uci", "--player", "classical", "--nodes", "200", stdin=mate)
    assert "bestmove h1h8" in result.stdout
    with started("--player", "stockfish:8", "--depth", "2") as process:
        process.stdin.write(b"go depth 30\n")
        process.stdin.flush()
        told = []
        while not told or not told[-1].startswith("bestmove"):
            told.append(heard(process, b""))
        process.communicate(b"quit\n", timeout=HANGS_AFTER)
    depths = {int(each.split()[2]) for each in told if each.startswith("info depth")}
    assert max(depths) == 2


def test_what_is_said_is_logged(folder):
    log = folder / "log"
    for _ in range(2):
        kibitz("uci", "--player", "random", "--log", str(log), stdin=b"uci\n")
    lines = log.read_text().splitlines()
    assert [line for line in lines if line.endswith("> uci")] == [lines[0], lines[len(lines) // 2]]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} < uciok", lines[-1])


def test_requests_per_minute_are_kept_to(folder, monkeypatch):
    monkeypatch.setenv("LOOP_KEY", SECRET)
    with model_server_in_thread(AnswersSchema()) as server:
        settings_for(folder, server.base_url)
        with (folder / "kibitz.toml").open("a") as file:
            file.write("requests_per_minute = 60\n")
        result = kibitz("uci", "--player", "solo:default", stdin=b"isready\ngo movetime 60000\n")
    assert result.returncode == 0
    assert (folder / "kibitz-rate-limits.db").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--player", "nobody"], "'nobody' is not a player; known are random"),
        (["--player", "human"], "'human' cannot play as a UCI engine here"),
        (["--player", "solver"], "'solver' cannot play standard: it plays kings-cooking only"),
        (["--player", "stockfish:9"], "level must be between 1 and 8, not '9'"),
        (["--player", "random", "--nodes", "5"], "--depth, --nodes and --seconds are for UCI eng"),
        (["--player", "classical", "--depth", "5"], "classical thinks by nodes or time"),
        (["--player", "classical", "--nodes", "9999999"], "classical looks at 5000000 --nodes"),
        (["--player", "classical", "--seconds", "9999"], "a time must be from 0.001 to 3600"),
        (["--player", "stockfish:8", "--seconds", "nan"], "a time must be from"),
        (["--player", "x\nbestmove e2e4"], "--player: 'x\\nbestmove e2e4' is no name"),
        (["--player", "random", "--budget-usd", "x"], "--budget-usd: 'x' is no sum in dollars"),
        (["--player", "random", "--log", "/no/such/file"], "/no/such/file cannot be written"),
        (["--player", "random", "--ledger", "."], ". cannot be written: Is a directory"),
        (["--player", "random", "--retries", "21"], "--retries"),
    ],
)
def test_mistakes_get_a_sentence(arguments, told):
    result = kibitz("uci", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("kibitz: ")
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_settings_that_are_wrong_get_a_sentence(folder):
    (folder / "kibitz.toml").write_text("engine_processes = 0\n")
    result = kibitz("uci", stdin=b"uci\nisready\n")
    assert result.returncode == 2
    assert result.stderr.startswith("kibitz: the setting engine_processes is wrong: ")
    assert "uciok" in result.stdout


def test_without_emergency_moves_the_exit_code_tells():
    with started("--no-emergency") as process:
        process.stdin.write(b"isready\nsetoption name Retries value 0\ngo\n")
        process.stdin.flush()
        lack = heard(process, b"info string team:default has no move")
        assert process.wait(HANGS_AFTER) == 1
        out, err = process.stdout.read(), process.stderr.read()
        process.stdin.close()
    assert "OPENAI_API_KEY is not set" in lack
    assert out == b""
    assert err.startswith(b"kibitz: 'team:default' has no move, and nobody may move")


def test_output_that_cannot_be_written_is_told():
    with Path("/dev/full").open("wb", buffering=0) as full:
        result = subprocess.run(
            [str(KIBITZ), "uci", "--player", "random"],
            input=b"uci\n",
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=HANGS_AFTER,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == b"kibitz: the output cannot be written: No space left on device\n"


def test_without_a_gui_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(typer.BadParameter, match="is closed, where a GUI should be"):
        uci(player="random")
