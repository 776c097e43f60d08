"""Bad input to the routes of matches: each names what is at fault. None gets to a database."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.app.http.conftest import check_problem
from tests.app.http.match_service import command, look, running, start

HUMANS = {"white": "human", "black": "human"}
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("data")
    with running(f"sqlite:///{folder}/kibitz.db", folder) as served, served.client() as client:
        yield client


@pytest.fixture(scope="module")
def match(client):
    return start(client)


# --- starting ---

#: What is wrong in a body that would else be good, the kind of problem, and the field.
BAD_BODIES = [
    ({"white": None}, "invalid-request", "white"),
    ({"white": 5}, "invalid-request", "white"),
    ({"white": ""}, "invalid-request", "white.name"),
    ({"white": []}, "invalid-request", "white"),
    ({"white": {}}, "invalid-request", "white.name"),
    ({"white": {"name": "human", "elo": 5}}, "invalid-request", "white.elo"),
    ({"white": {"name": "human", "title": "a\u0000b"}}, "invalid-request", "white.title"),
    ({"white": {"name": "human", "title": "x" * 201}}, "invalid-request", "white.title"),
    ({"white": {"name": "uci:x", "depth": 0}}, "invalid-request", "white.depth"),
    ({"white": {"name": "uci:x", "depth": True}}, "invalid-request", "white.depth"),
    ({"white": {"name": "uci:x", "nodes": "5"}}, "invalid-request", "white.nodes"),
    ({"white": {"name": "uci:x", "time_ms": 600_001}}, "invalid-request", "white.time_ms"),
    ({"white": {"name": "random", "nodes": 5}}, "invalid-settings", "white"),
    ({"white": {"name": "classical", "depth": 5}}, "invalid-settings", "white"),
    ({"white": {"name": "classical", "nodes": 5_000_001}}, "invalid-settings", "white"),
    ({"white": "a\u0000"}, "invalid-request", "white.name"),
    ({"white": "x" * 101}, "invalid-request", "white.name"),
    ({"white": "nobody"}, "unknown-player", "white"),
    ({"black": "uci:../../bin/sh"}, "unknown-player", "black"),
    ({"black": "/bin/sh"}, "unknown-player", "black"),
    ({"black": "HUMAN"}, "unknown-player", "black"),
    ({"black": "stockfish:9"}, "invalid-level", "black"),
    ({"black": "stockfish:"}, "invalid-level", "black"),
    ({"black": "solver"}, "cannot-play-variant", "black"),
    ({"black": "stockfish:1", "variant": "kings-cooking"}, "cannot-play-variant", "black"),
    ({"variant": "go"}, "unknown-variant", "variant"),
    ({"variant": 1}, "invalid-request", "variant"),
    ({"initial_fen": "nonsense"}, "invalid-fen", "initial_fen"),
    ({"initial_fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "illegal-position", "initial_fen"),
    ({"initial_fen": "x" * 201}, "invalid-request", "initial_fen"),
    ({"initial_fen": MATED}, "invalid-settings", "initial_fen"),
    ({"initial_fen": MATED, "opening": "C65"}, "invalid-settings", "opening"),
    ({"opening": "e4 e4"}, "illegal-move", "opening"),
    ({"opening": "Nonsense Gambit"}, "unreadable-move", "opening"),
    ({"opening": "f3 e5 g4 Qh4#"}, "invalid-settings", "opening"),
    ({"opening": "f3 e5 g4 Qh4# e4"}, "game-over", "opening"),
    ({"opening": "e4 " * 400}, "invalid-request", "opening"),
    ({"opening": "C65", "variant": "chess960"}, "invalid-settings", "opening"),
    ({"time_control": "soon"}, "invalid-time-control", "time_control"),
    ({"time_control": ""}, "invalid-request", "time_control"),
    ({"time_control": 300}, "invalid-request", "time_control"),
    ({"illegal_moves": {"retries": 21}}, "invalid-request", "illegal_moves.retries"),
    ({"illegal_moves": {"retries": -1}}, "invalid-request", "illegal_moves.retries"),
    ({"illegal_moves": {"feedback": "all"}}, "invalid-request", "illegal_moves.feedback"),
    ({"illegal_moves": {"then": "cry"}}, "invalid-request", "illegal_moves.then"),
    ({"illegal_moves": {"tries": 1}}, "invalid-request", "illegal_moves.tries"),
    ({"budget": {"usd": -1}}, "invalid-request", "budget.usd"),
    ({"budget": {"usd": "1"}}, "invalid-request", "budget.usd"),
    ({"budget": {"tokens": 1.5}}, "invalid-request", "budget.tokens"),
    ({"budget": {"calls": 10**10}}, "invalid-request", "budget.calls"),
    ({"adjudication": {"resign": {"moves": 0}}}, "invalid-request", "adjudication.resign.moves"),
    (
        {"adjudication": {"draw": {"centipawns": -1}}},
        "invalid-request",
        "adjudication.draw.centipawns",
    ),
    ({"adjudication": {"win": {}}}, "invalid-request", "adjudication.win"),
    ({"max_plies": 0}, "invalid-request", "max_plies"),
    ({"max_plies": 2001}, "invalid-request", "max_plies"),
    ({"max_plies": 8, "opening": "C65"}, "invalid-settings", "max_plies"),
    ({"analysis": {"depth": 31}}, "invalid-request", "analysis.depth"),
    ({"analysis": {"time_ms": 10_001}}, "invalid-request", "analysis.time_ms"),
    ({"analysis": 5}, "invalid-request", "analysis"),
    ({"analysis": True, "variant": "kings-cooking"}, "invalid-settings", "analysis"),
    ({"seed": -1}, "invalid-request", "seed"),
    ({"seed": 2**53}, "invalid-request", "seed"),
    ({"seed": 1.0}, "invalid-request", "seed"),
    ({"tags": "a"}, "invalid-request", "tags"),
    ({"tags": ["a"] * 21}, "invalid-request", "tags"),
    ({"tags": ["a", ""]}, "invalid-request", "tags.1"),
    ({"tags": ["x" * 51]}, "invalid-request", "tags.0"),
    ({"tags": ["a\u0000"]}, "invalid-request", "tags.0"),
    ({"player": "human"}, "invalid-request", "player"),
    ({"engine_path": "/bin/sh"}, "invalid-request", "engine_path"),
]


@pytest.mark.parametrize(("change", "kind", "field"), BAD_BODIES)
def test_a_bad_body_names_the_field_at_fault(client, change, kind, field):
    response = client.post("/api/matches", json=HUMANS | change)
    assert check_problem(response, 422, kind)["field"] == field


@pytest.mark.parametrize("name", ["white", "black"])
def test_there_are_no_default_players(client, name):
    body = {key: value for key, value in HUMANS.items() if key != name}
    problem = check_problem(client.post("/api/matches", json=body), 422, "invalid-request")
    assert (problem["field"], problem["detail"]) == (name, f"{name} is missing")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (r'{"white": "\ud800", "black": "human"}', "white.name"),
        (r'{"white": "human", "black": "human", "tags": ["\udfff"]}', "tags.0"),
        (r'{"white": "human", "black": "human", "opening": "e4 \ud800"}', "opening"),
        (r'{"white": "human", "black": "human", "time_control": "\ud800"}', "time_control"),
        (r'{"white": "human", "black": "human", "initial_fen": "\ud800"}', "initial_fen"),
        ('{"white": "human", "black": "human", "budget": {"usd": NaN}}', "budget.usd"),
        ('{"white": "human", "black": "human", "budget": {"usd": 1e999}}', "budget.usd"),
        ('{"white": "human", "black": "human", "seed": 1e999}', "seed"),
    ],
)
def test_what_no_database_takes_is_refused(client, text, field):
    response = client.post("/api/matches", content=text, headers=JSON)
    assert check_problem(response, 422, "invalid-request")["field"] == field


@pytest.mark.parametrize(
    ("content", "status", "kind"),
    [
        (b"", 422, "invalid-request"),
        (b"[]", 422, "invalid-request"),
        (b"null", 422, "invalid-request"),
        (b"{", 400, "unreadable-body"),
        (b"\xff", 400, "unreadable-body"),
        (b"[" * 100_000, 400, "unreadable-body"),
        (rb'{"white": "human", "black": "human", "\ud800": 1}', 422, "invalid-request"),
    ],
)
def test_a_body_that_is_no_object_is_refused(client, content, status, kind):
    check_problem(client.post("/api/matches", content=content, headers=JSON), status, kind)


@pytest.mark.parametrize("key", ["", "two words", "é", "x" * 256])
def test_a_key_is_short_plain_text(client, key):
    response = client.post(
        "/api/matches", json=HUMANS, headers={"Idempotency-Key": key.encode("latin-1")}
    )
    problem = check_problem(response, 422, "invalid-request")
    assert (problem["field"], problem["in"]) == ("Idempotency-Key", "header")


# --- listing ---


@pytest.mark.parametrize(
    ("query", "kind", "field"),
    [
        ("limit=0", "invalid-request", "limit"),
        ("limit=201", "invalid-request", "limit"),
        ("limit=x", "invalid-request", "limit"),
        ("limit=", "invalid-request", "limit"),
        ("status=over", "invalid-request", "status"),
        ("variant=go", "unknown-variant", "variant"),
        ("player=", "invalid-request", "player"),
        ("player=a%00b", "invalid-request", "player"),
        ("tag=%00", "invalid-request", "tag"),
        ("evaluation=%00", "invalid-request", "evaluation"),
        ("colour=white", "invalid-request", "colour"),
        ("cursor=", "invalid-request", "cursor"),
        ("cursor=x", "invalid-request", "cursor"),
        ("cursor=%00", "invalid-request", "cursor"),
        ("cursor=%C3%A9", "invalid-request", "cursor"),
        ("cursor=01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10", "invalid-request", "cursor"),
        ("cursor=AZgKTmqMfT6cVj8dK3qeEA%3D%3D", "invalid-request", "cursor"),
        ("cursor=AZgKTmqMfT6cVj8dK3qeEB", "invalid-request", "cursor"),  # bits to spare
    ],
)
def test_a_bad_query_names_the_parameter_at_fault(client, query, kind, field):
    problem = check_problem(client.get(f"/api/matches?{query}"), 422, kind)
    assert (problem["field"], problem["in"]) == (field, "query")


# --- commanding ---


@pytest.mark.parametrize(
    ("what", "body", "field"),
    [
        ("moves", {}, "move"),
        ("moves", {"move": 5}, "move"),
        ("moves", {"move": ""}, "move"),
        ("moves", {"move": None}, "move"),
        ("moves", {"move": "e4\u0000"}, "move"),
        ("moves", {"move": "e" * 21}, "move"),
        ("moves", {"move": "e4", "moves": []}, "moves"),
        ("draw", {}, "action"),
        ("draw", {"action": "beg"}, "action"),
        ("draw", {"action": ["offer"]}, "action"),
        ("draw", {"action": "claim", "move": ""}, "move"),
        ("takeback", {}, "action"),
        ("takeback", {"action": "claim"}, "action"),
        ("pause", {"reason": "a\u0000b"}, "reason"),
        ("pause", {"reason": "a\nb"}, "reason"),
        ("pause", {"reason": ""}, "reason"),
        ("pause", {"reason": "x" * 201}, "reason"),
        ("pause", {"reason": 7}, "reason"),
        ("abort", {"why": "x"}, "why"),
        ("abort", {"reason": ["x"]}, "reason"),
    ],
)
def test_a_body_names_what_is_wrong_in_it(client, match, what, body, field):
    response = command(client, match, what, "white", **body)
    assert check_problem(response, 422, "invalid-request")["field"] == field
    assert (look(client, match)["ply_count"], look(client, match)["status"]) == (0, "running")


def test_half_a_character_is_refused(client, match):
    for what, name in (("pause", "reason"), ("abort", "reason"), ("moves", "move")):
        body = b'{"%s": "\\ud800"}' % name.encode()
        headers = JSON | {"X-Seat-Token": match["seats"]["white"]["token"]}
        response = client.post(f"/api/matches/{match['id']}/{what}", content=body, headers=headers)
        assert check_problem(response, 422, "invalid-request")["field"] == name
