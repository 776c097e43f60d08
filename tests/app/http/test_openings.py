"""Openings over HTTP: which lines a match can start from by name."""

from __future__ import annotations

from app.matches.openings import OPENINGS, find_opening
from app.settings import Settings
from engine import Position
from tests.app.http.conftest import Parts, check_problem, served


def listed(client) -> list[dict]:
    return client.get("/api/openings").json()["openings"]


def test_every_known_opening_is_listed_in_order(client):
    openings = listed(client)
    assert [each["name"] for each in openings] == [each.name for each in OPENINGS]
    assert openings[0] == {
        "name": "Nimzo-Larsen Attack", "eco": "A01", "moves": "b3 e5 Bb2 Nc6 e3 Nf6",
    }  # fmt: skip


def test_a_name_finds_the_line_that_is_told_with_it(client):
    for each in listed(client):
        found = find_opening(each["name"])
        assert found is not None
        assert (found.eco, " ".join(found.moves)) == (each["eco"], each["moves"])


def test_the_moves_can_be_played(client):
    for each in listed(client):
        position = Position.start()
        for move in each["moves"].split():
            position = position.play(move)
        assert position.fen() == find_opening(each["name"]).position.fen()


def test_a_service_with_tokens_asks_for_one():
    settings = Settings(api_tokens="read:reader-secret-0123456789")
    with served(Parts(settings=settings)) as server, server.client() as client:
        check_problem(client.get("/api/openings"), 401, "unauthenticated")
        headers = {"Authorization": "Bearer reader-secret-0123456789"}
        assert client.get("/api/openings", headers=headers).status_code == 200
