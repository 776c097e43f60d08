"""The whole service over real HTTP, and what tests of matches do with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from agents.catalogue import Catalogue
from app.http import evaluations, matches, streams
from app.http.application import create_app
from app.services import open_services
from app.settings import Settings
from tests.support.databases import DIALECTS, Postgres
from tests.support.players import ScriptedPlayer
from tests.support.servers import Served, serving

#: Says an illegal move and then a legal one, and after that thinks for ever.
STUBBORN = "stubborn"
#: Thinks for ever.
THINKER = "thinker"

ROUTERS = (*matches.ROUTERS, streams.router, *evaluations.ROUTERS)
KINDS = matches.MATCH_KINDS | streams.STREAM_KINDS | evaluations.EVALUATION_KINDS

Match = dict[str, Any]


def catalogue() -> Catalogue:
    """Return players that do not need much time."""
    players = {
        STUBBORN: lambda seed: ScriptedPlayer("e2e5", "nonsense", "e2e4", name=STUBBORN),
        THINKER: lambda seed: ScriptedPlayer(name=THINKER),
    }
    return Catalogue(players=players)


class WholeService:
    """The application with all its services, which live as long as it is served."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with open_services(self._settings, catalogue()) as services:
            self._app = create_app(services, ROUTERS, kinds=KINDS)
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


@pytest.fixture(scope="module", params=DIALECTS, name="database")
def either_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A fresh database of each kind for all tests of a module."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('database') / 'kibitz.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@contextmanager
def running(database: str, folder: Path, **settings: Any) -> Iterator[Served]:
    """Serve everything on a database."""
    values = {"database": database, "data_folder": folder, "engine_processes": 2} | settings
    with serving(WholeService(Settings(**values))) as served:
        yield served


def start(client: httpx.Client, white: Any = "human", black: Any = "human", **body: Any) -> Match:
    """Start a match, and return it with its tokens."""
    response = client.post("/api/matches", json={"white": white, "black": black} | body)
    assert response.status_code == 201, response.text
    match: Match = response.json()
    return match


def look(client: httpx.Client, match: Match) -> Match:
    """Return a match as it stands."""
    response = client.get(f"/api/matches/{match['id']}")
    assert response.status_code == 200, response.text
    found: Match = response.json()
    return found


def command(
    client: httpx.Client, match: Match, what: str, seat: str | None = None, **body: Any
) -> httpx.Response:
    """Send a command, in a seat if it is one of a seat."""
    headers = {} if seat is None else {"X-Seat-Token": match["seats"][seat]["token"]}
    return client.post(f"/api/matches/{match['id']}/{what}", json=body, headers=headers)


def done(response: httpx.Response) -> Match:
    """Return the match after a command that was performed."""
    assert response.status_code == 200, response.text
    match: Match = response.json()
    return match


def play(client: httpx.Client, match: Match, moves: str) -> Match:
    """Play moves of a match between humans, and return it as it stands then."""
    state = look(client, match)
    for move in moves.split():
        state = done(command(client, match, "moves", state["turn"], move=move))
    return state


def wait_until(
    client: httpx.Client, match: Match, happened: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the first event of the log that is looked for, as soon as it is there."""
    headers = {"Accept": "application/x-ndjson", "Last-Event-ID": "0"}
    with client.stream("GET", f"/api/matches/{match['id']}/events", headers=headers) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            event: dict[str, Any] = json.loads(line or "null")
            if event and happened(event):
                return event
    raise AssertionError("the match ended before that")
