"""Evaluations through real services, and what tests do with them.

async with evaluating(database_url, tmp_path, players) as play:
    evaluation_id = await play.start(kind="duel", agents=["a", "b"])
    record = await play.stopped(evaluation_id)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import app.evaluations.conductor
import app.evaluations.scheduler
import app.matches.owner
import app.services
from agents.catalogue import Catalogue
from agents.player import Decision, Player, Turn
from app.evaluations.plan import read_plan
from app.evaluations.scheduler import Scheduler
from app.persistence.evaluations import EvaluationRecord, GameRecord, games_of
from app.services import Services, open_services
from app.settings import Settings
from engine import Color, Move
from tests.support.processes import HANGS_AFTER

_SOON = timedelta(milliseconds=20)

#: Enough for a game between players that resign.
QUICK: dict[str, Any] = {"analysis": {"nodes": 0}, "openings": "none"}


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long after faults, look often, and start no engine that nobody needs."""
    shortest = timedelta(milliseconds=1)
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", shortest)
    monkeypatch.setattr(app.evaluations.conductor, "LOOK_EVERY", _SOON)
    monkeypatch.setattr(app.evaluations.scheduler, "LOOK_EVERY", _SOON)
    monkeypatch.setattr(app.services, "Scheduler", _hurried)
    monkeypatch.setattr(app.services, "_warm", _do_not_warm)


def _hurried(*parts: Any, **options: Any) -> Scheduler:
    return Scheduler(*parts, **options, first_pause=timedelta(milliseconds=1))


async def _do_not_warm(catalogue: Catalogue) -> None:
    """Leave Stockfish alone."""


class Resigner:
    """Resigns with a colour, and plays the first legal move with the other."""

    def __init__(self, name: str, *colors: Color) -> None:
        self.name = name
        self._colors = colors

    async def decide(self, turn: Turn) -> Decision:
        """Resign, or move."""
        if turn.position.turn in self._colors:
            return Decision(None, resigns=True)
        return Decision(min(turn.position.legal_moves(), key=Move.uci))


def weak(seed: int | None) -> Player:
    """Return one who always resigns."""
    return Resigner("weak", *Color)


def strong(seed: int | None) -> Player:
    """Return one who never resigns."""
    return Resigner("strong")


class Evaluating:
    """The services at work."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.evaluations = services.evaluations

    async def start(self, **plan: Any) -> str:
        """Start an evaluation, and return its id."""
        started = await self.evaluations.create(read_plan(plan), client="test")
        return started.record.id

    async def until(
        self, evaluation_id: str, is_so: Callable[[EvaluationRecord], object]
    ) -> EvaluationRecord:
        """Return an evaluation once it is so."""
        while True:
            record = await self.evaluations.find(evaluation_id)
            if is_so(record):
                return record
            try:
                async with asyncio.timeout(0.1):  # in case another process changes it
                    await self.evaluations.change()
            except TimeoutError:
                pass

    async def stopped(self, evaluation_id: str) -> EvaluationRecord:
        """Return an evaluation once it is finished, cancelled or paused."""
        return await self.until(
            evaluation_id, lambda it: it.status in ("finished", "cancelled", "paused")
        )

    async def finished(self, evaluation_id: str) -> EvaluationRecord:
        """Return an evaluation once it is finished, its report made."""
        record = await self.until(evaluation_id, lambda it: it.has_report or it.status == "paused")
        assert record.status == "finished", record.detail
        return record

    async def games(self, evaluation_id: str) -> list[GameRecord]:
        """Return the games of an evaluation, void ones and all."""
        return await self.services.database.read(
            lambda connection: games_of(connection, evaluation_id)
        )

    async def playing(self, evaluation_id: str, number: int) -> list[GameRecord]:
        """Return the games that are being played, once there are so many of them."""
        await self.until(evaluation_id, lambda it: _playing(it) == number)
        games = await self.games(evaluation_id)
        return [game for game in games if game.status == "playing"]


def _playing(record: EvaluationRecord) -> int:
    progress = json.loads(record.progress)
    return progress["games"]["playing"] if progress else 0


@asynccontextmanager
async def evaluating(
    database: str,
    folder: Path,
    players: Mapping[str, Callable[[int | None], Player]] | None = None,
    catalogue: Catalogue | None = None,
    **settings: Any,
) -> AsyncIterator[Evaluating]:
    """Run the services on a database, with players of the test's own."""
    values = {"database": database, "data_folder": folder, "engine_processes": 2} | settings
    catalogue = catalogue or Catalogue(players={"weak": weak, "strong": strong, **(players or {})})
    async with asyncio.timeout(HANGS_AFTER):
        async with open_services(Settings(**values), catalogue) as services:
            yield Evaluating(services)
