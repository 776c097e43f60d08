"""Games that are kept under a name, and gone on with."""

import contextlib
import re
import sqlite3

from app.play.session import Manners
from tests.support.playing import playing, told

FOOLS_MATE = ("f3", "e5", "g4", "Qh4")
ASKS = Manners()


def test_a_game_is_saved_left_and_played_on_in_another_session(folder):
    async def before(table):
        said = await table.write("e4", "e5", "save club night")
        assert said[0] == "Saved as 'club night'."
        assert said[1].startswith("White's seat token in the service: ")
        assert said[2].startswith("or on its page: http://127.0.0.1:8000/matches/")
        assert "#seat=black:" in said[4]
        (listed,) = await table.write("saves")
        assert re.fullmatch(
            r"  1\. club night: human - human, 2 plies, [-\d]{10} \d\d:\d\d", listed
        )

    async def after(table):
        assert (await table.write("load"))[0].startswith("  1. club night: human - human, 2 plies")
        assert table.session.prompt == "load> "
        said = await table.write("1")
        assert said[0] == "Loaded 'club night'. White and Black are both played here."
        assert table.played == ["e4", "e5"]
        await table.write("Nf3", "save")
        assert "Saved as 'club night'." in table.said
        (save,) = await table.session.shelf.saves.list()
        assert save.record.ply_count == 3
        (said,) = await table.write("load other")
        assert said == "Nothing is saved as 'other'."

    playing(before, folder, time_control="600+5")
    playing(after, folder, manners=ASKS)


def test_a_name_that_is_taken_needs_an_exclamation_mark(folder):
    async def work(table):
        await table.write("e4", "save one", "new", "d4")
        (said,) = await table.write("save one")
        assert said == (
            "'one' is not free: human - human is saved as that; choose another name, or write"
            " `save one!` to put this game in its place."
        )
        assert (await table.write("save one!"))[0] == "Saved as 'one'."
        await table.write("load one")
        assert table.played == ["d4"]

    playing(work, folder)


def test_what_is_over_can_be_saved_and_looked_at(folder):
    async def work(table):
        await table.write(*FOOLS_MATE)
        assert await table.write("save mate") == ["Saved as 'mate'."]
        await table.write("new", "load mate")
        assert table.said[-1] == "Black wins by checkmate (0-1)."
        assert table.session.prompt == "> "
        assert table.played[-1] == "Qh4#"

    playing(work, folder)


def test_the_list_can_be_left_and_a_wrong_choice_is_told(folder):
    async def work(table):
        assert await table.write("load") == ["Nothing is saved yet."]
        assert await table.write("saves") == ["Nothing is saved yet."]
        await table.write("e4", "save Sunday", "load", "")
        assert table.session.question is None
        (said,) = await table.write("load", "sunday")
        assert said == "Nothing is saved as 'sunday'; is it 'Sunday'?"
        await table.write("e5")
        assert table.played == ["e4", "e5"]

    playing(work, folder, manners=ASKS)


def test_a_script_is_not_asked_which_one(folder):
    async def work(table):
        *_, said = await table.write("e4", "save Sunday", "load")
        assert said == "Which one? Write load, and its number or name."
        assert table.session.question is None
        await table.write("e5")
        assert table.played == ["e4", "e5"]

    playing(work, folder)


def test_who_loads_a_save_plays_against_whom_it_was(folder):
    async def work(table):
        await table.write("e4", "save dice", "new")
        await table.write("load dice", "d4")
        assert len(table.played) == 4
        assert told(table, "Loaded 'dice'. You are White against random.")

    playing(work, folder, black="random")


def test_new_games_are_like_the_one_that_was_loaded(folder):
    async def before(table):
        await table.write("Nxa3", "save kitchen")

    async def after(table):
        await table.write("load kitchen", "new")
        assert told(table, "You are White against solver, with 5 minutes each")
        assert table.match.settings.variant == "kings-cooking"
        assert table.match.settings.tags == ()
        await table.write("resign", "y")
        assert told(table, "You are Black against solver, with 5 minutes each")
        await table.write("new")
        assert len(table.played) == 1
        await table.write("load kitchen", "resign", "y")
        assert told(table, "You are Black against solver, with 5 minutes each")
        assert table.match.settings.tags == ()

    playing(before, folder, black="solver", variant="kings-cooking", time_control="300")
    playing(after, folder, black="random", manners=ASKS)


def test_new_games_begin_where_games_begin_and_not_where_one_was_loaded(folder):
    async def before(table):
        await table.write("load 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e4", "save endgame")

    async def after(table):
        await table.write("load endgame", "new")
        assert table.match.game.start.fen().startswith("rnbqkbnr/")

    playing(before, folder)
    playing(after, folder)


def test_a_database_that_cannot_be_used_is_told(folder):
    (folder / "kibitz.db").write_bytes(b"this is no database, but long enough to look at" * 9)

    async def work(table):
        (said,) = await table.write("save x")
        assert "kibitz.db" in said
        await table.write("load", "e4")
        assert table.played == ["e4"]
        assert await table.session.offers("load ") == ("", [])

    playing(work, folder)


def test_a_save_that_is_damaged_does_not_cost_the_game(folder):
    async def work(table):
        await table.write("e4", "save one", "new", "d4")
        with contextlib.closing(sqlite3.connect(folder / "kibitz.db")) as database:
            database.execute("UPDATE events SET data = 'garbage'")
            database.commit()
        assert await table.write("load one") == ["'one' cannot be read: its log is damaged."]
        await table.write("d5")
        assert table.played == ["d4", "d5"]

    playing(work, folder)
