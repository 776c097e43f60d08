"""What shells offer when somebody presses Tab, and that a line is never spoilt by it.

Bash is a real one, on a terminal. Zsh and fish are asked for what Typer's scripts ask, and are
real, too, where they are installed.
"""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.catalogue import Catalogue
from app.cli.completion.bash import Line
from app.evaluations.suites.suite import shipped_suites
from app.matches.openings import OPENINGS
from app.persistence.database import Database
from app.persistence.evaluations import EvaluationRecord, insert_evaluation
from app.persistence.matches import insert_match
from engine import VARIANTS
from tests.app.persistence.samples import a_match, an_event
from tests.support.command_line import KIBITZ, kibitz, process
from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    sqlite_template,
)
from tests.support.processes import HANGS_AFTER, run
from tests.support.terminal import on_terminal

#: Those of a bash that nobody has touched.
BREAKS = " \t\n\"'@><=;|&(:"
LEVELS = [f"stockfish:{number}" for number in range(1, 9)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place of one's own, with no settings and no database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    for name in ("KIBITZ_CONFIG", "KIBITZ_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def offers(line, breaks=BREAKS):
    """Return what bash is told to put in place of what it replaces."""
    # Those that are empty here are set by what is tested, and so as before when it is over.
    asked = {"_KIBITZ_LINE": line, "_KIBITZ_BREAKS": breaks, "COMP_WORDS": "", "COMP_CWORD": ""}
    told = kibitz(_KIBITZ_COMPLETE="complete_bash", **asked)
    assert (told.returncode, told.stderr) == (0, "")
    return told.stdout.splitlines()


# --- what is offered ---


@pytest.mark.usefixtures("folder")
def test_commands_and_options_are_offered():
    assert offers("kibitz an") == ["analyse"]
    assert {"analyse", "eval", "serve", "suite"} <= set(offers("kibitz "))
    assert offers("kibitz eval la") == ["ladder"]
    assert offers("kibitz analyse --eng") == ["--engine"]
    assert {"--depth", "--json", "--help"} <= set(offers("kibitz analyse --"))
    assert offers("kibitz help eval rep") == ["report"]
    assert "analyse" in offers("kibitz help ")
    assert offers("kibitz help perft ") == offers("kibitz help nonsense ") == []


def test_players_are_offered(folder):
    everybody = list(Catalogue().names)
    assert set(everybody) <= set(offers("kibitz eval ladder ", breaks=""))
    assert offers("kibitz eval ladder random sto", breaks="") == LEVELS
    assert offers("kibitz eval duel stockfish:") == list("12345678")
    (folder / "kibitz.toml").write_text('[engines.mine]\ncommand = "mine"\n')
    assert offers("kibitz analyse --engine uci:m") == ["mine"]
    assert offers("kibitz calibrate --other st") == []
    assert "uci:mine" in offers("kibitz eval ladder ", breaks="")


CHOICES = [
    ("kibitz analyse --engine st", ["stockfish"]),
    ("kibitz analyse --engine=st", ["stockfish"]),
    ("kibitz accuracy --engine stock", ["stockfish"]),
    ("kibitz perft 3 --variant ", list(VARIANTS)),
    ("kibitz analyse --variant k", ["kings-cooking"]),
    ("kibitz serve --log-level ", ["debug", "info", "warning", "error", "critical"]),
    ("kibitz eval list --status p", ["paused"]),
    ("kibitz eval report x --format ", ["html", "json", "csv", "pgn", "manifest"]),
    ("kibitz rate x --system gl", ["glicko2"]),
    ("kibitz sprt --model n", ["normalized"]),
    ("kibitz suite run ", list(shipped_suites())),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("line", "expected"), CHOICES)
def test_choices_are_offered(line, expected):
    assert offers(line) == expected


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "line",
    [
        "kibitz analyse ga",  # a shell knows files best
        "kibitz accuracy ",
        "kibitz suite mine games",
        "kibitz analyse --output ",
        "kibitz accuracy --engine stockfish < ga",
        "kibitz analyse --json >",
        "kibitz analyse --json > ",
        "kibitz perft nonsense --fen ",
        "kibitz serve --port x --host ",
    ],
)
def test_nothing_is_offered_where_files_or_anything_may_stand(line):
    assert offers(line) == []


@pytest.mark.usefixtures("folder")
def test_what_stands_before_a_redirection_does_not_disturb():
    assert offers("kibitz analyse - < games.pgn --engine st") == ["stockfish"]
    assert "analyse" in offers("kibitz --version ")  # and the version is not printed
    assert offers("kibitz eval duel random > games.csv solv") == ["solver"]
    assert offers("kibitz eval duel random >") == offers("kibitz eval duel random > s") == []


def test_plans_and_suites_are_found_among_files(folder):
    (folder / "plans").mkdir()
    (folder / "plans/duel.toml").write_text('# A duel.\nkind = "duel"\n')
    (folder / "my pool.json").write_text('{"name": "us", "kind": "pool"}')
    (folder / "pyproject.toml").write_text('[project]\nname = "kind"\n')
    (folder / "broken.toml").write_bytes(b'kind = "duel"\xff')
    (folder / "folder.toml").mkdir()
    (folder / "mine.epd").write_text("")
    assert offers("kibitz eval run ") == ["my\\ pool.json", "plans/duel.toml"]
    assert offers("kibitz eval run plans/") == ["plans/duel.toml"]
    assert offers("kibitz eval run pl") == ["plans/duel.toml"]
    assert offers("kibitz eval run nowhere/") == []
    assert offers("kibitz suite show m") == ["mine.epd"]


# --- what the database keeps ---


def stored(url):
    """Store two matches, one of them saved, and two evaluations; return the ids, newest first."""
    matches = [
        a_match(status="ended", winner="white", termination="checkmate", result="1-0", tags=("a",)),
        a_match(white="human", tags=("save:my game", "fun")),
    ]
    evaluations = [an_evaluation(name="older"), an_evaluation(kind="ladder")]

    def work(connection):
        for match in matches:
            insert_match(connection, match, [an_event(match.id)])
        for each in evaluations:
            insert_evaluation(connection, each)

    async def store():
        async with await Database.open(url) as database:
            await database.write(work)

    run(store())
    return [each.id for each in reversed(matches)], [each.id for each in reversed(evaluations)]


def an_evaluation(**values):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    record = dict.fromkeys(EvaluationRecord.__dataclass_fields__)
    texts = dict.fromkeys(("plan", "manifest", "progress"), "{}")
    id_ = a_match().id
    known = {"id": id_, "created_at": at, "updated_at": at, "status": "paused", "client": "local"}
    numbers = {"name": "evaluation", "kind": "duel", "detail": "", "revision": 0, "epoch": 0}
    return EvaluationRecord(**record | texts | known | numbers | {"has_report": False} | values)


def described(line, shell="fish"):
    """Return what fish is told: each value, and the words on it."""
    told = kibitz(
        _KIBITZ_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS=line,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert (told.returncode, told.stderr) == (0, "")
    return [tuple(each.split("\t")) for each in told.stdout.splitlines() if each]


def test_evaluations_are_offered_the_newest_first(folder, database_url, monkeypatch):  # noqa: F811
    _, ids = stored(database_url)
    monkeypatch.setenv("KIBITZ_DATABASE", database_url)
    assert offers("kibitz eval show ") == ids
    assert offers(f"kibitz eval report {ids[0]}") == ids[:1]
    assert offers("kibitz eval show zzz") == []
    monkeypatch.delenv("KIBITZ_DATABASE")
    assert offers("kibitz eval show ") == []
    line = f"kibitz eval show --database {database_url} "
    assert [each[0] for each in described(line)] == ids
    assert described(line)[1][1] == "duel, paused, 2026-01-01 00:00: older"
    assert not (folder / "data").exists()


def test_what_is_offered_of_matches_and_saves(folder, database_url, monkeypatch):  # noqa: F811
    import typer

    from app.cli.completion import values

    (newest, oldest), _ = stored(database_url)
    context = typer.Context(typer.main.get_command(typer.Typer(callback=lambda: None)))
    context.params["database"] = database_url
    assert values.complete_match_id(context, "") == [
        (newest, "human - stockfish:2, running, 2025-03-09 12:00"),
        (oldest, "random - stockfish:2, 1-0, 2025-03-09 12:00"),
    ]
    assert values.complete_match_id(context, oldest[:-1] + "?") == []
    saved = [("my game", "human - stockfish:2, 2025-03-09 12:00")]
    assert values.complete_save(context, "my") == values.complete_save(context, "") == saved
    assert values.complete_save(context, "%") == []


def test_the_database_is_read_while_it_is_served(folder, sqlite_template):  # noqa: F811
    path = folder / "data" / "kibitz.db"
    path.parent.mkdir()
    shutil.copy(sqlite_template, path)
    _, ids = stored(f"sqlite:///{path}")

    async def look():
        async with await Database.open(f"sqlite:///{path}"):
            assert path.with_name("kibitz.db-wal").exists()
            return offers("kibitz eval show ")

    assert run(look()) == ids
    before = {each.name for each in path.parent.iterdir()}
    assert offers("kibitz eval show ") == ids
    assert {each.name for each in path.parent.iterdir()} == before


# --- what goes wrong is no business of a line that somebody writes ---


def broken_settings(folder):
    (folder / "kibitz.toml").write_text("engine_processes = = 3")


def wrong_settings(folder):
    (folder / "kibitz.toml").write_text('teams_folder = "nowhere"\nmodel = 3')


def nonsense_instead_of_a_database(folder):
    (folder / "data").mkdir()
    (folder / "data/kibitz.db").write_bytes(b"nonsense" * 1000)


def tables_of_somebody_else(folder):
    (folder / "data").mkdir()
    with closing(sqlite3.connect(folder / "data/kibitz.db")) as connection:
        connection.execute("CREATE TABLE evaluations (something)")


def a_folder_instead_of_a_database(folder):
    (folder / "data/kibitz.db").mkdir(parents=True)


def a_locked_database(folder):
    (folder / "data").mkdir()
    (folder / "data/kibitz.db-wal").write_bytes(b"")
    connection = sqlite3.connect(folder / "data/kibitz.db")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def postgres_that_is_away(folder):
    (folder / "kibitz.toml").write_text('database = "postgresql://nobody@127.0.0.1:1/nothing"')


def no_database_at_all(folder):
    (folder / "kibitz.toml").write_text('database = "nonsense"')


@pytest.mark.parametrize(
    "spoil",
    [
        broken_settings,
        wrong_settings,
        nonsense_instead_of_a_database,
        tables_of_somebody_else,
        a_folder_instead_of_a_database,
        a_locked_database,
        postgres_that_is_away,
        no_database_at_all,
    ],
)
def test_what_is_broken_offers_nothing_and_says_nothing(spoil, folder):
    held = spoil(folder)
    assert offers("kibitz eval show ") == []
    assert described("kibitz eval show ") == []
    assert set(LEVELS) <= set(offers("kibitz eval ladder ", breaks=""))
    if held is not None:
        held.close()


def test_even_an_error_of_ours_stays_out_of_the_line(folder, monkeypatch):
    def fail(_path):
        raise RuntimeError("a bug")

    monkeypatch.setattr("app.settings.load_settings", fail)
    asked = {"_KIBITZ_LINE": "kibitz eval ladder ", "COMP_WORDS": "", "COMP_CWORD": ""}
    told = kibitz(_KIBITZ_COMPLETE="complete_bash", **asked)
    assert (told.stdout, told.stderr) == ("", "")


def test_a_shell_that_nobody_knows_is_told_nothing():
    told = kibitz(_KIBITZ_COMPLETE="complete_nonsense")
    assert (told.returncode, told.stdout, told.stderr) == (1, "", "")


def test_nothing_heavy_is_imported_for_what_is_not_asked(folder):
    code = (
        "import sys, app.cli\n"
        "try: app.cli.main()\n"
        "except SystemExit: pass\n"
        "print(*sorted({'httpx', 'sqlalchemy', 'rich', 'numpy', 'openai', 'fastapi', 'matplotlib',"
        " 'pydantic_settings', 'agents.catalogue'} & {*sys.modules}))"
    )
    asked = {"_KIBITZ_COMPLETE": "complete_bash", "_KIBITZ_BREAKS": BREAKS}
    lines = ["kibitz an", "kibitz analyse --variant kings", "kibitz eval duel random"]
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | asked | {"_KIBITZ_LINE": line},
            capture_output=True,
            text=True,
            check=True,
            timeout=HANGS_AFTER,
        ).stdout.splitlines()
        for line in lines
    ]
    assert told[:2] == [["analyse", ""], ["kings-cooking", ""]]
    assert told[2] == ["random", "agents.catalogue pydantic_settings"]


# --- how bash reads a line ---

LINES = [
    # the line, its last word, what of it stays, and whether a quote is open
    ("kibitz ", "", "", ""),
    ("kibitz an", "an", "", ""),
    ("kibitz stockfish:3", "stockfish:3", "stockfish:", ""),
    ("kibitz 'stockfish:3", "stockfish:3", "", "'"),
    ('kibitz "stockfish:3', "stockfish:3", "", '"'),
    ('kibitz "stockfish:3"', "stockfish:3", "", ""),
    ("kibitz stockfish\\:3", "stockfish:3", "", ""),
    ('kibitz x"a b"c', "xa bc", "", ""),
    ('kibitz x"a b', "xa b", "x", '"'),
    ("kibitz x'a b':c", "xa b:c", "xa b:", ""),
    ('kibitz a:"b', "a:b", "a:", '"'),
    ("kibitz --engine=uci:x", "--engine=uci:x", "--engine=uci:", ""),
    ("kibitz a@b", "a@b", "a", ""),
    ("kibitz Sicilian\\ Def", "Sicilian Def", "", ""),
    ('kibitz "a\\"b\\c', 'a"b\\c', "", '"'),
    ("kibitz 'it\\", "it\\", "", "'"),
    ("kibitz a\\", "a", "", ""),
    ("kibitz ''", "", "", ""),
]


@pytest.mark.parametrize(("text", "word", "kept", "quote"), LINES)
def test_a_line_is_read_as_bash_reads_it(text, word, kept, quote):
    line = Line.read(text, BREAKS)
    assert (line.words[-1], line.kept, line.quote) == (word, kept, quote)
    assert line.words[0] == "kibitz"


@given(st.lists(st.text(st.characters(exclude_characters="\0")), max_size=5), st.text())
def test_whatever_is_quoted_is_read_back(words, breaks):
    line = Line.read(f"kibitz {shlex.join(words)} ", breaks)
    assert line.words == ("kibitz", *words, "")


VALUES = [*(each.name for each in OPENINGS), "$HOME `ls` \\ \"x\" 'y'", "a*?[b]{c,d}!~#;|&()<>=@:^"]


def test_a_real_bash_reads_what_is_put_into_its_line():
    for quote in ("", "'", '"'):
        line = Line.read(f"kibitz {quote}", BREAKS)
        words = [f"{quote}{each}{quote}" for each in line.completed(VALUES)]
        script = f"printf '%s\\0' {' '.join(words)}"
        told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert told.stdout.split("\0")[:-1] == VALUES


# --- a real bash ---


@pytest.fixture
def bash(folder, monkeypatch):
    """A bash without any completion but ours, that has just been started.

    What it runs at every Tab is not measured, which would take a second each; other tests cover it.
    """
    for name in [each for each in os.environ if each.startswith("COV")]:
        monkeypatch.delenv(name)
    script = process("--show-completion", _KIBITZ_COMPLETE="source_bash").stdout
    (folder / "completion.bash").write_text(script)
    (folder / "rc").write_text(f"PS1='$ '; PATH={shlex.quote(str(KIBITZ.parent))}:$PATH\n")
    arguments = ("--noprofile", "--rcfile", str(folder / "rc"), "-i")
    quiet = {"BASH_SILENCE_DEPRECATION_WARNING": "1", "INPUTRC": "/dev/null", "HOME": str(folder)}
    with on_terminal(*arguments, command="bash", cwd=folder, environment=quiet) as terminal:
        terminal.see("$")
        terminal.enter("source completion.bash; echo rea''dy")
        terminal.see("ready")
        yield terminal


def test_a_real_bash_completes(bash, folder):
    (folder / "games.pgn").write_text("1. e4 *\n")
    (folder / "my plan.toml").write_text('kind = "duel"\n')
    for typed, seen in [
        ("kibitz an", "$ kibitz analyse "),
        ("kibitz analyse --engine st", "$ kibitz analyse --engine stockfish "),
        ("kibitz analyse --engine=st", "$ kibitz analyse --engine=stockfish "),
        ("kibitz analyse ga", "$ kibitz analyse games.pgn "),
        ("kibitz analyse - < ga", "$ kibitz analyse - < games.pgn "),
        ("kibitz eval run my", "$ kibitz eval run my\\ plan.toml "),
        ("kibitz eval run 'my", "$ kibitz eval run 'my plan.toml' "),
        ("kibitz eval ladder stockf", "$ kibitz eval ladder stockfish:"),
        ('kibitz eval ladder "team:de', '$ kibitz eval ladder "team:default" '),
        ("kibitz eval ladder team:def", "$ kibitz eval ladder team:default "),
        ("kibitz eval duel solver solo:se", "$ kibitz eval duel solver solo:sequential "),
        ("kibitz play --black stockf", "$ kibitz play --black stockfish:"),
        ("kibitz play --opening Réti", "$ kibitz play --opening Réti\\ Opening:\\ Advance "),
        (
            "kibitz play --opening \"King's Indian A",
            '$ kibitz play --opening "King\'s Indian Attack" ',
        ),
        ("kibitz play --opening King\\'s\\ Indian\\ A", "King\\'s\\ Indian\\ Attack "),
    ]:
        bash.type(typed)
        bash.press("tab")
        # What is typed behind it shows that it is done, and whether it left a space.
        bash.type("|")
        bash.see(f"{seen}|")
        bash.press("ctrl-u")
    bash.type("kibitz eval ladder stockfish:")
    bash.press("tab", "tab")
    bash.see("1  2  3  4  5  6  7  8")


# --- other shells ---


def test_zsh_is_told_in_its_own_way(folder):
    (folder / "it's.epd").write_text("")
    (folder / "plain.epd").write_text("")
    told = kibitz(_KIBITZ_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="kibitz suite show it")
    assert told.stdout == "_arguments '*: :((\"it'\\''s.epd\"))'\n"
    told = kibitz(_KIBITZ_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="kibitz eval duel stockfi")
    assert '"stockfish\\\\:1":"60% at random, else skill 0, depth 1"' in told.stdout
    files = kibitz(_KIBITZ_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="kibitz analyse ga")
    assert files.stdout == "_files\n"


def test_fish_is_told_in_its_own_way(folder):
    ((name, what),) = described("kibitz an")
    assert name == "analyse"
    assert what.startswith("Tell what ")
    assert [each[0] for each in described("kibitz eval duel stockfish:")] == LEVELS
    for line, code in (("kibitz analyse --engine st", 0), ("kibitz analyse ga", 1)):
        told = kibitz(
            _KIBITZ_COMPLETE="complete_fish",
            _TYPER_COMPLETE_ARGS=line,
            _TYPER_COMPLETE_FISH_ACTION="is-args",
        )
        assert (told.returncode, told.stdout, told.stderr) == (code, "", "")


@pytest.mark.usefixtures("folder")
def test_zsh_and_fish_complete_what_stands_behind_an_option_in_the_same_word():
    assert described("kibitz analyse --variant=kings") == [("--variant=kings-cooking",)]
    asked = "kibitz eval report x --format="
    told = kibitz(_KIBITZ_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=asked).stdout
    assert told.startswith('_arguments \'*: :(("--format=html"\n"--format=json"\n')


def require_shell(name):
    """Skip a test whose shell is not here, but not where `make` should have installed it."""
    if shutil.which(name) is None:
        assert "CI" not in os.environ, f"{name} is not installed"
        pytest.skip(f"{name} is not installed")


def test_a_real_zsh_completes_at_the_first_tab(folder):
    require_shell("zsh")
    (folder / "functions").mkdir()
    (folder / "functions/_kibitz").write_text(process(_KIBITZ_COMPLETE="source_zsh").stdout)
    (folder / ".zshrc").write_text(
        f"PS1='$ '; PATH={shlex.quote(str(KIBITZ.parent))}:$PATH\n"
        f"fpath=({shlex.quote(str(folder / 'functions'))} $fpath)\n"
        "autoload -Uz compinit; compinit -u; print rea''dy\n"
    )
    home = {"ZDOTDIR": str(folder), "HOME": str(folder)}
    with on_terminal("-d", "-i", command="zsh", cwd=folder, environment=home) as terminal:
        terminal.see("ready")
        for typed, seen in [
            ("kibitz an", "$ kibitz analyse"),
            ("kibitz eval report x --format=ht", "$ kibitz eval report x --format=html"),
        ]:
            terminal.type(typed)
            terminal.press("tab")
            terminal.see(seen)
            terminal.press("ctrl-u")


def test_a_real_fish_completes(folder):
    require_shell("fish")
    (folder / ".config/fish/completions").mkdir(parents=True)
    script = process(_KIBITZ_COMPLETE="source_fish").stdout
    (folder / ".config/fish/completions/kibitz.fish").write_text(script)
    home = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "PATH": f"{KIBITZ.parent}{os.pathsep}{os.environ['PATH']}",
    }
    told = subprocess.run(
        ["fish", "-c", "complete -C 'kibitz an'; complete -C 'kibitz eval duel stockfish:'"],
        env=os.environ | home,
        capture_output=True,
        text=True,
        check=True,
        timeout=2 * HANGS_AFTER,
    ).stdout
    offered = [line.partition("\t")[0] for line in told.splitlines()]
    assert offered == ["analyse", *LEVELS]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell):
    told = kibitz(_KIBITZ_COMPLETE=f"source_{shell}")
    assert (told.returncode, told.stderr) == (0, "")
    assert f"_KIBITZ_COMPLETE=complete_{shell}" in told.stdout
    assert json.dumps(str(Path.cwd())) not in told.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_accepts_the_script_and_it_is_installed_once(shell, folder):
    require_shell(shell)
    (folder / ".config").mkdir()
    for _ in range(2):
        command = f"{shlex.quote(str(KIBITZ))} --install-completion; true"
        installed = subprocess.run(
            [shell, "-c", command],
            env=os.environ | {"HOME": str(folder)},
            capture_output=True,
            text=True,
            check=True,
            timeout=2 * HANGS_AFTER,
        )
        assert f"{shell} completion installed" in installed.stdout, installed
    scripts = [each for each in folder.rglob("*kibitz*") if each.is_file()]
    assert len(scripts) == 1
    subprocess.run([shell, "-n", str(scripts[0])], check=True, timeout=HANGS_AFTER)
    if shell == "bash":
        assert (folder / ".bashrc").read_text().count("kibitz.sh") == 1
