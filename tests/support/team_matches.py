"""Whole matches of teams through real services; the models are behaviours of a server on loopback.

async with ModelServer(GOOD) as server, playing(server, folder) as play:
    match_id = await play.start("team:default", max_plies=4)
    record = await play.ended(match_id)
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

import agents.models.caller
import app.matches.owner
import app.services
from agents.catalogue import Catalogue
from agents.models.breaker import CircuitBreakers
from agents.models.budget import Budget
from app.matches.commands import Command, Resume
from app.matches.events import Event, EventType
from app.matches.settings import MatchSettings, PlayerSettings
from app.persistence.events import events_of
from app.persistence.records import MatchRecord, ModelCallRecord
from app.services import Services, open_services
from app.settings import Settings
from engine import Position
from tests.support.model_server import AnswersSchema, Asked, Behaviour, ModelServer, Says, Wire
from tests.support.processes import HANGS_AFTER
from tests.support.servers import listening

PROVIDER = "loop"
MODEL = "loop/some-model"
#: What follows the schema, of which it takes the first move.
GOOD = AnswersSchema()
#: Where White can take a queen with a pawn, so that the position is critical.
CRITICAL = "rnb1kbnr/pppp1ppp/8/4p3/3q4/2P2N2/PP2PPPP/RNBQKB1R w KQkq - 0 4"

_ALL = 10**6
_POSITION = re.compile(r"^Position: (.+)$", re.MULTILINE)
_ROLES = {
    "You are the tactical specialist": "tactical",
    "You are the positional specialist": "positional",
    "You are the selector": "selector",
    "You decide alone": "solo",
}


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long after faults, and start no engine that nobody needs."""
    # It takes a second to import, which a clock of a test should not be charged with.
    importlib.import_module("agents.models.openai_client")
    shortest = timedelta(milliseconds=1)
    monkeypatch.setattr(agents.models.caller, "_FIRST_PAUSE", shortest)
    monkeypatch.setattr(app.matches.owner, "FIRST_PAUSE", shortest)
    monkeypatch.setattr(
        agents.models.caller, "CircuitBreakers", lambda: CircuitBreakers(cool_down=shortest)
    )
    monkeypatch.setattr(app.services, "_warm", _do_not_warm)


def furnish(folder: Path, template: Path) -> Path:
    """Put a database into a folder of the services that has its tables already."""
    shutil.copy(template, folder / "kibitz.db")
    return folder


async def _do_not_warm(catalogue: Catalogue) -> None:
    """Leave Stockfish alone."""


# --- what the server is asked, and what it does ---


def role_of(asked: Asked) -> str:
    """Return whose request came."""
    system = asked.body["messages"][0]["content"]
    return next(role for words, role in _ROLES.items() if words in system)


def position_of(asked: Asked, variant: str = "standard") -> Position:
    """Return the position that a request is about."""
    found = _POSITION.search(asked.prompt)
    assert found is not None
    return Position.from_fen(found[1], variant)


def question(asked: Asked) -> str:
    """Return what was said last."""
    return str(asked.body["messages"][-1]["content"])


def move(uci: str, reasoning: str = "because") -> Says:
    """Decide for a move, legal or not."""
    return Says(json.dumps({"reasoning": reasoning, "move": uci}))


def advice(*moves: str, reasoning: str = "because") -> Says:
    """Advise moves, legal or not."""
    candidates = [{"reason": f"{each} is good", "move": each} for each in moves]
    return Says(json.dumps({"reasoning": reasoning, "candidates": candidates}))


def by_role(otherwise: Behaviour = GOOD, **behaviours: Behaviour) -> Callable[[Asked], Behaviour]:
    """Behave as the role of the request says."""
    return lambda asked: behaviours.get(role_of(asked), otherwise)


def every(
    number: int, behaviour: Behaviour, then: Behaviour = GOOD
) -> Callable[[Asked], Behaviour]:
    """Behave in one way for every n-th request, and in another for all others."""
    count = 0

    def choose(asked: Asked) -> Behaviour:
        nonlocal count
        count += 1
        return behaviour if count % number == 0 else then

    return choose


@dataclass(frozen=True)
class AnswersBy:
    """Answer as a function chooses, within what another one has chosen."""

    choose: Callable[[Asked], Behaviour]

    async def answer(self, wire: Wire) -> None:
        """Choose, and answer."""
        await self.choose(wire.asked).answer(wire)


@dataclass(frozen=True)
class Meets:
    """Answer only when as many requests are open as the barrier wants."""

    barrier: asyncio.Barrier
    then: Behaviour = GOOD

    async def answer(self, wire: Wire) -> None:
        """Wait for the others, and answer."""
        await self.barrier.wait()
        await self.then.answer(wire)


@dataclass(frozen=True)
class Pauses:
    """Say the first part of a reply, and the rest once an event has come."""

    first: str
    rest: str
    until: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, wire: Wire) -> None:
        """Say it in two parts."""
        await wire.head()
        await wire.delta(content=self.first)
        await self.until.wait()
        await wire.delta(content=self.rest)
        await wire.delta("stop")
        await wire.event("[DONE]")
        await wire.end()


# --- the service ---


class Play:
    """The services at work, and what tests do with them."""

    def __init__(self, services: Services) -> None:
        self.services = services

    async def start(
        self, white: str = "team:default", black: str = "random", **settings: Any
    ) -> str:
        """Start a match, and return its id."""
        settings = {"seed": 7, "max_plies": 2} | settings
        players = PlayerSettings(white), PlayerSettings(black)
        created = await self.services.matches.create(
            MatchSettings(*players, **settings), client="test"
        )
        return created.record.id

    async def until(self, match_id: str, is_so: Callable[[MatchRecord], object]) -> MatchRecord:
        """Return a match once it is so, which may change with each commit."""
        feed = self.services.feed
        with feed.watch(match_id, lambda: None) as (watcher, _):
            await feed.live()
            while True:
                record = await self.services.matches.find(match_id)
                if is_so(record):
                    return record
                await watcher.take()

    async def ended(self, match_id: str) -> MatchRecord:
        """Return a match once it has ended."""
        record = await self.until(match_id, lambda it: it.status not in ("created", "running"))
        assert record.status == "ended", await self.reason(match_id)
        return record

    async def paused(self, match_id: str) -> str:
        """Return why a match is paused, once it is."""
        record = await self.until(match_id, lambda it: it.status not in ("created", "running"))
        assert (record.status, record.winner, record.result) == ("paused", None, "*")
        return await self.reason(match_id)

    async def reason(self, match_id: str) -> str:
        """Return why a match was last paused."""
        pauses = await self.of(match_id, EventType.PAUSED)
        return str(pauses[-1]["reason"]) if pauses else ""

    async def resume(self, match_id: str, budget: Budget | None = None) -> None:
        """Let a paused match go on."""
        await self.command(match_id, Resume(budget))

    async def command(self, match_id: str, command: Command) -> MatchRecord:
        """Have a command performed."""
        return await self.services.matches.command(match_id, command)

    async def log(self, match_id: str) -> list[Event]:
        """Return the log of a match as it is stored."""
        records = await self.services.database.read(
            lambda connection: events_of(connection, match_id, 0, _ALL)
        )
        return [Event.decode(each.data) for each in records]

    async def of(self, match_id: str, kind: EventType) -> list[dict[str, Any]]:
        """Return the events of a type."""
        return [each.fields for each in await self.log(match_id) if each.type is kind]

    async def advice(self, match_id: str, by: str | None = None) -> list[dict[str, Any]]:
        """Return the advice that was given, perhaps only that of one member."""
        given = await self.of(match_id, EventType.ADVICE)
        return [each for each in given if by in (None, each["by"])]

    async def rejected(self, match_id: str) -> list[dict[str, Any]]:
        """Return the attempts that were refused."""
        return await self.of(match_id, EventType.REJECTED)

    async def plies(self, match_id: str) -> list[dict[str, Any]]:
        """Return the plies that were played."""
        return await self.of(match_id, EventType.PLY)

    async def moves(self, match_id: str) -> list[str]:
        """Return the moves that were played."""
        return [each["uci"] for each in await self.plies(match_id)]

    async def calls(self, match_id: str) -> Sequence[ModelCallRecord]:
        """Return the ledger of a match."""
        return await self.services.matches.calls(match_id)

    async def outcomes(self, match_id: str) -> set[str]:
        """Return how the calls of a match went."""
        return {each.outcome for each in await self.calls(match_id)}


@asynccontextmanager
async def playing(
    server: ModelServer | None,
    folder: Path,
    *,
    database: str | None = None,
    teams: Mapping[str, str] | None = None,
    provider: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Play]:
    """Run the services, with teams of the test's own as TOML or prompts, by file name."""
    values: dict[str, Any] = {
        "database": database or f"sqlite:///{folder / 'kibitz.db'}",
        "data_folder": folder,
        "engine_processes": 1,
        "model": MODEL,
        "teams_folder": _write_teams(folder / "teams", teams or {}),
    }
    if server is not None:
        values["providers"] = {PROVIDER: {"base_url": server.base_url, **(provider or {})}}
    async with asyncio.timeout(HANGS_AFTER), open_services(Settings(**values | settings)) as it:
        yield Play(it)


def _write_teams(folder: Path, teams: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in teams.items():
        (folder / name).write_text(text)
    return folder


@asynccontextmanager
async def served(play: Play) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the whole application over real HTTP; what is yielded asks it."""
    from app.main import make_application
    from app.streaming.protocol import AbortableProtocol

    with closing(listening()) as listener:
        config = uvicorn.Config(
            make_application(play.services),
            http=AbortableProtocol,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            try:
                async with httpx.AsyncClient(
                    base_url=url, timeout=HANGS_AFTER, trust_env=False, verify=False
                ) as client:
                    yield client
            finally:
                await play.services.feed.aclose()
                server.should_exit = True


def solo(**fields: object) -> str:
    """Return the TOML of a team of one, which is tried again once after faults."""
    return _toml({"title": "Solo", "mode": "solo", "retries": 1, **fields})


def trio(member: str = "", **fields: object) -> str:
    """Return the TOML of a team of three; `member` are lines for each of them."""
    tables = [
        "[[specialists]]\nname = 'tactical'\nprompt = 'tactical.md'",
        "[[specialists]]\nname = 'positional'\nprompt = 'positional.md'",
        "[selector]",
    ]
    head = _toml({"title": "Trio", "retries": 1, **fields})
    return "\n".join([head, *(f"{table}\n{member}" for table in tables)])


def _toml(fields: Mapping[str, object]) -> str:
    inline = {k: v for k, v in fields.items() if not isinstance(v, dict)}
    tables = {k: v for k, v in fields.items() if isinstance(v, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in inline.items()]
    for name, table in tables.items():
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
        lines.append(f"{name} = {{ {pairs} }}")
    return "\n".join(lines) + "\n"
