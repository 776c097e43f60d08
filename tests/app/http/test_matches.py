"""Matches over HTTP, on either database: whole games, and what can be looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest

from app.http.match_answers import MatchCreated, MatchList, MatchSummary, MatchWithLedger, PlyList
from engine import Position, read_games
from tests.app.http.conftest import check_problem
from tests.app.http.match_service import (  # noqa: F401 - fixtures
    STUBBORN,
    THINKER,
    command,
    done,
    either_database,
    look,
    play,
    running,
    start,
    wait_until,
)
from tests.support.databases import postgres  # noqa: F401

NO_ID = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with (
        running(database, tmp_path_factory.mktemp("data")) as served,
        served.client() as client,
    ):
        yield client


def test_two_humans_play_a_whole_game(client):
    response = client.post(
        "/api/matches",
        json={
            "white": {"name": "human", "title": 'Ada "A" Łovelace'},
            "black": "human",
            "time_control": "300+3",
            "tags": ["first", "ünïcode ♞"],
        },
    )
    assert response.status_code == 201
    match = response.json()
    path = f"/api/matches/{match['id']}"
    assert response.headers["location"] == path
    assert "idempotency-replayed" not in response.headers
    assert match["seats"]["white"]["token"] != match["seats"]["black"]["token"]
    assert match["tags"] == ["first", "ünïcode ♞"]

    # Each side writes as it likes: SAN, UCI, with a number, a figurine, both squares.
    for seat, move in (("white", "e4"), ("black", "e7e5"), ("white", "2. Bc4"), ("black", "♞c6")):
        state = done(command(client, match, "moves", seat, move=move))
        assert state["status"] == "running"
    assert state["last_move"] == {"uci": "b8c6", "san": "Nc6"}
    assert state["clocks"]["white_ms"] > 300_000  # an increment for each move
    assert (state["turn"], state["ply_count"], state["result"]) == ("white", 4, "*")
    assert {"uci": "d1h5", "san": "Qh5"} in state["legal_moves"]

    state = play(client, match, "Qh5 Nf6 Qxf7#")
    assert (state["status"], state["result"], state["check"]) == ("ended", "1-0", True)
    assert state["outcome"] == {
        "winner": "white",
        "result": "1-0",
        "termination": "checkmate",
        "detail": "White wins by checkmate",
    }
    assert state["legal_moves"] == []
    assert state == {key: value for key, value in look(client, match).items() if key != "ledger"}
    for seat in ("white", "black"):
        check_problem(command(client, match, "moves", seat, move="a6"), 409, "match-over")
    check_problem(command(client, match, "resign", "white"), 409, "match-over")
    check_problem(command(client, match, "abort"), 409, "match-over")

    listed = client.get(f"{path}/plies").json()["plies"]
    assert [ply["san"] for ply in listed] == ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"]
    assert [ply["number"] for ply in listed] == list(range(1, 8))
    assert [ply["color"] for ply in listed[:2]] == ["white", "black"]
    assert all(ply["elapsed_ms"] >= 0 and ply["clock_ms"] > 0 for ply in listed)
    assert listed[-1]["fen"] == state["fen"]
    assert {ply["source"] for ply in listed} == {"human"}


def test_a_pgn_can_be_read_again(client):
    match = start(client, {"name": "human", "title": 'Ada "A" Łovelace'}, time_control="300+3")
    play(client, match, "f3 e5 g4 Qh4")
    response = client.get(f"/api/matches/{match['id']}/pgn")
    assert response.headers["content-type"] == "application/x-chess-pgn; charset=utf-8"
    disposition = f'attachment; filename="kibitz-{match["id"]}.pgn"'
    assert response.headers["content-disposition"] == disposition
    (game,) = read_games(response.content.decode())
    assert game.tags["White"] == 'Ada "A" Łovelace'
    assert (game.result, game.tags["TimeControl"]) == ("0-1", "300+3")
    assert [ply.san for ply in game.plies] == ["f3", "e5", "g4", "Qh4#"]


def test_a_pgn_of_a_match_that_goes_on_has_no_result(client):
    match = start(client)
    play(client, match, "e4")
    (game,) = read_games(client.get(f"/api/matches/{match['id']}/pgn").text)
    assert (game.result, len(game.plies)) == ("*", 1)


def test_a_board_is_drawn_as_it_is_or_was(client):
    match = start(client)
    play(client, match, "e4 e5")

    def draw(**query):
        response = client.get(f"/api/matches/{match['id']}/board.svg", params=query)
        assert response.headers["content-type"].startswith("image/svg+xml"), response.text
        return ElementTree.fromstring(response.text)

    def fen(picture):
        return picture[0].text

    start_fen = Position.start().fen()
    assert fen(draw()) == look(client, match)["fen"]
    assert fen(draw(ply=2)) == look(client, match)["fen"]
    assert fen(draw(ply=0)) == start_fen
    assert fen(draw(ply=1)) == Position.start().play("e4").fen()
    assert draw(size=700).get("width") == "700"
    assert draw().get("width") == "400"
    seen = [ElementTree.tostring(draw(perspective=side)) for side in ("white", "black")]
    assert seen[0] != seen[1]
    assert ElementTree.tostring(draw(ply=1)).count(b"#d9b94b") == 2  # the squares of the last move
    assert b"#d9b94b" not in ElementTree.tostring(draw(ply=0))
    for query, field in (
        ({"ply": 3}, "ply"),
        ({"ply": -1}, "ply"),
        ({"size": 99}, "size"),
        ({"size": 2001}, "size"),
        ({"perspective": "up"}, "perspective"),
        ({"colour": "white"}, "colour"),
    ):
        response = client.get(f"/api/matches/{match['id']}/board.svg", params=query)
        assert check_problem(response, 422, "invalid-request")["field"] == field


def test_an_opening_is_played_before_the_first_turn(client):
    match = start(client, opening="C65", time_control="60")
    assert (match["ply_count"], match["turn"]) == (8, "white")
    listed = client.get(f"/api/matches/{match['id']}/plies").json()["plies"]
    assert {ply["source"] for ply in listed} == {"opening"}
    assert listed[0] | {"fen": "", "played_at": ""} == {
        "number": 1,
        "color": "white",
        "uci": "e2e4",
        "san": "e4",
        "fen": "",
        "elapsed_ms": None,
        "clock_ms": None,
        "evaluation": None,
        "source": "opening",
        "played_at": "",
        "advice": [],
        "attempts": [],
    }
    assert check_problem(command(client, match, "takeback", "white", action="ask"), 409, "not-now")


def test_plies_come_page_by_page(client):
    match = start(client, opening="C65")
    path = f"/api/matches/{match['id']}/plies"
    numbers, url = [], f"{path}?limit=3"
    while url:
        response = client.get(url)
        numbers.append([ply["number"] for ply in response.json()["plies"]])
        url = response.links.get("next", {}).get("url")
        assert (url is None) == (response.json()["next_cursor"] is None)
    assert numbers == [[1, 2, 3], [4, 5, 6], [7, 8]]
    assert client.get(path).json()["next_cursor"] is None
    for wrong in ("x", "", "-1", "1.5", "٣", "1" * 51):
        response = client.get(path, params={"cursor": wrong})
        assert check_problem(response, 422, "invalid-request")["field"] == "cursor"


def test_an_unchanged_match_is_not_sent_again(client):
    match = start(client, THINKER, THINKER)
    wait_until(client, match, lambda event: event["type"] == "turn.started")
    path = f"/api/matches/{match['id']}"
    first = client.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    for given in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = client.get(path, headers={"If-None-Match": given})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for given in ('"other"', "", "nonsense", tag[:-2]):
        assert client.get(path, headers={"If-None-Match": given}).status_code == 200
    done(command(client, match, "pause"))
    changed = client.get(path, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_refused_moves_are_told_with_the_ply(client):
    match = start(client, STUBBORN, THINKER)
    wait_until(client, match, lambda event: event["type"] == "ply.played")
    (ply,) = client.get(f"/api/matches/{match['id']}/plies").json()["plies"]
    assert (ply["san"], ply["source"]) == ("e4", STUBBORN)
    assert [(each["attempt"], each["move"], each["kind"]) for each in ply["attempts"]] == [
        (1, "e2e5", "IllegalMove"),
        (2, "nonsense", "UnreadableMove"),
    ]
    done(command(client, match, "abort"))


def test_a_human_plays_stockfish_and_takes_back(client):
    match = start(client, "human", "stockfish:1", seed=1)
    path = f"/api/matches/{match['id']}"
    assert set(match["seats"]) == {"white"}
    done(command(client, match, "moves", "white", move="e4"))
    wait_until(client, match, lambda event: event["type"] == "ply.played" and event["ply"] == 2)
    state = look(client, match)
    assert (state["ply_count"], state["turn"]) == (2, "white")
    state = done(command(client, match, "takeback", "white", action="ask"))
    assert (state["ply_count"], state["turn"], state["takeback"]) == (0, "white", None)
    assert client.get(f"{path}/plies").json()["plies"] == []
    done(command(client, match, "moves", "white", move="d4"))
    wait_until(
        client,
        match,
        lambda event: event["type"] == "ply.played" and event["ply"] == 2 and event["sequence"] > 9,
    )
    assert client.get(f"{path}/plies").json()["plies"][0]["san"] == "d4"
    state = done(command(client, match, "resign", "white"))
    assert (state["result"], state["outcome"]["termination"]) == ("0-1", "resignation")


def test_engines_play_to_the_end_by_themselves(client):
    match = start(client, "random", "stockfish:1", max_plies=12, analysis={"nodes": 100}, seed=5)
    assert match["seats"] == {}
    ended = wait_until(client, match, lambda event: event["type"] == "match.ended")
    state = look(client, match)
    assert (state["status"], state["detail"]) == ("ended", ended["detail"])
    assert state["ledger"] == {
        "calls": 0,
        "prompt_tokens": 0,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "unpriced_calls": 0,
        "completion_tokens": 0,
        "cost_usd": None,
    }
    listed = client.get(f"/api/matches/{match['id']}/plies").json()["plies"]
    assert all(set(ply["evaluation"]) <= {"centipawns", "mate"} for ply in listed[:-1])


def test_kings_cooking_is_a_match_like_any_other(client):
    match = start(client, "human", "random", variant="kings-cooking")
    move = match["legal_moves"][0]["uci"]
    done(command(client, match, "moves", "white", move=move))
    wait_until(client, match, lambda event: event["type"] == "ply.played" and event["ply"] == 2)
    picture = client.get(f"/api/matches/{match['id']}/board.svg").text
    assert look(client, match)["fen"] in picture
    done(command(client, match, "abort"))


def test_every_answer_is_as_the_schema_says(client):
    match = start(client, "human", opening="e4 e5", time_control="60", analysis=True, seed=2)
    path = f"/api/matches/{match['id']}"
    answers = [
        (MatchCreated, match),
        (MatchWithLedger, look(client, match)),
        (PlyList, client.get(f"{path}/plies").json()),
        (MatchList, client.get("/api/matches", params={"limit": 1}).json()),
    ]
    for schema, answer in answers:
        told = schema.model_validate(answer).model_dump(mode="json", exclude_unset=True)
        assert _keys(told) == _keys(answer)
        assert set(schema.model_fields) == set(answer)
    assert set(MatchSummary.model_fields) == set(answers[3][1]["matches"][0])
    done(command(client, match, "abort"))


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", ""),
        ("GET", "/plies"),
        ("GET", "/pgn"),
        ("GET", "/board.svg"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/abort"),
    ],
)
@pytest.mark.parametrize(
    "match_id", [NO_ID, NO_ID.upper(), NO_ID.replace("-", ""), "1", "%00", "%ED%A0%80", "é" * 300]
)
def test_there_is_no_such_match(client, method, rest, match_id):
    response = client.request(method, f"/api/matches/{match_id}{rest}")
    check_problem(response, 404, "match-not-found")


@pytest.mark.parametrize("rest", ["moves", "resign", "draw", "takeback"])
def test_there_is_no_such_match_to_play_in(client, rest):
    for match_id in (NO_ID, "1"):
        path = f"/api/matches/{match_id}/{rest}"
        response = client.post(path, headers={"X-Seat-Token": "x"}, json={})
        check_problem(response, 404, "match-not-found")


def _keys(data):
    """Return data with nothing but its keys, and the number of its items."""
    if isinstance(data, dict):
        return {key: _keys(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_keys(value) for value in data]
    return None


def test_the_document_tells_of_every_route(client):
    document = client.get("/openapi.json").json()
    told = {
        (method, path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if path.startswith("/api/matches")
    }
    assert len(told) == 15
    for operation in told.values():
        assert operation["summary"]
        assert operation["description"]
        assert operation["tags"] in (["matches"], ["streams"])
        assert {"401", "503"} <= set(operation["responses"])
    for (method, path), operation in told.items():
        expected = {"404"} if "{match_id}" in path else set()
        if method == "post" and "{match_id}" in path:
            expected |= {"409", "403"}
        if "requestBody" in operation:
            expected |= {"400", "413", "415", "422"}
        assert expected <= set(operation["responses"]), path
    assert "example" in json.dumps(document["components"]["schemas"]["MatchBody"])
