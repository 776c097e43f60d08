"""`kill -9` at any instant, dozens of times: no ply is lost, none is there twice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random, SystemRandom

import pytest

from tests.e2e.clients import Clients, Played
from tests.e2e.verifying import (
    Stored,
    check_downtime,
    check_global,
    check_state,
    check_stored,
    check_watcher,
    read_all,
)
from tests.support.processes import LINUX
from tests.support.services import Machine, Template, template

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")

#: Repeats the kills of a run, as far as clocks let it.
SEED = int(os.environ.get("KIBITZ_CRASH_SEED") or SystemRandom().getrandbits(32))

#: How the process is killed: while it starts (as everybody starts it), at some instant after it is
#: ready, or at the very moment at which somebody is told of an event.
STARTING, READY, TELLING = "starting", "ready", "telling"
KILLS = (*[STARTING] * 6, *[READY] * 12, *[TELLING] * 13)
#: How many kills there are while tables are made.
KILLS_OF_SETUP = 3

#: Each is played over and over, so that all of them run at every instant.
MATCHES = (
    {"white": "random", "black": "stockfish:2", "analysis": {"nodes": 500}, "max_plies": 60},
    {"white": "stockfish:1", "black": "stockfish:3", "time_control": "60+0.1", "max_plies": 60},
    {"white": "random", "black": "random", "analysis": {"nodes": 500}, "max_plies": 60},
    {"white": "random", "black": "random", "max_plies": 150},
    {"white": "solver", "black": "random", "variant": "kings-cooking"},
    {"white": "uci:slow", "black": "uci:slow", "time_control": "20+0.1", "max_plies": 30},
)


def test_no_ply_is_lost_or_doubled_by_dozens_of_crashes(
    make_machine: Callable[[str], Machine], empty_database_url: str
) -> None:
    print(f"KIBITZ_CRASH_SEED={SEED}")
    asyncio.run(_crash(make_machine(empty_database_url)))


async def _crash(machine: Machine) -> None:
    random = Random(SEED)
    async with machine, template(machine) as preloaded:
        await _make_tables(machine, preloaded, random)
        clients = Clients(random)
        async with clients.http, asyncio.timeout(300), asyncio.TaskGroup() as group:
            watching = group.create_task(clients.watch_all())
            async with asyncio.TaskGroup() as playing:
                for match in MATCHES:
                    playing.create_task(clients.play_on(**match))
                playing.create_task(clients.play_as_human())
                playing.create_task(clients.look_around())
                playing.create_task(clients.start_many())
                deaths = [
                    await _start_and_kill(kill, machine, preloaded, clients)
                    for kill in (TELLING, *random.sample(KILLS, len(KILLS)))
                ]
                clients.finishing.set()
                service = await preloaded.start()
                clients.place.is_at(await service.ready())
            await clients.start_again()
            await clients.bell.until(clients.have_seen_all_ends)
            watching.cancel()
        await service.stop()
        await machine.deserted(preloaded.pid)
    stored = await read_all(machine.database_url)
    _check(stored, clients, deaths)


async def _make_tables(machine: Machine, preloaded: Template, random: Random) -> None:
    """Make the tables, which takes a few attempts."""
    is_postgres = machine.database_url.startswith("postgres")
    upgrade = ("db", "upgrade", "--database", machine.database_url)
    for _ in range(KILLS_OF_SETUP):
        process = await preloaded.start(*(upgrade if is_postgres else ()))
        await asyncio.sleep(random.uniform(0.0, 0.4))
        await process.kill_anyway()
    if is_postgres:
        assert await (await preloaded.start(*upgrade)).wait() == 0


async def _start_and_kill(
    kill: str, machine: Machine, preloaded: Template, clients: Clients
) -> datetime:
    """Start the service, kill it, and return when it was dead."""
    random, bell = clients.random, clients.bell
    if kill == STARTING:
        service = await machine.start()
        try:
            async with asyncio.timeout(random.uniform(0.0, 1.6)):
                clients.place.is_at(await service.ready())
                await asyncio.Event().wait()
        except TimeoutError:
            pass
    else:
        service = await preloaded.start()
        clients.place.is_at(await service.ready())
        if kill == READY:
            await asyncio.sleep(random.uniform(0.0, 0.6))
        else:
            told = bell.count + random.randint(1, 200)
            await bell.until(lambda: bell.count >= told)
    clients.place.is_gone()
    await service.kill()
    return datetime.now(UTC)


def _check(stored: Stored, clients: Clients, deaths: list[datetime]) -> None:
    check_stored(stored)
    # Each key started one match, and nothing else did.
    assert sorted(clients.started.values()) == sorted(stored.matches)
    assert len(clients.watchers) >= len(MATCHES) + 1
    for match in stored.matches.values():
        for watcher in clients.watchers.get(match.record.id, ()):
            check_watcher(watcher, match)
        check_downtime(match, deaths)
        assert match.record.termination != "time_forfeit"
    for watcher in clients.global_watchers:
        check_global(watcher, stored)
    for state in clients.random.sample(clients.states, min(len(clients.states), 40)):
        check_state(state, stored.matches[state["id"]])
    played = {
        Played(event.match_id, event.fields["ply"], event.fields["uci"])
        for match in stored.matches.values()
        for event in match.events
        if event.type == "ply.played"
    }
    assert set(clients.plies) <= played
    _check_kills(stored, clients, deaths)


def _check_kills(stored: Stored, clients: Clients, deaths: list[datetime]) -> None:
    """The kills hit what they were meant to hit."""
    engines = [each.record for each in stored.matches.values() if each.record.white != "human"]
    hits = [sum(each.created_at < at < each.updated_at for each in engines) for at in deaths]
    assert sum(hit > 0 for hit in hits) >= 30, hits
    assert sum(hit >= 3 for hit in hits) >= 25, hits
    assert clients.retries > 0
    watchers = [each for own in clients.watchers.values() for each in own]
    assert sum(each.broken for each in watchers) > 30
    print(
        f"{len(deaths)} kills of {sum(hits)} matches under way; {len(stored.matches)} matches, "
        f"{len(stored.log)} events, {clients.retries} requests and "
        f"{sum(each.broken for each in watchers)} streams broken, {len(clients.states)} states"
    )
