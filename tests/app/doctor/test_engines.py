"""What the doctor says of UCI engines: the real Stockfish, and those that misbehave."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.uci.errors import UciDied, UciTimedOut
from app.doctor.engines import look_at_engine, look_at_stockfish
from app.doctor.findings import Sign
from tests.support.processes import HANGS_AFTER, program, run, told

PATIENCE = timedelta(seconds=HANGS_AFTER)
SOON = timedelta(seconds=0.2)


def stockfish(options=None, patience=PATIENCE):
    (finding,) = run(look_at_stockfish(options or {}, patience))
    return finding


def engine(mode, patience=PATIENCE, *, is_ours=True, **changes):
    looked = look_at_engine("crash", replace(program(mode), **changes), patience, is_ours=is_ours)
    (finding,) = run(looked)
    assert finding.subject == "uci:crash"
    return finding


# --- Stockfish ---


def test_stockfish():
    finding = stockfish({"Hash": 1, "Threads": 2})
    assert (finding.subject, finding.sign) == ("Stockfish", Sign.OK)
    speed, path = finding.figures["nodes_per_second"], finding.figures["path"]
    assert finding.case == f"{finding.figures['name']}, {path}, {speed:,} nodes/s on one thread"
    assert finding.figures["name"].startswith("Stockfish ")
    assert Path(path).is_absolute()
    assert speed > 1000
    assert len(str(speed).rstrip("0")) <= 2


def test_an_option_that_stockfish_has_not():
    finding = stockfish({"Hahs": 1})
    assert finding.sign is Sign.FAIL
    assert finding.case.startswith("Stockfish's option 'hahs': ")
    assert finding.advice == "mend stockfish_options in the settings"


def test_without_stockfish(monkeypatch, tmp_path):
    monkeypatch.delenv("STOCKFISH_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("agents.uci.program.USUAL_PLACES", (tmp_path,))
    finding = stockfish()
    assert finding.sign is Sign.FAIL
    assert finding.case == "it was not found in the usual places and PATH"
    assert "apt install stockfish" in finding.advice


def test_stockfish_where_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("STOCKFISH_PATH", str(tmp_path / "fish"))
    finding = stockfish()
    assert finding.sign is Sign.FAIL
    assert finding.case == f"STOCKFISH_PATH names {tmp_path / 'fish'}, where there is none"
    assert finding.advice == "let STOCKFISH_PATH name its program, or unset it"


def as_stockfish(monkeypatch, tmp_path, mode, log=""):
    script = tmp_path / "stockfish"
    command = " ".join(f"'{part}'" for part in program(mode).command)
    log = f"UCI_LOG='{log}' " if log else ""
    script.write_text(f"#!/bin/sh\n{log}exec {command}\n")
    script.chmod(0o755)
    monkeypatch.setenv("STOCKFISH_PATH", str(script))


def test_speed_is_that_of_one_thread_from_an_empty_memory(monkeypatch, tmp_path):
    log = tmp_path / "log"
    as_stockfish(monkeypatch, tmp_path, "CountsNodes", log)
    finding = stockfish({"Threads": 4})
    assert finding.figures["nodes_per_second"] > 1
    lines = told(log)
    searches = [at for at, line in enumerate(lines) if line.startswith("go movetime 2000 nodes")]
    assert "setoption name Threads value 4" in lines[: searches[0]]
    assert "setoption name Threads value 1" in lines[: searches[0]]
    assert len(searches) == 3
    for at in searches:
        assert lines[at - 2 : at] == ["ucinewgame", "position startpos"]


def test_an_engine_that_counts_nothing_has_no_speed(monkeypatch, tmp_path):
    as_stockfish(monkeypatch, tmp_path, "Remarks")
    finding = stockfish()
    assert finding.sign is Sign.OK
    assert finding.figures["nodes_per_second"] is None
    assert finding.case.endswith("/stockfish")


@pytest.mark.parametrize(
    ("mode", "error"), [("DiesAtStart", UciDied), ("DiesThinking", UciDied), ("Deaf", UciTimedOut)]
)
def test_a_stockfish_that_misbehaves(monkeypatch, tmp_path, mode, error):
    as_stockfish(monkeypatch, tmp_path, mode)
    with pytest.raises(error):
        stockfish(patience=SOON if error is UciTimedOut else PATIENCE)


# --- others ---


def test_an_engine_that_plays():
    finding = engine("Engine")
    assert finding.sign is Sign.OK
    assert finding.case == f"Crash Test 1.0, {program().command[0]}, plays"


@pytest.mark.parametrize(
    ("mode", "case"),
    [
        (
            "DiesAtStart",
            "Crash Test process died while starting (exit code 3), saying 'cannot find",
        ),
        ("DiesGettingReady", "Crash Test process died while getting ready (exit code 6)"),
        ("DiesThinking", "Crash Test process died while thinking (exit code 7)"),
        ("Babbles", "Crash Test does not speak UCI: "),
    ],
)
def test_an_engine_that_misbehaves(mode, case):
    finding = engine(mode)
    assert finding.sign is Sign.FAIL
    assert finding.case.startswith(case)
    assert finding.advice == (
        "mend `command` of [engines.crash] in the settings, or take the engine away"
    )


@pytest.mark.parametrize("mode", ["Silent", "NeverReady", "IgnoresStop"])
def test_an_engine_that_hangs(mode):
    finding = engine(mode, SOON)
    assert finding.sign is Sign.FAIL
    assert "Crash Test timed out: " in finding.case


@pytest.mark.parametrize("mode", ["IgnoresQuit", "IgnoresSignals"])
def test_an_engine_that_does_not_end_is_ended(mode):
    assert engine(mode).sign is Sign.OK


def test_an_engine_that_is_not_there():
    finding = engine("Engine", command=("/nothing/here",))
    assert finding.case == "Crash Test was not found at '/nothing/here'"


def test_an_option_that_an_engine_has_not():
    finding = engine("Engine", options={"Elo": 3})
    assert finding.case.startswith("Crash Test's option 'elo': ")
    assert finding.advice.startswith("mend `options` of [engines.crash]")


def test_an_engine_that_nobody_has_asked_for_is_no_failure():
    finding = engine("DiesAtStart", is_ours=False)
    assert finding.sign is Sign.WARN
    assert finding.advice == "install Crash Test anew, or do without it"
