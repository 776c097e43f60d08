"""Every route against what the OpenAPI document says, with inputs that nobody thought of.

The inputs are the same in every run. Streams that never end are left to their own tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
)

from app.http.application import create_app
from app.settings import Settings
from tests.app.http.conftest import Parts
from tests.app.http.evaluation_service import BACK_RANK, begin
from tests.app.http.evaluation_service import ENDLESS as ENDLESS_DUEL
from tests.app.http.evaluation_service import command as evaluation_command
from tests.app.http.evaluation_service import done as performed
from tests.app.http.match_service import (
    KINDS,
    ROUTERS,
    THINKER,
    command,
    done,
    running,
    start,
)
from tests.support.processes import HANGS_AFTER
from tests.support.servers import Served

# Making up requests, and checking answers, is none of ours. The services that answer are measured.
pytestmark = pytest.mark.usefixtures("without_coverage")

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
PROFILE = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
TOKENS = "read:reading-token,write:writing-token"
WRITER = {"Authorization": "Bearer writing-token"}
#: What anybody may ask, with a token or without.
OPEN = ("/healthz", "/readyz")
ENDLESS = (
    "/api/events",
    "/api/matches/{match_id}/events",
    "/api/evaluations/{evaluation_id}/events",
)
BOUNDS = {
    "starts_per_minute": 100_000,
    "max_matches_per_client": 100_000,
    "max_evaluations_per_client": 100_000,
}
ANCHOR = {"name": "random", "elo": -380}
AN_ID = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"


def document(**settings: Any) -> dict[str, Any]:
    """Return the document of a service that does not even run."""
    parts = Parts(Settings(**settings))
    return create_app(parts, ROUTERS, kinds=KINDS).openapi()


DOCUMENT, GUARDED = document(), document(api_tokens=TOKENS)
LABELS = [
    f"{method.upper()} {path}"
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if path not in ENDLESS
]


@pytest.fixture(scope="module")
def open_service(tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("open")
    with running(f"sqlite:///{folder}/kibitz.db", folder, **BOUNDS) as served:
        yield served


@pytest.fixture(scope="module")
def guarded_service(tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("guarded")
    url = f"sqlite:///{folder}/kibitz.db"
    with running(url, folder, api_tokens=TOKENS, **BOUNDS) as served:
        yield served


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("label", LABELS)
def test_every_answer_is_as_the_document_says(open_service, label, mode):
    with open_service.client() as client:
        there = prepare(client, label)
    examine(open_service, DOCUMENT, label, mode, there, examples=12)


@pytest.mark.parametrize("label", LABELS)
def test_every_answer_is_as_the_document_says_where_tokens_are_needed(guarded_service, label):
    with guarded_service.client(headers=WRITER) as client:
        there = prepare(client, label)
    examine(guarded_service, GUARDED, label, GenerationMode.POSITIVE, there, WRITER, examples=5)


@pytest.mark.parametrize("label", LABELS)
def test_nobody_gets_anything_without_a_token(guarded_service, label):
    method, path = label.split()
    with guarded_service.client() as client:
        for headers in ({}, {"Authorization": "Bearer wrong-token"}):
            url = path.replace("{match_id}", AN_ID).replace("{evaluation_id}", AN_ID)
            response = client.request(method, url, headers=headers)
            if path in OPEN:
                assert response.status_code < 500
            else:
                assert response.status_code == 401
                check_answer(response, DOCUMENT["paths"][path][method.lower()])


@dataclass(frozen=True)
class There:
    """What an operation can be about: the parameters of its path, and the headers it needs."""

    path: dict[str, str]
    headers: dict[str, str]


def prepare(client: httpx.Client, label: str) -> There:
    """Start a match, or an evaluation, in which an operation makes sense."""
    if "{evaluation_id}" in label:
        evaluation = begin(client, ENDLESS_DUEL)
        if label.endswith("/resume"):
            performed(evaluation_command(client, evaluation, "pause"))
        return There({"evaluation_id": evaluation["id"]}, {})
    match = start(client, "human", THINKER)
    if label.endswith("/resume"):
        done(command(client, match, "pause"))
    elif label.endswith("/takeback"):
        done(command(client, match, "moves", "white", move="e4"))
    is_seated = label.partition(" ")[2] in SEATED
    seat = {"X-Seat-Token": match["seats"]["white"]["token"]} if is_seated else {}
    return There({"match_id": match["id"]}, seat)


def examine(
    served: Served,
    told: dict[str, Any],
    label: str,
    mode: GenerationMode,
    there: There,
    headers: dict[str, str] | None = None,
    *,
    examples: int,
) -> None:
    """Send all kinds of requests to an operation, for what is there and for what is not."""
    method, path = label.split()
    operation = schemathesis.openapi.from_dict(deepcopy(told))[path][method]
    if not can_be(operation, mode):
        return
    statuses: set[int] = set()

    def send(strategy: SearchStrategy[Case], sent: dict[str, str]) -> None:
        @settings(PROFILE, max_examples=examples)
        @given(case=strategy)
        def ask(case: Case) -> None:
            tame(case, mode)
            response = case.call(base_url=served.url, headers=sent, timeout=HANGS_AFTER)
            case.validate_response(response, checks=CHECKS)
            check_answer(response, told["paths"][path][method.lower()])
            statuses.add(response.status_code)

        ask()

    send(operation.as_strategy(generation_mode=mode), headers or {})
    if "{" in path and can_be(operation, mode, but="path"):
        strategy = operation.as_strategy(generation_mode=mode, path_parameters=there.path)
        send(strategy, (headers or {}) | there.headers)
    if mode.is_positive:
        assert statuses & {200, 201}, "nothing came to anything"


SEATED = tuple(
    path for path in DOCUMENT["paths"] if path.endswith(("/moves", "/resign", "/draw", "/takeback"))
)


def can_be(operation: Any, mode: GenerationMode, but: str = "") -> bool:
    """Return whether there is anything in a request that could be wrong, but in one place."""
    if mode.is_positive or "requestBody" in operation.definition.raw:
        return True
    parameters = operation.definition.raw.get("parameters", ())
    # Any text will do as a header that is not needed.
    return any(parameter["in"] not in (but, "header") for parameter in parameters)


def tame(case: Case, mode: GenerationMode) -> None:
    """Make some of what is sent come to something, and none of it take long."""
    if not mode.is_positive or not isinstance(case.body, dict):
        return
    if case.path == "/api/positions/analyse":
        case.body = {**case.body, "nodes": 100}
    elif case.path == "/api/matches":
        case.body = {**case.body, "white": "human", "black": THINKER}
        if len(str(case.body)) % 2:
            for name in ("initial_fen", "opening", "time_control", "variant"):
                case.body.pop(name, None)
    elif case.path == "/api/evaluations":
        case.body = tame_plan(case.body)


def tame_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Return a plan that starts one match at most, which is never over."""
    number = 2 if plan.get("kind") == "duel" else 1
    plan = {**plan, "agents": ["random", THINKER][-number:], "concurrency": 1}
    for name in ("anchors", "openings", "positions"):
        if name in plan:
            plan[name] = {"openings": "none", "positions": [BACK_RANK]}.get(name, [ANCHOR])
    if len(str(plan)) % 2:
        for name in ("match", "variant", "suite"):
            plan.pop(name, None)
    return plan


def check_answer(response: Any, operation: dict[str, Any]) -> None:
    """Check that a status is one that the document tells of, and an error a whole problem."""
    status = response.status_code
    assert str(status) in operation["responses"], status
    if status < 400:
        return
    content_type = response.headers["content-type"]
    content_type = content_type if isinstance(content_type, str) else content_type[0]
    assert content_type == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("/problems/")
    assert problem["title"]
    assert problem["detail"]
