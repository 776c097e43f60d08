"""`kibitz match` while it lasts: signals, as a process gets them, and what a terminal shows."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from app.cli.evaluations.progress import Bars
from app.cli.evaluations.texts import progress_line
from app.cli.series.show import BarShow, progress_of
from app.cli.series.texts import elo_text
from app.evaluations.games import PlayedGame, SideRecord
from app.matches.settings import MatchSettings, PlayerSettings
from app.series.plan import SeriesPlan, told_apart
from app.series.results import SeriesResult, Status
from engine import Termination
from tests.support import uci_engine
from tests.support.command_line import KIBITZ
from tests.support.model_server import (
    Hangs,
    model_server_in_thread,
)
from tests.support.pgn_oracle import games_in
from tests.support.processes import HANGS_AFTER, MARK, run, survivors, told, until
from tests.support.terminal import on_terminal

#: Players who are quick, one of whom is much the stronger.
WEAK, STRONG = "random", "classical@nodes=50"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Be in a folder of one's own, with nothing set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    return tmp_path


# --- signals, as only a real process gets them ---


def start(*arguments, **environment):
    return subprocess.Popen(
        [KIBITZ, "match", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"UCI_MARK": MARK} | environment,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_breaks_off_the_games_under_way_and_keeps_what_is_finished(folder, number, code):
    process = start(
        STRONG, "stockfish:1@nodes=50", "-n", "9999", "--concurrency", "2", "--max-plies", "20",
        "--pgn", "games.pgn",
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(number)
    output, errors = process.communicate(timeout=2 * HANGS_AFTER)
    assert (process.returncode, errors) == (code, "")
    count = int(re.search(r"^(\d+) of 9,999 games were played in .* interrupted", output, re.M)[1])
    assert count >= 3
    assert len(games_in((folder / "games.pgn").read_text())) == count
    assert survivors() == set()


def test_a_second_signal_leaves_at_once(folder):
    """While a model thinks for ever, and then an engine does not want to end."""
    command = [sys.executable, "-I", "-S", uci_engine.__file__, "IgnoresQuit"]
    log = folder / "engine.log"
    (folder / "kibitz.toml").write_text(
        f"[engines.mine]\ncommand = {json.dumps(command)}\n"
        f"environment = {{ UCI_LOG = {json.dumps(str(log))} }}\n"
    )
    with model_server_in_thread(Hangs()) as server:
        providers = json.dumps({"openai": {"base_url": server.base_url}})
        process = start(
            "solo:default", "uci:mine", "--tc", "60", "--pgn", "games.pgn",
            KIBITZ_PROVIDERS=providers, OPENAI_API_KEY="sk-secret-of-the-test",
        )  # fmt: skip
        server.received(1)
        process.send_signal(signal.SIGINT)
        asyncio.run(
            asyncio.wait_for(until(lambda: log.exists() and "quit" in told(log)), HANGS_AFTER)
        )
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=2 * HANGS_AFTER)
    assert (process.returncode, output, errors) == (130, "", "")
    assert (folder / "games.pgn").read_text() == ""
    assert survivors() == set()


# --- what is shown meanwhile ---


def result_of(*winners):
    """Return a series of games with these winners: the first player, the second, or none."""
    players = told_apart(PlayerSettings("a"), PlayerSettings("b"))
    plan = SeriesPlan(MatchSettings(*players), len(winners))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    games = []
    for number, winner in enumerate(winners, 1):
        slot = plan.slot(number)
        color = None if winner is None else slot.color_of(winner)
        ending = Termination.AGREEMENT if winner is None else Termination.CHECKMATE
        sides = (SideRecord(), SideRecord())
        games.append(
            PlayedGame(number, "id", *slot.labels, "", slot.pair, color, ending, 9, 0, *sides, at)
        )
    spent = dict.fromkeys(plan.labels, SideRecord())
    return SeriesResult(plan, Status.PLAYING, "", tuple(games), (), 0, spent, at, timedelta(0))


WORDS = [
    ((), ""),
    ("aa", "Elo > +6"),
    ((None,) * 4, "Elo +0 ± 248"),
    ("ababaaabaa", "Elo +147 ± 211, the stronger one with a likelihood of 96.6 %"),
]


@pytest.mark.parametrize(("winners", "words"), WORDS)
def test_a_few_words_tell_how_much_stronger_somebody_is(winners, words):
    result = result_of(*winners)
    assert elo_text(result) == words
    progress = progress_of(result)
    assert progress["games"] == {"scored": len(winners), "expected": len(winners)}
    assert progress["waiting"] == words
    assert progress_line(progress).startswith(f"{len(winners)} games")


def test_what_comes_too_soon_to_be_drawn_is_drawn_later(monkeypatch):
    drawn = []
    results = [result_of(*"a" * games) for games in (1, 2, 3)]
    monkeypatch.setattr(Bars, "show", lambda bars, told: drawn.append(told["games"]["scored"]))

    async def play():
        show = BarShow(results[0].plan, Console(file=io.StringIO()))
        for result in results:
            show.ended(result.games[-1], lambda: results[-1])
            await until(lambda: drawn)
        await until(lambda: len(drawn) > 1)  # without another game

    run(play())
    assert drawn == [3, 3]


# --- on a terminal ---


def test_a_game_is_drawn_as_it_is_played_and_the_last_picture_stays():
    with on_terminal("match", "stockfish:8@time_ms=30", STRONG, "--tc", "5", "--seed", "2",
                     "--max-plies", "30") as terminal:  # fmt: skip
        terminal.see("▶ stockfish:8")
        assert terminal.see_end() == 0
        terminal.see("stockfish:8 at 30 ms (White) against classical at 50 nodes (Black):")
        for seen in ("Kibitz", "♚", "04:5"):
            assert seen in terminal.text, terminal.picture()


def test_several_games_get_a_bar_and_ctrl_c_ends_them():
    with on_terminal("match", WEAK, STRONG, "-n", "2000", "--concurrency", "2") as terminal:
        terminal.see(lambda seen: re.search(r"━.* \d+ of 2000 games, .* left", seen.text))
        terminal.see(lambda seen: re.search(r"Elo [<-].*\d", seen.text))
        terminal.press("ctrl-c")
        assert terminal.see_end() == 130
        assert "of 2,000 games were played" in terminal.text
        assert "2000 games" not in terminal.text
        assert "Traceback" not in "\n".join(terminal.scrolled)
