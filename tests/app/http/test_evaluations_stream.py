"""Evaluations watched over HTTP, on either database: from the first game to the last."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import httpx
import pytest

from app.http.bounds import Places
from app.http.evaluation_answers import EvaluationState
from tests.app.http.conftest import check_problem
from tests.app.http.evaluation_service import (
    DUEL,
    ENDLESS,
    begin,
    command,
    done,
    finished,
    look,
    playing,
    wait_until,
    watching,
)
from tests.app.http.match_service import either_database, running  # noqa: F401 - fixtures
from tests.support.databases import postgres  # noqa: F401
from tests.support.processes import HANGS_AFTER

NDJSON = "application/x-ndjson"


@pytest.fixture(scope="module")
def client(database, tmp_path_factory) -> Iterator[httpx.Client]:
    with running(database, tmp_path_factory.mktemp("data")) as served, served.client() as client:
        yield client


@pytest.fixture
def paused(client):
    """An evaluation that does not change by itself."""
    evaluation = begin(client, ENDLESS)
    wait_until(client, evaluation, playing(2))
    yield done(command(client, evaluation, "pause"))
    done(command(client, evaluation, "cancel"))


def url_of(evaluation):
    return f"/api/evaluations/{evaluation['id']}/events"


def test_from_the_first_game_to_the_last(client):
    evaluation = begin(client, DUEL)
    with watching(client, evaluation) as stream:
        *events, last = stream  # it ends
    for event in events:
        EvaluationState.model_validate(event.data)
        assert (event.type, event.id) == ("progress", event.data["revision"])
    ids = [event.id for event in events]
    assert ids == sorted(set(ids))
    scored = [it.data["progress"]["games"]["scored"] for it in events if it.data["progress"]]
    assert scored == sorted(scored)
    assert scored[-1] == 4
    assert [it.data["status"] for it in events].count("finished") == 1
    assert (last.type, last.id, last.data) == ("evaluation.ended", ids[-1], events[-1].data)
    assert last.data["status"] == "finished"
    # Nothing comes after the end, not even when the report is made.
    response = client.get(url_of(evaluation), headers={"Last-Event-ID": str(last.id)})
    assert (response.status_code, response.content) == (204, b"")


def test_a_state_comes_at_once(client, paused):
    with watching(client, paused) as stream:
        event = next(stream)
    assert (event.id, event.data) == (paused["revision"], paused)


def test_nothing_comes_before_there_is_something_newer(client, paused):
    with watching(client, paused, after=paused["revision"]) as stream:
        done(command(client, paused, "resume"))
        event = next(stream)
        assert event.id > paused["revision"]
        assert event.data["status"] in ("created", "running")
        newest = done(command(client, paused, "pause"))
        assert next(it for it in stream if it.data["status"] == "paused").data == newest


def test_whoever_has_an_older_state_gets_the_newest(client, paused):
    for after in (0, 1, paused["revision"] - 1):
        with watching(client, paused, after=after) as stream:
            assert next(stream).id == paused["revision"]


def test_an_evaluation_that_is_over(client):
    evaluation = begin(client, ENDLESS)
    cancelled = done(command(client, evaluation, "cancel"))
    with watching(client, evaluation) as stream:
        assert [(it.type, it.data) for it in stream] == [
            ("progress", cancelled),
            ("evaluation.ended", cancelled),
        ]
    # So a browser knows that it need not connect again.
    headers = {"Last-Event-ID": str(cancelled["revision"])}
    response = client.get(url_of(evaluation), headers=headers)
    assert (response.status_code, response.content) == (204, b"")


def test_cancelling_ends_the_stream(client):
    evaluation = begin(client, ENDLESS)
    with watching(client, evaluation) as stream:
        next(stream)
        done(command(client, evaluation, "cancel"))
        *_, last = stream
    assert (last.type, last.data["status"]) == ("evaluation.ended", "cancelled")


def test_lines_of_json(client):
    evaluation = begin(client, DUEL)
    finished(client, evaluation)
    state = {key: value for key, value in look(client, evaluation).items() if key != "plan"}
    response = client.get(url_of(evaluation), headers={"Accept": NDJSON})
    assert response.headers["content-type"] == NDJSON
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line.pop("type") for line in lines] == ["progress", "evaluation.ended"]
    assert lines[0] == lines[1]
    assert lines[0].keys() == state.keys()
    assert lines[0]["status"] == "finished"


@pytest.mark.parametrize(
    ("headers", "query", "field"),
    [
        ({"Last-Event-ID": "10000"}, {}, "Last-Event-ID"),
        ({"Last-Event-ID": "-1"}, {}, "Last-Event-ID"),
        ({"Last-Event-ID": "new"}, {}, "Last-Event-ID"),
        ({}, {"last_event_id": "9" * 30}, "last_event_id"),
    ],
)
def test_a_revision_that_has_not_been(client, paused, headers, query, field):
    response = client.get(url_of(paused), headers=headers, params=query)
    problem = check_problem(response, 422, "invalid-event-id")
    assert problem["field"] == field


def test_no_other_format(client, paused):
    response = client.get(url_of(paused), headers={"Accept": "text/html"})
    problem = check_problem(response, 406, "no-such-format")
    assert problem["detail"] == "a stream comes as text/event-stream or application/x-ndjson"


def test_places_are_bounded_and_given_back(tmp_path, monkeypatch):
    take, given_back = Places.take, threading.Event()

    def take_and_tell(places, name):
        give_back = take(places, name)

        def give_back_and_tell():
            give_back()
            given_back.set()

        return give_back_and_tell

    monkeypatch.setattr(Places, "take", take_and_tell)
    database = f"sqlite:///{tmp_path / 'kibitz.db'}"
    with running(database, tmp_path, max_streams_per_client=1) as served, served.client() as client:
        evaluation = begin(client, ENDLESS)
        with watching(client, evaluation) as stream:
            next(stream)
            check_problem(client.get(url_of(evaluation)), 429, "too-many-streams")
        assert given_back.wait(HANGS_AFTER)  # the service has seen that we have gone
        done(command(client, evaluation, "cancel"))
        response = client.get(url_of(evaluation))
        assert response.status_code == 200
        assert "evaluation.ended" in response.text


def test_an_evaluation_that_another_process_conducts(postgres, tmp_path):  # noqa: F811
    with (
        postgres.database() as url,
        running(url, tmp_path) as one,
        one.client() as first,
        running(url, tmp_path) as other,
        other.client() as second,
    ):
        assert second.get("/api/evaluations").status_code == 200
        evaluation = begin(first, DUEL)
        with watching(second, evaluation) as stream:
            *_, last = stream
        assert last.data["progress"]["games"]["scored"] == 4
