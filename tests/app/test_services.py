"""The objects of the service: whether they are ready, and how they end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select

from agents.catalogue import Catalogue
from app import services as services_module
from app.matches.commands import PlayMove
from app.matches.settings import MatchSettings, PlayerSettings
from app.persistence.database import Database
from app.persistence.errors import StorageUnavailable
from app.persistence.tables import Worker
from app.services import Services, open_services
from app.settings import Settings
from engine import Color
from tests.support import processes
from tests.support.processes import HANGS_AFTER


class Jam:
    """A transaction that does not end, as on a database that hangs."""

    def __init__(self, database: Database) -> None:
        self._gate = threading.Event()
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hang(_: Connection) -> None:
            loop.call_soon_threadsafe(begun.set)
            self._gate.wait()

        self._hanging = asyncio.create_task(database.write(hang))
        self._begun = begun

    async def begun(self) -> None:
        """Wait until others wait for it."""
        await self._begun.wait()

    async def end(self) -> None:
        self._gate.set()
        await asyncio.wait([self._hanging])


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(database=f"sqlite:///{tmp_path / 'kibitz.db'}", data_folder=tmp_path)


@asynccontextmanager
async def bounded() -> AsyncIterator[None]:
    async with asyncio.timeout(HANGS_AFTER):
        yield


async def state_of(services: Services) -> str:
    (check,) = (each for each in services.checks if each.name == "database")
    try:
        await check.run()
    except StorageUnavailable:
        return "failed"
    return "ok"


async def until(services: Services, state: str) -> None:
    while await state_of(services) != state:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def test_a_service_that_cannot_write_is_not_ready(settings, monkeypatch):
    monkeypatch.setattr(services_module, "HEARTBEAT", timedelta(seconds=0.02))
    monkeypatch.setattr(services_module, "_FRESH", timedelta(seconds=0.2))

    async def test() -> None:
        async with bounded(), open_services(settings, Catalogue()) as services:
            assert await state_of(services) == "ok"
            jam = Jam(services.database)
            await until(services, "failed")
            await jam.end()
            await until(services, "ok")

    asyncio.run(test())


def test_a_service_is_ready_before_its_first_heartbeat(settings, monkeypatch):
    monkeypatch.setattr(services_module, "HEARTBEAT", timedelta(hours=1))

    async def test() -> None:
        async with bounded(), open_services(settings, Catalogue()) as services:
            assert await state_of(services) == "ok"

    asyncio.run(test())


def test_playing_is_stopped_before_anything_else(settings, monkeypatch):
    monkeypatch.setattr(services_module, "HEARTBEAT", timedelta(milliseconds=1))

    async def farewell(database: Database) -> tuple[object, object]:
        query = select(Worker.seen_at, Worker.stopped_at)
        seen, stopped = await database.read(lambda each: each.execute(query).one())
        return seen, stopped

    async def test() -> None:
        async with bounded(), open_services(settings, Catalogue()) as services:
            assert (await farewell(services.database))[1] is None
            await asyncio.gather(services.stop_playing(), services.stop_playing())
            assert not services.runner.is_running
            seen, stopped = await farewell(services.database)
            assert seen == stopped is not None
            await services.database.write(lambda _: None)  # a heartbeat would be before it
            await services.stop_playing()
            assert await farewell(services.database) == (seen, stopped)

    asyncio.run(test())


def test_the_end_does_not_wait_for_a_database_that_hangs(settings, monkeypatch):
    monkeypatch.setattr(services_module, "_PATIENCE", timedelta(seconds=0.1))
    monkeypatch.setattr(services_module, "HEARTBEAT", timedelta(hours=1))
    jams: list[Jam] = []
    waited: list[float] = []
    close = Database.aclose

    async def aclose(database: Database) -> None:
        waited.append(asyncio.get_running_loop().time())
        for jam in jams:  # all that is left to wait for
            await jam.end()
        await close(database)

    monkeypatch.setattr(Database, "aclose", aclose)

    async def test() -> None:
        human = PlayerSettings("human")
        async with bounded(), open_services(settings, Catalogue()) as services:
            match = (await services.matches.create(MatchSettings(human, human), client="me")).record
            await services.runner.command(match.id, PlayMove(Color.WHITE, "e4"))
            jams.append(Jam(services.database))
            await jams[0].begun()
            # A commit in hand, and somebody who waits for it.
            move = PlayMove(Color.BLACK, "e5")
            waiting = asyncio.create_task(services.runner.command(match.id, move))
            await processes.until(lambda: services.database._writer._jobs.qsize())
            waited.append(asyncio.get_running_loop().time())
        began, ended = waited
        assert ended - began < 5
        assert isinstance(waiting.exception(), StorageUnavailable)

    asyncio.run(test())
