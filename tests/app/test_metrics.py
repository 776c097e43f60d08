"""Metrics: what happened is counted once, by labels that no client can make up."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import StreamingResponse
from uuid_utils.compat import uuid7

from app import metrics as module
from app.matches.match import Match
from app.matches.settings import MatchSettings, PlayerSettings
from app.matches.storing import new_record, take_change
from app.metrics import CountRequests, Counts, Metrics, kind_of
from app.persistence.database import Database
from app.persistence.errors import StorageUnavailable
from app.persistence.matches import insert_match
from app.persistence.records import ModelCallRecord
from tests.support.processes import HANGS_AFTER

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Feed:
    watchers, delivered, dropped = 3, 40, 2


class Runner:
    running = 5
    worker = "ours"


def samples(text):
    """Return every sample as a mapping from its name and labels to its value."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, *sorted(sample.labels.items())
            assert key not in found
            found[key] = sample.value
    return found


def read(metrics):
    text, media_type = asyncio.run(metrics.scrape())
    assert media_type.startswith("text/plain; version=")
    return samples(text.decode())


def new_match(white="random", black="stockfish:2"):
    settings = MatchSettings(PlayerSettings(white), PlayerSettings(black), seed=1)
    return Match.create(str(uuid7()), settings, AT)


# --- the text ---


def test_every_name_is_ours_and_explained():
    metrics = Metrics()
    metrics.watch(None, Feed(), Runner())
    metrics._database = None
    body, _ = asyncio.run(metrics.scrape())
    families = list(text_string_to_metric_families(body.decode()))
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    for family in families:
        assert family.name.startswith(("kibitz_", "process_")), family.name
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram", "info", "unknown"), family.name
    wanted = {"matches", "queue_depth", "running_matches", "plies", "decision_seconds"}
    wanted |= {"attempts_rejected", "player_faults", "matches_ended", "storage_errors"}
    wanted |= {"sse_watchers", "sse_deliveries", "sse_drops", "database_up"}
    wanted |= {"model_calls", "model_tokens", "model_cost_usd"}
    wanted |= {"evaluations", "evaluation_games"}
    wanted |= {"http_requests", "http_response_seconds"}
    assert {f"kibitz_{name}" for name in wanted} <= set(names)


def test_open_metrics_if_asked_for():
    metrics = Metrics()
    metrics.decided("random", timedelta(seconds=1))
    body, media_type = asyncio.run(metrics.scrape("application/openmetrics-text; version=1.0.0"))
    assert media_type.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")
    assert list(openmetrics.text_string_to_metric_families(body.decode()))


def test_what_runs_here():
    found = [key for key in read(Metrics()) if key[0] == "kibitz_build_info"]
    assert len(found) == 1
    assert dict(found[0][1:]).keys() == {"version", "python"}


def test_two_services_in_one_process_do_not_mix():
    one, other = Metrics(), Metrics()
    one.failed("random")
    assert ("kibitz_player_faults_total", ("player", "random")) in read(one)
    assert ("kibitz_player_faults_total", ("player", "random")) not in read(other)


# --- what owners tell ---


@pytest.mark.parametrize(
    ("player", "kind"),
    [
        ("stockfish:5", "stockfish"),
        ("random", "random"),
        ("uci:a:b", "uci"),
        ("team:secret plans (candidate)", "team"),
        ("random (random)", "random"),
    ],
)
def test_a_player_is_counted_by_its_kind(player, kind):
    assert kind_of(player) == kind
    metrics = Metrics()
    metrics.decided(player, timedelta(milliseconds=30))
    metrics.decided(player, timedelta(minutes=5))
    metrics.failed(player)
    metrics.rejected(player)
    metrics.rejected(player)
    found = read(metrics)
    label = ("player", kind)
    assert found["kibitz_decision_seconds_count", label] == 2
    assert found["kibitz_decision_seconds_sum", label] == pytest.approx(300.03)
    buckets = {
        key[1][1]: value
        for key, value in found.items()
        if key[0] == "kibitz_decision_seconds_bucket"
    }
    assert (buckets["0.025"], buckets["0.05"], buckets["120.0"], buckets["+Inf"]) == (0, 1, 1, 2)
    assert min(map(float, buckets)) == 0.001
    assert found["kibitz_player_faults_total", label] == 1
    assert found["kibitz_attempts_rejected_total", label] == 2


def test_plies_are_counted_when_they_are_committed():
    metrics, match = Metrics(), new_match()
    match.start(AT)
    first = take_change(match, 1, "w")
    match.play("e4", AT, source="random")
    match.play("e5", AT, source="stockfish:2")
    second = take_change(match, 1, "w")
    match.play("d4", AT, source="random (candidate)")
    third = take_change(match, 1, "w")
    metrics.published([first, second])
    metrics.published([third])
    found = read(metrics)
    assert found["kibitz_plies_total", ("player", "random")] == 2
    assert found["kibitz_plies_total", ("player", "stockfish")] == 1
    assert not [key for key in found if key[0] == "kibitz_matches_ended_total"]


def test_endings_are_counted_by_result_and_reason():
    metrics = Metrics()
    for number in range(3):
        match = new_match()
        match.start(AT)
        match.play("f3", AT, source="random")
        match.play("e5", AT, source="random")
        match.play("g4", AT, source="random")
        if number < 2:
            match.play("Qh4", AT, source="random")
        else:
            match.abort(AT)
        metrics.published([take_change(match, 1, None)])
    found = read(metrics)
    assert found[
        "kibitz_matches_ended_total", ("result", "0-1"), ("termination", "checkmate")
    ] == 2  # fmt: skip
    assert found["kibitz_matches_ended_total", ("result", "*"), ("termination", "aborted")] == 1


def test_calls_of_models_are_counted_by_model():
    call = ModelCallRecord(
        *("1", None, None, 1, "selector", "gpt-x", 1, 100, 60, 20, 50, 900),
        *(Decimal("0.25"), "digest", "ok", AT),
    )
    metrics = Metrics()
    metrics.called(call)
    metrics.called(replace(call, cost_usd=None))
    found = read(metrics)
    assert found["kibitz_model_calls_total", ("model", "gpt-x"), ("outcome", "ok")] == 2
    tokens = {"prompt": 200, "cached": 120, "reasoning": 40, "completion": 100}
    for kind, count in tokens.items():
        assert found["kibitz_model_tokens_total", ("kind", kind), ("model", "gpt-x")] == count
    assert found["kibitz_model_cost_usd_total", ("model", "gpt-x")] == 0.25


def test_labels_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MOST_SERIES", 3)
    metrics = Metrics()
    for name in "abcdebe":
        metrics.failed(name)
    found = read(metrics)
    faults = {key[1][1]: each for key, each in found.items() if key[0].startswith("kibitz_player")}
    assert faults == {"a": 1, "b": 2, "c": 1, "other": 3}


# --- what is looked at ---


def test_the_feed_and_the_runner_are_looked_at_when_asked():
    metrics, feed, runner = Metrics(), Feed(), Runner()
    metrics.watch(Answering(Counts({}, 0, {}, {})), feed, runner)
    found = read(metrics)
    assert found["kibitz_sse_watchers",] == 3
    assert found["kibitz_sse_deliveries_total",] == 40
    assert found["kibitz_sse_drops_total",] == 2
    assert found["kibitz_running_matches",] == 5
    feed.watchers, runner.running = 0, 6
    found = read(metrics)
    assert (found["kibitz_sse_watchers",], found["kibitz_running_matches",]) == (0, 6)


class Answering:
    """A database that gives what is asked of it, or raises it, or never answers."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    async def read(self, _query):
        self.asked += 1
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_matches_are_counted_in_the_database_every_few_seconds(tmp_path, monkeypatch):
    async def main():
        database = await Database.open(f"sqlite:///{tmp_path / 'a.db'}")
        try:
            metrics = Metrics()
            metrics.watch(database, Feed(), Runner())
            counts = [await matches(metrics)]
            record, events, _ = new_record(new_match(), client="c")
            await database.write(lambda connection: insert_match(connection, record, events))
            counts.append(await matches(metrics))  # as it was a moment ago
            monkeypatch.setattr(module, "FRESH", timedelta(0))
            counts.append(await matches(metrics))
            return counts
        finally:
            await database.aclose()

    async def matches(metrics):
        body, _ = await metrics.scrape()
        found = samples(body.decode())
        by_status = {key[1][1]: each for key, each in found.items() if key[0] == "kibitz_matches"}
        assert set(by_status) == {"created", "running", "paused", "ended", "aborted"}
        assert found["kibitz_queue_depth",] == by_status["created"]  # nobody owns them
        assert found["kibitz_database_up",] == 1
        return sum(by_status.values())

    assert asyncio.run(main()) == [0, 0, 1]


def test_running_matches_wait_too_when_whoever_ran_them_is_gone(tmp_path):
    """As after a restart, until they are taken up again."""
    owned = [
        ("running", "ours"),  # which is run
        ("running", "gone"),
        ("created", "gone"),
        ("running", None),
        ("created", None),
        ("paused", None),
        ("aborted", "gone"),
    ]

    async def main():
        async with await Database.open(f"sqlite:///{tmp_path / 'a.db'}") as database:
            for status, owner in owned:
                record, events, _ = new_record(new_match(), client="c")
                record = replace(record, status=status, owner=owner)
                await database.write(lambda each, r=record, e=events: insert_match(each, r, e))
            metrics = Metrics()
            metrics.watch(database, Feed(), Runner())
            body, _ = await metrics.scrape()
            return samples(body.decode())["kibitz_queue_depth",]

    assert asyncio.run(main()) == 4


def test_those_who_ask_at_the_same_time_share_the_answer():
    async def main():
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(metrics.refresh())

    metrics, database = Metrics(), Answering(Counts({"created": 1}, 4, {"paused": 2}, {"void": 3}))
    metrics.watch(database, Feed(), Runner())
    asyncio.run(main())
    assert database.asked == 1
    found = read(metrics)
    assert found["kibitz_queue_depth",] == 4
    assert found["kibitz_evaluations", ("status", "paused")] == 2
    assert found["kibitz_evaluation_games", ("status", "void")] == 3


@pytest.mark.parametrize(
    ("answer", "error"),
    [(StorageUnavailable("gone"), "StorageUnavailable"), (None, "TimeoutError")],
)
def test_a_database_out_of_reach_does_not_keep_the_rest_from_being_told(answer, error, monkeypatch):
    metrics, database = Metrics(), Answering(Counts({"running": 7}, 2, {}, {}))
    metrics.watch(database, Feed(), Runner())
    metrics.failed("random")
    read(metrics)
    monkeypatch.setattr(module, "FRESH", timedelta(0))
    monkeypatch.setattr(module, "PATIENCE", timedelta(milliseconds=10))
    database.answer = answer
    found = read(metrics)
    assert found["kibitz_database_up",] == 0
    assert found["kibitz_storage_errors_total", ("error", error)] == 1
    assert found["kibitz_matches", ("status", "running")] == 7  # as it was
    assert found["kibitz_player_faults_total", ("player", "random")] == 1


# --- requests ---


def counted(metrics):
    app = FastAPI()

    @app.get("/api/matches/{match_id}")
    async def show(match_id: int) -> int:
        return match_id

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("no")

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        async def parts():
            yield b"a"
            streamed.append(read_now(metrics))
            yield b"b"

        return StreamingResponse(parts())

    streamed = app.state.streamed = []
    app.add_middleware(CountRequests, metrics=metrics)
    return app


def read_now(metrics):
    return samples(module.choose_encoder("")[0](metrics.registry).decode())


def test_requests_are_counted_by_route_and_status():
    metrics = Metrics()
    app = counted(metrics)

    async def main():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
            for path in ("/api/matches/1", "/api/matches/2?x=1", "/api/matches/x", "/nowhere/3"):
                await client.get(path)
            await client.get("/broken")
            await client.get("/stream")
            await client.delete("/api/matches/1")
            await client.request("BREW", "/nowhere")

    asyncio.run(asyncio.wait_for(main(), HANGS_AFTER))
    found = read(metrics)
    requests = {
        tuple(value for _, value in key[1:]): each
        for key, each in found.items()
        if key[0] == "kibitz_http_requests_total"
    }
    route = "/api/matches/{match_id}"
    assert requests == {
        ("GET", route, "200"): 2,
        ("GET", route, "422"): 1,
        ("GET", "other", "404"): 1,
        ("GET", "/broken", "500"): 1,
        ("GET", "/stream", "200"): 1,
        ("DELETE", route, "405"): 1,
        ("other", "other", "404"): 1,
    }
    assert found["kibitz_http_response_seconds_count", ("route", route)] == 4
    # A stream is counted while it is open.
    (during,) = app.state.streamed
    key = "kibitz_http_requests_total", ("method", "GET"), ("route", "/stream"), ("status", "200")
    assert during[key] == 1


def test_a_routers_prefix_is_part_of_the_route():
    from fastapi import APIRouter

    metrics, app, router = Metrics(), FastAPI(), APIRouter(prefix="/api/players")

    @router.get("/{name}")
    async def show(name: str) -> str:
        return name

    app.include_router(router)
    app.add_middleware(CountRequests, metrics=metrics)

    async def main():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
            await client.get("/api/players/random")

    asyncio.run(main())
    routes = {dict(key[1:]).get("route") for key in read(metrics) if "http_requests" in key[0]}
    assert routes == {"/api/players/{name}"}
