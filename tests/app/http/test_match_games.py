"""What is read of a game: as much as is asked for, in one transaction."""

import asyncio
import json

import pytest
from starlette.requests import Request

from app.http import match_games
from app.http.errors import Refusal
from app.matches.errors import MatchNotFound
from app.matches.service import MatchService
from app.matches.settings import MatchSettings, PlayerSettings
from app.persistence import plies as ply_table
from app.persistence.database import Database
from app.persistence.records import PlyRecord
from engine import Position
from tests.app.persistence.samples import a_ply, inserted, new_id

PLIES = 20


class Counted:
    """A database that counts what is read of it."""

    def __init__(self, database, monkeypatch):
        self._database = database
        self.reads, self.plies = 0, []
        monkeypatch.setattr(ply_table, "PlyRecord", self._ply)

    def _ply(self, *fields):
        self.plies.append(ply := PlyRecord(*fields))
        return ply

    async def read(self, query):
        self.reads += 1
        return await self._database.read(query)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Ask something of a match with plies; what is returned is the answer, and what was read."""

    async def main(question, **fields):
        async with await Database.open(f"sqlite:///{tmp_path / 'a.db'}") as database:
            settings = MatchSettings(PlayerSettings("human"), PlayerSettings("random"))
            record = await inserted(database, settings=json.dumps(settings.to_json()), **fields)
            plies = [a_ply(record.id, number) for number in range(1, PLIES + 1)]
            await database.write(lambda each: ply_table.append(each, plies))
            counted = Counted(database, monkeypatch)
            service = MatchService(counted, None, None, lambda: None, matches_per_client=1)
            answer = await question(service, record.id)
            return answer, counted.reads, [ply.number for ply in counted.plies]

    return lambda question, **fields: asyncio.run(main(question, **fields))


def page(**query):
    async def question(service, match_id):
        scope = {"type": "http", "path": "/plies", "query_string": b"", "headers": []}
        request = Request(scope | {"server": ("here", 80), "scheme": "http"})
        wanted = match_games._PlyQuery(**query)
        response = await match_games.plies(request, match_id, wanted, service, None)
        return json.loads(response.body)

    return question


def test_a_page_reads_its_plies_and_one_more(ask):
    answer, reads, plies = ask(page(limit=3, cursor="5"))
    assert [ply["number"] for ply in answer["plies"]] == [6, 7, 8]
    assert answer["next_cursor"] == "8"
    assert (reads, plies) == (1, [6, 7, 8, 9])


@pytest.mark.parametrize("cursor", ["20", "21", "9" * 50])
def test_there_is_nothing_after_the_last(ask, cursor):
    answer, reads, plies = ask(page(limit=3, cursor=cursor))
    assert answer == {"start_fen": Position.start().fen(), "plies": [], "next_cursor": None}
    assert (reads, plies) == (1, [])


@pytest.mark.parametrize("ply", [1, 12, PLIES])
def test_a_board_reads_one_ply(ask, ply):
    async def question(service, match_id):
        wanted = match_games._BoardQuery(ply=ply)
        return await match_games.board(match_id, wanted, service, None)

    answer, reads, plies = ask(question)
    assert answer.body.startswith(b"<svg")
    assert (reads, plies) == (1, [ply])


def test_a_board_after_a_ply_that_is_not_there(ask):
    async def question(service, match_id):
        wanted = match_games._BoardQuery(ply=PLIES + 1)
        with pytest.raises(Refusal, match="no ply 21"):
            await match_games.board(match_id, wanted, service, None)

    assert ask(question)[1:] == (1, [])


def test_a_match_that_is_not_there_has_no_plies(ask):
    async def question(service, _match_id):
        for asked in (service.plies(new_id()), service.ply(new_id(), 1)):
            with pytest.raises(MatchNotFound):
                await asked

    assert ask(question)[1:] == (2, [])
