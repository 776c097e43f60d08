"""The application: routes, errors, middleware and the OpenAPI document, put together."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse

from app.http import openings, operations, page, players, positions
from app.http.analyses import Analyses
from app.http.bounds import BodyBound
from app.http.dependencies import Gates, HttpServices
from app.http.errors import Kind, Problem, install_handlers, problem_response
from app.http.requests import Requests
from app.http.security import SiteGuard

_DESCRIPTION = """
Teams of LLM specialists play chess; every move refereed, every game kept.

Times are RFC 3339 in UTC, durations are in milliseconds. Every error is `application/problem+json`
(RFC 9457) with a stable `type`, and names the field at fault. A service with tokens asks for one:
`Authorization: Bearer TOKEN`.
"""
_TAGS = [
    {"name": "matches", "description": "Start matches, watch them, and play in them."},
    {"name": "evaluations", "description": "Measure how strong agents are, and compare them."},
    {"name": "positions", "description": "The rules engine as a service, for every variant."},
    {"name": "players", "description": "Who can be seated, and how strong they are."},
    {"name": "operations", "description": "For those who run the service."},
]
#: What the page of `/docs` loads; nothing else on the service comes from elsewhere.
_SWAGGER = "https://cdn.jsdelivr.net"

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(
    services: HttpServices,
    routers: Sequence[APIRouter] = (),
    *,
    kinds: Mapping[type[Exception], Kind] | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Return the application over some services.

    `routers` come besides those of this room, and `kinds` say which problems their errors are.
    """
    settings = services.settings
    app = FastAPI(
        title="Kibitz",
        version=version("kibitz"),
        summary="Chess between LLM teams, UCI engines and people, over HTTP.",
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        license_info={"name": "MIT", "identifier": "MIT"},
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        lifespan=lifespan,
    )
    app.state.services = services
    app.state.gates = Gates(settings)
    app.state.analyses = Analyses(services.catalogue, settings.engine_processes)
    ours = (positions, players, openings, operations, page)
    for router in (*routers, *(room.router for room in ours)):
        app.include_router(router)
    _add_docs(app)
    install_handlers(app, kinds, page.nothing_here)
    # The last one is the outermost.
    app.add_middleware(BodyBound, most_bytes=settings.max_body_bytes)
    app.add_middleware(SiteGuard, settings=settings)
    app.add_middleware(Requests)
    return app


def _add_docs(app: FastAPI) -> None:
    """Tell of problems in the OpenAPI document, and show it at `/docs`."""
    make = app.openapi
    is_open: bool = app.state.gates.access.is_open

    def openapi() -> dict[str, Any]:
        is_new = app.openapi_schema is None
        document = make()
        if is_new:
            _add_problems(document)
            if is_open:
                _drop_security(document)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
    swagger = bytes(
        get_swagger_ui_html(
            openapi_url="/openapi.json", title="Kibitz", swagger_favicon_url="data:,"
        ).body
    )
    script = re.search(rb"<script>(.*?)</script>", swagger, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[1] if script else b"").digest()).decode()
    policy = (
        f"default-src 'self'; script-src {_SWAGGER} 'sha256-{digest}'; "
        f"style-src {_SWAGGER} 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
    )

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(swagger, headers={"Content-Security-Policy": policy})


def _operation_id(route: APIRoute) -> str:
    return "_".join((*map(str, route.tags[:1]), route.name))


def _drop_security(document: dict[str, Any]) -> None:
    """Do not ask for tokens where there are none."""
    document["components"].pop("securitySchemes", None)
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)


def _add_problems(document: dict[str, Any]) -> None:
    """Say of every operation that its errors are problems."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schema.pop("$defs", {})
    schemas["Problem"] = schema
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path in document["paths"].values():
        for operation in path.values():
            answers = operation["responses"]
            answers.setdefault("default", problem_response("Any error."))
            described = answers.get("422")
            if described and "HTTPValidationError" in str(described):
                answers["422"] = problem_response("A field is wrong.")
