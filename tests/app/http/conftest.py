"""The application over real HTTP, with real parts, for all tests of this room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from agents.catalogue import Catalogue
from app.http.application import create_app
from app.metrics import Metrics
from app.readiness import Check
from app.settings import Settings
from tests.support.servers import Served, serving


@dataclass
class Parts:
    """What the application needs of the service."""

    settings: Settings = field(default_factory=Settings)
    catalogue: Catalogue = field(default_factory=Catalogue)
    checks: Sequence[Check] = ()
    metrics: Metrics = field(default_factory=Metrics)


def application(parts: Parts | None = None, *routers: APIRouter, **options: Any) -> FastAPI:
    """Return the application over some parts, which closes the catalogue in the end."""
    parts = parts or Parts()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with parts.catalogue:
            yield

    return create_app(parts, routers, lifespan=lifespan, **options)


@contextmanager
def served(parts: Parts | None = None, *routers: APIRouter, **options: Any) -> Iterator[Served]:
    with serving(application(parts, *routers, **options)) as server:
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """The application as it is without any settings: open, on loopback."""
    with served() as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def check_problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """Check what is so of every problem, and return it."""
    assert response.headers["content-type"] == "application/problem+json"
    content = response.json()
    assert (response.status_code, content["status"]) == (status, status), content
    assert content["type"] == f"/problems/{kind}", content
    assert content["title"]
    assert content["detail"]
    assert len(content["detail"]) < 400
    assert "\n" not in content["detail"]
    assert None not in content.values()
    assert "x-request-id" in response.headers
    return content
