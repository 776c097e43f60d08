"""Matches that were imported, as the service shows them; nobody can do anything in them."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import httpx
import pytest

from app.matches.finished import finished_games
from app.matches.imported import CLIENT, import_game
from app.persistence.database import Database
from app.persistence.whole_matches import store
from engine import read_games
from tests.app.http.match_service import (
    either_database,  # noqa: F401
    look,
    play,
    running,
    start,
    wait_until,
)
from tests.support.databases import postgres  # noqa: F401
from tests.support.processes import HANGS_AFTER

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PGN = """[Event "Sunday"]
[White "Ada"]
[Black "Bob"]
[Date "1851.06.21"]
[Result "1/2-1/2"]

{Before it all.} 1. e4 $1 {[%eval 0.3] best} (1. d4 d5) 1... e5 {[%clk 0:01:00]} 1/2-1/2
"""


def bring(database, *pgns):
    """Import games beside whoever serves the database, and return the ids of their matches."""
    wholes = [import_game(game, NOON) for pgn in pgns for game in read_games(pgn)]

    async def work():
        async with await Database.open(database, exclusive=False) as beside:
            await beside.write(lambda connection: store(connection, CLIENT, wholes))
            return [game.pgn() async for game in finished_games(beside)]

    return [whole.record.id for whole in wholes], asyncio.run(asyncio.wait_for(work(), HANGS_AFTER))


@pytest.fixture(scope="module")
def service(database, tmp_path_factory):
    with running(database, tmp_path_factory.mktemp("data")) as served:
        yield served


@pytest.fixture(scope="module")
def client(service):
    with httpx.Client(base_url=service.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def match(service, database):
    """A match that was imported while the service ran."""
    (match_id,), games = bring(database, PGN)
    assert games[-1] == next(read_games(PGN)).pgn()  # positions can be mined from it
    return {"id": match_id}


def test_it_is_listed_at_once_and_told_apart(client, match):
    state = look(client, match)
    assert (state["status"], state["result"], state["ply_count"]) == ("ended", "1/2-1/2", 2)
    assert (state["white"]["name"], state["white"]["title"]) == ("pgn:Ada", "Ada")
    assert state["legal_moves"] == []
    assert state["created_at"] == "1851-06-21T00:00:00.000Z"
    assert state["clocks"] == {"white_ms": None, "black_ms": 60_000}
    for query in ({"tag": "imported"}, {"player": "pgn:Bob"}, {"status": "ended"}):
        listed = client.get("/api/matches", params=query).json()["matches"]
        assert match["id"] in [each["id"] for each in listed]


def test_its_game_is_all_there(client, match):
    pgn = client.get(f"/api/matches/{match['id']}/pgn")
    assert pgn.text == next(read_games(PGN)).pgn()
    plies = client.get(f"/api/matches/{match['id']}/plies").json()["plies"]
    assert [ply["san"] for ply in plies] == ["e4", "e5"]
    assert plies[0]["evaluation"] == {"centipawns": 30}
    assert [ply["elapsed_ms"] for ply in plies] == [None, None]
    for query in ("", "?ply=1", "?ply=0"):
        board = client.get(f"/api/matches/{match['id']}/board.svg{query}")
        assert board.status_code == 200
    ledger = client.get(f"/api/matches/{match['id']}/ledger").json()
    assert ledger["calls"] == []


def test_its_stream_tells_all_of_it_and_ends(client, match):
    headers = {"Accept": "application/x-ndjson", "Last-Event-ID": "0"}
    text = client.get(f"/api/matches/{match['id']}/events", headers=headers).text
    events = [json.loads(line) for line in text.splitlines() if line]
    kinds = [event["type"] for event in events]
    assert kinds == ["match.created", "match.started", "ply.played", "ply.played", "match.ended"]
    assert all(event["imported"] for event in events)
    headers["Last-Event-ID"] = "5"
    assert client.get(f"/api/matches/{match['id']}/events", headers=headers).status_code == 204


COMMANDS = [
    ("resume", {}, 409, "/problems/match-over"),
    ("pause", {}, 409, "/problems/match-over"),
    ("abort", {}, 409, "/problems/match-over"),
    ("moves", {"move": "Nf3"}, 403, "/problems/wrong-seat-token"),
    ("resign", {}, 403, "/problems/wrong-seat-token"),
    ("draw", {"action": "offer"}, 403, "/problems/wrong-seat-token"),
    ("takeback", {"action": "ask"}, 403, "/problems/wrong-seat-token"),
]


@pytest.mark.parametrize(("what", "body", "status", "kind"), COMMANDS)
def test_nobody_can_command_it(client, match, what, body, status, kind):
    headers = {"X-Seat-Token": "anything"} if status == 403 else {}
    path = f"/api/matches/{match['id']}/{what}"
    answer = client.post(path, json=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (status, kind), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert look(client, match)["sequence"] == 5


def test_nobody_can_be_seated_under_such_a_name(client):
    answer = client.post("/api/matches", json={"white": "pgn:Ada", "black": "pgn:Bob"})
    assert answer.status_code == 422
    assert answer.json()["type"] == "/problems/unknown-player"
    assert answer.json()["field"] == "white"


def test_a_service_that_starts_leaves_them_alone(tmp_path):
    database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    ids, _ = bring(database, PGN, PGN.replace("1/2-1/2", "*"))
    with running(database, tmp_path) as served, httpx.Client(base_url=served.url) as client:
        states = [look(client, {"id": each}) for each in ids]
        assert [state["status"] for state in states] == ["ended", "aborted"]
        assert states[1]["detail"] == "the game was not finished"
        assert [state["sequence"] for state in states] == [5, 5]


def test_those_who_watch_all_matches_hear_of_those_that_are_played_only(
    client, service, database, match
):
    headers = {"Accept": "application/x-ndjson"}
    heard = []
    with (
        httpx.Client(base_url=service.url, timeout=60) as watcher,
        watcher.stream("GET", "/api/events", headers=headers) as stream,
    ):
        lines = (json.loads(line) for line in stream.iter_lines() if line)
        assert next(lines)["type"] == "snapshot"
        (imported,), _ = bring(database, PGN.replace("Ada", "Cid"))
        played = start(client)
        play(client, played, "e4 e5")
        for event in lines:
            heard.append((event["match_id"], event["type"]))
            if len(heard) == 3:
                break
        last = event["position"]
    assert {match_id for match_id, _ in heard} == {played["id"]}
    wait_until(client, {"id": imported}, lambda each: each["type"] == "match.ended")
    # Nor does who comes back after it.
    headers["Last-Event-ID"] = "0"
    with client.stream("GET", "/api/events", headers=headers) as stream:
        for line in stream.iter_lines():
            event = json.loads(line or "null")
            if event:
                assert event["match_id"] == played["id"]
                if event["position"] >= last:
                    break
