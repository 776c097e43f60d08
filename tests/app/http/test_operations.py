"""Operations: alive, ready, measured; and each request with its id and its line in the log."""

from __future__ import annotations

import asyncio
import logging
import re
from datetime import timedelta

import pytest
from fastapi import APIRouter

from app.http.requests import RequestIds, request_id
from app.metrics import Metrics
from app.readiness import Check
from tests.app.http.conftest import Parts, check_problem, served


async def works() -> None:
    await asyncio.sleep(0)


async def fails() -> None:
    raise ConnectionError("postgresql://kibitz:hunter2@db.example refused")


async def hangs() -> None:
    await asyncio.Event().wait()


GOOD, BAD = Check("stockfish", works), Check("database", fails)
SLOW = Check("queue", hangs, timedelta(milliseconds=10))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_alive_whatever_happens(method):
    with served(Parts(checks=[BAD, SLOW])) as server, server.client() as client:
        response = client.request(method, "/healthz")
    assert response.status_code == 200
    assert response.text in ('{"status":"alive"}', "")


@pytest.mark.parametrize("checks", [[], [GOOD], [GOOD, Check("database", works)]])
def test_ready(checks):
    with served(Parts(checks=checks)) as server, server.client() as client:
        assert client.head("/readyz").status_code == 200
        content = client.get("/readyz").json()
    assert content == {"status": "ready", "checks": {check.name: "ok" for check in checks}}


def test_not_ready_names_what_does_not_work(caplog):
    with served(Parts(checks=[GOOD, BAD, SLOW])) as server, server.client() as client:
        response = client.get("/readyz")
    content = check_problem(response, 503, "not-ready")
    assert content["failed"] == ["database", "queue"]
    assert content["checks"] == {"stockfish": "ok", "database": "failed", "queue": "timed out"}
    assert content["detail"] == "database, queue cannot be used"
    assert "hunter2" not in response.text
    assert response.headers["retry-after"] == "1"
    logged = [each.getMessage() for each in caplog.records if "check of" in each.getMessage()]
    assert len(logged) == 2


def test_checks_run_side_by_side():
    """Each waits for the other: one after the other they would hang."""
    barrier = asyncio.Barrier(2)
    checks = [Check(name, barrier.wait, timedelta(seconds=30)) for name in ("a", "b")]
    with served(Parts(checks=checks)) as server, server.client() as client:
        assert client.get("/readyz").status_code == 200


def test_metrics():
    metrics = Metrics()
    for _ in range(3):
        metrics.rejected("stockfish:5")
    with served(Parts(metrics=metrics)) as server, server.client() as client:
        response = client.get("/metrics")
        open_metrics = client.get(
            "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
        )
    assert response.headers["content-type"].startswith("text/plain; version=")
    assert 'kibitz_attempts_rejected_total{player="stockfish"} 3.0' in response.text
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert open_metrics.text.endswith("# EOF\n")


# --- every request ---


def test_every_answer_has_an_id_and_what_browsers_should_know(client):
    ids = set()
    for path in ("/healthz", "/nope", "/openapi.json", "/docs", "/api/players"):
        headers = client.get(path).headers
        assert re.fullmatch("[0-9a-f]{16}", headers["x-request-id"])
        ids.add(headers["x-request-id"])
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert (headers.get("cache-control") == "no-store") == path.startswith("/api")
    assert len(ids) == 5


def test_a_client_cannot_choose_its_id(client):
    headers = client.get("/healthz", headers={"X-Request-ID": "mine"}).headers
    assert headers["x-request-id"] != "mine"


def test_every_request_is_logged_without_its_query(client, caplog):
    caplog.set_level(logging.INFO, "app.http.requests")
    response = client.get("/nope/a%0Ab?token=hunter2")
    client.get("/healthz")  # which is not logged, and is read when all is done for the one before
    (record,) = (each for each in caplog.records if each.name == "app.http.requests")
    assert record.getMessage() == "GET /nope/a%0Ab: 404"
    assert record.status == 404
    assert record.duration_ms >= 0
    assert response.status_code == 404
    caplog.clear()
    client.get("/healthz")
    client.get("/healthz")  # when this one is read, all is done for the one before
    assert not [each for each in caplog.records if each.name == "app.http.requests"]


def test_what_is_logged_in_a_request_has_its_id():
    lines: list[logging.LogRecord] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record)

    logger = logging.getLogger("tests.app.http.id")
    handler = Handler()
    handler.addFilter(RequestIds())
    logger.addHandler(handler)
    router = APIRouter()

    @router.get("/log")
    async def log() -> None:
        logger.warning("in the loop")
        await asyncio.to_thread(logger.warning, "in a thread")

    with served(Parts(), router) as server, server.client() as client:
        name = client.get("/log").headers["x-request-id"]
    logger.warning("outside")
    logger.removeHandler(handler)
    assert [getattr(line, "request_id", None) for line in lines] == [name, name, None]
    assert request_id.get() == ""
