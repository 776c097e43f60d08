"""`kill -9` between a model's reply and its ply: what was paid for is not paid for again.

The models are a server outside of the process that dies. It answers each request in another way, so
that a reply that was bought twice would show in the plies, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import Any, TypeAlias

import psycopg
import pytest
from sqlalchemy import Connection

from app.matches.events import EventType
from app.persistence.database import Database
from app.persistence.ledger import calls_of
from app.persistence.plies import plies_of
from app.persistence.records import ModelCallRecord
from engine import Color
from tests.e2e.clients import Clients
from tests.e2e.verifying import StoredMatch, check_stored, read_all
from tests.support.model_server import AnswersSchema, Asked, ModelServer, Wire
from tests.support.processes import HANGS_AFTER, LINUX
from tests.support.services import Machine, Service, Template
from tests.support.team_matches import MODEL, PROVIDER, position_of, role_of

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")

#: Repeats the kills of a run, as far as clocks let it.
SEED = int(os.environ.get("KIBITZ_CRASH_SEED") or SystemRandom().getrandbits(32))

TACTICAL, POSITIONAL, SELECTOR = ROLES = ("tactical", "positional", "selector")
#: Two specialists are asked at the same time, so two replies may be on their way.
ON_THEIR_WAY = 2
#: When the process is killed: before a selector is answered, as the last byte of a reply has been
#: sent, or a little later, while the reply or the ply is being stored.
ASKED, ANSWERED, LATER = "asked", "answered", "later"
KILLS = (*[ASKED] * 2, *[ANSWERED] * 3, *[LATER] * 5)
#: There are more requests in a match than any kills can wait for.
MOST_REQUESTS, PLIES = 6, 21
#: Long enough for a reply to be stored, and then a ply; in seconds.
LATEST = 0.03

#: The number of a ply, and for whom a model was asked.
Key: TypeAlias = tuple[int, str]


# --- the models ---


@dataclass
class Models:
    """Answers for all roles, each time with other legal moves, and notes who was asked."""

    random: Random
    #: Who was asked, and who was answered to the last byte: by the life of the process.
    asked: list[list[Key]] = field(default_factory=list)
    answered: list[list[Key]] = field(default_factory=list)
    bodies: dict[Key, list[str]] = field(default_factory=dict)
    #: A request that is not answered until it may be; None: all of them.
    held: Key | None = None
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    #: What is done before a request is answered, and then.
    is_asked: Callable[[Key], None] = lambda _: None
    is_answered: Callable[[Key], None] = lambda _: None
    _stirred: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        assert PLIES * len(ROLES) > len(KILLS) * MOST_REQUESTS

    def begin_life(self) -> None:
        """Note that another process asks from now on."""
        self.asked.append([])
        self.answered.append([])

    async def answer(self, wire: Wire) -> None:
        """Answer a request, as `ModelServer` wants it."""
        key, life = _key(wire.asked), len(self.asked) - 1
        self.asked[life].append(key)
        self.bodies.setdefault(key, []).append(json.dumps(wire.asked.body, sort_keys=True))
        async with self._stirred:
            self._stirred.notify_all()
        if self.held in (key, None):
            await self.may_answer.wait()
        self.is_asked(key)
        await AnswersSchema(self._choose).answer(wire)
        self.answered[life].append(key)
        self.is_answered(key)

    async def were_asked(self, key: Key) -> None:
        """Wait until a request has come."""
        async with self._stirred:
            await self._stirred.wait_for(lambda: key in self.asked[-1])

    def _choose(self, asked: Asked) -> object:
        """Return an answer of which no game ends, and no move is forced, so that all are asked."""
        position = position_of(asked)
        moves = self.random.sample(asked.enum("move"), len(asked.enum("move")))
        quiet = [
            move for move in moves if len(position.play(position.parse(move)).legal_moves()) > 1
        ]
        reasoning = f"thought {self.random.getrandbits(64)}"
        if role_of(asked) == SELECTOR:
            return {"reasoning": reasoning, "move": quiet[0]}
        candidates = [{"reason": f"plan {move}", "move": move} for move in moves[:3]]
        return {"reasoning": reasoning, "candidates": candidates}


def _key(asked: Asked) -> Key:
    position = position_of(asked)
    ply = 2 * position.fullmove_number - (position.turn is Color.WHITE)
    return ply, role_of(asked)


# --- the service ---


@dataclass(frozen=True)
class Paid:
    """What a process left behind: whose replies are stored, and how many plies."""

    keys: frozenset[Key] = frozenset()
    plies: int = 0

    @property
    def for_the_next_ply(self) -> int:
        """How many replies are stored of which nothing came yet."""
        return sum(ply > self.plies for ply, _ in self.keys)


@dataclass
class Stage:
    """Services that play a match of teams, one life after the other."""

    machine: Machine
    template: Template
    models: Models
    clients: Clients

    async def serve(self) -> Service:
        """Start a service."""
        self.models.begin_life()
        service = await self.template.start()
        self.clients.place.is_at(await service.ready())
        return service

    async def start(self, plies: int) -> str:
        """Start a match of so many plies."""
        team = "team:default"
        created = await self.clients.start(white=team, black=team, max_plies=plies)
        return str(created["id"])

    async def ledger(self, match_id: str) -> list[dict[str, Any]]:
        """Return the ledger as the service tells it."""
        path = f"/matches/{match_id}/ledger"
        response = await self.clients.insist("GET", path, params={"limit": 200})
        calls: list[dict[str, Any]] = response.json()["calls"]
        return calls

    async def kill(self, service: Service) -> None:
        """Let a service die on the spot."""
        self.clients.place.is_gone()
        await service.kill()

    async def finish(self, service: Service, match_id: str) -> None:
        """Let a match come to its end, and stop."""
        while (await self._status(match_id)) in ("created", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await service.stop()
        await self.machine.deserted(self.template.pid)

    async def _status(self, match_id: str) -> str:
        response = await self.clients.insist("GET", f"/matches/{match_id}")
        return str(response.json()["status"])

    async def calls(self, match_id: str) -> list[ModelCallRecord]:
        """Return the ledger as it is stored, while nobody serves it."""

        def query(connection: Connection) -> list[ModelCallRecord]:
            return calls_of(connection, match_id)

        async with await Database.open(self.machine.database_url) as database:
            return await database.read(query)

    async def paid(self, match_id: str) -> Paid:
        """Return what is stored while nobody serves it."""

        def query(connection: Connection) -> Paid:
            calls = calls_of(connection, match_id)
            keys = frozenset((call.ply_number or 0, call.role) for call in calls)
            return Paid(keys, len(plies_of(connection, match_id)))

        async with await Database.open(self.machine.database_url) as database:
            return await database.read(query)

    async def check(self, match_id: str, plies: int) -> None:
        """Check that all is stored once, and that the plies are those that were paid for."""
        stored = await read_all(self.machine.database_url)
        check_stored(stored)
        assert list(stored.matches) == [match_id]
        match, calls = stored.matches[match_id], await self.calls(match_id)
        assert (match.record.ply_count, match.record.termination) == (plies, "max_plies")
        _check_ledger(match, calls)
        for body in self.models.bodies.values():
            assert len(set(body)) == 1  # asked again in the same words


def _check_ledger(match: StoredMatch, calls: list[ModelCallRecord]) -> None:
    expected = {(ply.number, role) for ply in match.plies for role in ROLES}
    assert Counter((call.ply_number, call.role) for call in calls) == Counter(expected)
    assert {(call.outcome, call.attempt, call.retry) for call in calls} == {("ok", 1, 0)}
    assert len({call.request_digest for call in calls}) == len(calls)
    replies = {(call.ply_number or 0, call.role): _said(call) for call in calls}
    for ply in match.plies:
        assert ply.uci == replies[ply.number, SELECTOR]["move"]
    advice = [each.fields for each in match.events if each.type is EventType.ADVICE]
    assert Counter((each["ply"], each["by"]) for each in advice) == Counter(expected)
    for each in advice:
        said = replies[each["ply"], each["by"]]
        assert each["words"] == said["reasoning"]
        moves = [each["move"] for each in said.get("candidates", [said])]
        assert [candidate["uci"] for candidate in each["candidates"]] == moves


def _said(call: ModelCallRecord) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(json.loads(call.reply or "")["text"])
    return said


@asynccontextmanager
async def _stage(machine: Machine) -> AsyncIterator[Stage]:
    random = Random(SEED)
    models, clients = Models(random), Clients(random)
    async with (
        asyncio.timeout(2 * HANGS_AFTER),
        ModelServer(models) as server,
        machine,
        _template(machine, server) as preloaded,
        clients.http,
    ):
        yield Stage(machine, preloaded, models, clients)


@asynccontextmanager
async def _template(machine: Machine, server: ModelServer) -> AsyncIterator[Template]:
    """Have a template that has imported what asks models, too: it takes a second each time."""
    settings = machine.complaints.with_name("kibitz.toml")
    provider = f'[providers.{PROVIDER}]\nbase_url = "{server.base_url}"\n'
    settings.write_text(f'model = "{MODEL}"\n{settings.read_text()}\n{provider}')
    fork = (
        "import runpy, agents.models.openai_client;"
        "runpy.run_module('tests.support.services', run_name='__main__')"
    )
    process = await machine.execute("-c", fork, stdin=PIPE)
    assert process.stdin is not None
    try:
        yield Template(machine, process)
    finally:
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _run(test: Coroutine[Any, Any, None]) -> None:
    print(f"KIBITZ_CRASH_SEED={SEED}")
    asyncio.run(test)


# --- killed while the selector thinks ---


def test_specialists_are_not_asked_again_when_the_selector_was_being_asked(
    machine: Machine,
) -> None:
    _run(_kill_while_the_selector_is_asked(machine))


async def _kill_while_the_selector_is_asked(machine: Machine) -> None:
    async with _stage(machine) as stage:
        models = stage.models
        models.held = (3, SELECTOR)
        service = await stage.serve()
        match_id = await stage.start(plies=4)
        await models.were_asked((3, SELECTOR))
        # At once: what a member said is stored before anybody hears it.
        told = [(call["ply"], call["role"]) for call in await stage.ledger(match_id)]
        assert sorted(told) == sorted([*_all_of(1), *_all_of(2), (3, TACTICAL), (3, POSITIONAL)])
        await stage.kill(service)

        models.may_answer.set()
        await stage.finish(await stage.serve(), match_id)
        assert models.asked[1][0] == (3, SELECTOR)
        assert Counter(models.asked[1]) == Counter([(3, SELECTOR), *_all_of(4)])
        await stage.check(match_id, 4)


def _all_of(ply: int) -> list[Key]:
    return [(ply, role) for role in ROLES]


# --- killed between the decision and the ply ---


def test_nobody_is_asked_again_when_the_decision_was_stored_and_the_ply_was_not(
    machine: Machine,
) -> None:
    _run(_kill_before_the_ply(machine))


async def _kill_before_the_ply(machine: Machine) -> None:
    async with _stage(machine) as stage:
        models = stage.models
        models.held = (3, SELECTOR)
        service = await stage.serve()
        match_id = await stage.start(plies=4)
        await models.were_asked((3, SELECTOR))
        with _no_ply_gets_in(machine.database_url):
            models.may_answer.set()
            async with asyncio.timeout(HANGS_AFTER):
                while len(calls := await stage.ledger(match_id)) < 9:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert {(call["ply"], call["role"]) for call in calls[6:]} == set(_all_of(3))
            await stage.kill(service)
        assert models.answered[0][-1] == (3, SELECTOR)
        (killed,) = (await read_all(machine.database_url)).matches.values()
        assert len(killed.plies) == 2

        await stage.finish(await stage.serve(), match_id)
        assert Counter(models.asked[1]) == Counter(_all_of(4))
        await stage.check(match_id, 4)


@contextmanager
def _no_ply_gets_in(url: str) -> Iterator[None]:
    """Hold whoever stores a ply, and nobody else, until it is dead."""
    if url.startswith("postgres"):
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE plies IN SHARE MODE")
            yield
            # Else it would store the ply after the death of the process that had it do so.
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return
    with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        # Whoever inserts a ply has to count to infinity first.
        connection.executescript(
            "CREATE VIEW numbers AS"
            " WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;"
            "CREATE TRIGGER hold BEFORE INSERT ON plies"
            " BEGIN SELECT count(*) FROM numbers; END"
        )
        yield
        connection.executescript("DROP TRIGGER hold; DROP VIEW numbers")


# --- killed at any moment ---


def test_no_reply_that_was_stored_is_bought_again_by_any_of_many_crashes(machine: Machine) -> None:
    _run(_crash(machine))


async def _crash(machine: Machine) -> None:
    async with _stage(machine) as stage:
        models = stage.models
        service, match_id = await stage.serve(), await stage.start(PLIES)
        left: list[Paid] = []
        for moment in models.random.sample(KILLS, len(KILLS)):
            await _strike(stage, service, moment)
            left.append(await stage.paid(match_id))
            models.may_answer.clear()
            service = await stage.serve()
        models.may_answer.set()
        await stage.finish(service, match_id)
        await stage.check(match_id, PLIES)
        left.append(await stage.paid(match_id))
        _check_lives(models, left)


def _check_lives(models: Models, left: list[Paid]) -> None:
    """No process asked anything twice, or anything that it could have found stored."""
    known: frozenset[Key] = frozenset()
    answered: set[Key] = set()
    lost = []
    for paid, asked, whole in zip(left, models.asked, models.answered, strict=True):
        assert len(set(asked)) == len(asked)
        assert not set(asked) & known
        answered |= set(whole)
        assert known <= paid.keys <= answered
        lost.append(len(set(whole) - paid.keys))
        known = paid.keys
    # What was answered and never stored was on its way when the process died.
    assert max(lost) <= ON_THEIR_WAY
    assert lost[-1] == 0
    bought = sum(map(len, models.answered))
    assert len(known) <= bought <= len(known) + sum(lost)
    found = sum(paid.for_the_next_ply for paid in left)
    assert found >= 2 * KILLS.count(ASKED)  # at least what the specialists had said
    print(f"{len(KILLS)} kills: {len(known)} calls, {sum(lost)} lost, {found} found again")


async def _strike(stage: Stage, service: Service, moment: str) -> None:
    """Kill a service some requests from now."""
    models, random = stage.models, stage.models.random
    # Of three requests that follow each other at least one is a selector's.
    left = random.randint(1, MOST_REQUESTS - 2)
    is_time = asyncio.Event()

    def count(key: Key) -> None:
        nonlocal left
        left -= 1
        if left <= 0 and (moment != ASKED or key[1] == SELECTOR):
            if moment != LATER:
                service.send(signal.SIGKILL)
            is_time.set()

    if moment == ASKED:
        models.is_asked = count
    else:
        models.is_answered = count
    models.may_answer.set()
    await is_time.wait()
    models.is_asked = models.is_answered = lambda _: None
    if moment == LATER:
        await asyncio.sleep(random.uniform(0.0, LATEST))
    await stage.kill(service)
