"""The catalogue of players that settings describe: who can be seated."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path

from agents.catalogue import Catalogue
from agents.models.access import ModelAccess
from agents.models.pricing import Prices
from agents.models.rate_limit import RateLimit
from agents.team.library import load_teams
from app.settings import Settings


def make_catalogue(settings: Settings, rate_limit: RateLimit | None = None) -> Catalogue:
    """Return the catalogue of whoever can be seated under some settings.

    Raises `InvalidTeam`, or another `AgentError` that the operator has to mend.
    """
    programs = {name: engine.program(name) for name, engine in settings.engines.items()}
    path = settings.ratings_file
    return Catalogue(
        programs,
        stockfish_options=settings.stockfish_options,
        processes=settings.engine_processes,
        ratings_file=path if _exists(path) else None,
        teams=load_teams(settings.teams_folder),
        models=_model_access(settings, rate_limit),
        default_model=settings.model,
    )


def _model_access(settings: Settings, rate_limit: RateLimit | None) -> ModelAccess:
    return ModelAccess(
        {name: each.provider(name) for name, each in settings.providers.items()},
        os.environ,
        prices=Prices.load(extra={name: each.price() for name, each in settings.prices.items()}),
        rate_limit=rate_limit,
        record_file=settings.record_file,
        replay_file=settings.replay_file,
    )


@asynccontextmanager
async def open_catalogue(settings: Settings) -> AsyncIterator[Catalogue]:
    """Have a catalogue whose players keep to the operator's limits of requests.

    Raises what `make_catalogue` does; and `InvalidDatabaseUrl`, if there are limits to share.
    """
    limits = {
        name: each.requests_per_minute
        for name, each in settings.providers.items()
        if each.requests_per_minute is not None
    }
    async with AsyncExitStack() as stack:
        shared = None
        if limits:
            # They are kept in the database, which takes a while to import: nobody else waits.
            module = await asyncio.to_thread(import_module, "app.rate_limits")
            shared = await stack.enter_async_context(
                module.open_rate_limits(settings.database_url, limits)
            )
        yield await stack.enter_async_context(make_catalogue(settings, shared))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # whoever reads it is told what is wrong
