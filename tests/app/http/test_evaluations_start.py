"""Starting evaluations over HTTP, on either database: plans, refusals, keys, bounds, tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest
from pyrate_limiter import StateBucket

from app.http.evaluation_answers import PlanEstimateAnswer
from tests.app.http.conftest import check_problem
from tests.app.http.evaluation_service import (
    BACK_RANK,
    DUEL,
    ENDLESS,
    QUICK,
    begin,
    command,
    done,
    finished,
)
from tests.app.http.match_service import either_database, running  # noqa: F401 - fixtures
from tests.support.databases import postgres  # noqa: F401
from tests.support.processes import HANGS_AFTER

PREFIX = "/api/evaluations"
LADDER = {"kind": "ladder", "agents": ["random"], **QUICK}
COOKS = {"agents": ["random", "solver"]}
NO_ANALYSIS = "unplayable-plan", "match.analysis"
NO_OPENINGS = "unplayable-plan", "openings"
WRONG_MOVE = BACK_RANK.replace("Ra8#", "Rb2")
POSITIONS = {"kind": "positions", "agents": ["random"], "positions": [BACK_RANK]}


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with running(database, tmp_path_factory.mktemp("data")) as served, served.client() as client:
        yield client


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory) -> Iterator[httpx.Client]:
    """A service of which nothing is ever started: what is refused is so on every database."""
    folder = tmp_path_factory.mktemp("refusing")
    database = f"sqlite:///{folder / 'kibitz.db'}"
    with running(database, folder) as served, served.client() as client:
        yield client


def listed(client):
    return client.get(PREFIX, params={"limit": 200}).json()["evaluations"]


# --- what is refused ---


@pytest.mark.parametrize(
    ("plan", "kind", "field"),
    [
        # not a plan at all
        ([], "invalid-request", None),
        ({}, "invalid-request", "kind"),
        ({"kind": "race"}, "invalid-request", "kind"),
        ({"kind": 5}, "invalid-request", "kind"),
        ({"kind": "ladder"}, "invalid-request", "agents"),
        # fields of it
        (LADDER | {"agents": []}, "invalid-request", "agents"),
        (LADDER | {"agents": [5]}, "invalid-request", "agents.0"),
        (LADDER | {"agents": [{"name": "random", "elo": 5}]}, "invalid-request", "agents.0.elo"),
        (LADDER | {"agents": ["random"] * 2}, "invalid-request", None),
        (LADDER | {"agents": ["human"]}, "invalid-request", None),
        (LADDER | {"rounds": 3}, "invalid-request", "rounds"),
        (LADDER | {"games": "5"}, "invalid-request", "games"),
        (LADDER | {"margin": 1}, "invalid-request", "margin"),
        (LADDER | {"name": "a\u0000b"}, "invalid-request", "name"),
        (LADDER | {"name": ""}, "invalid-request", "name"),
        (LADDER | {"anchors": [{"name": "random", "elo_se": 3}]}, "invalid-request", "anchors.0"),
        (LADDER | {"openings": "wild"}, "invalid-request", "openings.source"),
        (LADDER | {"match": {"max_plies": 0}}, "invalid-request", "match.max_plies"),
        (LADDER | {"budget": {"usd": -1}}, "invalid-request", "budget.usd"),
        (LADDER | {"variant": "draughts"}, "unknown-variant", "variant"),
        (LADDER | {"match": {"time_control": "x"}}, "invalid-time-control", "match.time_control"),
        (DUEL | {"agents": ["random"]}, "invalid-request", "agents"),
        (DUEL | {"games": 3}, "invalid-request", "games"),
        (DUEL | {"sprt": {"bounds": [50, 0]}}, "invalid-request", "sprt"),
        ({"kind": "positions", "agents": ["random"]}, "invalid-request", None),
        (POSITIONS | {"positions": [5]}, "invalid-request", "positions.0"),
        # well written, but
        (LADDER | {"agents": ["nobody"]}, "unknown-player", "agents"),
        (LADDER | {"agents": ["stockfish:9"]}, "invalid-level", "agents"),
        (LADDER | {"agents": ["uci:/bin/sh"]}, "unknown-player", "agents"),
        (LADDER | {"agents": ["solver"]}, "cannot-play-variant", "agents"),
        (LADDER | {"anchors": ["nobody"]}, "unplayable-plan", "anchors"),
        (LADDER | {"anchors": [{"name": "nobody", "elo": 5}]}, "unknown-player", "anchors"),
        (LADDER | {"anchors": ["random"]}, "unplayable-plan", "anchors"),
        (LADDER | {"variant": "kings-cooking"}, "unplayable-plan", "anchors"),
        (LADDER | {"agents": [{"name": "random", "nodes": 5}]}, "unplayable-plan", "agents"),
        (POSITIONS | {"positions": [], "suite": "/etc/passwd"}, "unplayable-plan", "suite"),
        (POSITIONS | {"variant": "kings-cooking"}, "unplayable-plan", "positions"),
        (DUEL | {"match": {"analysis": True}, "variant": "kings-cooking"} | COOKS, *NO_ANALYSIS),
        (DUEL | COOKS | {"variant": "kings-cooking", "openings": "balanced"}, *NO_OPENINGS),
        (POSITIONS | {"positions": ["nonsense"]}, "invalid-suite", "positions"),
        (POSITIONS | {"positions": [BACK_RANK] * 2}, "invalid-suite", "positions"),
        (
            POSITIONS | {"positions": [BACK_RANK.replace("Ra8#", "Ra9")]},
            "invalid-suite",
            "positions",
        ),
    ],
)
def test_plans_that_are_refused(on_sqlite, plan, kind, field):
    refused = on_sqlite.post(PREFIX, json=plan)
    assert check_problem(refused, 422, kind).get("field") == field
    checked = on_sqlite.post(PREFIX, json=plan, params={"dry_run": True})
    assert checked.content == refused.content


def test_nothing_is_stored_of_what_is_refused(on_sqlite):
    assert listed(on_sqlite) == []


def test_what_is_told_of_a_kind_that_there_is_not(on_sqlite):
    missing = check_problem(on_sqlite.post(PREFIX, json={}), 422, "invalid-request")
    assert (missing["detail"], missing["in"]) == ("kind is missing", "body")
    wrong = check_problem(on_sqlite.post(PREFIX, json={"kind": "x"}), 422, "invalid-request")
    told = "kind should be one of 'ladder', 'duel', 'pool', 'positions'"
    assert wrong["detail"] == told


def test_several_fields_at_fault_are_all_told(on_sqlite):
    plan = LADDER | {"games": 1, "margin": 1, "agents": [{"name": ""}]}
    problem = check_problem(on_sqlite.post(PREFIX, json=plan), 422, "invalid-request")
    fields = {error["field"] for error in problem["errors"]}
    assert fields == {"games", "margin", "agents.0.name"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "kind"),
    [
        (b"{", {"Content-Type": "application/json"}, 400, "unreadable-body"),
        (b'{"kind": "ladder"', {"Content-Type": "application/json"}, 400, "unreadable-body"),
        (b"kind=ladder", {"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
        (b" " * 300_000, {"Content-Type": "application/json"}, 413, "body-too-large"),
    ],
)
def test_bodies_that_are_no_plans(on_sqlite, body, headers, status, kind):
    check_problem(on_sqlite.post(PREFIX, content=body, headers=headers), status, kind)


def test_a_budget_in_dollars_needs_prices(on_sqlite):
    # It has no key either, which is told first.
    plan = LADDER | {"agents": ["team:default"], "budget": {"usd": 5}}
    problem = check_problem(on_sqlite.post(PREFIX, json=plan), 422, "player-unavailable")
    assert problem["field"] == "agents"


@pytest.mark.parametrize("query", [{"dry_run": "maybe"}, {"dryrun": "true"}])
def test_a_misspelt_query_starts_nothing(client, query):
    before = len(listed(client))
    problem = check_problem(client.post(PREFIX, json=ENDLESS, params=query), 422, "invalid-request")
    assert (problem["field"], problem["in"]) == (next(iter(query)), "query")
    assert len(listed(client)) == before


# --- asking for the price ---


@pytest.mark.parametrize(
    ("plan", "games"), [(DUEL, 4), (LADDER | {"games": 10}, 10), (POSITIONS, 1)]
)
def test_a_dry_run_tells_what_it_will_cost_and_stores_nothing(client, plan, games):
    before = listed(client)
    headers = {"Idempotency-Key": "dry"}
    response = client.post(PREFIX, json=plan, params={"dry_run": "true"}, headers=headers)
    assert response.status_code == 200
    assert "location" not in response.headers
    estimate = response.json()
    PlanEstimateAnswer.model_validate(estimate)
    assert estimate["games"] == games
    assert estimate["likely"]["cost_usd"] == "0.0000"
    assert listed(client) == before


# --- idempotency ---


def post(client, key, plan=ENDLESS):
    return client.post(PREFIX, json=plan, headers={"Idempotency-Key": key})


def test_the_same_request_starts_one_evaluation(client):
    key = str(uuid4())
    first = post(client, key)
    assert "idempotency-replayed" not in first.headers
    before = len(listed(client))
    spelled = ENDLESS | {"agents": [{"name": name} for name in ENDLESS["agents"]]}
    for plan in (ENDLESS, spelled):
        again = post(client, key, plan)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["location"] == first.headers["location"]
        assert again.headers["idempotency-replayed"] == "true"
    assert len(listed(client)) == before
    check_problem(post(client, key, ENDLESS | {"seed": 2}), 422, "idempotency-key-reused")
    done(command(client, first.json(), "cancel"))


def test_a_key_of_a_match_is_none_of_an_evaluation(client):
    key = str(uuid4())
    match = {"white": "human", "black": "human"}
    started = client.post("/api/matches", json=match, headers={"Idempotency-Key": key})
    assert started.status_code == 201
    evaluation = post(client, key)
    assert evaluation.status_code == 201
    assert "idempotency-replayed" not in evaluation.headers
    done(command(client, evaluation.json(), "cancel"))


def test_a_refused_request_does_not_use_up_its_key(client):
    key = str(uuid4())
    check_problem(
        post(client, key, ENDLESS | {"agents": ["random", "nobody"]}), 422, "unknown-player"
    )
    started = post(client, key)
    assert started.status_code == 201
    done(command(client, started.json(), "cancel"))


def test_the_same_request_many_times_at_once_starts_one_evaluation(client):
    key, at_once = str(uuid4()), 6
    before = len(listed(client))
    ready = threading.Barrier(at_once)

    def send(_: int) -> httpx.Response:
        ready.wait(HANGS_AFTER)
        return post(client, key)

    with ThreadPoolExecutor(at_once) as pool:
        responses = list(pool.map(send, range(at_once)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.content for response in responses}) == 1
    assert len(listed(client)) == before + 1
    done(command(client, responses[0].json(), "cancel"))


def test_the_same_request_to_two_processes_at_once_starts_one_evaluation(postgres, tmp_path):  # noqa: F811
    key, ready = str(uuid4()), threading.Barrier(2)

    def send(client: httpx.Client) -> httpx.Response:
        ready.wait(HANGS_AFTER)
        return post(client, key)

    with (
        postgres.database() as url,
        running(url, tmp_path) as one,
        running(url, tmp_path) as other,
        one.client() as first,
        other.client() as second,
    ):
        clients = [first, second]
        for client in clients:  # as in the tests of matches
            assert listed(client) == []
        with ThreadPoolExecutor(2) as pool:
            responses = list(pool.map(send, clients))
        assert {response.status_code for response in responses} == {201}
        assert len({response.json()["id"] for response in responses}) == 1
        assert [len(listed(client)) for client in clients] == [1, 1]
        # Whichever process conducts it, either takes commands.
        evaluation = responses[0].json()
        done(command(second, evaluation, "pause"))
        done(command(first, evaluation, "resume"))
        done(command(second, evaluation, "cancel"))
        check_problem(command(first, evaluation, "pause"), 409, "evaluation-over")


def test_after_a_restart_a_repeated_request_finds_the_evaluation(tmp_path):
    database, key = f"sqlite:///{tmp_path / 'kibitz.db'}", str(uuid4())
    with running(database, tmp_path) as served, served.client() as before:
        first = post(before, key, DUEL).json()
        finished(before, first)
    with running(database, tmp_path) as served, served.client() as after:
        again = post(after, key, DUEL)
        assert (again.status_code, again.json()["id"]) == (201, first["id"])
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["status"] == "finished"  # as it stands
        check_problem(post(after, key, DUEL | {"seed": 9}), 422, "idempotency-key-reused")


# --- bounds ---


def test_a_client_may_have_so_many_open_evaluations(tmp_path):
    database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    with (
        running(database, tmp_path, max_evaluations_per_client=2) as served,
        served.client() as client,
    ):
        first, _ = begin(client, ENDLESS), begin(client, ENDLESS)
        response = client.post(PREFIX, json=ENDLESS)
        problem = check_problem(response, 429, "too-many-unfinished-evaluations")
        assert problem["detail"] == "2 of your evaluations are open, and not more may be"
        assert response.headers["retry-after"]
        assert client.post(PREFIX, json=ENDLESS, params={"dry_run": True}).status_code == 200
        done(command(client, first, "cancel"))
        begin(client, ENDLESS)


def test_a_client_may_start_so_many_in_a_minute(tmp_path, monkeypatch):
    monkeypatch.setattr(StateBucket, "now", lambda bucket: 1_000_000)  # and that minute lasts
    database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    with running(database, tmp_path, starts_per_minute=2) as served, served.client() as client:
        assert client.post(PREFIX, json=DUEL, params={"dry_run": True}).status_code == 200
        key = str(uuid4())
        first = post(client, key)
        response = client.post(PREFIX, json=ENDLESS)
        problem = check_problem(response, 429, "too-many-evaluations")
        assert "2 evaluations in a minute" in problem["detail"]
        assert int(response.headers["retry-after"]) >= 1
        # Whoever only lost the answer gets it.
        assert post(client, key).content == first.content
        # Matches are counted by themselves.
        match = {"white": "human", "black": "human"}
        assert client.post("/api/matches", json=match).status_code == 201


# --- tokens ---


def test_a_token_that_may_read_may_not_write(tmp_path):
    database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    tokens = "read:reading-token,write:writing-token"
    with running(database, tmp_path, api_tokens=tokens) as served, served.client() as client:
        reader, writer = ({"Authorization": f"Bearer {each}ing-token"} for each in ("read", "writ"))
        evaluation = client.post(PREFIX, json=ENDLESS, headers=writer).json()
        url = f"{PREFIX}/{evaluation['id']}"
        for path in (PREFIX, url, f"{url}/report", f"{url}/pgn", "/api/ratings"):
            check_problem(client.get(path), 401, "unauthenticated")
            assert client.get(path, headers=reader).status_code == 200
        check_problem(client.get(f"{url}/events"), 401, "unauthenticated")
        for path in (PREFIX, f"{PREFIX}?dry_run=true"):
            check_problem(client.post(path, json=ENDLESS), 401, "unauthenticated")
            response = client.post(path, json=ENDLESS, headers=reader)
            check_problem(response, 403, "insufficient-scope")
        for what in ("pause", "resume", "cancel"):
            check_problem(client.post(f"{url}/{what}"), 401, "unauthenticated")
            response = client.post(f"{url}/{what}", headers=reader)
            check_problem(response, 403, "insufficient-scope")
        assert client.get(url, headers=reader).json()["status"] in ("created", "running")
        assert client.post(f"{url}/cancel", headers=writer).status_code == 200
