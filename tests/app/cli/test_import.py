"""`kibitz import` as a person runs it: what becomes of files, good, bad and endless."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest

from app.matches import importing
from app.persistence import database as database_module
from app.persistence.errors import StorageUnavailable
from tests.support.command_line import KIBITZ, kibitz
from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    sqlite_template,
)
from tests.support.processes import HANGS_AFTER

GOOD = '[White "Ada"]\n[Black "Bob"]\n\n1. e4 e5 1-0\n\n'
OTHER = '[White "Cid"]\n[Black "Dee"]\n\n1. d4 *\n\n'
ILLEGAL = '[White "Eve"]\n[Black "Fay"]\n\n1. e4 e5\n2. Ke3 *\n\n'
CRAZY = '[Variant "Crazyhouse"]\n\n1. e4 *\n\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    monkeypatch.delenv("KIBITZ_DATABASE", raising=False)
    return tmp_path


def write(text, name="games.pgn"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def imported(*arguments, **others):
    run = kibitz("import", *arguments, **others)
    return run.returncode, run.stdout.strip(), run.stderr.strip().splitlines()


def rows(query="SELECT white, black, status, result, ply_count FROM matches ORDER BY id"):
    with sqlite3.connect("data/kibitz.db") as connection:
        found = connection.execute(query).fetchall()
    connection.close()
    return found


# --- what becomes of games ---


def test_games_are_imported_and_the_same_ones_not_again():
    write(GOOD + OTHER)
    assert imported("games.pgn") == (0, "2 imported.", [])
    assert rows() == [
        ("pgn:Ada", "pgn:Bob", "ended", "1-0", 2),
        ("pgn:Cid", "pgn:Dee", "aborted", "*", 1),
    ]
    assert imported("games.pgn") == (0, "0 imported, 2 were there already.", [])
    write(GOOD + OTHER + GOOD.replace("Ada", "Zoë"), "more.pgn")
    assert imported("more.pgn", "games.pgn") == (0, "1 imported, 4 were there already.", [])
    assert len(rows()) == 3


def test_the_same_game_is_known_however_it_is_written():
    write(GOOD + GOOD.replace("1. e4 e5 1-0", "1.e4  e5\n1-0").replace("\n", "\r\n"))
    assert imported("games.pgn") == (0, "1 imported, 1 was there already.", [])


def test_what_cannot_be_read_is_said_and_the_rest_goes_on():
    write(GOOD + ILLEGAL + CRAZY + OTHER)
    code, told, complaints = imported("games.pgn")
    assert (code, told) == (1, "2 imported, 2 could not be read.")
    assert complaints == [
        "kibitz: games.pgn: game 2, line 10: 'Ke3' in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/"
        "RNBQKBNR w KQkq e6 0 2 is illegal: the piece does not move like that",
        "kibitz: games.pgn: game 3, line 12: the variant 'Crazyhouse' is not known",
    ]
    assert len(rows()) == 2


def test_all_variants_that_there_are():
    write('[Variant "Chess960"]\n\n1. e4 *\n\n[Variant "King\'s Cooking"]\n\n*\n')
    assert imported("games.pgn") == (0, "2 imported.", [])
    found = rows("SELECT variant FROM matches ORDER BY id")
    assert found == [("chess960",), ("kings-cooking",)]


def test_tags_are_for_finding_them():
    write(GOOD)
    assert imported("games.pgn", "--tag", "club", "--tag", "2025", "--tag", "club")[0] == 0
    assert rows("SELECT tag FROM match_tags ORDER BY number") == [
        ("imported",),
        ("club",),
        ("2025",),
    ]


def test_a_program_gets_json():
    write(GOOD + ILLEGAL)
    code, told, _ = imported("games.pgn", "--json")
    assert code == 1
    assert json.loads(told) == {"dry_run": False, "imported": 1, "there": 0, "unreadable": 1}


ODD = [
    b"\xef\xbb\xbf" + GOOD.encode(),  # a byte order mark
    GOOD.replace("\n", "\r\n").encode(),
    GOOD.replace("\n", "\r").encode(),
    GOOD.encode().rstrip(),
    GOOD.replace("Bob", "Müller").encode("latin-1"),
    b"1. e4 {\x00\x1b[2J} e5 1-0",
    b'[White "\x1b]0;x\x07"]\n\n1. e4 *',
    b"% from somewhere\n" + GOOD.encode(),
]


@pytest.mark.parametrize("text", ODD)
def test_odd_files_are_read(text):
    write(text)
    assert imported("games.pgn") == (0, "1 imported.", [])
    assert not any("\x1b" in str(cell) for row in rows() for cell in row)


def test_standard_input_is_a_file_like_others():
    write(OTHER)
    assert imported("-", "games.pgn", stdin=GOOD.encode()) == (0, "2 imported.", [])


def test_complaints_show_nothing_that_could_be_a_command():
    write(b'[White "\x1b[2J"\n\n1. e4 *\n\n[FEN "\x1b[2J"]\n\n*\n\n1. \x1b[2J *')
    code, _, complaints = imported("games.pgn")
    assert code == 1
    assert complaints
    assert not any("\x1b" in each for each in complaints)


# --- what is no PGN ---

NOT_PGN = [
    (b"\x1f\x8b\x08rest", "it is compressed (gzip), and no plain PGN"),
    (b"\x28\xb5\x2f\xfdrest", "it is compressed (zstd), and no plain PGN"),
    (GOOD.encode("utf-16"), "it is text in UTF-16, and no plain PGN"),
]


@pytest.mark.parametrize(("text", "why"), NOT_PGN)
def test_other_files_are_told_for_what_they_are(text, why):
    write(text)
    write(OTHER, "other.pgn")
    code, told, complaints = imported("games.pgn", "other.pgn")
    assert (code, told, complaints) == (1, "1 imported.", [f"kibitz: games.pgn: {why}"])


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_a_file_without_a_game(text):
    write(text)
    assert imported("games.pgn") == (1, "0 imported.", ["kibitz: games.pgn has no game"])


def test_a_game_without_an_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(importing, "LONGEST_GAME", 1000)
    write(GOOD + '[White "Eve"]\n\n{ never closed\n' + OTHER * 100)
    write(OTHER, "other.pgn")
    code, told, complaints = imported("games.pgn", "other.pgn")
    assert (code, told) == (1, "2 imported.")
    assert complaints == [
        "kibitz: games.pgn: game 2 has over 0 MiB, as if it never ended; what follows was not read"
    ]


def test_a_line_without_an_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(importing, "LONGEST_GAME", 1000)
    write(b"\0" * 100_000)
    code, told, complaints = imported("games.pgn")
    assert (code, told, len(complaints)) == (1, "0 imported.", 1)


def test_many_broken_games_are_not_one_without_an_end(monkeypatch):
    monkeypatch.setattr(importing, "LONGEST_GAME", 1000)
    write(ILLEGAL * 100 + GOOD)
    assert imported("games.pgn")[:2] == (1, "1 imported, 100 could not be read.")


def test_a_game_that_goes_on_and_on(monkeypatch):
    monkeypatch.setattr(importing, "MOST_PLIES", 3)
    write(GOOD + "\n1. e4 e5 2. d4 d5 *\n")
    code, told, complaints = imported("games.pgn")
    assert (code, told) == (1, "1 imported, 1 could not be read.")
    assert complaints == ["kibitz: games.pgn: game 2: it has over 3 plies"]


def test_a_game_that_could_not_be_read_again_is_left_out(monkeypatch):
    write(GOOD)
    monkeypatch.setattr("engine.game.write_game", lambda game: "1. e5 *")
    code, told, complaints = imported("games.pgn")
    assert (code, told) == (1, "0 imported, 1 could not be read.")
    assert complaints[0].startswith("kibitz: games.pgn: game 1: line 1 of the PGN: 'e5'")


# --- a user's mistakes ---


def test_files_that_are_not_there_keep_all_from_being_imported(folder):
    write(GOOD)
    code, told, complaints = imported("games.pgn", "nowhere.pgn")
    assert (code, told) == (2, "")
    assert complaints == ["kibitz: nowhere.pgn cannot be read: No such file or directory"]
    assert imported("games.pgn", ".")[2] == ["kibitz: . cannot be read: it is a folder"]
    assert imported("a\0b")[0] == 2
    assert not (folder / "data").exists()


def test_closed_standard_input():
    command = f"{KIBITZ} import - <&-"
    run = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, "kibitz: standard input is closed\n")


TAGS = [
    ([""], "'' is no tag"),
    (["x" * 51], "is no tag: it has 1 to 50 letters"),
    (["a\x1bb"], "is no tag"),
    (["save:mine"], "so those of saved games begin"),
    ([str(number) for number in range(20)], "at most 19 tags"),
]


@pytest.mark.parametrize(("tags", "why"), TAGS)
def test_tags_that_cannot_be(folder, tags, why):
    write(GOOD)
    code, _, complaints = imported("games.pgn", *(f"--tag={tag}" for tag in tags))
    assert code == 2
    assert why in " ".join("\n".join(complaints).split())
    assert not (folder / "data").exists()


def test_help_has_examples():
    run = kibitz("import", "--help")
    assert run.returncode == 0
    assert "kibitz import games.pgn" in run.stdout


# --- trials ---


def test_a_trial_stores_nothing_and_makes_no_database(folder):
    write(GOOD + OTHER + GOOD + ILLEGAL)
    told = "2 would be imported, 1 is there already, 1 cannot be read."
    assert imported("games.pgn", "--dry-run")[:2] == (1, told)
    assert not (folder / "data").exists()
    write(OTHER, "other.pgn")
    imported("other.pgn")
    told = "1 would be imported, 2 are there already, 1 cannot be read."
    assert imported("games.pgn", "--dry-run")[:2] == (1, told)
    assert len(rows()) == 1


# --- storing ---


def test_any_database_will_do(database_url):  # noqa: F811
    write(GOOD + OTHER)
    assert imported("games.pgn", "--database", database_url) == (0, "2 imported.", [])
    told = "0 imported, 2 were there already."
    assert imported("games.pgn", KIBITZ_DATABASE=database_url) == (0, told, [])
    told = "0 would be imported, 2 are there already."
    assert imported("games.pgn", "--dry-run", "--database", database_url) == (0, told, [])


def many(count):
    return "".join(GOOD.replace("Ada", f"Ada {number}") for number in range(count))


def test_what_was_stored_stays_when_the_database_goes_away(monkeypatch):
    write(many(10))
    monkeypatch.setattr(importing, "_GAMES", 4)
    write_ = database_module.Database.write
    calls = []

    async def failing(self, work, **options):
        calls.append(work)
        if len(calls) == 4:  # the first brings the tables up to date
            raise StorageUnavailable("the disk is full")
        return await write_(self, work, **options)

    monkeypatch.setattr(database_module.Database, "write", failing)
    assert imported("games.pgn") == (1, "8 imported.", ["kibitz: the disk is full"])
    monkeypatch.setattr(database_module.Database, "write", write_)
    assert len(rows()) == 8
    assert imported("games.pgn") == (0, "2 imported, 8 were there already.", [])


def test_progress_is_shown_on_a_terminal():
    write(many(300))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(KIBITZ), "import", "games.pgn"], stderr=theirs, stdout=subprocess.PIPE
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 4096):
            seen += data
    except OSError:  # so Linux says that the other end is closed
        pass
    finally:
        os.close(ours)
        told, _ = process.communicate(timeout=HANGS_AFTER)
    assert told == b"300 imported.\n"
    assert b"200 games" in seen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_is_interrupted_keeps_whole_games_and_says_how_many(number):
    process = subprocess.Popen(
        [str(KIBITZ), "import", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    watchdog = threading.Timer(HANGS_AFTER, process.kill)
    watchdog.start()
    try:
        # It stores 200, and then waits for more than a pipe holds of others.
        process.stdin.write(many(201).encode() + b'[White "Eve"]\n\n1. e4')
        process.stdin.flush()
        while not count():
            assert process.poll() is None
        process.send_signal(number)
        told, complaints = process.stdout.read().decode(), process.stderr.read().decode()
        assert process.wait() == 128 + number
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
    kept = count()
    assert told == f"{kept} imported.\n"
    assert "import the same again, and it goes on from here" in complaints
    assert kept >= 200


def count():
    try:
        return rows("SELECT count(*) FROM matches")[0][0]
    except sqlite3.OperationalError:
        return 0
