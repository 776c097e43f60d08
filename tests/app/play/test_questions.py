"""What is asked before a game is lost, before somebody leaves, and after a game."""

import asyncio
import re
from datetime import UTC, datetime

import pytest

import app.play.shelf
from app.matches.commands import Resign
from app.matches.match import MatchStatus
from app.play.session import Manners
from engine import Color
from tests.support.playing import playing, told

BLACK = Color.BLACK
FOOLS_MATE = ("f3", "e5", "g4", "Qh4")
ASKS = Manners()


def test_after_a_game_another_is_offered_with_colours_swapped(folder):
    async def work(table):
        await table.write(*FOOLS_MATE)
        await table.write("fen", "y")
        assert told(table, "White and Black are both played here")
        assert table.match.status is MatchStatus.RUNNING
        await table.write("resign")
        await table.write("n")
        assert table.session.has_left

    playing(work, folder, manners=ASKS)


def test_colours_are_swapped_and_stay_so(folder):
    async def work(table):
        await table.write("resign", "yes")
        assert told(table, "You are Black against random")
        assert len(table.played) == 1
        await table.write("new")
        assert len(table.played) == 1

    playing(work, folder, black="random", manners=ASKS)


def test_a_game_is_not_left_without_a_question(folder):
    async def work(table):
        session = table.session
        await table.write("e4", "quit")
        assert session.prompt == "save> "
        await table.write("")
        assert (session.prompt, session.has_left) == ("black> ", False)
        await table.write("quit", "a/b")
        assert table.said[-1].startswith("A save cannot be called that")
        assert session.prompt == "save> "
        await table.write("my game")
        assert session.has_left
        assert [save.name for save in await session.shelf.saves.list()] == ["my game"]

    playing(work, folder, manners=ASKS)


INSTEAD = ["help", "history", "moves", "e5", "move e5", "1... e5", "Ke5", "flip", "undo", "?"]


@pytest.mark.parametrize("line", INSTEAD)
def test_a_command_or_a_move_is_no_name_of_a_game(folder, line):
    async def work(table):
        session = table.session
        await table.write("e4", "quit")
        await table.write(line)
        assert (session.question, session.has_left) == (None, False)
        assert not await session.shelf.names()
        if line.endswith("e5") and line != "Ke5":
            assert table.played == ["e4", "e5"]
        if line == "help":
            assert any(each.startswith("  quit") for each in table.said)

    playing(work, folder, manners=ASKS)


def test_who_wants_to_leave_again_is_asked_again(folder):
    async def work(table):
        session = table.session
        await table.write("e4", "quit", "quit")
        assert (session.prompt, session.has_left) == ("save> ", False)
        await table.write("quit now")
        assert table.said[-1] == "'quit' takes nothing after it."
        assert session.prompt == "save> "
        await session.interrupt()
        assert session.has_left

    playing(work, folder, manners=ASKS)


NAMED = [
    ("save mine", "mine"),
    ("mine", "mine"),
    ("SAVE  my game", "my game"),
    ("my game", "my game"),
    ("Sicilian 2", "Sicilian 2"),
]


@pytest.mark.parametrize(("answer", "name"), NAMED)
def test_the_name_may_be_given_with_the_word_save(folder, answer, name):
    async def work(table):
        await table.write("e4", "quit", answer)
        assert table.session.has_left
        assert await table.session.shelf.names() == [name]

    playing(work, folder, manners=ASKS)


def test_save_alone_means_yes(folder):
    async def work(table):
        await table.write("e4", "save mine", "e5", "quit", "save")
        assert table.session.has_left
        assert await table.session.shelf.names() == ["mine"]

    playing(work, folder, manners=ASKS)


@pytest.mark.parametrize(("answer", "names"), [("n", []), ("y", 1), ("mine", ["mine"])])
def test_a_game_that_ends_meanwhile_changes_nothing_of_what_was_asked(folder, answer, names):
    async def work(table):
        session = table.session
        await table.write("e4", "quit")
        await session.sitting.command(Resign(BLACK))  # a flag would do as well
        assert table.said[-1] == "White wins: Black resigned (1-0)."
        assert session.prompt == "save> "
        await table.write(answer)
        assert session.has_left
        kept = await session.shelf.names()
        assert kept == names or len(kept) == names

    playing(work, folder, manners=ASKS)


def test_what_is_saved_is_left_at_once_and_what_has_no_moves_too(folder):
    async def work(table):
        await table.write("e4", "save x", "quit")
        assert table.session.has_left

    playing(work, folder, manners=ASKS)

    async def nothing(table):
        await table.write("quit")
        assert table.session.has_left

    playing(nothing, folder, manners=ASKS)


def test_another_game_is_begun_when_it_was_asked_about_this_one(folder):
    async def work(table):
        await table.write("e4", "new 5", "n")
        assert told(table, "White and Black are both played here, with 5 minutes each.")
        await table.write("d4")
        for nowhere in ("load nothing", "load 3", "load 8/8/8", "load 7k/5Q2/6K1/8/8/8/8/8 b - -"):
            (said,) = await table.write(nowhere)
            assert "Save it first?" not in said
        assert table.session.question is None
        assert table.played == ["d4"]
        await table.write("load 4k3/8/8/8/8/8/8/4K2R w - -", "y")
        assert table.match.game.position.fen() == "4k3/8/8/8/8/8/8/4K2R w - - 0 1"
        assert not table.session.has_left
        (name,) = await table.session.shelf.names()
        assert name.startswith("unfinished-")

    playing(work, folder, manners=ASKS)


def test_a_number_means_the_game_that_it_meant_when_it_was_written(folder):
    async def work(table):
        await table.write("e4", "save one", "new", "d4", "save two", "new", "c4")
        await table.write("load 2", "three")
        assert told(table, "Loaded 'one'.")
        assert table.played == ["e4"]

    playing(work, folder, manners=ASKS)


def test_who_insists_leaves_and_nothing_is_lost(folder):
    async def work(table):
        session = table.session
        await table.write("e4")
        await session.interrupt()
        assert (session.prompt, session.has_left) == ("save> ", False)
        await session.interrupt()
        assert session.has_left
        assert session.was_interrupted
        (name,) = await session.shelf.names()
        assert session.farewell == f"the game is saved as {name!r}: kibitz play --load {name}"

    playing(work, folder, manners=ASKS)


def test_the_end_of_all_lines_asks_and_then_leaves(folder):
    async def work(table):
        session = table.session
        await table.write("e4")
        await session.end()
        assert session.prompt == "save> "
        await session.end()
        assert session.has_left
        assert await session.shelf.names()

    playing(work, folder, manners=ASKS)


def test_ctrl_c_without_a_game_asks_whether_to_leave(folder):
    async def work(table):
        session = table.session
        await session.interrupt()
        assert session.prompt == "leave> "
        await table.write("n")
        assert session.prompt == "white> "
        await session.interrupt()
        await table.write("e4")
        assert table.played == ["e4"]
        await table.write("undo")
        await session.interrupt()
        await table.write("y")
        assert session.has_left

    playing(work, folder, manners=ASKS)


def test_who_is_cut_off_finds_the_game_saved_where_it_was_before(folder):
    async def work(table):
        await table.write("e4", "save mine", "e5")
        raise asyncio.CancelledError

    tables = []

    async def cut_off(table):
        tables.append(table)
        await work(table)

    with pytest.raises(asyncio.CancelledError):
        playing(cut_off, folder)
    assert tables[0].session.farewell.startswith("the game is saved as 'mine'")

    async def after(table):
        await table.write("load mine")
        assert table.played == ["e4", "e5"]

    playing(after, folder)


def test_two_games_that_are_cut_off_in_the_same_second_are_both_saved(folder, monkeypatch):
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr(app.play.shelf, "now", lambda: at)
    tables = []

    def cut_off(move):
        async def work(table):
            tables.append(table)
            await table.write(move)
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            playing(work, folder)

    for move in ("e4", "d4", "c4"):
        cut_off(move)
    name = f"unfinished-{at.astimezone():%Y%m%d-%H%M%S}"
    assert [re.search("as '(.*?)'", each.session.farewell)[1] for each in tables] == [
        name,
        f"{name}-2",
        f"{name}-3",
    ]

    async def after(table):
        await table.write(f"load {name}")
        assert table.played == ["e4"]
        await table.write(f"load {name}-3")
        assert table.played == ["c4"]

    playing(after, folder)


def test_a_cut_off_game_that_cannot_be_saved_says_so(folder):
    tables = []

    async def cut_off(table):
        tables.append(table)
        await table.write("e4")
        (folder / "kibitz.db").write_bytes(b"no database, and longer than a header" * 9)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        playing(cut_off, folder)
    assert tables[0].session.farewell.startswith("the game could not be saved: ")
