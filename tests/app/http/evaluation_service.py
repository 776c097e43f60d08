"""What tests of evaluations over HTTP do with the whole service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.app.http.match_service import THINKER

Evaluation = dict[str, Any]

#: Real games, and not for long.
QUICK: dict[str, Any] = {
    "match": {"max_plies": 12},
    "openings": "none",
    "analysis": {"nodes": 0},
}
DUEL: dict[str, Any] = {"kind": "duel", "agents": ["random", "stockfish:1"], "games": 4, **QUICK}
#: Games that are never over.
ENDLESS: dict[str, Any] = {"kind": "duel", "agents": ["random", THINKER], "games": 2, **QUICK}
BACK_RANK = '6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id "back rank";'
FORK = '4k3/8/8/q7/8/8/3N4/4K3 w - - bm Kd1; id "out of the pin";'


@dataclass(frozen=True)
class Event:
    """One event of a stream, as a client gets it."""

    id: int
    type: str
    data: dict[str, Any]


def begin(client: httpx.Client, plan: dict[str, Any] = DUEL, **fields: Any) -> Evaluation:
    """Start an evaluation."""
    response = client.post("/api/evaluations", json=plan | fields)
    assert response.status_code == 201, response.text
    evaluation: Evaluation = response.json()
    return evaluation


def look(client: httpx.Client, evaluation: Evaluation) -> Evaluation:
    """Return an evaluation as it stands."""
    response = client.get(f"/api/evaluations/{evaluation['id']}")
    assert response.status_code == 200, response.text
    found: Evaluation = response.json()
    return found


def command(client: httpx.Client, evaluation: Evaluation, what: str, **body: Any) -> httpx.Response:
    """Send a command, with a body if it has something in it."""
    url = f"/api/evaluations/{evaluation['id']}/{what}"
    return client.post(url, json=body) if body else client.post(url)


def done(response: httpx.Response) -> Evaluation:
    """Return the evaluation after a command that was performed."""
    assert response.status_code == 200, response.text
    evaluation: Evaluation = response.json()
    return evaluation


def matches_of(client: httpx.Client, evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the matches of an evaluation, the oldest first."""
    query = {"evaluation": evaluation["id"], "limit": 200}
    listed: list[dict[str, Any]] = client.get("/api/matches", params=query).json()["matches"]
    return listed[::-1]


@contextmanager
def watching(
    client: httpx.Client, evaluation: Evaluation, after: int | None = None
) -> Iterator[Iterator[Event]]:
    """Watch an evaluation by server-sent events, perhaps from a revision on."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    url = f"/api/evaluations/{evaluation['id']}/events"
    with client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream"
        yield _events(response)


def _events(response: httpx.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            if "data" in fields:
                data = json.loads(fields["data"])
                yield Event(int(fields["id"]), fields["event"], data)
            fields = {}
    assert not fields, "the stream broke off within an event"


def wait_until(
    client: httpx.Client, evaluation: Evaluation, is_so: Callable[[Evaluation], object]
) -> Evaluation:
    """Return the first state that is looked for, as soon as it is there."""
    with watching(client, evaluation) as events:
        for event in events:
            if is_so(event.data):
                return event.data
    raise AssertionError("the evaluation ended before that")


def finished(client: httpx.Client, evaluation: Evaluation) -> Evaluation:
    """Return an evaluation once it is over."""
    state = wait_until(client, evaluation, lambda it: it["status"] in ("finished", "paused"))
    assert state["status"] == "finished", state
    return state


def playing(number: int) -> Callable[[Evaluation], bool]:
    """Return what tells whether so many games are being played."""
    return lambda it: it["progress"] is not None and it["progress"]["games"]["playing"] == number
