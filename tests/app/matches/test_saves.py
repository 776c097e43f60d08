"""Games that a terminal keeps under a name, and that the service opens."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from agents.catalogue import Catalogue
from agents.models.budget import Budget, Spending
from agents.models.ledger import CallOutcome, ModelCall, Question
from agents.models.model import Usage
from agents.timekeeping import now
from app.matches.commands import Pause, PlayMove, Resign, Resume, Takeback, TakebackAction
from app.matches.errors import CannotDo, WrongSeatToken
from app.matches.match import MatchStatus
from app.matches.private import PrivateMatch
from app.matches.saves import DamagedSave, InvalidName, NameTaken, NoSuchSave, Saves, check_name
from app.matches.settings import MatchSettings, PlayerSettings
from app.persistence.database import Database
from app.persistence.ledger import ledger_of
from app.persistence.plies import plies_of
from app.services import open_services
from app.settings import Settings
from engine import Color
from tests.support.processes import run

WHITE, BLACK = Color.WHITE, Color.BLACK
HOT_SEAT = MatchSettings(
    PlayerSettings("human"), PlayerSettings("human"), time_control="600+5", tags=("club",)
)


def nobody(*_heard):
    """Hear nothing."""


async def paused(catalogue, *moves, settings=HOT_SEAT):
    """Return a game of two people that has been paused after some moves."""
    private = PrivateMatch.create(settings, catalogue)
    private.match.start(private.match.created_at)
    await play(private, *moves)
    return private


async def play(private, *moves):
    if private.match.status is MatchStatus.PAUSED:
        await private.command(Resume())
    for move in moves:
        await private.command(PlayMove(private.match.color, move))
    await private.command(Pause())


def playing(url, work):
    async def main():
        async with Catalogue() as catalogue:
            await work(catalogue, Saves(url))

    run(main(), hangs_after=60)


async def opened(saves, name, catalogue):
    return await saves.open(name, catalogue, told=nobody, say=nobody)


def test_a_game_is_saved_and_loaded_as_it_stood(database_url):
    async def work(catalogue, saves):
        assert not await saves.list()
        private = await paused(catalogue, "e4", "e5", "Nf3")
        kept = await saves.keep("Sunday", private, None)
        (save,) = await saves.list()
        assert (save.name, save.record.status, save.record.ply_count) == ("Sunday", "paused", 3)
        assert save.record.tags == ("club", "save:Sunday")
        again, found = await opened(saves, "Sunday", catalogue)
        assert found == replace(kept, tokens={})
        old, new = private.match, again.match
        assert (new.id, new.status) == (kept.match_id, MatchStatus.PAUSED)
        assert (new.game.line.moves, new.clocks(), new.spent) == (
            old.game.line.moves,
            old.clocks(),
            old.spent,
        )
        assert [event.fields for event in again.log[1:]] == [
            event.fields for event in private.log[1:]
        ]

    playing(database_url, work)


def test_the_same_name_again_adds_what_has_happened_since(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4", "e5", "Nf3")
        kept = await saves.keep("Sunday", private, None)
        await private.command(Resume())
        await private.command(Takeback(WHITE))
        await private.command(Takeback(BLACK, TakebackAction.ACCEPT))
        await play_on(private, "f4", "exf4")
        kept = await saves.keep("Sunday", private, kept)
        (save,) = await saves.list()
        assert (save.record.id, save.record.ply_count) == (kept.match_id, 4)
        async with await Database.open(saves._url, exclusive=False) as database:
            plies = await database.read(lambda c: plies_of(c, kept.match_id))
        assert [ply.san for ply in plies] == ["e4", "e5", "f4", "exf4"]
        again, found = await opened(saves, "Sunday", catalogue)
        assert again.match.game.pgn() == private.match.game.pgn()
        # One that was loaded is saved again as well, to its end.
        await again.command(Resign(WHITE))
        await saves.keep("Sunday", again, found)
        (save,) = await saves.list()
        assert (save.record.status, save.record.result) == ("ended", "0-1")

    playing(database_url, work)


async def play_on(private, *moves):
    for move in moves:
        await private.command(PlayMove(private.match.color, move))
    await private.command(Pause())


def test_another_name_is_another_match(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        first = await saves.keep("one", private, None)
        await play(private, "c5")
        second = await saves.keep("two", private, None)
        assert first.match_id != second.match_id
        counts = {save.name: save.record.ply_count for save in await saves.list()}
        assert counts == {"one": 1, "two": 2}
        assert [save.record.tags for save in await saves.list()] == [
            ("club", "save:two"),
            ("club", "save:one"),
        ]

    playing(database_url, work)


def test_a_name_that_is_taken_is_kept_unless_one_insists(database_url):
    async def work(catalogue, saves):
        await saves.keep("mine", await paused(catalogue, "e4"), None)
        other = await paused(catalogue, "d4")
        with pytest.raises(NameTaken, match="human - human is saved as that"):
            await saves.keep("mine", other, None)
        kept = await saves.keep("mine", other, None, replaces=True)
        (save,) = await saves.list()
        assert save.record.id == kept.match_id

    playing(database_url, work)


def test_a_name_that_another_game_has_taken_is_not_written_under(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        kept = await saves.keep("mine", private, None)
        other = await paused(catalogue, "d4")
        await saves.keep("mine", other, None, replaces=True)
        await play(private, "e5")
        with pytest.raises(NameTaken, match="another game has taken the name since"):
            await saves.keep("mine", private, kept)
        again, _ = await opened(saves, "mine", catalogue)
        assert [move.uci() for move in again.match.game.line.moves] == ["d2d4"]

    playing(database_url, work)


def test_what_is_replaced_has_lost_its_name_and_opens_to_nobody(database_url):
    async def work(catalogue, saves):
        first = await saves.keep("mine", await paused(catalogue, "e4"), None)
        second = await saves.keep("mine", await paused(catalogue, "d4"), None, replaces=True)
        async with open_services(Settings(database=database_url), Catalogue()) as services:
            matches = services.matches
            assert (await matches.find(first.match_id)).tags == ("club",)
            with pytest.raises(WrongSeatToken):
                await matches.color_of(first.match_id, first.tokens[WHITE])
            assert await matches.color_of(second.match_id, second.tokens[WHITE]) is WHITE

    playing(database_url, work)


def test_what_is_replaced_while_the_service_plays_it_is_played_on(database_url):
    async def work(catalogue, saves):
        kept = await saves.keep("mine", await paused(catalogue, "e4"), None)
        async with open_services(Settings(database=database_url), Catalogue()) as services:
            await services.matches.command(kept.match_id, Resume())
            await saves.keep("mine", await paused(catalogue, "d4"), None, replaces=True)
            assert await services.matches.color_of(kept.match_id, kept.tokens[BLACK]) is BLACK
            await services.matches.command(kept.match_id, PlayMove(BLACK, "e5"))

    playing(database_url, work)


def test_what_was_played_on_last_is_listed_first(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        kept = await saves.keep("one", private, None)
        await saves.keep("two", await paused(catalogue, "d4"), None)
        assert [save.name for save in await saves.list()] == ["two", "one"]
        await play(private, "e5")
        await saves.keep("one", private, kept)
        assert [save.name for save in await saves.list()] == ["one", "two"]

    playing(database_url, work)


def test_what_is_not_there_is_told_with_the_nearest(database_url):
    async def work(catalogue, saves):
        await saves.keep("Sunday", await paused(catalogue, "e4"), None)
        with pytest.raises(NoSuchSave, match="nothing is saved as 'sunda'; is it 'Sunday'"):
            await opened(saves, "sunda", catalogue)
        with pytest.raises(NoSuchSave, match="nothing is saved as 'sunday'; is it 'Sunday'"):
            await opened(saves, "sunday", catalogue)

    playing(database_url, work)


DAMAGES = [
    "UPDATE events SET data = 'garbage'",
    "UPDATE events SET data = '[]' WHERE sequence = 4",
    'UPDATE events SET data = \'{"type": "ply.played"}\' WHERE sequence = 4',
    "UPDATE events SET data = replace(data, 'ply.played', 'ply.imagined')",
    "UPDATE events SET data = replace(data, 'ply.played', 'draw.offered')",
    "UPDATE events SET data = replace(data, 'ply.played', 'draw.offered'),"
    " type = replace(type, 'ply.played', 'draw.offered')",
    "UPDATE events SET type = 'nonsense' WHERE sequence = 4",
    "UPDATE events SET data = replace(data, 'e7e5', 'e7e4')",
    "UPDATE events SET data = replace(data, 'e7e5', 'e7e6')",
    "UPDATE events SET data = replace(data, 'e7e5', 'nonsense')",
    "DELETE FROM events",
    "DELETE FROM events WHERE sequence = 1",
    "DELETE FROM events WHERE sequence = 3",
    "DELETE FROM events WHERE type = 'match.paused'",
    "UPDATE matches SET settings = '{'",
    "UPDATE matches SET settings = '{}'",
    "UPDATE matches SET settings = replace(settings, 'standard', 'xiangqi')",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_save_that_somebody_has_damaged_is_told(database_url, damage):
    async def work(catalogue, saves):
        await saves.keep("Sunday", await paused(catalogue, "e4", "e5"), None)
        async with await Database.open(saves._url, exclusive=False) as database:
            await database.write(lambda connection: connection.exec_driver_sql(damage))
        with pytest.raises(DamagedSave, match="'Sunday' cannot be read: its log is damaged"):
            await opened(saves, "Sunday", catalogue)
        assert [save.name for save in await saves.list()] == ["Sunday"]

    playing(database_url, work)


def test_a_match_that_runs_is_not_stored(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        await private.command(Resume())
        with pytest.raises(CannotDo, match="to save is not possible: the match is running"):
            await saves.keep("Sunday", private, None)
        assert not await saves.list()

    playing(database_url, work)


def test_the_service_opens_a_save_and_the_token_opens_its_seat(database_url):
    async def work(catalogue, saves):
        private = await paused(
            catalogue, "e4", settings=replace(HOT_SEAT, black=PlayerSettings("random"))
        )
        kept = await saves.keep("Sunday", private, None)
        settings = Settings(database=database_url)
        async with open_services(settings, Catalogue()) as services:
            matches = services.matches
            assert (await matches.find(kept.match_id)).status == "paused"
            color = await matches.color_of(kept.match_id, kept.tokens[WHITE])
            assert color is WHITE
            await matches.command(kept.match_id, Resume())
            while (await matches.find(kept.match_id)).ply_count < 2:
                await services.database.read(lambda _connection: None)
            await matches.command(kept.match_id, PlayMove(WHITE, "a3"))
            with pytest.raises(CannotDo, match="the service is playing this game just now"):
                await opened(saves, "Sunday", catalogue)
            await matches.command(kept.match_id, Resign(WHITE))
        # What the service has gone on with is not overwritten from here.
        with pytest.raises(NameTaken, match="the saved game was played on elsewhere"):
            await saves.keep("Sunday", private, kept)
        again, _ = await opened(saves, "Sunday", catalogue)
        assert again.match.ending == "Black wins: White resigned"

    playing(database_url, work)


def test_new_tokens_replace_those_of_before(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        first = await saves.keep("Sunday", private, None)
        second = await saves.keep("Sunday", private, first)
        assert first.tokens != second.tokens
        (save,) = await saves.list()
        assert first.tokens[WHITE] not in repr(save)
        async with open_services(Settings(database=database_url), Catalogue()) as services:
            seat = await services.matches.color_of(second.match_id, second.tokens[BLACK])
            assert seat is BLACK

    playing(database_url, work)


def call(number, usd):
    question = Question("selector", number, "prompt")
    return ModelCall(
        question, "p/m", f"request {number}", 0, CallOutcome.OK, Usage(10, 0, 0, 5),
        timedelta(seconds=1), Decimal(usd), now(),
    )  # fmt: skip


async def record(private, number, usd):
    """Note a call of Black's, as its player does."""
    turn = private.ledger.for_turn(BLACK, number, nobody)
    await turn.record(call(number, usd), turn.reserve(Spending(), Budget()))


def test_every_model_call_is_kept_once_with_each_game_that_it_is_saved_with(database_url):
    async def work(catalogue, saves):
        private = await paused(catalogue, "e4")
        await record(private, 2, "0.01")
        kept = await saves.keep("one", private, None)
        await record(private, 4, "0.02")
        kept = await saves.keep("one", private, kept)
        other = await saves.keep("two", private, None)
        async with await Database.open(saves._url, exclusive=False) as database:
            for each in (kept, other):
                totals = await database.read(partial(ledger_of, match_id=each.match_id))
                assert (totals.calls, totals.cost_usd) == (2, Decimal("0.03"))
        again, _ = await opened(saves, "one", catalogue)
        account = again.ledger.account
        assert (account.spent_calls, account.spent_usd) == (2, Decimal("0.03"))
        assert private.ledger.cost_of(BLACK) == (2, Decimal("0.03"))
        assert private.ledger.cost_of(WHITE) == (0, 0)

    playing(database_url, work)


NAMES = [
    ("", "a name is missing"),
    ("  ", "a name is missing"),
    ("x" * 46, "at most 45 letters"),
    ("a/b", "no slash"),
    ("a\x1b[2J", "letters, digits, spaces and signs"),
    ("12", "a place in the list"),
]


@pytest.mark.parametrize(("name", "why"), NAMES)
def test_names_that_no_save_can_have(name, why):
    with pytest.raises(InvalidName, match=why):
        check_name(name)


def test_names_lose_the_spaces_around_them():
    assert check_name("  Sunday’s game 2 ") == "Sunday’s game 2"
