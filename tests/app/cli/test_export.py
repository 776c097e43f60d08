"""`kibitz export` as a person runs it: what is chosen, in every format, and where it goes."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import pty
import re
import shlex
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from app.cli import exporting as command
from app.matches import exporting
from app.matches.exporting import UnknownId
from app.matches.match import Match, MatchStatus
from app.matches.seat_tokens import digest_of
from app.matches.settings import MatchSettings, PlayerSettings
from app.matches.storing import new_record
from app.persistence import evaluations, ledger
from app.persistence import plies as ply_table
from app.persistence.database import Database
from app.persistence.errors import StorageUnavailable
from app.persistence.matches import insert_match
from engine import Color, read_games
from tests.app.persistence.samples import a_call
from tests.support.command_line import KIBITZ, kibitz
from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    sqlite_template,
)
from tests.support.processes import HANGS_AFTER
from tests.support.random_pgn import random_pgn, read_by_oracle

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "cJ0oK5Yf3o1tT4rJb8uWq2Zx9nVd6LhA"
PGN = '[White "Ada"]\n[Black "Bob"]\n[Date "1851.06.21"]\n\n1. e4 {\x1b[2J\x9b2J} e5 1-0\n'
DATABASE = "sqlite:///data/kibitz.db"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, request):
    """A place of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    monkeypatch.delenv("KIBITZ_DATABASE", raising=False)
    return tmp_path


def exported(*arguments, **others):
    """Return what is printed; nothing is said on standard error."""
    run = kibitz("export", *arguments, **others)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def refused(*arguments, code=2):
    run = kibitz("export", *arguments)
    assert (run.returncode, run.stdout) == (code, "")
    return " ".join(run.stderr.replace("│", " ").split())


def played(white, black, moves, *, days=0, resigns=None, status=None, **others):
    """Return a match of ours, with the token of a seat that somebody may sit in."""
    players = PlayerSettings(white), PlayerSettings(black)
    at = NOON + timedelta(days=days)
    number = played.count = played.count + 1
    match = Match.create(
        f"0198{number:04x}-6a8c-7d3e-9c56-3f1d2b7a9e10", MatchSettings(*players, **others), at
    )
    if status is MatchStatus.CREATED:
        return match
    match.start(at)
    for move in moves.split():
        at += timedelta(seconds=2)
        match.play(move, at, source="test")
    if status is MatchStatus.ABORTED:
        match.abort(at, "lunch")
    elif resigns is not None:
        match.resign(resigns, at)
    return match


played.count = 0


def an_evaluation():
    return evaluations.EvaluationRecord(
        id="0197aaaa-6a8c-7d3e-9c56-3f1d2b7a9e10",
        created_at=NOON,
        updated_at=NOON,
        status="finished",
        plan="{}",
        client="local",
        idempotency_key=None,
        name="evaluation",
        kind="duel",
        detail="",
        manifest="{}",
        progress="{}",
        revision=0,
        request_digest=None,
        ended_at=None,
        owner=None,
        epoch=0,
    )


async def insert(url, matches, *, calls=(), evaluation=None):
    async with await Database.open(url, exclusive=False) as database:

        def work(connection):
            if evaluation is not None:
                evaluations.insert_evaluation(connection, evaluation)
            for match in matches:
                is_of_evaluation = evaluation is not None and "eval" in match.settings.tags
                record, events, plies = new_record(
                    match,
                    client="local",
                    evaluation_id=evaluation.id if is_of_evaluation else None,
                    white_token_hash=digest_of(TOKEN),
                )
                insert_match(connection, record, events)
                ply_table.append(connection, plies)
            for call in calls:
                ledger.append(connection, call)

        await database.write(work)


@pytest.fixture(scope="module")
def filled(tmp_path_factory, sqlite_template):  # noqa: F811
    """A database with matches of all kinds, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "kibitz.db"
    shutil.copy(sqlite_template, path)
    played.count = 0
    first = played("human", "stockfish:3", "e4 e5", resigns=Color.WHITE, time_control="300+3")
    second = played("random", "human", "f3 e5 g4 Qh4", days=1, tags=("club", "=1+1"))
    third = played("random", "classical", "d4", days=2, status=MatchStatus.ABORTED)
    running = played("human", "human", "c4 c5", days=3)
    created = played("human", "random", "", days=4, status=MatchStatus.CREATED)
    cooking = played("random", "human", "", resigns=Color.BLACK, variant="kings-cooking", days=5)
    measured = played("random", "random", "e4", resigns=Color.BLACK, tags=("eval",), days=6)
    calls = [a_call(first.id, cost_usd=Decimal("0.25")), a_call(first.id, cost_usd=Decimal(1))]
    matches = [first, second, third, running, created, cooking, measured]
    evaluation = an_evaluation()
    asyncio.run(insert(f"sqlite:///{path}", matches, calls=calls, evaluation=evaluation))
    return path, evaluation.id


@pytest.fixture
def matches(filled, folder):
    """Copy that database, and import a game into it."""
    path, _ = filled
    (folder / "data").mkdir()
    shutil.copy(path, "data/kibitz.db")
    Path("games.pgn").write_text(PGN)
    assert kibitz("import", "games.pgn").returncode == 0


def chosen(*arguments):
    """Return which matches are chosen, by their numbers; the imported one is 0."""
    lines = exported("--format", "ndjson", *arguments).splitlines()
    found = [json.loads(line) for line in lines]
    numbers = [int(each["id"][4:8], 16) if each["id"].startswith("0198") else 0 for each in found]
    assert numbers == sorted(numbers, key=lambda number: number or 99)  # as they came
    return numbers


# --- what is chosen ---

FINISHED = [1, 2, 3, 6, 7, 0]
CHOICES = [
    ([], FINISHED),
    (["--player", "human"], [1, 2, 6]),
    (["--player", "human", "--player", "random"], [2, 6]),
    (["--player", "Ada"], [0]),
    (["--player", "pgn:Ada"], [0]),
    (["--status", "aborted"], [3]),
    (["--status", "running", "--status", "created"], [4, 5]),
    (["--variant", "kings-cooking"], [6]),
    (["--tag", "club"], [2]),
    (["--tag", "club", "--tag", "=1+1"], [2]),
    (["--tag", "imported"], [0]),
    (["--result", "0-1"], [1, 2]),
    (["--result", "*"], [3]),
    (["--since", "2026-03-02"], [2, 3, 6, 7]),
    (["--since", "2026-03-02T12:00:01"], [3, 6, 7]),
    (["--since", "2026-03-02T13:00:01+01:00"], [3, 6, 7]),
    (["--until", "2026-03-02"], [1, 2, 0]),
    (["--until", "2026-03-02T11:59:59Z"], [1, 0]),
    (["--until", "9999-12-31"], FINISHED),
    (["--until", "9999-12-31T23:59:59.5"], FINISHED),
    (["--since", "2026-03-02", "--until", "2026-03-02"], [2]),
    (["--limit", "2"], [7, 0]),
    (["--limit", "2", "--player", "human"], [2, 6]),
    (["--limit", "100"], FINISHED),
    (["01980004"], [4]),
    (["01980005", "01980002-6A8C"], [2, 5]),
    (["01980005", "01980002", "--status", "created"], [5]),
]


@pytest.mark.usefixtures("matches")
def test_what_is_chosen(filled):
    for arguments, numbers in CHOICES:
        assert chosen(*arguments) == numbers, arguments
    _, evaluation = filled
    assert chosen("--evaluation", evaluation[:13]) == [7]
    several = UnknownId("evaluation", "0", ("one", "two"))
    assert "any of several evaluations, such as one, two" in str(several)


@pytest.mark.usefixtures("matches")
def test_pages_do_not_show(monkeypatch):
    monkeypatch.setattr(exporting, "_PAGE", 2)
    assert chosen() == FINISHED
    assert len(list(read_games(exported()))) == 6
    assert len(json.loads(exported("--format", "json"))["matches"]) == 6
    assert exported("--format", "csv").count("created_at") == 1


@pytest.mark.usefixtures("matches")
def test_where_nothing_is_found_it_is_said(folder):
    for form in ("pgn", "json", "ndjson", "csv"):
        said = refused("--player", "nobody", "--format", form, "--output", "out", code=1)
        assert said == "kibitz: no match was found"
    assert not (folder / "out").exists()
    assert not list(folder.glob(".out*"))


def test_where_there_is_no_database_none_is_made(folder):
    assert refused(code=1) == "kibitz: there is no database yet, and so no match"
    assert not (folder / "data").exists()


MISTAKES = [
    (["ffff"], "kibitz: no match has an id that begins with 'ffff'"),
    (["\x1b%"], "no match has an id that begins with '\\x1b%'"),
    ([""], "no match has an id that begins with ''"),
    (["%"], "no match has an id that begins with '%'"),
    (["0198"], "kibitz: '0198' may be any of several matches, such as 01980001-"),
    (["--evaluation", "ffff"], "kibitz: no evaluation has an id that begins with 'ffff'"),
    (["--variant", "checkers"], "checkers"),
    (["--status", "lost"], "lost"),
    (["--result", "2-0"], "2-0"),
    (["--since", "yesterday"], "--since 'yesterday' is no date: write 2026-01-31"),
    (["--until", "9999-12-32"], "--until '9999-12-32' is no date"),
    (["--limit", "0"], "Invalid value for '--limit'"),
    (["--events"], "--events and --ledger go with --format json or ndjson"),
    (["--ledger", "--format", "csv"], "--events and --ledger go with --format json or ndjson"),
    (["--database", "mysql://"], "that is no URL of a database"),
]


@pytest.mark.usefixtures("matches")
@pytest.mark.parametrize(("arguments", "why"), MISTAKES)
def test_mistakes_get_a_sentence(arguments, why):
    assert why in refused(*arguments)


# --- what is told ---


@pytest.mark.usefixtures("matches")
def test_pgn_has_the_games():
    games = list(read_games(exported()))
    assert [game.result for game in games] == ["0-1", "0-1", "*", "1-0", "1-0", "1-0"]
    assert games[-1].line.notes[0].comment == "\x1b[2J\x9b2J"
    # Of a match that goes on it is the game so far.
    (game,) = read_games(exported("01980004"))
    assert ([ply.san for ply in game.plies], game.result) == (["c4", "c5"], "*")


@pytest.mark.usefixtures("matches")
def test_json_tells_all_of_a_match():
    (match,) = json.loads(exported("01980001", "--format", "json"))["matches"]
    assert match["white"]["name"] == "human"
    assert match["outcome"]["termination"] == "resignation"
    assert [ply["san"] for ply in match["plies"]] == ["e4", "e5"]
    assert match["ledger"]["cost_usd"] == "1.25"
    assert "events" not in match
    assert "calls" not in match
    lines = exported("--format", "ndjson", "--events", "--ledger").splitlines()
    told = json.loads(lines[0])
    assert told["events"][-1]["type"] == "match.ended"
    assert [each["sequence"] for each in told["events"]] == list(range(1, told["sequence"] + 1))
    assert len(told["calls"]) == 2
    assert {name: told[name] for name in match} == match
    assert all(line.isascii() and line.isprintable() for line in lines)


@pytest.mark.usefixtures("matches")
def test_csv_has_a_line_for_each_match():
    first, second, *_, last = csv.DictReader(io.StringIO(exported("--format", "csv")))
    assert first["id"].startswith("01980001-")
    assert first["created_at"] == "2026-03-01T12:00:00.000Z"
    assert (first["white"], first["black"], first["result"]) == ("human", "stockfish:3", "0-1")
    assert (first["plies"], first["calls"], first["cost_usd"]) == ("2", "2", "1.25")
    assert (second["termination"], second["tags"]) == ("checkmate", "club =1+1")
    assert (last["white"], last["white_title"]) == ("pgn:Ada", "Ada")


@pytest.mark.usefixtures("matches")
def test_no_format_tells_a_secret():
    for form in ("pgn", "csv"):
        assert_no_secret(exported("--format", form))
    assert_no_secret(exported("--format", "json", "--events", "--ledger"))


def assert_no_secret(text):
    assert digest_of(TOKEN) not in text
    assert "token_hash" not in text
    assert "idempotency_key" not in text


# --- there and back ---


@pytest.mark.usefixtures("without_coverage")
def test_what_is_exported_can_be_imported_elsewhere(database_url, tmp_path):  # noqa: F811
    rng = Random(11)
    pgn = "".join(random_pgn(rng) for _ in range(60))
    assert kibitz("import", "-", stdin=pgn.encode()).returncode == 0
    text = exported()
    told = kibitz("import", "-", "--database", database_url, stdin=text.encode())
    assert (told.returncode, told.stdout) == (0, "60 imported.\n")
    assert exported("--database", database_url) == text
    again = kibitz("import", "-", stdin=text.encode())
    assert again.stdout == "0 imported, 60 were there already.\n"
    # An oracle reads the same; it does not know King's Cooking.
    kept, given = (without_cooking(each) for each in (text, pgn))
    assert len(kept) == len(given) > 40
    for ours, theirs in zip(kept, given, strict=True):
        (read,), (before,) = read_by_oracle(ours), read_by_oracle(theirs)
        assert read["game"] == before["game"]
        assert read["tags"] == read["tags"] | before["tags"]


def without_cooking(pgn):
    games = [f"[Event {each}" for each in f"\n\n{pgn}".split("\n\n[Event ")[1:]]
    return [game for game in games if "King's Cooking" not in game]


@pytest.mark.usefixtures("matches")
def test_matches_of_ours_come_back_as_the_games_they_were(tmp_path):
    text = exported("--status", "ended")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert kibitz("import", "-", "--database", other, stdin=text.encode()).returncode == 0
    assert exported("--database", other) == text


@pytest.mark.usefixtures("matches")
def test_the_commands_of_the_page_run():
    page = (ROOT / "docs/how-to/import-and-export-games.md").read_text()
    commands = re.findall(r"^kibitz (.*)$", page, re.MULTILINE)
    assert len(commands) == 6
    Path("more.pgn").write_text(PGN)
    for arguments in commands:
        alone = arguments.replace("team:default", "human").replace("2026-01", "2026-03")
        words = shlex.split(alone.partition("|")[0])
        if "games.pgn" in words and words[0] == "export":
            Path("games.pgn").unlink()
        run = kibitz(*words)
        assert (run.returncode, run.stderr) == (0, ""), arguments


# --- where it goes ---


@pytest.mark.usefixtures("matches")
def test_a_file_is_written_whole(folder):
    assert exported("--output", "out.pgn") == ""
    assert Path("out.pgn").read_bytes().decode() == exported()
    assert sorted(path.name for path in folder.iterdir()) == ["data", "games.pgn", "out.pgn"]


@pytest.mark.usefixtures("matches")
def test_a_file_is_written_over_only_by_force(folder):
    Path("out.pgn").write_text("precious")
    said = refused("--output", "out.pgn")
    assert said == "kibitz: out.pgn is there already: say --force to write over it"
    assert Path("out.pgn").read_text() == "precious"
    Path("link.pgn").symlink_to("out.pgn")
    exported("--output", "link.pgn", "--force", "--limit", "1")
    assert Path("link.pgn").is_symlink()
    assert "Ada" in Path("out.pgn").read_text()
    assert [path.name for path in folder.glob(".*")] == []


@pytest.mark.usefixtures("matches")
def test_a_file_that_somebody_else_makes_meanwhile_stays(monkeypatch, folder):
    export = exporting.export

    def appear():
        Path("out.pgn").write_text("precious")

    async def slow(*arguments):
        appear()
        async for piece in export(*arguments):
            yield piece

    monkeypatch.setattr(exporting, "export", slow)
    assert "out.pgn is there already" in refused("--output", "out.pgn")
    assert Path("out.pgn").read_text() == "precious"
    Path("out.pgn").unlink()
    monkeypatch.setattr(os, "link", no_links)
    assert "out.pgn is there already" in refused("--output", "out.pgn")
    monkeypatch.setattr(exporting, "export", export)
    assert exported("--output", "new.pgn") == ""
    assert "Ada" in Path("new.pgn").read_text()
    assert [path.name for path in folder.glob(".*")] == []


def no_links(*_names):
    raise PermissionError(1, "no links here")


@pytest.mark.usefixtures("matches")
def test_an_error_leaves_what_was_there(monkeypatch, folder):
    Path("out.pgn").write_text("precious")
    export = exporting.export

    async def failing(*arguments):
        async for piece in export(*arguments):
            yield piece
            raise StorageUnavailable("the database has gone")

    monkeypatch.setattr(exporting, "export", failing)
    run = kibitz("export", "--output", "out.pgn", "--force")
    assert (run.returncode, run.stderr) == (2, "kibitz: the database has gone\n")
    assert Path("out.pgn").read_text() == "precious"
    assert [path.name for path in folder.glob(".*")] == []


PLACES = [
    ("nowhere/out.pgn", "nowhere/out.pgn cannot be written: No such file or directory"),
    ("data", "data cannot be written: it is a folder"),
    ("games.pgn/out", "games.pgn/out cannot be written: Not a directory"),
    ("a\0b", "Invalid value for '--output'"),
    ("/dev/full", "/dev/full cannot be written: No space left on device"),
]


@pytest.mark.usefixtures("matches")
@pytest.mark.parametrize(("place", "why"), PLACES)
def test_places_that_cannot_be_written(place, why):
    assert why in refused("--output", place)


@pytest.mark.usefixtures("matches")
def test_devices_are_written_as_they_are():
    assert exported("--output", "/dev/null") == ""
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert "Ada" in exported("--output", "-")


@pytest.mark.usefixtures("matches")
def test_a_reader_that_goes_away_is_fine():
    command = f"{KIBITZ} export | head -n 1"
    run = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=HANGS_AFTER, check=True
    )
    assert (run.stdout, run.stderr) == ('[Event "Kibitz match"]\n', "")


@pytest.mark.usefixtures("matches")
def test_a_terminal_gets_no_commands():
    ours, theirs = pty.openpty()
    arguments = [str(KIBITZ), "export", "--tag", "imported"]
    process = subprocess.Popen(arguments, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 4096):
            seen += data
    except OSError:  # so Linux says that the other end is closed
        pass
    finally:
        os.close(ours)
        _, complaints = process.communicate(timeout=HANGS_AFTER)
    assert (process.returncode, complaints) == (0, b"")
    assert "{\ufffd[2J\ufffd2J}" in seen.decode()


# --- what it is made of ---


def test_the_choices_are_those_that_there_are():
    assert [*command.Status] == [status.value for status in MatchStatus]
    assert [*command.Format] == [form.value for form in exporting.Format]


def test_help_has_examples():
    run = kibitz("export", "--help")
    assert run.returncode == 0
    assert "kibitz accuracy -" in run.stdout
