"""The objects of the service, wired together once."""

from __future__ import annotations

from pathlib import Path

from agents.catalogue import Catalogue
from app.settings import Settings


def make_catalogue(settings: Settings) -> Catalogue:
    """Return the catalogue of whoever can be seated under some settings."""
    programs = {name: engine.program(name) for name, engine in settings.engines.items()}
    path = settings.ratings_file
    return Catalogue(
        programs,
        stockfish_options=settings.stockfish_options,
        processes=settings.engine_processes,
        ratings_file=path if _exists(path) else None,
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # whoever reads it is told what is wrong
