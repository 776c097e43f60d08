"""The objects of the service, wired together once."""

from __future__ import annotations

from agents.catalogue import Catalogue
from agents.uci.ratings import Ratings
from app.settings import Settings


def make_catalogue(settings: Settings) -> Catalogue:
    """Return the catalogue of whoever can be seated under some settings.

    Raises `InvalidRatings` if a calibration's file is damaged.
    """
    programs = {name: engine.program(name) for name, engine in settings.engines.items()}
    path = settings.ratings_file
    return Catalogue(
        programs,
        processes=settings.engine_processes,
        ratings=Ratings.load(path if path.exists() else None),
    )
