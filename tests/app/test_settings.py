"""What the operator decides: in a file and in the environment, and refused in one sentence."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import platformdirs
import pytest

from agents.player import Turn
from agents.uci.errors import InvalidRatings, UciNotFound
from agents.uci.limits import Limit
from agents.uci.program import find_stockfish
from agents.uci.ratings import RatedPlayer, Ratings
from app.catalogue import make_catalogue
from app.settings import InvalidSettings, Settings, load_settings
from engine import Game
from tests.support import uci_engine
from tests.support.processes import LINUX, MARK, run, told

#: As TOML, which writes lists of texts as JSON does.
CRASH_TEST = json.dumps([sys.executable, "-I", "-S", uci_engine.__file__, "Engine", "e2e4,d2d4"])
RATINGS = Ratings(
    "Stockfish 15.1",
    datetime(2026, 11, 16, tzinfo=UTC),
    {"stockfish:6": 1320.0},
    {"stockfish:1": RatedPlayer(225.0, 91.0, 359.0, 276)},
)


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    """The folder where Kibitz is started, without a file, and an environment that says nothing."""
    for name in list(os.environ):
        if name.upper().startswith("KIBITZ_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    return tmp_path


def write(folder: Path, text: str | bytes, name: str = "kibitz.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# --- where settings come from ---


def test_nothing_has_to_be_set(monkeypatch):
    monkeypatch.delenv("KIBITZ_DATA_FOLDER")
    settings = load_settings()
    assert settings.engines == {}
    assert settings.engine_processes == (os.cpu_count() or 2)
    assert settings.data_folder == platformdirs.user_data_path("kibitz")
    assert settings.ratings_file == settings.data_folder / "ratings.json"


def test_an_empty_file_sets_nothing(folder):
    write(folder, "")
    assert load_settings() == Settings()


def test_the_file(folder, monkeypatch):
    monkeypatch.delenv("KIBITZ_DATA_FOLDER")
    write(
        folder,
        """
        engine_processes = 3
        data_folder = "/srv/kibitz"

        [engines.berserk]
        command = ["/opt/berserk", "--uci"]
        title = "Berserk 13"
        depth = 12
        nodes = 100_000
        move_time = 1500
        options = { Hash = 64, Ponder = false, Style = "Risky" }
        environment = { LICENCE = "yes" }

        [engines.my-engine_2]
        command = "my-engine"
        """,
    )
    settings = load_settings()
    assert (settings.engine_processes, settings.data_folder) == (3, Path("/srv/kibitz"))
    berserk, mine = (engine.program(name) for name, engine in settings.engines.items())
    assert (berserk.title, berserk.command) == ("Berserk 13", ("/opt/berserk", "--uci"))
    assert berserk.options == {"Hash": 64, "Ponder": False, "Style": "Risky"}
    assert [type(value) for value in berserk.options.values()] == [int, bool, str]
    assert berserk.environment == {"LICENCE": "yes"}
    assert berserk.limit == Limit(depth=12, nodes=100_000, time=timedelta(seconds=1.5))
    assert (mine.title, mine.command) == ("my-engine_2", ("my-engine",))
    assert (mine.options, mine.environment, mine.limit) == ({}, {}, None)


def test_the_environment_wins_over_the_file(folder, monkeypatch):
    write(folder, 'engine_processes = 3\ndata_folder = "/srv"\n[engines.a]\ncommand = "a"')
    monkeypatch.setenv("KIBITZ_ENGINE_PROCESSES", "5")
    monkeypatch.setenv("KIBITZ_ENGINES", '{"b": {"command": ["b", "-x"], "nodes": 7}}')
    settings = load_settings()
    assert settings.engine_processes == 5
    assert settings.data_folder == folder / "data"
    assert settings.engines["b"].program("b").command == ("b", "-x")
    assert sorted(settings.engines) == ["a", "b"]


def test_an_empty_variable_is_as_good_as_not_set(folder, monkeypatch):
    write(folder, "engine_processes = 3")
    for name in ("ENGINE_PROCESSES", "ENGINES", "STOCKFISH_OPTIONS", "DATA_FOLDER"):
        monkeypatch.setenv(f"KIBITZ_{name}", "")
    settings = load_settings()
    assert (settings.engine_processes, settings.engines) == (3, {})
    assert settings.data_folder == platformdirs.user_data_path("kibitz")


def test_a_tilde_is_a_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", "~/kibitz")
    write(
        folder,
        """
        engines.a.command = "~/bin/a"
        engines.b.command = ["~/b", "~"]
        engines.c.command = "./c"
        """,
    )
    settings = load_settings()
    assert settings.data_folder == Path("/home/anna/kibitz")
    commands = [engine.command for engine in settings.engines.values()]
    assert commands == [("/home/anna/bin/a",), ("/home/anna/b", "~"), ("./c",)]


def test_options_for_stockfish(folder, monkeypatch):
    write(folder, "stockfish_options = { Hash = 32, UCI_ShowWDL = true }")
    assert make_catalogue(load_settings()).pool("stockfish").program.options == {
        **find_stockfish().options, "Hash": 32, "UCI_ShowWDL": True,
    }  # fmt: skip
    monkeypatch.setenv("KIBITZ_STOCKFISH_OPTIONS", '{"Hash": 64}')
    assert load_settings().stockfish_options["Hash"] == 64


def test_variables_of_others_are_none_of_our_business(monkeypatch):
    monkeypatch.setenv("ENGINE_PROCESSES", "5")
    monkeypatch.setenv("KIBITZ_COLOUR", "blue")
    assert load_settings() == Settings()


@pytest.mark.parametrize("is_absolute", [True, False])
def test_another_file_can_be_named(folder, monkeypatch, is_absolute):
    write(folder, "engine_processes = 3")
    (folder / "etc").mkdir()
    path = write(folder / "etc", "engine_processes = 4", "other.conf")
    monkeypatch.setenv("KIBITZ_CONFIG", str(path if is_absolute else path.relative_to(folder)))
    assert load_settings().engine_processes == 4
    monkeypatch.setenv("KIBITZ_CONFIG", "")  # as good as not set
    assert load_settings().engine_processes == 3


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        load_settings().engine_processes = 3


# --- mistakes ---

ENGINE = '[engines.x]\ncommand = "x"\n'
#: What is in the file, and what the sentence must name.
MISTAKES = {
    "no TOML": ("engine_processes = = 3", "kibitz.toml is not TOML: Invalid value (at line 1"),
    "no text": (b"\xff\xfe\x00", "kibitz.toml is not text"),
    "a mark in front": (b"\xef\xbb\xbfengine_processes = 3", "kibitz.toml is not TOML"),
    "twice the same": ("engine_processes = 1\nengine_processes = 2", "kibitz.toml is not TOML"),
    "lists without end": ("a = " + "[" * 5000, "kibitz.toml is not TOML"),
    "digits without end": (f"engine_processes = {'9' * 5000}", "kibitz.toml is not TOML"),
    "misspelt": ("engine_proceses = 3", "setting engine_proceses is wrong"),
    "two mistakes": ("a = 1\nb = 2", "setting a is wrong: Extra inputs are not permitted (and 1"),
    "a key on two lines": (ENGINE + '"a\\nb" = 1', r"setting engines.x.a\nb is wrong"),
    "misspelt in an engine": (ENGINE + "movetime = 5", "setting engines.x.movetime is wrong"),
    "no processes": ("engine_processes = 0", "setting engine_processes is wrong"),
    "too many processes": ("engine_processes = 1025", "setting engine_processes is wrong"),
    "a word for a number": ('engine_processes = "two"', "setting engine_processes is wrong"),
    "half a process": ("engine_processes = 1.5", "setting engine_processes is wrong"),
    "endless processes": ("engine_processes = inf", "setting engine_processes is wrong"),
    "processes that are true": ("engine_processes = true", "it should be a whole number"),
    "NUL in a folder": ('data_folder = "a\\u0000b"', "setting data_folder is wrong: it"),
    "a number for a folder": ("data_folder = 5", "setting data_folder is wrong"),
    "a list of engines": ('engines = ["x"]', "setting engines is wrong"),
    "an engine that is a text": ('engines.x = "stockfish"', "setting engines.x is wrong"),
    "an engine without command": ('[engines.x]\ntitle = "X"', "setting engines.x.command is wrong"),
    "an empty command": ("[engines.x]\ncommand = []", "setting engines.x.command is wrong"),
    "a number for a command": ("[engines.x]\ncommand = 5", "setting engines.x.command is wrong"),
    "a number in a command": ("[engines.x]\ncommand = [5]", "setting engines.x.command.0 is wrong"),
    "no text for a command": ('[engines.x]\ncommand = ""', "setting engines.x.command.0 is wrong"),
    "an empty argument": ('[engines.x]\ncommand = ["x", ""]', "command.1 is wrong: it should"),
    "NUL in a command": ('[engines.x]\ncommand = "a\\u0000b"', "engines.x.command.0 is wrong"),
    "a space in a name": ('[engines."a b"]\ncommand = "x"', "setting engines.a b is wrong"),
    "a colon in a name": ('[engines."uci:x"]\ncommand = "x"', "setting engines.uci:x is wrong"),
    "an empty name": ('[engines.""]\ncommand = "x"', "setting engines. is wrong"),
    "a long name": (f'[engines.{"x" * 51}]\ncommand = "x"', "is wrong"),
    "a line break in a name": ('[engines."a\\n"]\ncommand = "x"', r"setting engines.a\n is wrong"),
    "no depth": (ENGINE + "depth = 0", "setting engines.x.depth is wrong"),
    "too much depth": (ENGINE + "depth = 201", "setting engines.x.depth is wrong"),
    "a depth that is true": (ENGINE + "depth = true", "setting engines.x.depth is wrong"),
    "a text for a depth": (ENGINE + 'depth = "3"', "setting engines.x.depth is wrong"),
    "no nodes": (ENGINE + "nodes = -1", "setting engines.x.nodes is wrong"),
    "too many nodes": (ENGINE + f"nodes = {10**15 + 1}", "setting engines.x.nodes is wrong"),
    "no time": (ENGINE + "move_time = 0", "setting engines.x.move_time is wrong"),
    "over a day": (ENGINE + "move_time = 86_400_001", "setting engines.x.move_time is wrong"),
    "a list for an option": (ENGINE + "options = { Hash = [1] }", "setting engines.x.options.Hash"),
    "a fraction for an option": (ENGINE + "options = { Hash = 1.5 }", "the setting engines.x"
        ".options.Hash is wrong: it should be true, false, a whole number or text"),
    "a fraction for Stockfish": ("stockfish_options = { Hash = 1.5 }", "stockfish_options.Hash is"),
    "a day for an option": (ENGINE + "options = { Hash = 2026-11-16 }", "engines.x.options.Hash"),
    "options in a list": (ENGINE + "options = [1]", "setting engines.x.options is wrong"),
    "a number in the environment": (ENGINE + "environment = { A = 1 }", "engines.x.environment.A"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_file_gets_one_sentence(folder, monkeypatch, text, sentence):
    monkeypatch.delenv("KIBITZ_DATA_FOLDER")
    write(folder, text)
    check_sentence(sentence)


def check_sentence(expected: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    sentence = str(caught.value)
    assert expected in sentence
    assert sentence.isprintable()
    assert len(sentence) < 300
    assert caught.value.__cause__ is None


#: What the environment says, and what the sentence must name.
VARIABLES = {
    "a word for a number": ("ENGINE_PROCESSES", "two", "setting engine_processes is wrong"),
    "no processes": ("ENGINE_PROCESSES", "0", "setting engine_processes is wrong"),
    "no JSON": ("ENGINES", "{", 'a variable of the environment is wrong: error parsing value for'),
    "another JSON": ("ENGINES", "[]", "setting engines is wrong"),
    "an engine without command": ("ENGINES", '{"x": {}}', "setting engines.x.command is wrong"),
    "no file": ("CONFIG", "nowhere.toml", "KIBITZ_CONFIG names nowhere.toml, which is no file"),
    "a folder": ("CONFIG", ".", "KIBITZ_CONFIG names ., which is no file"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "sentence"), VARIABLES.values(), ids=VARIABLES)
def test_a_mistake_in_the_environment_gets_one_sentence(monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"KIBITZ_{name}", value)
    check_sentence(sentence)


@pytest.mark.skipif(not LINUX, reason="it needs a file that not even root can read")
def test_a_file_that_cannot_be_read_gets_one_sentence(monkeypatch):
    monkeypatch.setenv("KIBITZ_CONFIG", "/proc/self/mem")
    check_sentence("/proc/self/mem cannot be read: Input/output error")


# --- the engines that are named ---


def test_an_engine_that_is_named_can_be_seated_and_plays(folder):
    log = folder / "log"
    stockfish = json.dumps(find_stockfish().command[0])
    write(
        folder,
        f"""
        engine_processes = 2

        [engines.dummy]
        command = {CRASH_TEST}
        title = "Dummy"
        depth = 9
        options = {{ Hash = 32 }}
        environment = {{ UCI_MARK = "{MARK}", UCI_LOG = {json.dumps(str(log))} }}

        [engines.mine]
        command = {stockfish}
        nodes = 50
        options = {{ "Skill Level" = 3 }}
        environment = {{ UCI_MARK = "{MARK}" }}
        """,
    )

    async def main():
        async with make_catalogue(load_settings()) as catalogue:
            assert {"uci:dummy", "uci:mine"} <= set(catalogue.names)
            assert catalogue.pool("uci:dummy").size == 2
            dummy = await catalogue.seat("uci:dummy").decide(Turn.of(Game()))
            mine = catalogue.seat("uci:mine", "chess960")
            game = Game(variant="chess960")
            for _ in range(10):
                game.play((await mine.decide(Turn.of(game))).move)
            return dummy, len(game.plies)

    dummy, plies = run(main())
    assert (dummy.move.uci(), dummy.advice[0].by, plies) == ("e2e4", "uci:dummy", 10)
    assert "setoption name Hash value 32" in told(log)
    assert "go depth 9" in told(log)


def test_a_wrong_command_is_told_when_it_is_asked_to_play(folder):
    write(folder, '[engines.x]\ncommand = "no-such-engine"\ntitle = "X 1.0"')

    async def main():
        async with make_catalogue(load_settings()) as catalogue:
            await catalogue.seat("uci:x").decide(Turn.of(Game()))

    with pytest.raises(UciNotFound, match=r"X 1\.0 was not found at 'no-such-engine'"):
        run(main())


# --- ratings ---


def test_ratings_are_read_from_the_data_folder(folder):
    assert make_catalogue(load_settings()).ratings == Ratings.load()
    (folder / "data").mkdir()
    write(folder / "data", RATINGS.to_json(), "ratings.json")
    assert make_catalogue(load_settings()).ratings == RATINGS


@pytest.mark.parametrize("text", ["", "{}", '{"kibitz_ratings": 2}', b"\xff"])
def test_damaged_ratings_are_an_error_and_not_passed_over(folder, text):
    (folder / "data").mkdir()
    path = write(folder / "data", text, "ratings.json")
    catalogue = make_catalogue(load_settings())  # whoever needs no ratings is not bothered
    with pytest.raises(InvalidRatings) as caught:
        _ = catalogue.ratings
    assert caught.value.path == str(path)


def test_a_folder_in_the_place_of_the_ratings_is_an_error(folder):
    (folder / "data" / "ratings.json").mkdir(parents=True)
    catalogue = make_catalogue(load_settings())
    with pytest.raises(InvalidRatings, match="Is a directory"):
        _ = catalogue.ratings


def test_ratings_that_cannot_be_looked_for_are_an_error(folder, monkeypatch):
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(folder / ("x" * 300)))
    catalogue = make_catalogue(load_settings())
    with pytest.raises(InvalidRatings, match="File name too long"):
        _ = catalogue.ratings
