"""The ledger over HTTP, and who can be seated as long as no key is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from tests.app.http.conftest import check_problem
from tests.support.databases import sqlite_template  # noqa: F401
from tests.support.model_server import EMPTY, AnswersSchema, Fails, ModelServer, Script
from tests.support.processes import HANGS_AFTER
from tests.support.team_matches import (
    GOOD,
    MODEL,
    AnswersBy,
    Play,
    advice,
    by_role,
    every,
    furnish,
    hurry,
    move,
    playing,
    served,
    trio,
)

USAGE = {
    "prompt_tokens": 812,
    "completion_tokens": 214,
    "prompt_tokens_details": {"cached_tokens": 640},
    "completion_tokens_details": {"reasoning_tokens": 128},
}
PRICES = {MODEL: {"input": "0.25", "cached_input": "0.025", "output": "2"}}


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, request.getfixturevalue("sqlite_template"))


@asynccontextmanager
async def service(
    script: Script, folder: Path, **options: Any
) -> AsyncIterator[tuple[Play, httpx.AsyncClient]]:
    """Serve everything, with models that behave by a script."""
    with capture_logs():
        async with (
            asyncio.timeout(HANGS_AFTER),
            ModelServer(script) as server,
            playing(server, folder, **options) as play,
            served(play) as client,
        ):
            yield play, client


async def _post(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    players = {"white": "team:default", "black": "random", "seed": 7, "max_plies": 4}
    return await client.post("/api/matches", json=players | body)


@pytest.mark.asyncio
async def test_the_ledger_comes_page_by_page_and_agrees_with_its_totals(folder: Path) -> None:
    script = every(3, Fails(500), then=AnswersSchema(usage=USAGE))
    async with service(script, folder, prices=PRICES) as (play, client):
        match_id = (await _post(client)).json()["id"]
        await play.ended(match_id)

        path: str | None = f"/api/matches/{match_id}/ledger?limit=4"
        calls, pages = [], 0
        while path is not None:
            response = await client.get(path)
            assert response.status_code == 200
            page = response.json()
            assert 1 <= len(page["calls"]) <= 4
            calls += page["calls"]
            pages += 1
            path = response.links["next"]["url"] if "next" in response.links else None
            assert (path is None) == (page["next_cursor"] is None)
        assert pages == -(-len(calls) // 4) > 1
        stored = await play.calls(match_id)
        assert [each["id"] for each in calls] == [each.id for each in stored]

        # With no limit all come at once, and the same.
        whole = (await client.get(f"/api/matches/{match_id}/ledger")).json()
        assert whole == {"calls": calls, "next_cursor": None}

        good = next(each for each in calls if each["outcome"] == "ok")
        assert {
            name: good[name] for name in ("model", "cost_usd", "color", "attempt", "error")
        } == {
            "model": MODEL,
            "cost_usd": "0.000487",
            "color": "white",
            "attempt": 1,
            "error": "",
        }
        assert good["reply"]["model"] == "some-model-2026"
        assert good["reply"]["finish_reason"] == "stop"
        bad = next(each for each in calls if each["outcome"] != "ok")
        assert (bad["outcome"], bad["error"]) == (
            "server_fault",
            "loop answered 500: something is wrong",
        )
        assert bad["reply"] is None

        state = (await client.get(f"/api/matches/{match_id}")).json()
        sums = {
            name: sum(each[name] for each in calls)
            for name in (
                "prompt_tokens",
                "cached_tokens",
                "reasoning_tokens",
                "completion_tokens",
            )
        }
        assert sums["prompt_tokens"] == 6 * 812
        assert state["ledger"] == {
            "calls": len(calls),
            **sums,
            "cost_usd": str(sum(Decimal(each["cost_usd"]) for each in calls)),
            "unpriced_calls": 0,
        }
        assert state["ledger"]["cost_usd"] == "0.002922"


@pytest.mark.asyncio
async def test_what_has_no_price_is_null_and_never_nothing(folder: Path) -> None:
    async with service(AnswersSchema(usage=USAGE), folder) as (play, client):
        match_id = (await _post(client, white="solo:default", max_plies=2)).json()["id"]
        await play.ended(match_id)
        (call,) = (await client.get(f"/api/matches/{match_id}/ledger")).json()["calls"]
        assert call["cost_usd"] is None
        totals = (await client.get(f"/api/matches/{match_id}")).json()["ledger"]
        assert (totals["cost_usd"], totals["unpriced_calls"]) == (None, 1)

        refused = await _post(client, budget={"usd": 1})
        problem = check_problem(refused, 422, "invalid-settings")
        assert problem["field"] == "budget"
        assert f"nobody knows what {MODEL} costs" in problem["detail"]


@pytest.mark.asyncio
async def test_a_match_without_calls_has_an_empty_ledger(folder: Path) -> None:
    async with service(GOOD, folder) as (play, client):
        match_id = (await _post(client, white="random", max_plies=2)).json()["id"]
        await play.ended(match_id)
        response = await client.get(f"/api/matches/{match_id}/ledger")
        assert response.json() == {"calls": [], "next_cursor": None}
        nobody = "01980a4e-7b1f-7c2a-8a55-2f0d3c6b8e21"
        missing = await client.get(f"/api/matches/{nobody}/ledger")
        check_problem(missing, 404, "match-not-found")
        for query in ("cursor=nonsense", "limit=0", "limit=201", "lmit=3"):
            wrong = await client.get(f"/api/matches/{match_id}/ledger?{query}")
            assert wrong.status_code == 422, query


@pytest.mark.asyncio
async def test_a_ply_tells_what_the_team_said_and_what_was_refused(folder: Path) -> None:
    tries = iter([move("e2e5"), move("d2d4")])
    script = by_role(
        AnswersBy(lambda asked: next(tries)), tactical=advice("d2d4"), positional=EMPTY
    )
    async with service(script, folder) as (play, client):
        match_id = (await _post(client, max_plies=2)).json()["id"]
        await play.ended(match_id)
        first, second = (await client.get(f"/api/matches/{match_id}/plies")).json()["plies"]
        told = {each["by"]: each for each in first["advice"]}
        assert told["tactical"]["candidates"] == [
            {"uci": "d2d4", "san": "d4", "reason": "d2d4 is good"}
        ]
        assert (told["tactical"]["words"], told["tactical"]["abstained"]) == ("because", "")
        assert told["positional"]["abstained"] == "it said nothing"
        assert [each["move"] for each in first["attempts"]] == ["e2e5"]
        assert (second["advice"], second["attempts"]) == ([], [])


@pytest.mark.asyncio
async def test_teams_are_among_the_players(folder: Path) -> None:
    teams = {"mine.toml": trio("model = 'loop/other'", description="My own.")}
    async with service(GOOD, folder, teams=teams) as (_, client):
        listed = (await client.get("/api/players")).json()["players"]
        players = {each["name"]: each for each in listed}
        for name in ("default", "sequential", "frugal", "vote", "pure"):
            for kind in ("team", "solo"):
                player = players[f"{kind}:{name}"]
                assert player["models"] == [MODEL]
                assert player["unavailable"] is None
                assert player["variants"] == ["standard", "chess960", "kings-cooking"]
        mine = players["team:mine"]
        assert (mine["title"], mine["description"]) == ("Trio", "My own.")
        assert mine["models"] == ["loop/other"]
        assert players["random"]["models"] == []


@pytest.mark.asyncio
async def test_a_team_without_its_key_is_listed_and_refused(folder: Path) -> None:
    sentence = "LOOP_TEST_KEY is not set"
    async with service(GOOD, folder, provider={"api_key_env": "LOOP_TEST_KEY"}) as (_, client):
        listed = (await client.get("/api/players")).json()["players"]
        players = {each["name"]: each for each in listed}
        assert sentence in players["team:default"]["unavailable"]
        assert sentence in players["solo:default"]["unavailable"]
        assert players["random"]["unavailable"] is None
        problem = check_problem(await _post(client), 422, "player-unavailable")
        assert sentence in problem["detail"]
        assert problem["detail"].startswith("'team:default' cannot be seated: ")
        assert (await client.get("/api/matches")).json()["matches"] == []


@pytest.mark.asyncio
async def test_a_key_is_in_no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-loop-1234567890abcdefghij"
    monkeypatch.setenv("LOOP_TEST_KEY", secret)
    fault = Fails(401, f"Incorrect API key provided: {secret}", "invalid_api_key")
    options = {"provider": {"api_key_env": "LOOP_TEST_KEY"}}
    async with service(fault, folder, **options) as (play, client):
        match_id = (await _post(client, white="solo:default")).json()["id"]
        assert "(401)" in await play.paused(match_id)
        paths = ("", "/ledger", "/plies", "/pgn")
        answers = [await client.get(f"/api/matches/{match_id}{path}") for path in paths]
        answers += [await client.get(path) for path in ("/api/players", "/metrics", "/readyz")]
        for answer in answers:
            assert secret not in answer.text
            assert secret not in str(answer.headers)
        assert "(401)" in answers[1].text
