"""Where Stockfish and other UCI engines are found, and what is said when they are not."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci import program as programs
from agents.uci.errors import UciNotFound, UciWontStart
from agents.uci.limits import Limit
from agents.uci.program import (
    STOCKFISH_VARIABLE,
    USUAL_PLACES,
    find_program,
    find_stockfish,
    find_well_known,
)
from engine import Game
from tests.support.processes import MARK, run


@pytest.fixture
def places(monkeypatch, tmp_path) -> dict[str, Path]:
    """A machine without any engine, with two usual places and two on PATH, all empty."""
    found = {name: tmp_path / name for name in ("usual", "next", "path", "last")}
    for place in found.values():
        place.mkdir()
    monkeypatch.delenv(STOCKFISH_VARIABLE, raising=False)
    monkeypatch.setattr(programs, "USUAL_PLACES", (found["usual"], tmp_path / "no", found["next"]))
    monkeypatch.setenv("PATH", os.pathsep.join(str(found[name]) for name in ("path", "last")))
    return found


def install(place: Path, name: str = "stockfish", mode: int = 0o755) -> str:
    """Put something that looks like a program somewhere."""
    path = place / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return str(path)


# --- the order ---

#: Where it is installed, and where it is found.
ORDER = {
    "only on PATH": (["last"], "last"),
    "twice on PATH": (["last", "path"], "path"),
    "in a usual place": (["usual"], "usual"),
    "in two usual places": (["next", "usual"], "usual"),
    "in a usual place and on PATH": (["path", "next"], "next"),
    "everywhere": (["last", "path", "next", "usual"], "usual"),
}


@pytest.mark.parametrize(("installed", "found"), ORDER.values(), ids=ORDER)
def test_the_usual_places_come_before_path(places, installed, found):
    paths = {name: install(places[name]) for name in installed}
    assert find_stockfish().command == (paths[found],)
    assert find_program("stockfish") == paths[found]


def test_the_variable_comes_before_all(places, monkeypatch, tmp_path):
    for place in places.values():
        install(place)
    mine = install(tmp_path, "my engine")
    monkeypatch.setenv(STOCKFISH_VARIABLE, mine)
    program = find_stockfish()
    assert (program.title, program.command) == ("Stockfish", (mine,))
    monkeypatch.setenv(STOCKFISH_VARIABLE, "")  # as good as not set
    assert find_stockfish().command == (str(places["usual"] / "stockfish"),)


def test_the_variable_names_a_file_and_not_something_on_path(places, monkeypatch, tmp_path):
    install(places["path"])
    mine = install(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STOCKFISH_VARIABLE, "stockfish")
    assert find_stockfish().command == (mine,)


def test_the_usual_places_are_debians_and_homebrews():
    first = [str(place) for place in USUAL_PLACES[:4]]
    assert first == ["/usr/games", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]


# --- what does not count ---


def test_a_file_that_cannot_be_run_is_passed_over(places):
    install(places["usual"], mode=0o644)
    assert find_program("stockfish") is None
    expected = install(places["path"])
    assert find_program("stockfish") == expected


def test_a_folder_of_that_name_is_passed_over(places):
    (places["usual"] / "stockfish").mkdir()
    (places["path"] / "stockfish").mkdir()
    assert find_program("stockfish") is None
    expected = install(places["last"])
    assert find_program("stockfish") == expected


# --- when it is not there ---


def test_without_stockfish_one_hears_how_to_install_it(places):
    with pytest.raises(UciNotFound) as caught:
        find_stockfish()
    assert str(caught.value) == (
        "Stockfish was not found at 'the usual places and PATH'; install it (Debian: apt install "
        "stockfish, macOS: brew install stockfish) or set STOCKFISH_PATH to its program"
    )


@pytest.mark.parametrize("what", ["nothing", "folder"])
def test_a_variable_that_names_no_program_is_an_error_whatever_else_is_there(
    places, monkeypatch, tmp_path, what
):
    for place in places.values():
        install(place)
    (tmp_path / "folder").mkdir()
    named = str(tmp_path / what)
    monkeypatch.setenv(STOCKFISH_VARIABLE, named)
    with pytest.raises(UciNotFound) as caught:
        find_stockfish()
    assert caught.value.program == named
    assert str(caught.value).endswith("; STOCKFISH_PATH names it")


def test_a_variable_that_names_something_that_cannot_be_run(places, monkeypatch, tmp_path):
    monkeypatch.setenv(STOCKFISH_VARIABLE, install(tmp_path, "text", mode=0o644))

    async def main():
        async with Catalogue() as catalogue:
            await catalogue.seat("stockfish:6").decide(Turn.of(Game()))

    with pytest.raises(UciWontStart, match=r"Stockfish cannot be started from .*Permission denied"):
        run(main())


# --- others ---

WELL_KNOWN = {
    "fairy-stockfish": ("Fairy-Stockfish", "fairy-stockfish", ()),
    "ethereal": ("Ethereal", "ethereal-chess", ()),
    "glaurung": ("Glaurung", "glaurung", ()),
    "gnuchess": ("GNU Chess", "gnuchess", ("--uci",)),
    "toga2": ("Toga II", "toga2", ()),
}


def test_no_other_engine_has_to_be_there(places):
    assert find_well_known() == {}
    assert not any(name.startswith("uci:") for name in Catalogue().names)


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_a_well_known_engine_is_found_and_can_be_seated(places, name):
    title, file, arguments = WELL_KNOWN[name]
    path = install(places["last"], file)
    (program,) = find_well_known().values()
    assert (program.title, program.command) == (title, (path, *arguments))
    assert [each for each in Catalogue().names if each.startswith("uci:")] == [f"uci:{name}"]
    assert Catalogue().seat(f"uci:{name}").name == f"uci:{name}"


def test_all_of_them_are_known(places):
    for place, (_, file, _) in zip(list(places.values()) * 2, WELL_KNOWN.values(), strict=False):
        install(place, file)
    assert list(find_well_known()) == list(WELL_KNOWN)


# --- for real ---


def test_the_stockfish_that_is_found_plays(monkeypatch, tmp_path):
    real = find_stockfish()
    link = tmp_path / "fish"
    link.symlink_to(real.command[0])
    monkeypatch.setenv(STOCKFISH_VARIABLE, str(link))
    named = find_stockfish()
    assert named.command == (str(link),)

    async def main():
        marked = replace(named, environment={"UCI_MARK": MARK})
        async with Catalogue(stockfish=marked) as catalogue:
            player = catalogue.seat("stockfish:8", limit=Limit(nodes=100))
            return await player.decide(Turn.of(Game()))

    assert Game().position.is_legal(run(main()).move)
