"""Processes that stop, die, freeze or lose their database: matches go on, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import Connection, select

from app.matches.events import Event, EventType
from app.persistence import schema
from app.persistence.database import Database
from app.persistence.events import events_of
from app.persistence.matches import claim
from app.persistence.tables import Worker
from app.persistence.workers import Workers
from tests.e2e.clients import Clients, Json
from tests.e2e.verifying import Stored, check_global, check_stored, check_watcher, read_all
from tests.e2e.watching import Watcher
from tests.support.postgres import shared_postgres
from tests.support.processes import HANGS_AFTER, LINUX, until
from tests.support.services import Machine, Service, Template, template

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")

on_sqlite = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)

SLOW = {"white": "uci:slow", "black": "uci:slow", "max_plies": 24, "seed": 7}


def _run(test: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(2 * HANGS_AFTER):
            await test

    asyncio.run(bounded())


@asynccontextmanager
async def _clients() -> AsyncIterator[Clients]:
    clients = Clients(Random(5))
    async with clients.http:
        yield clients


async def _serve(starts: Machine | Template, clients: Clients) -> Service:
    service = await starts.start()
    clients.place.is_at(await service.ready())
    return service


async def _watch(
    group: asyncio.TaskGroup, clients: Clients, match_id: str, events: int = 8
) -> asyncio.Task[None]:
    """Watch a match, and wait until everyone has seen something of it, and some a lot."""
    watching = group.create_task(clients.watch(match_id))
    await asyncio.sleep(0)
    watchers = clients.watchers[match_id]
    await clients.bell.until(
        lambda: (
            all(each.last for each in watchers) and any(len(e.events) >= events for e in watchers)
        )
    )
    return watching


async def _check(url: str, *clients: Clients) -> Stored:
    stored = await read_all(url)
    check_stored(stored)
    for each in clients:
        assert each.watchers
        for match_id, watchers in each.watchers.items():
            for watcher in watchers:
                check_watcher(watcher, stored.matches[match_id])
    return stored


# --- stopping ---


def test_stopping_ends_streams_in_good_order_and_the_next_start_goes_on(machine: Machine) -> None:
    async def test() -> None:
        async with (
            machine,
            template(machine) as preloaded,
            _clients() as clients,
            asyncio.TaskGroup() as group,
        ):
            service = await _serve(preloaded, clients)
            match_id = (await clients.start(**SLOW))["id"]
            watching_all = group.create_task(clients.watch_all())
            watching = await _watch(group, clients, match_id)
            watchers = clients.watchers[match_id] + clients.global_watchers
            clients.place.is_gone()
            await service.stop()
            await clients.bell.until(lambda: all(each.ended == 1 for each in watchers))
            assert [each.broken for each in watchers] == [0] * len(watchers)
            await machine.deserted(preloaded.pid)

            service = await _serve(preloaded, clients)
            await watching
            watching_all.cancel()
            await service.stop()
        await _check(machine.database_url, clients)
        assert machine.complaints.read_text() == ""

    _run(test())


# --- several processes ---


@on_sqlite
def test_second_process_on_one_file_is_refused_in_one_sentence(machine: Machine) -> None:
    async def test() -> None:
        async with machine:
            service = await machine.start()
            await service.ready()
            second = await machine.start()
            assert await second.wait() == 2
            sentence = machine.complaints.read_text()
            assert re.fullmatch(r"kibitz: [^\n]*kibitz\.db[^\n]*\n", sentence), sentence
            await service.stop()

    _run(test())


@on_postgres
def test_matches_of_a_process_that_dies_are_taken_over_by_another(
    make_machine: Callable[[str], Machine], database_url: str
) -> None:
    async def test() -> None:
        async with (
            make_machine(database_url) as here,
            make_machine(database_url) as there,
            _clients() as dying,
            _clients() as living,
            asyncio.TaskGroup() as group,
        ):
            doomed, service = await _serve(here, dying), await _serve(there, living)
            watching_all = group.create_task(living.watch_all())
            # Both write as fast as they can, so that they get in each other's way.
            fast = {"white": "random", "black": "random", "max_plies": 100}
            for clients in (dying, living) * 3:
                match_id = (await clients.start(**fast))["id"]
                group.create_task(living.watch(match_id))
            await _watch(group, living, (await dying.start(**SLOW))["id"])
            await doomed.kill()
            for watchers in living.watchers.values():
                await living.bell.until(partial(_are_over, watchers))
            await living.bell.until(living.have_seen_all_ends)
            watchers = [each for own in living.watchers.values() for each in own]
            assert [each.broken for each in watchers] == [0] * len(watchers)
            watching_all.cancel()
            await service.stop()
        stored = await _check(database_url, living)
        for watcher in living.global_watchers:
            check_global(watcher, stored)
        assert there.complaints.read_text() == ""

    _run(test())


@on_postgres
def test_process_that_was_frozen_knows_what_others_did_and_overwrites_nothing(
    make_machine: Callable[[str], Machine], database_url: str
) -> None:
    async def test() -> None:
        async with (
            make_machine(database_url) as here,
            make_machine(database_url) as there,
            _clients() as one,
            _clients() as other,
            asyncio.TaskGroup() as group,
        ):
            frozen, service = await _serve(here, one), await _serve(there, other)
            created = await one.start(white="human", black="random", seed=3)
            for clients in (one, other):
                group.create_task(clients.watch(created["id"]))
            await asyncio.sleep(0)
            await _move(one, created)
            for _ in range(3):
                frozen.send(signal.SIGSTOP)
                await _move(other, created)
                await _move(other, created)
                frozen.send(signal.SIGCONT)
                await _move(one, created)
            await other.insist("POST", f"/matches/{created['id']}/resign", headers=_seat(created))
            for clients in (one, other):
                watchers = clients.watchers[created["id"]]
                await clients.bell.until(partial(_are_over, watchers))
            await frozen.stop()
            await service.stop()
        await _check(database_url, one, other)
        complaints = here.complaints.read_text() + there.complaints.read_text()
        assert '"level": "error"' not in complaints

    _run(test())


def _are_over(watchers: list[Watcher]) -> bool:
    return all(watcher.is_over for watcher in watchers)


def _seat(created: Json) -> dict[str, str]:
    return {"X-Seat-Token": created["seats"]["white"]["token"]}


async def _move(clients: Clients, created: Json) -> None:
    """Have the human move, and wait until it is its turn again."""
    path = f"/matches/{created['id']}"
    state = (await clients.insist("GET", path)).json()
    assert state["turn"] == "white"
    body = {"move": state["legal_moves"][0]["uci"]}
    answer = await clients.insist("POST", f"{path}/moves", json=body, headers=_seat(created))
    assert answer.status_code == 200, answer.text
    wanted = {"type": "turn.started", "ply": state["ply_count"] + 3}
    own = clients.watchers[created["id"]][0]
    await clients.bell.until(
        lambda: any(wanted.items() <= json.loads(each.data).items() for each in own.events)
    )


# --- clocks ---


def test_turn_is_charged_until_the_last_sign_of_life_and_no_longer(machine: Machine) -> None:
    async def test() -> None:
        async with machine, template(machine) as preloaded, _clients() as clients:
            service = await _serve(preloaded, clients)
            settings = {"white": "human", "black": "random", "time_control": "60"}
            match_id = (await clients.start(**settings))["id"]
            (turn,) = await _turns(machine, match_id, 1)
            await _seen(machine, turn.at + timedelta(milliseconds=1))
            await service.kill()
            seen = await _seen(machine, turn.at)
            # Another process takes the match over and dies before it does anything.
            await _take_and_die(machine, match_id)

            service = await _serve(preloaded, clients)
            again = (await _turns(machine, match_id, 2))[1]
            assert again.fields["ply"] == turn.fields["ply"]
            assert again.fields["spent_ms"] == (seen - turn.at) // timedelta(milliseconds=1)
            assert again.fields["clocks"] == turn.fields["clocks"]
            await service.stop()

            # When it is stopped in good order, every millisecond counts.
            service = await _serve(preloaded, clients)
            third = (await _turns(machine, match_id, 3))[2]
            assert third.fields["spent_ms"] > again.fields["spent_ms"]
            most = again.fields["spent_ms"] + (third.at - again.at) // timedelta(milliseconds=1)
            assert third.fields["spent_ms"] < most
            await service.stop()

    _run(test())


async def _turns(machine: Machine, match_id: str, count: int) -> list[Event]:
    """Wait for the beginnings of turns."""
    async with await Database.open(machine.database_url, exclusive=False) as database:
        while True:
            log = await database.read(lambda c: events_of(c, match_id, 0, 1000))
            turns = [Event.decode(each.data) for each in log if each.type == EventType.TURN]
            if len(turns) >= count:
                return turns
            await asyncio.sleep(0.01)


async def _seen(machine: Machine, after: datetime) -> datetime:
    """Wait until a worker has said that it is there after some time, and return when it did."""
    async with await Database.open(machine.database_url, exclusive=False) as database:
        while True:
            seen = await database.read(lambda c: c.scalars(select(Worker.seen_at)).all())
            if max(seen) > after:
                return max(seen)
            await asyncio.sleep(0.01)


async def _take_and_die(machine: Machine, match_id: str) -> None:
    workers = Workers()

    def take(connection: Connection) -> None:
        workers.register(connection)
        assert claim(connection, match_id, workers.id, by_force=True)

    async with await Database.open(machine.database_url) as database:
        await database.write(take)


# --- databases ---


def test_matches_go_on_when_postgres_has_crashed_and_come_back(
    make_machine: Callable[[str], Machine],
) -> None:
    async def test(url: str, data: Path) -> None:
        machine = make_machine(url)
        async with machine, _clients() as clients, asyncio.TaskGroup() as group:
            service = await _serve(machine, clients)
            match_id = (await clients.start(**SLOW))["id"]
            watching = await _watch(group, clients, match_id)
            await asyncio.to_thread(_crash_and_restart, data)
            await watching
            await service.stop()
        await _check(machine.database_url, clients)

    with shared_postgres(uuid4().hex) as url:  # a server of our own
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_commit = on")
            connection.execute("SELECT pg_reload_conf()")
            row = connection.execute("SHOW data_directory").fetchone()
            assert row is not None
        schema.upgrade(url)
        _run(test(url, Path(row[0])))


def _crash_and_restart(data: Path) -> None:
    """Have a Postgres die without any farewell, and start it again."""
    pid = (data / "postmaster.pid").read_text().split()[0]
    control = Path(f"/proc/{pid}/exe").readlink().with_name("pg_ctl")
    how = ("-m", "immediate", "-w", "-l", str(data / "log"))
    command = [str(control), "restart", "-D", str(data), *how]
    owner = data.stat().st_uid
    user = None if owner == os.getuid() else owner
    subprocess.run(command, check=True, user=user, cwd="/", stdout=subprocess.DEVNULL, timeout=60)


@on_sqlite
@pytest.mark.parametrize("is_killed", [False, True])
def test_nothing_is_told_on_a_full_disk_and_matches_go_on_when_it_has_room(
    machine: Machine, is_killed: bool
) -> None:
    async def test() -> None:
        async with (
            machine,
            template(machine) as preloaded,
            _clients() as clients,
            asyncio.TaskGroup() as group,
        ):
            service = await _serve(preloaded, clients)
            created = await clients.start(white="human", black="random")
            path = f"/matches/{created['id']}"
            slow = (await clients.start(**SLOW))["id"]
            watching = await _watch(group, clients, slow)
            await _watch(group, clients, created["id"], 3)

            service.let_files_grow(_size_of_log(machine))
            body = {"move": created["legal_moves"][0]["uci"]}
            moving = group.create_task(
                clients.ask("POST", f"{path}/moves", json=body, headers=_seat(created))
            )
            await until(lambda: _could_not_store(machine) == {slow, created["id"]})
            match = {"white": "random", "black": "random"}
            assert await clients.ask("POST", "/matches", json=match) is None  # it is a 503
            assert (await clients.insist("GET", path)).json()["ply_count"] == 0
            assert not moving.done()

            if is_killed:
                clients.place.is_gone()
                await service.kill()
                assert await moving is None
                service = await _serve(preloaded, clients)
            else:
                service.let_files_grow(None)
                answer = await moving
                assert answer is not None
                assert answer.status_code == 200
            await clients.insist("POST", f"{path}/resign", headers=_seat(created))
            await watching
            await service.stop()
        stored = await _check(machine.database_url, clients)
        plies = stored.matches[created["id"]].plies
        assert [ply.uci for ply in plies[:1]] == ([] if is_killed else [body["move"]])

    _run(test())


def _could_not_store(machine: Machine) -> set[str]:
    """Return the matches of which something could not be stored, as the service says."""
    complaints = map(json.loads, machine.complaints.read_text().splitlines())
    return {each["match_id"] for each in complaints if each["event"] == "nothing can be stored"}


def _size_of_log(machine: Machine) -> int:
    return Path(f"{machine.database_url.removeprefix('sqlite:///')}-wal").stat().st_size
