"""The service whose page is looked at: in a thread, or as a process that can be killed."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from agents.catalogue import Catalogue
from app.main import make_application
from app.services import open_services
from app.settings import Settings
from tests.support.players import RESIGNS, Fault, ScriptedPlayer, Step
from tests.support.servers import Served, serving
from tests.support.services import Machine, Service

#: What players do that are seated by these names; after that they think for ever.
SCRIPTS: Mapping[str, tuple[Step, ...]] = {
    "thinker": (),
    #: Mates `mated` as White.
    "mating": ("e4", "Qh5", "Bc4", "Qxf7#"),
    "mated": ("e5", "Nc6", "Nf6"),
    #: Says an illegal move, then nonsense, and then a legal move.
    "stubborn": ("e2e5", "nonsense", "e2e4"),
    "resigning": (RESIGNS,),
    #: Cannot be reached, so that the match pauses, in the end.
    "faulty": (Fault(),) * 4,
}
#: Tests start far more than a person.
_SETTINGS = {"engine_processes": 1, "starts_per_minute": 100_000}
#: Below those that the system hands out by itself: nobody takes one while nobody listens there.
_PORTS = range(20_000, 32_000)


def catalogue() -> Catalogue:
    """Return everybody who needs no key, Stockfish and all, and those who follow a script."""
    return Catalogue(players={name: script_follower(name) for name in SCRIPTS}, processes=1)


def script_follower(name: str) -> Any:
    """Return what makes a player that follows the script of this name."""
    return lambda seed: ScriptedPlayer(*SCRIPTS[name], name=name)


class _WholeService:
    """All that `kibitz serve` serves, with other players; it lives as long as it is served."""

    def __init__(self, settings: Settings, players: Catalogue | None) -> None:
        self._settings = settings
        self._players = players
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        players = self._players or catalogue()
        async with open_services(self._settings, players) as services:
            self._app = make_application(services)
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


@contextmanager
def serving_page(
    folder: Path, players: Catalogue | None = None, **settings: Any
) -> Iterator[Served]:
    """Serve everything on SQLite, in a thread of this process."""
    values = {"database": f"sqlite:///{folder / 'kibitz.db'}", "data_folder": folder}
    with serving(_WholeService(Settings(**(values | _SETTINGS | settings)), players)) as served:
        yield served


class PageProcess:
    """`kibitz serve` as a process, always at the same address: what a browser comes back to."""

    def __init__(self, portal: BlockingPortal, machine: Machine) -> None:
        self._portal = portal
        self._machine = machine
        self._service: Service | None = None
        self.served = Served("127.0.0.1", _free_port())

    @property
    def url(self) -> str:
        """Where it serves, when it does."""
        return self.served.url

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self._portal.call(self._start)

    def kill(self) -> None:
        """Let it die on the spot."""
        self._portal.call(self._running.kill)

    def stop(self) -> None:
        """Ask it to stop, and see that it does so in good order."""
        self._portal.call(self._running.stop)

    @property
    def _running(self) -> Service:
        assert self._service is not None, "it was not started"
        return self._service

    async def _start(self) -> None:
        # The last one of an option holds.
        self._service = await self._machine.start(
            *self._machine.serve, "--port", str(self.served.port)
        )
        await self._service.ready()


@contextmanager
def page_process(folder: Path) -> Iterator[PageProcess]:
    """Have a process that is started when it is told to; in the end it is gone."""
    machine = Machine(folder, f"sqlite:///{folder / 'kibitz.db'}")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(machine):
        process = PageProcess(portal, machine)
        try:
            yield process
        finally:
            if process._service is not None and not process._service.has_ended:
                portal.call(process._service.kill_anyway)


def _free_port() -> int:
    for port in random.sample(_PORTS, 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")
