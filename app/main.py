"""The whole application: every route of every room, over some services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.http import evaluations, matches, streams
from app.http.application import create_app
from app.metrics import CountRequests

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.services import Services


def make_application(services: Services) -> FastAPI:
    """Return the application that `kibitz serve` serves."""
    app = create_app(
        services,
        (*matches.ROUTERS, streams.router, *evaluations.ROUTERS),
        kinds=matches.MATCH_KINDS | streams.STREAM_KINDS | evaluations.EVALUATION_KINDS,
    )
    app.add_middleware(CountRequests, metrics=services.metrics)
    return app
