"""`kibitz doctor` as a person runs it, on installations that are well and that are not."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from agents.uci.limits import Limit
from app.cli import doctor
from app.doctor import checkup, engines
from app.doctor.findings import Finding, Sign
from app.persistence import schema
from tests.app.doctor.test_service import free_port
from tests.support import uci_engine
from tests.support.command_line import KIBITZ, kibitz
from tests.support.folders import snapshot
from tests.support.model_server import Fails, Hangs, Says, model_server_in_thread
from tests.support.processes import HANGS_AFTER, MARK, survivors
from tests.support.terminal import on_terminal

SECRETS = {
    "MINE_KEY": "sk-key-that-nobody-may-see",
    "OPENAI_API_KEY": "sk-another-key",
    "KIBITZ_API_TOKENS": "read:token-to-read,write:token-to-write",
    "HTTPS_PROXY": "http://me:password-of-proxy@127.0.0.1:1",
}
HIDDEN = (
    "sk-key-that-nobody-may-see", "sk-another-key", "token-to-read", "token-to-write",
    "password-of-proxy", "password-of-database", "license-of-engine",
)  # fmt: skip
SUBJECTS = [
    "Python", "Settings", "Data folder", "Disk", "Database", "Migrations", "Stockfish", "Teams",
    "Ratings", "Model", "Service", "Terminal", "Browser",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place of one's own, where nothing is but what a test makes, and Stockfish."""
    for name in [*SECRETS, "KIBITZ_CONFIG", "KIBITZ_DATABASE", "FORCE_COLOR", "NO_COLOR"]:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("KIBITZ_PORT", str(free_port()))
    monkeypatch.setattr(checkup, "find_well_known", dict)
    monkeypatch.setattr(engines, "_TRIAL", Limit(nodes=100))
    return home


@pytest.fixture
def hasty(monkeypatch):
    """Wait for nobody for long."""
    patience = checkup.Patience(timedelta(seconds=0.3), timedelta(seconds=0.3))
    monkeypatch.setattr(checkup.check_up, "__defaults__", (checkup.Wish(), patience))


def examined(*arguments, code=0, **environment):
    """Return what is found by subject, once nothing was left behind or given away."""
    home = os.environ["HOME"]
    before = snapshot(Path(home))
    run = kibitz("doctor", "--json", *arguments, **environment)
    assert snapshot(Path(home)) == before
    assert (run.returncode, run.stderr) == (code, "")
    for secret in HIDDEN:
        assert secret not in run.stdout
    told = json.loads(run.stdout)
    assert told["is_well"] is (code == 0)
    found = {}
    for each in told["findings"]:
        found.setdefault(each["subject"], []).append(each)
    return found


def engine(mode):
    return [sys.executable, "-I", "-S", uci_engine.__file__, mode]


# --- what is printed ---


def test_an_installation_that_is_well(folder):
    schema.upgrade(f"sqlite:///{folder / 'data' / 'kibitz' / 'kibitz.db'}")
    found = examined(OPENAI_API_KEY=SECRETS["OPENAI_API_KEY"])
    assert list(found) == SUBJECTS
    signs = {subject: each["sign"] for subject, [each] in found.items()}
    assert {signs[subject] for subject in SUBJECTS[:10]} == {"ok"}
    assert {signs[subject] for subject in SUBJECTS[10:]} == {"note"}


def test_the_report_has_a_line_for_each_and_advice_below(folder):
    (folder / "kibitz.toml").write_text('[engines.bad]\ncommand = "/nothing/here"\n')
    before = snapshot(folder)
    run = kibitz("doctor")
    assert (run.returncode, run.stderr) == (1, "")
    assert snapshot(folder) == before
    lines = run.stdout.splitlines()
    assert [line.split("  ")[0].strip() for line in lines if line[:1].strip()][:-1] == (
        ["ok"] * 6 + ["FAIL", "ok", "ok", "warn"] + ["note"] * 3
    )
    at = next(at for at, line in enumerate(lines) if line.startswith("FAIL"))
    assert lines[at] == "FAIL  uci:bad      bad was not found at '/nothing/here'"
    assert lines[at + 1] == (
        " " * 19 + "→ mend `command` of [engines.bad] in the settings, or take the engine away"
    )
    assert not any(line != line.rstrip() for line in lines)
    assert lines[-2:] == [
        "", "One thing failed and should be mended, and one thing may be."
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("signs", "summary"),
    [
        ([], "All is well."),
        (["note"], "All is well."),
        (["warn"], "Kibitz can be used; one thing cannot, until mended."),
        (["warn", "warn"], "Kibitz can be used; 2 things cannot, until mended."),
        (["FAIL"], "One thing failed and should be mended."),
        (["FAIL", "FAIL", "warn"], "2 things failed and should be mended, and one thing may be."),
    ],
)
def test_the_summary(signs, summary):
    assert doctor._summary([Finding("It", Sign(sign), "") for sign in signs]) == summary


FINDINGS = [
    Finding("Python", Sign.OK, "3.11.7 (CPython), Kibitz 0.1.0"),
    Finding("Disk", Sign.FAIL, "0 MB free at /somewhere/far/away/國際象棋棋盤", "free some room"),
]


def printed(monkeypatch, capsys, columns):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    doctor._print(FINDINGS)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    return [line.rstrip() for line in lines]


def test_the_report_fits_the_window(monkeypatch, capsys):
    assert printed(monkeypatch, capsys, 45) == [
        "ok    Python  3.11.7 (CPython), Kibitz 0.1.0",
        "FAIL  Disk    0 MB free at",
        "              /somewhere/far/away/國際象棋棋",
        "              盤",
        "              → free some room",
        "",
        "One thing failed and should be mended.",
    ]


def test_the_report_fits_a_narrow_window(monkeypatch, capsys):
    assert printed(monkeypatch, capsys, 24) == [
        "ok    Python",
        "    3.11.7 (CPython),",
        "    Kibitz 0.1.0",
        "FAIL  Disk",
        "    0 MB free at",
        "    /somewhere/far/away/",
        "    國際象棋棋盤",
        "    → free some room",
        "",
        "One thing failed and",
        "should be mended.",
    ]
    assert printed(monkeypatch, capsys, 1)


def test_on_a_terminal_one_sees_what_it_looks_at(folder):
    with on_terminal("doctor", cwd=folder) as terminal:
        assert terminal.see_end() == 0
    assert b"Looking at " in terminal.written
    assert "Looking at " not in terminal.text  # it is gone
    row, column = terminal.find("warn")
    assert terminal.cell(row, column).fg == "brown"  # as pyte calls yellow
    assert "Kibitz can be used; " in terminal.text


def test_without_what_everybody_has():
    bare = {name: os.environ[name] for name in os.environ.keys() - {"HOME", "PATH"}}
    run = subprocess.run(
        [str(KIBITZ), "doctor"],
        env=bare | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=2 * HANGS_AFTER,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "-> kibitz serve\n" in run.stdout
    assert "?" not in run.stdout


# --- nothing is given away ---


def test_no_secret_is_shown_wherever_it_comes_from(folder):
    database = "postgresql://me:password-of-database@127.0.0.1:1/kibitz"
    (folder / "kibitz.toml").write_text(
        f"""
        model = "mine/model"
        database = "{database}"
        [engines.bad]
        command = ["/bin/sh", "-c", "echo $LICENSE_KEY >&2; exit 3"]
        environment = {{ LICENSE_KEY = "license-of-engine" }}
        """
    )
    said = Fails(500, f"your key is {SECRETS['MINE_KEY']}, and your token token-to-write")
    with model_server_in_thread(said) as server:
        providers = {"mine": {"base_url": server.base_url, "api_key_env": "MINE_KEY"}}
        variables = {"KIBITZ_PROVIDERS": json.dumps(providers), **SECRETS}
        found = examined("--ask", code=1, **variables)
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRETS['MINE_KEY']}"
        printed = kibitz("doctor", "--ask", **variables).stdout
        given = kibitz("doctor", "--database", f"{database}x", **variables).stdout
    for secret in HIDDEN:
        assert secret not in printed
        assert secret not in given
    assert "your key is *** and your token ***" in found["Answer"][0]["case"]
    assert "saying '***'" in found["uci:bad"][0]["case"]
    assert found["Database"][0]["sign"] == "fail"


def test_broken_settings_give_nothing_away(folder):
    (folder / "kibitz.toml").write_text('api_tokens = ["read:token-to-read", "token-to-write!"]')
    (case,) = examined(code=1, KIBITZ_DATABASE="password-of-database")["Settings"]
    assert case["case"].startswith("the setting api_tokens.1 is wrong: a token has 8 to 200")


def test_nothing_is_obeyed_that_others_say(folder):
    (folder / "kibitz.toml").write_text(
        '[engines.bad]\ncommand = ["/bin/sh", "-c", "printf \'\\\\033[2J\\\\007gone\' >&2; exit 3"]'
    )
    run = kibitz("doctor")
    assert "\x1b" not in run.stdout
    assert "gone" in run.stdout


# --- what is broken ---


def test_broken_settings_leave_the_rest(folder):
    (folder / "kibitz.toml").write_text("prot = 1")
    found = examined("--ask", code=1, KIBITZ_MODLE="x")
    assert [each["advice"] for each in found["Settings"]] == [
        "did you mean port?",
        "did you mean KIBITZ_MODEL?",
    ]
    assert found["Stockfish"][0]["sign"] == "ok"
    for subject in ("Data folder", "Database", "Teams", "Model", "Answer", "Service"):
        (finding,) = found[subject]
        assert finding["sign"] == "note"
        assert finding["case"] == "not looked at, since it depends on the settings"


def test_a_database_can_be_looked_at_without_settings(folder):
    (folder / "kibitz.toml").write_text("prot = 1")
    found = examined("--database", f"sqlite:///{folder / 'new.db'}", code=1)
    assert found["Database"][0]["sign"] == "ok"


def test_without_stockfish(monkeypatch, tmp_path):
    monkeypatch.setattr("agents.uci.program.USUAL_PLACES", (tmp_path,))
    monkeypatch.delenv("STOCKFISH_PATH", raising=False)
    found = examined(code=1, PATH=str(tmp_path))
    assert found["Stockfish"][0]["case"] == "it was not found in the usual places and PATH"


def test_a_database_that_is_a_pipe_and_teams_that_are(folder, hasty):
    os.mkfifo(folder / "pipe.db")
    (folder / "teams").mkdir()
    os.mkfifo(folder / "teams" / "pipe.toml")
    found = examined(
        "--database", f"sqlite:///{folder / 'pipe.db'}", "--ask", code=1,
        KIBITZ_TEAMS_FOLDER=str(folder / "teams"),
    )  # fmt: skip
    assert found["Database"][0]["case"] == f"{folder / 'pipe.db'} is no file"
    assert found["Teams"][0]["case"] == "there is no answer after 0.3 s"
    assert found["Model"][0]["case"] == "not looked at, since the teams cannot be read"
    # Let those go who wait for it.
    os.close(os.open(folder / "teams" / "pipe.toml", os.O_RDWR | os.O_NONBLOCK))


def test_all_that_hangs_at_once(folder, hasty):
    (folder / "kibitz.toml").write_text(f"[engines.deaf]\ncommand = {json.dumps(engine('Deaf'))}")
    with model_server_in_thread(Hangs()) as server, socket.create_server(("127.0.0.1", 0)) as deaf:
        providers = {"ollama": {"base_url": server.base_url}}
        port = deaf.getsockname()[1]
        found = examined(
            "--ask", "ollama/any", code=1,
            KIBITZ_PROVIDERS=json.dumps(providers),
            KIBITZ_PORT=str(port),
            KIBITZ_DATABASE=f"postgresql://me:password-of-database@127.0.0.1:{port}/x",
        )  # fmt: skip
    assert "timed out: starting" in found["uci:deaf"][0]["case"]
    assert found["Answer"][0]["case"].startswith("ollama timed out after ")
    assert found["Service"][0]["case"].endswith(" and says nothing")
    assert found["Database"][0]["case"] == "there is no answer after 1.2 s"
    assert found["Python"][0]["sign"] == "ok"


def test_a_team_that_is_wrong(folder):
    (folder / "teams").mkdir()
    (folder / "teams" / "bad.toml").write_text("what = 1")
    found = examined("--ask", "openai/gpt-5-mini", code=1,
                     KIBITZ_TEAMS_FOLDER=str(folder / "teams"))  # fmt: skip
    assert found["Teams"][0]["case"].startswith("the team 'bad' is wrong: ")
    assert found["Model"][0]["case"] == "not looked at, since the teams cannot be read"
    assert found["Answer"][0]["case"] == "nobody is asked before that is mended"


def test_a_recording_is_not_made(folder):
    found = examined(KIBITZ_RECORD_FILE=str(folder / "calls.jsonl"))
    assert found["Model"][0]["case"].endswith(f"is written to {folder / 'calls.jsonl'}")


def test_a_provider_that_cannot_be_one():
    found = examined(code=1, KIBITZ_PROVIDERS='{"new": {}}')
    assert found["Model"][0]["case"].endswith("its base_url is not set")
    assert found["Teams"][0]["sign"] == "ok"


def test_ratings_that_are_damaged(folder):
    (folder / "data" / "kibitz").mkdir(parents=True)
    (folder / "data" / "kibitz" / "ratings.json").write_text("{")
    found = examined(code=1)
    assert "cannot be read" in found["Ratings"][0]["case"]
    assert found["Ratings"][0]["advice"].startswith("kibitz calibrate")


# --- asking ---


def test_nobody_is_asked_without_being_told():
    with model_server_in_thread(Says("ready")) as server:
        providers = json.dumps({"ollama": {"base_url": server.base_url}})
        settings = {"KIBITZ_PROVIDERS": providers, "KIBITZ_MODEL": "ollama/any"}
        assert "Answer" not in examined(**settings)
        assert server.requests == []
        (default,) = examined("--ask", **settings)["Answer"]
        (team,) = examined("--ask", "team:vote", **settings)["Answer"]
        (model,) = examined("--ask", "ollama/other", **settings)["Answer"]
        assert [each["sign"] for each in (default, team, model)] == ["ok"] * 3
        asked = [request.body["model"] for request in server.requests]
        assert asked == ["any", "any", "other"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["team:default"], "say `--ask team:default` to have it asked; that costs as much as a"),
        (["--ask", "nobody"], "'nobody' is not a player; known are "),
        (["--ask", "stockfish:3"], "'stockfish:3' asks no model: name a team, or a model as"),
        (["--database", "password-of-database"], "that is no URL of a database: "),
        (["--ask", "\x1b[31m"], "'\\x1b[31m' is not a player; known are "),
        (["\x1b[31m"], "say `--ask NAME` to have it asked"),
    ],
)
def test_what_has_no_sense_is_said_in_a_sentence(arguments, sentence):
    run = kibitz("doctor", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"kibitz: {sentence}")
    assert run.stderr.count("\n") == 1
    assert "\x1b" not in run.stderr
    assert "password-of-database" not in run.stderr


# --- the end ---


def test_ctrl_c_ends_it_and_all_it_started(folder):
    log = folder / "log"
    deaf = f"command = {json.dumps(engine('Silent'))}"
    variables = f'environment = {{ UCI_MARK = "{MARK}", UCI_LOG = "{log}" }}'
    (folder / "kibitz.toml").write_text(f"[engines.deaf]\n{deaf}\n{variables}\n")
    with on_terminal("doctor", cwd=folder) as terminal:
        terminal.see(lambda _: log.exists() and "Looking at " in terminal.text)
        terminal.press("ctrl-c")
        assert terminal.see_end() == 130
    assert b"Traceback" not in terminal.written
    assert survivors() == set()
