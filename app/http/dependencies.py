"""What routes are given: the objects of the service, and who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from agents.catalogue import Catalogue
from app.http.analyses import Analyses
from app.http.bounds import Places, StartRate
from app.http.security import Access, Client
from app.readiness import Check
from app.settings import Scope, Settings


class Scraped(Protocol):
    """Metrics, for whoever scrapes them."""

    async def scrape(self, accept: str = "") -> tuple[bytes, str]:
        """Return them as text in an accepted format, and the format."""


class HttpServices(Protocol):
    """The objects of the service that this room needs, at `app.state.services`."""

    @property
    def settings(self) -> Settings:
        """What the operator decides."""

    @property
    def catalogue(self) -> Catalogue:
        """Who can be seated."""

    @property
    def checks(self) -> Sequence[Check]:
        """What must work for the service to be ready."""

    @property
    def metrics(self) -> Scraped:
        """What `/metrics` shows."""


class Gates:
    """Who is let in, and how many at a time; made once for an application."""

    def __init__(self, settings: Settings) -> None:
        self.access = Access(settings.api_tokens)
        #: Open streams of events.
        self.streams = Places("streams", settings.max_streams, settings.max_streams_per_client)
        #: Starts of matches, and of evaluations.
        self.starts = StartRate("matches", settings.starts_per_minute)
        self.evaluations = StartRate("evaluations", settings.starts_per_minute)
        #: Reports are made one at a time; others wait.
        self.reports = asyncio.Semaphore(1)


_bearer = HTTPBearer(
    scheme_name="token",
    description=(
        "One of KIBITZ_API_TOKENS, with the scope `read` or `write`. "
        "A service without tokens asks for none."
    ),
    auto_error=False,
)


async def _services(request: Request) -> HttpServices:
    services: HttpServices = request.app.state.services
    return services


async def _gates(request: Request) -> Gates:
    gates: Gates = request.app.state.gates
    return gates


async def _analyses(request: Request) -> Analyses:
    analyses: Analyses = request.app.state.analyses
    return analyses


ServicesOf = Annotated[HttpServices, Depends(_services)]
GatesOf = Annotated[Gates, Depends(_gates)]
AnalysesOf = Annotated[Analyses, Depends(_analyses)]


async def _client(
    request: Request, gates: GatesOf, _: Annotated[object, Security(_bearer)]
) -> Client:
    return gates.access.client(request.scope)


#: Whoever asks, with a token or without. For seats, which have secrets of their own.
AnyClient = Annotated[Client, Depends(_client)]


async def _reader(client: AnyClient) -> Client:
    client.require(Scope.READ)
    return client


async def _writer(client: AnyClient) -> Client:
    client.require(Scope.WRITE)
    return client


#: A client that may read, else 401.
ReadScope = Annotated[Client, Depends(_reader)]
#: A client that may write, else 401 or 403.
WriteScope = Annotated[Client, Depends(_writer)]
