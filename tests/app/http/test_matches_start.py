"""Starting and listing matches over HTTP, on either database: keys, pages, bounds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from tests.app.http.conftest import check_problem
from tests.app.http.match_service import (  # noqa: F401 - fixtures
    THINKER,
    command,
    done,
    either_database,
    play,
    running,
    start,
)
from tests.support.databases import postgres  # noqa: F401

HUMANS = {"white": "human", "black": "human"}


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with running(database, tmp_path_factory.mktemp("data")) as served, served.client() as client:
        yield client


# --- idempotency ---


def post(client, key, body=HUMANS):
    return client.post("/api/matches", json=body, headers={"Idempotency-Key": key})


def test_the_same_request_starts_one_match(client):
    key = str(uuid4())
    first = post(client, key)
    assert "idempotency-replayed" not in first.headers
    play(client, first.json(), "e4")  # whatever has happened since
    for body in (HUMANS, {"black": {"name": "human"}, "white": "human"}):
        again = post(client, key, body)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["location"] == first.headers["location"]
        assert again.headers["idempotency-replayed"] == "true"
    another = post(client, str(uuid4()))
    assert another.json()["id"] != first.json()["id"]


def test_a_key_stands_for_one_request(client):
    key = str(uuid4())
    tag = key[:8]
    first = post(client, key, HUMANS | {"tags": [tag]})
    check_problem(post(client, key, HUMANS | {"seed": 1}), 422, "idempotency-key-reused")
    listed = client.get("/api/matches", params={"tag": tag}).json()["matches"]
    assert [match["id"] for match in listed] == [first.json()["id"]]


def test_a_refused_request_does_not_use_up_its_key(client):
    key = str(uuid4())
    check_problem(post(client, key, HUMANS | {"black": "nobody"}), 422, "unknown-player")
    assert post(client, key).status_code == 201


def test_the_same_request_many_times_at_once_starts_one_match(client):
    key, tag, at_once = str(uuid4()), uuid4().hex, 8
    ready = threading.Barrier(at_once)

    def send(_: int) -> httpx.Response:
        ready.wait()
        return post(client, key, HUMANS | {"tags": [tag]})

    with ThreadPoolExecutor(at_once) as pool:
        responses = list(pool.map(send, range(at_once)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.content for response in responses}) == 1
    repeated = [response.headers.get("idempotency-replayed") for response in responses]
    assert sorted(map(str, repeated)) == ["None"] + ["true"] * (at_once - 1)
    listed = client.get("/api/matches", params={"tag": tag}).json()["matches"]
    assert len(listed) == 1


def test_after_a_restart_a_repeated_request_finds_the_match_without_its_secrets(
    database, client, tmp_path
):
    if database.startswith("sqlite"):
        database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    key = str(uuid4())
    with running(database, tmp_path) as served, served.client() as before:
        first = post(before, key).json()
    with running(database, tmp_path) as served, served.client() as after:
        again = post(after, key)
        assert again.status_code == 201
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["id"] == first["id"]
        assert again.json()["seats"] == {"white": {"token": None}, "black": {"token": None}}
        check_problem(post(after, key, HUMANS | {"seed": 1}), 422, "idempotency-key-reused")
        # Whoever has the secrets plays on.
        assert play(after, first, "e4 e5")["ply_count"] == 2


@pytest.fixture
def two_processes(postgres, tmp_path) -> Iterator[list[httpx.Client]]:  # noqa: F811
    with (
        postgres.database() as url,
        running(url, tmp_path) as one,
        running(url, tmp_path) as other,
        one.client() as first,
        other.client() as second,
    ):
        # They are two in one process here, and FastAPI makes its routes at the first request, with
        # the process's filter of warnings changed meanwhile: one after the other, then.
        for client in (first, second):
            assert client.get("/api/matches").status_code == 200
        yield [first, second]


def test_the_same_request_to_two_processes_at_once_starts_one_match(two_processes):
    key, ready = str(uuid4()), threading.Barrier(2)

    def send(client: httpx.Client) -> httpx.Response:
        ready.wait()
        return post(client, key)

    with ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(send, two_processes))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["id"] for response in responses}) == 1
    # Only the process that started it knows the secrets.
    shown = [response.json()["seats"]["white"]["token"] for response in responses]
    assert shown.count(None) == 1
    for client in two_processes:
        assert len(client.get("/api/matches").json()["matches"]) == 1


def test_a_match_is_played_over_two_processes(two_processes):
    first, second = two_processes
    match = start(first)
    for number, (client, move) in enumerate(
        ((first, "e4"), (second, "e5"), (first, "Nf3"), (second, "Nc6")), 1
    ):
        assert play(client, match, move)["ply_count"] == number


def test_the_keys_of_different_clients_do_not_meet(tmp_path):
    tokens = "write:first-token,write:second-token"
    key = str(uuid4())
    with running(f"sqlite:///{tmp_path}/kibitz.db", tmp_path, api_tokens=tokens) as served:
        ids = []
        for token in ("first-token", "second-token"):
            with served.client(headers={"Authorization": f"Bearer {token}"}) as client:
                ids.append(post(client, key).json()["id"])
    assert len(set(ids)) == 2


# --- lists ---


def test_matches_are_listed_page_by_page_the_newest_first(client):
    tag = uuid4().hex
    started = [start(client, tags=[tag, str(number)])["id"] for number in range(5)]
    pages, url = [], f"/api/matches?tag={tag}&limit=2"
    while url:
        response = client.get(url)
        pages.append([match["id"] for match in response.json()["matches"]])
        url = response.links.get("next", {}).get("url")
        if url is not None:
            cursor = response.json()["next_cursor"]
            assert httpx.URL(url).params == httpx.QueryParams(tag=tag, limit=2, cursor=cursor)
    newest_first = started[::-1]
    assert pages == [newest_first[:2], newest_first[2:4], newest_first[4:]]
    exactly = client.get("/api/matches", params={"tag": tag, "limit": 5}).json()
    assert (len(exactly["matches"]), exactly["next_cursor"]) == (5, None)


def test_a_match_that_is_started_meanwhile_does_not_move_the_pages(client):
    tag = uuid4().hex
    started = [start(client, tags=[tag])["id"] for _ in range(3)]
    first = client.get("/api/matches", params={"tag": tag, "limit": 2}).json()
    start(client, tags=[tag])
    second = client.get(
        "/api/matches", params={"tag": tag, "limit": 2, "cursor": first["next_cursor"]}
    ).json()
    assert [match["id"] for match in second["matches"]] == started[:1]


def test_matches_are_found_by_what_they_are(client):
    tag = uuid4().hex
    human = start(client, "human", THINKER, tags=[tag, "é & ü"])
    engines = start(client, THINKER, "random", tags=[tag], variant="kings-cooking")
    done(command(client, engines, "abort"))

    def find(**query):
        response = client.get("/api/matches", params={"tag": tag} | query)
        assert response.status_code == 200, response.text
        return {match["id"] for match in response.json()["matches"]}

    both = {human["id"], engines["id"]}
    assert find() == both
    assert find(player=THINKER) == both
    assert find(player="human") == {human["id"]}
    assert find(player="random") == {engines["id"]}
    assert find(player="nobody") == set()
    assert find(player="%") == set()
    assert find(status="aborted") == {engines["id"]}
    assert find(status="running", player="human") == {human["id"]}
    assert find(status="ended") == set()
    assert find(variant="kings-cooking") == {engines["id"]}
    assert find(evaluation=human["id"]) == set()
    assert human["id"] in find(tag="é & ü")
    done(command(client, human, "abort"))


# --- bounds and tokens ---


def test_a_client_starts_only_so_many_matches_in_a_minute(tmp_path):
    url = f"sqlite:///{tmp_path}/kibitz.db"
    with running(url, tmp_path, starts_per_minute=2) as served, served.client() as client:
        key = str(uuid4())
        start(client)
        first = post(client, key)
        response = client.post("/api/matches", json=HUMANS)
        check_problem(response, 429, "too-many-matches")
        assert 1 <= int(response.headers["retry-after"]) <= 60
        # What is only repeated starts nothing.
        assert post(client, key).content == first.content


def test_a_client_has_only_so_many_unfinished_matches(tmp_path):
    url = f"sqlite:///{tmp_path}/kibitz.db"
    with running(url, tmp_path, max_matches_per_client=2) as served, served.client() as client:
        match, _ = start(client), start(client)
        response = client.post("/api/matches", json=HUMANS)
        check_problem(response, 429, "too-many-unfinished-matches")
        assert response.headers["retry-after"] == "60"
        done(command(client, match, "abort"))
        start(client)


def test_tokens_tell_who_may_do_what(tmp_path):
    url, tokens = f"sqlite:///{tmp_path}/kibitz.db", "read:reading-token,write:writing-token"
    with running(url, tmp_path, api_tokens=tokens) as served:
        reader = served.client(headers={"Authorization": "Bearer reading-token"})
        writer = served.client(headers={"Authorization": "Bearer writing-token"})
        with reader, writer, served.client() as stranger:
            match = start(writer)
            path = f"/api/matches/{match['id']}"
            reads = ["/api/matches", path, *(f"{path}/{x}" for x in ("plies", "pgn", "board.svg"))]
            for url in reads:
                check_problem(stranger.get(url), 401, "unauthenticated")
                assert reader.get(url).status_code == writer.get(url).status_code == 200
            writes = [
                ("/api/matches", HUMANS),
                *((f"{path}/{x}", None) for x in ("pause", "resume", "abort")),
            ]
            for url, body in writes:
                check_problem(stranger.post(url, json=body), 401, "unauthenticated")
                check_problem(reader.post(url, json=body), 403, "insufficient-scope")
            # The token of a seat is enough to play in it.
            assert done(command(stranger, match, "moves", "white", move="e4"))["ply_count"] == 1
            check_problem(
                writer.post(f"{path}/moves", json={"move": "e5"}), 401, "seat-token-missing"
            )
            assert done(command(writer, match, "abort"))["status"] == "aborted"


def test_no_answer_but_the_first_shows_a_secret(client):
    match = start(client, tags=["secrets"])
    secrets = [seat["token"] for seat in match["seats"].values()]
    path = f"/api/matches/{match['id']}"
    done(command(client, match, "resign", "white"))
    shown = [
        client.get(each).text for each in (path, f"{path}/plies", f"{path}/pgn", "/api/matches")
    ]
    shown.append(client.get(f"{path}/events", headers={"Last-Event-ID": "0"}).text)
    assert all(len(text) > 20 for text in shown)
    assert not [secret for secret in secrets for text in shown if secret in text]
