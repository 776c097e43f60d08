"""Ctrl-Z: the shell gets its terminal, and nobody loses by it."""

import os
import signal
import time

import pytest

from agents import timekeeping
from app.cli.series.show import GameLines
from app.matches.events import EventType
from tests.support.command_line import KIBITZ, kibitz
from tests.support.terminal import on_terminal

SLOW = "stockfish:8@time_ms=100"
HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)


DRAWN = [
    (f"match {SLOW} {SLOW}", "1. "),
    (f"match {SLOW} {SLOW} -n 50 --max-plies 40 --concurrency 2", "of 50 games"),
    ("play --white stockfish:8 --black stockfish:8", "1. "),
]


@pytest.mark.parametrize(("command", "sign"), DRAWN)
def test_the_shell_has_its_cursor_while_what_is_drawn_is_stopped(command, sign):
    # Only a shell with jobs can have it stopped: nobody could let an orphan go on.
    shell = f"{KIBITZ} {command}; read -p 'Back? '; fg; echo code $?"
    with on_terminal("--norc", "-i", "-c", shell, command="/bin/bash") as terminal:
        terminal.see(sign)
        terminal.press("ctrl-z")
        terminal.see("Back?")
        assert terminal.written.rindex(SHOWN) > terminal.written.rindex(HIDDEN)
        before = len(terminal.written)
        terminal.enter()
        terminal.see(lambda it: HIDDEN in it.written[before:])
        terminal.press("ctrl-c")
        terminal.see("code ")
        assert terminal.see_end() == 0
        assert terminal.written.rindex(SHOWN) > terminal.written.rindex(HIDDEN)
        assert b"Traceback" not in terminal.written


def test_a_clock_of_a_game_stands_still_while_it_is_stopped(monkeypatch):
    """In this process, which is not stopped really: an hour passes all the same."""
    clock, stops = time.clock_gettime_ns, []
    hour = 3_600 * 10**9

    def press(show, slot, event):
        if event.type is EventType.PLY and not stops:
            os.kill(os.getpid(), signal.SIGTSTP)

    monkeypatch.setattr(timekeeping, "_started_ns", timekeeping._started_ns)  # given back after it
    monkeypatch.setattr(GameLines, "told", press)
    monkeypatch.setattr(signal, "raise_signal", stops.append)
    monkeypatch.setattr(time, "clock_gettime_ns", lambda kind: clock(kind) + hour * len(stops))
    run = kibitz("match", SLOW, SLOW, "--tc", "5+0", "--max-plies", "4")
    assert run.returncode == 0, run.stderr
    assert stops
    assert "the match is as long as it may be" in run.stdout
