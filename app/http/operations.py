"""Operations: whether the service lives, whether it is ready, and its metrics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from app.http.dependencies import ReadScope, ServicesOf
from app.http.errors import Kind, Refusal, problems
from app.http.schemas import Answer
from app.readiness import Check

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}
_NOT_READY = Kind(503, "not-ready", "The service is not ready", retry_after=1)

_log = logging.getLogger(__name__)

router = APIRouter(tags=["operations"])


class Alive(Answer):
    """The service lives."""

    status: Literal["alive"] = "alive"


class Ready(Answer):
    """The service is ready."""

    status: Literal["ready"] = "ready"
    checks: dict[str, Literal["ok"]] = Field(examples=[{"database": "ok", "stockfish": "ok"}])


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Tell whether the service lives")
async def healthz() -> Alive:
    """Answer at once, whatever the state of the rest."""
    return Alive()


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    summary="Tell whether the service is ready",
    responses=problems(503, s503="Something does not work: `failed` tells what."),
)
async def readyz(services: ServicesOf) -> Ready:
    """Try what the service needs, and tell what does not work."""
    faults = await _faults(services.checks)
    names = [check.name for check in services.checks]
    if faults:
        detail = f"{', '.join(faults)} cannot be used"
        states = {name: faults.get(name, "ok") for name in names}
        members = {"failed": list(faults), "checks": states}
        raise Refusal(_NOT_READY, detail, members=members)
    return Ready(checks=dict.fromkeys(names, "ok"))


async def _faults(checks: Iterable[Check]) -> dict[str, str]:
    """Run all checks side by side, and return in a word what is wrong with those that fail."""
    async with asyncio.TaskGroup() as group:
        tasks = {check.name: group.create_task(_fault(check)) for check in checks}
    return {name: fault for name, task in tasks.items() if (fault := task.result())}


async def _fault(check: Check) -> str | None:
    seconds = check.timeout.total_seconds()
    try:
        async with asyncio.timeout(seconds):
            await check.run()
    except TimeoutError:
        _log.warning("the check of %s took over %g s", check.name, seconds)
        return "timed out"
    except Exception as error:  # whatever it is, the service is not ready
        _log.warning("the check of %s failed: %s", check.name, error)
        return "failed"
    return None


@router.get(
    "/metrics",
    summary="Show the metrics of the service",
    response_class=Response,
    responses=problems(401) | _TEXT,
)
async def metrics(request: Request, services: ServicesOf, _: ReadScope) -> Response:
    """Return all metrics in the text format of Prometheus, or as OpenMetrics if asked for."""
    text, media_type = await services.metrics.scrape(request.headers.get("accept", ""))
    return Response(text, headers={"Content-Type": media_type})
