"""`make demo`: the service as a real process plays a match, whoever watches, and leaves nothing."""

import asyncio
import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from engine import read_games
from tests.support.processes import HANGS_AFTER, MARK, survivors, until

KIBITZ = Path(sys.executable).with_name("kibitz")
MOVE = re.compile(r"^ *\d+\.(?:\.\.)? +\S.*$", re.MULTILINE)
QUICK = ("--white", "random", "--black", "stockfish:8")


@pytest.fixture
def folder(tmp_path):
    """A place for temporary files whose name is in the environment of every process we start."""
    place = tmp_path / MARK
    place.mkdir()
    yield place
    assert survivors() == set()
    assert list(place.iterdir()) == []


def environment(folder, **more):
    return os.environ | {"TMPDIR": str(folder), "TERM": "xterm-256color", **more}


def demo(folder, *arguments, **more):
    return subprocess.run(
        [KIBITZ, "demo", *arguments],
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder.parent,
    )


@contextmanager
def started(folder, *arguments):
    """Start it, give its process and what it prints, line by line."""
    process = subprocess.Popen(
        [KIBITZ, "demo", *arguments],
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # What hangs is killed, so that nobody waits for its output for ever.
    watchdog = threading.Timer(2 * HANGS_AFTER, process.kill)
    watchdog.start()
    try:
        with process:
            yield process, iter(process.stdout.readline, "")
    finally:
        watchdog.cancel()
        process.kill()


def read_until(lines, beginning):
    return next(line for line in lines if line.startswith(beginning))


def ended(process):
    """Return its exit code, what it said on standard error, and see that nothing is left."""
    code = process.wait(HANGS_AFTER)
    return code, process.stderr.read()


# --- to the end ---


def test_without_a_terminal_it_tells_each_move_and_ends_with_result_and_pgn(folder):
    # What is configured here does not matter: it would fail with any of this.
    (folder.parent / "kibitz.toml").write_text("nonsense = true")
    configured = {"KIBITZ_API_TOKENS": "write:12345678", "KIBITZ_DATABASE": "postgresql://nowhere/"}
    run = demo(folder, **configured)
    assert (run.returncode, run.stderr) == (0, "")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", run.stdout)
    assert re.search(r"^Kibitz serves http://127\.0\.0\.1:\d+$", run.stdout, re.MULTILINE)
    page = (
        r"^classical \(White\) plays stockfish:5 \(Black\): http://127\.0\.0\.1:\d+/matches/\S{36}$"
    )
    assert re.search(page, run.stdout, re.MULTILINE)
    told, _, pgn = run.stdout.partition("[Event ")
    (game,) = read_games(io.StringIO(f"[Event {pgn}"))
    assert len(MOVE.findall(told)) == len(game.line.moves) > 0
    assert game.outcome is not None
    assert f"\n{game.outcome.result}: {game.outcome}\n" in told


def test_it_can_be_kept_until_ctrl_c(folder):
    with started(folder, *QUICK, "--keep") as (process, lines):
        address = read_until(lines, "Kibitz serves ").split()[-1]
        text = read_until(lines, "The service runs on at ")
        assert address in text
        answer = httpx.get(f"{address}/api/matches", trust_env=False, verify=False).json()
        (match,) = answer["matches"]
        assert match["tags"] == ["demo"]
        assert match["status"] == "ended"
        metrics = httpx.get(f"{address}/metrics", trust_env=False, verify=False).text
        plies = re.findall(r'^kibitz_plies_total\{player="\w+"\} (\S+)$', metrics, re.MULTILINE)
        assert sum(map(float, plies)) == match["ply_count"]
        process.send_signal(signal.SIGINT)
        assert ended(process) == (0, "")


# --- before the end ---


@pytest.mark.parametrize(
    ("after", "number", "code"),
    [
        ("Starting", signal.SIGINT, 130),
        ("Kibitz serves", signal.SIGTERM, 143),
        ("  1.", signal.SIGINT, 130),
        ("  1.", signal.SIGHUP, 129),
    ],
)
def test_interrupted_it_stops_the_service_and_ends(folder, after, number, code):
    with started(folder, "--white", "stockfish:8", "--black", "stockfish:8") as (process, lines):
        read_until(lines, after)
        process.send_signal(number)
        assert ended(process) == (code, "")


def test_killed_it_takes_the_service_along(tmp_path):
    folder = tmp_path / MARK
    folder.mkdir()
    with started(folder, "--white", "stockfish:8", "--black", "stockfish:8") as (process, lines):
        read_until(lines, "  1.")
        assert len(survivors()) > 1
        process.kill()
        process.wait()
        asyncio.run(asyncio.wait_for(until(lambda: not survivors()), HANGS_AFTER))


def test_when_the_service_dies_it_says_so(folder):
    with started(folder, "--white", "stockfish:8", "--black", "stockfish:8") as (process, lines):
        read_until(lines, "  1.")
        (service,) = children_of(process.pid)
        os.kill(service, signal.SIGKILL)
        code, said = ended(process)
    assert code == 2
    assert re.fullmatch(r"kibitz: the service has ended: .*\n", said)
    asyncio.run(asyncio.wait_for(until(lambda: not survivors()), HANGS_AFTER))


def children_of(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# --- what cannot be ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--black", "nobody"), "'nobody' is not a player"), (("--white", "human"), "kibitz serve")],
)
def test_a_mistake_gets_one_sentence(folder, arguments, said):
    run = demo(folder, *arguments)
    assert run.returncode == 2
    assert re.fullmatch(r"kibitz: [^\n]+\n", run.stderr)
    assert said in run.stderr


def test_a_port_that_is_taken_gets_one_sentence(folder):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        run = demo(folder, "--port", str(server.getsockname()[1]))
    assert run.returncode == 2
    assert re.fullmatch(r"kibitz: the service did not start: cannot listen on [^\n]+\n", run.stderr)


# --- on a terminal ---


def test_on_a_terminal_the_board_is_drawn_and_ctrl_c_leaves_it_in_order(folder):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(KIBITZ, [KIBITZ, "demo", *QUICK], environment(folder, COLUMNS="100", LINES="40"))
    output, pressed, deadline = "", False, time.monotonic() + 2 * HANGS_AFTER
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                output += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
        if not pressed and output.count("Kibitz ─") > 2:
            os.write(terminal, b"\x03")
            pressed = True
    else:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "♜" in output
    assert output.count("\x1b[?25l") == output.count("\x1b[?25h") == 1  # the cursor is back
    assert "Traceback" not in output
