"""PGN files to which games are appended: each whole, and on the disk, whatever was there before."""

import asyncio
import fcntl
import os
import resource
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.cli.files.pgn_file import CannotWritePgn, PgnFile, closing, open_pgn
from engine import read_games
from tests.support.pgn_oracle import all_games_in
from tests.support.processes import HANGS_AFTER, LINUX, until

GAME = """[Event "Kibitz match"]
[Site "?"]
[Date "2026.01.01"]
[Round "1"]
[White "one \\"half\\""]
[Black "two"]
[Result "1/2-1/2"]

1. e4 {[%eval 0.30]} e5 (1... c5 2. Nf3 {open}) 2. Nf3 Nc6 {a word on it}
1/2-1/2
"""
NEXT = """[Event "next"]
[Site "?"]
[Date "2026.01.02"]
[Round "2"]
[White "three"]
[Black "four"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
"""


def append(path, *games):
    with open_pgn(str(path)) as file:
        for game in games:
            file.append(game)


@contextmanager
def files_of_at_most(size):
    """Let no file become larger, as where a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_games_stand_one_after_another_with_an_empty_line_between(tmp_path):
    path = tmp_path / "games.pgn"
    append(path, GAME)
    append(path, NEXT, GAME)
    assert path.read_text() == f"{GAME}\n{NEXT}\n{GAME}\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_wherever_a_game_is_torn_the_next_one_is_whole(tmp_path, newline):
    path = tmp_path / "games.pgn"
    text = f"{GAME}\n{GAME}\n".replace("\n", newline).encode()
    for end in range(len(text) // 2, len(text) + 1):
        path.write_bytes(text[:end])
        append(path, NEXT, NEXT)
        written = path.read_bytes()
        assert written.startswith(text[:end])
        *before, one, other = all_games_in(written.decode())
        # The first game is always there; the second one as soon as a letter of it is.
        assert len(before) in ({1} if not text[len(text) // 2 : end].strip() else {1, 2})
        for game in (one, other):
            assert game.errors == []
            assert game.headers["Event"] == "next"
            assert game.end().board().is_checkmate()
        errors = []
        *_, ours, last = read_games(written, on_error=errors.append)
        assert (ours.tags["Event"], last.tags["Event"]) == ("next", "next")
        assert ours.result == last.result == "0-1"


AS_IT_IS = [
    "",
    "\n\n",
    "1. e4 e5 *\n\n",
    "1. e4 e5 *",
    "1. e4 e5 1-0\n",
    '[Event "Cup {A"]\n\n1. e4 1-0\n\n',
    '[Event "Cup (A"]\n[Site "; {"]\n\n1. e4 1-0',
    "1. e4 ; a { and see (\n1-0\n\n",
    "1. e4 {; a ( comment} 1-0\n\n",
    '1. e4 {\n[Event "as it was said"]\n} 1-0\n\n',
    "1. e4 1-0 ; the end\n",
    "% { for others\n1. e4 1-0\n",
]


@pytest.mark.parametrize("text", AS_IT_IS)
def test_what_is_whole_is_not_closed_again(tmp_path, text):
    path = tmp_path / "games.pgn"
    path.write_text(text)
    append(path, NEXT)
    assert path.read_text().removeprefix(text).lstrip("\n") == f"{NEXT}\n"
    assert all_games_in(path.read_text())[-1].headers["Event"] == "next"


TORN = [
    ("1. e4 ; result was 1-0", "\n*\n\n"),
    ("1. e4 ; see (", "\n*\n\n"),
    ("1. e4 ; a {\n", "*\n\n"),
    ("1. e4 {1-0", "}\n*\n\n"),
    ("1. e4 (1. d4 {; (", "})\n*\n\n"),
    ("1. e4 {\n[%eval 1", "}\n*\n\n"),
    ('1. e4 (1. d4\n\n[Event "("]\n[Site "{', '"]\n\n*\n\n'),
]


@pytest.mark.parametrize(("text", "missing"), TORN)
def test_what_is_torn_is_ended_as_it_lacks_it(text, missing):
    assert closing(text.encode()).decode() == missing


def test_a_comment_that_began_long_before_is_none_of_the_last_game():
    long = b"1. e4 {" + b"a word, " * 200_000
    assert closing((long + b'} 1-0\n\n[Event "x"]\n\n1. d4 (1. c4')[-(1 << 20) :]) == b")\n*\n\n"


def test_half_of_a_game_is_taken_back_when_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("games.pgn")
    append(path, GAME)
    with (
        open_pgn(str(path)) as file,
        files_of_at_most(len(GAME) + 50),
        pytest.raises(CannotWritePgn, match=r"^'games\.pgn' cannot be written: File too large"),
    ):
        file.append(NEXT)
    assert path.read_text() == f"{GAME}\n"
    append(path, NEXT)
    assert path.read_text() == f"{GAME}\n{NEXT}\n"


def test_several_may_append_at_a_time(tmp_path):
    path = tmp_path / "games.pgn"

    def write():
        with PgnFile(str(path)) as file:
            for _ in range(20):
                file.append(NEXT)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == f"{NEXT}\n" * 80


@pytest.mark.skipif(not LINUX, reason="only Linux tells who waits for a lock")
def test_who_appends_waits_for_another_who_does(tmp_path):
    path = tmp_path / "games.pgn"
    append(path, GAME)
    waiting = f":{path.stat().st_ino} "
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        thread = threading.Thread(target=append, args=(path, NEXT))
        thread.start()
        is_waited_for = until(lambda: any(" -> " in each and waiting in each for each in locks()))
        asyncio.run(asyncio.wait_for(is_waited_for, HANGS_AFTER))
        written = path.read_text()
    thread.join()
    assert written == f"{GAME}\n"
    assert path.read_text() == f"{GAME}\n{NEXT}\n"


def locks():
    return Path("/proc/locks").read_text().splitlines()


def test_a_pipe_takes_games_too(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        append(path, NEXT)
        assert os.read(reader, 10_000).decode() == f"{NEXT}\n"
    finally:
        os.close(reader)


NOWHERE = [
    ("/", "'/' cannot be written: Is a directory"),
    ("/nowhere/games.pgn", "'/nowhere/games.pgn' cannot be written: No such file or directory"),
    ("a\0b", "'a\\x00b' cannot be written: it has no proper name"),
    ("a" * 300, "cannot be written: File name too long"),
]


@pytest.mark.parametrize(("path", "sentence"), NOWHERE)
def test_where_nothing_can_be_written_that_is_said_at_once(path, sentence):
    with pytest.raises(CannotWritePgn) as error:
        open_pgn(path)
    assert sentence in str(error.value)


#: Keeps a game, and prints a word before and after it.
_KEEP = """
import sys
from app.cli.files.pgn_file import open_pgn
with open_pgn(sys.argv[1]) as file:
    print("before")
    file.append("game")
print("after")
"""


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "out"])
def test_games_and_what_is_printed_do_not_write_over_each_other(tmp_path, name):
    with (tmp_path / "out").open("wb") as out:
        command = [sys.executable, "-c", _KEEP, name]
        subprocess.run(command, stdout=out, check=True, cwd=tmp_path, timeout=HANGS_AFTER)
    assert (tmp_path / "out").read_text() == "before\ngame\nafter\n"
