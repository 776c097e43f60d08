"""Rate limits that processes share, on real databases. A window is a minute, so none ends here."""
# ruff: noqa: F811 - fixtures are imported

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from agents.models.rate_limit import NO_WAIT, PacedRateLimit, RateLimit, Unlimited
from app import rate_limits
from app.persistence.errors import InvalidDatabaseUrl
from app.rate_limits import FILE, open_rate_limits
from tests.support.databases import (  # noqa: F401
    database_url,
    dialect,
    postgres,
    postgres_url,
    sqlite_template,
)
from tests.support.postgres import ROOT
from tests.support.postgres_proxy import wire_to

MINUTE = timedelta(minutes=1)
HOUR_MS = 3_600_000


@pytest.fixture
def p() -> str:
    """A provider of which nobody knows yet: databases are lent again with its table in them."""
    return f"p{uuid4().hex[:12]}"


async def passing(limit: RateLimit, provider: str, tries: int) -> int:
    """Count those who pass at once; each other one is told to wait for at most a minute."""
    assert isinstance(limit, PacedRateLimit)
    waits = [await limit.take(provider) for _ in range(tries)]
    assert all(wait == NO_WAIT or NO_WAIT < wait <= 2 * MINUTE for wait in waits)
    return waits.count(NO_WAIT)


@pytest.mark.asyncio
async def test_so_many_pass_in_all_of_those_who_share(database_url, p):
    q = f"{p.upper()}/ß'\";--" + "x" * 99
    limits = {p: 5, q: 3}
    async with open_rate_limits(database_url, limits) as one:
        async with open_rate_limits(database_url, limits) as other:
            assert await passing(one, p, 3) == 3
            assert await passing(other, p, 4) == 2
            assert await passing(one, p, 1) == 0
            assert await passing(other, q, 2) == 2
            assert await passing(one, q, 2) == 1
            assert await passing(one, "another", 99) == 99
        async with open_rate_limits(database_url, limits) as again:
            assert await passing(again, p, 1) == 0  # who comes later knows what was before


CHILD = """
import asyncio, sys
from app.rate_limits import open_rate_limits
from agents.models.rate_limit import NO_WAIT

async def main(url, tries, p):
    async with open_rate_limits(url, {p: tries}) as limit:
        await limit.take("nobody")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(sum([await limit.take(p) == NO_WAIT for _ in range(tries)]))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
"""


def test_so_many_pass_in_all_processes_together(database_url, p):
    tries = 30
    command = [sys.executable, "-c", CHILD, database_url, str(tries), p]
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) for _ in range(2)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    passed = [int(child.communicate(timeout=60)[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sum(passed) == tries


@pytest.mark.asyncio
async def test_who_waits_gets_a_place_when_one_is_free(database_url, p):
    window = timedelta(milliseconds=150)
    async with open_rate_limits(database_url, {p: 1}, window=window) as limit:
        assert isinstance(limit, PacedRateLimit)
        sleeps: list[float] = []

        async def sleep(seconds: float) -> None:
            sleeps.append(seconds)
            await asyncio.sleep(seconds)

        limit._sleep = sleep
        await asyncio.gather(*(limit.acquire(p) for _ in range(3)))
        # Each slept for as long as it was told, and did not poll.
        assert all(0 < each <= 0.152 for each in sleeps)
        assert len(sleeps) <= 6


@pytest.mark.asyncio
async def test_what_is_past_is_forgotten(database_url, p):
    window = timedelta(milliseconds=1)
    async with open_rate_limits(database_url, {p: 1}, window=window) as limit:
        for _ in range(5):
            await limit.acquire(p)
    assert count_rows(database_url, p) <= 3


def connect(url: str) -> Any:
    if url.startswith("sqlite"):
        return sqlite3.connect(Path(url.removeprefix("sqlite:///")).with_name(FILE))
    return psycopg.connect(url, autocommit=True)


def table_of(connection: Any, p: str) -> str:
    if isinstance(connection, sqlite3.Connection):
        query = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%{p}%'"
    else:
        query = f"SELECT tablename FROM pg_tables WHERE tablename LIKE '%{p}%'"
    ((name,),) = connection.execute(query).fetchall()
    return name


def count_rows(url: str, p: str) -> int:
    connection = connect(url)
    table = table_of(connection, p)
    count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return count


@pytest.mark.asyncio
async def test_a_clock_that_was_set_back_does_not_stop_all_play(database_url, dialect, p):
    async with open_rate_limits(database_url, {p: 1}) as limit:
        await passing(limit, p, 1)
        connection = connect(database_url)
        table = table_of(connection, p)
        later = f"{HOUR_MS}" if dialect == "sqlite" else "interval '1 hour'"
        connection.execute(f"UPDATE {table} SET item_timestamp = item_timestamp + {later}")
        if dialect == "sqlite":
            connection.commit()
        connection.close()
        assert await passing(limit, p, 3) == 1  # it begins anew


@pytest.mark.asyncio
async def test_the_event_loop_is_never_held_up(database_url, monkeypatch, p):
    """The database is asked in another thread."""
    threads = set()
    take = rate_limits._taken

    def taken(*arguments: Any) -> timedelta:
        threads.add(threading.get_ident())
        return take(*arguments)

    monkeypatch.setattr(rate_limits, "_taken", taken)
    async with open_rate_limits(database_url, {p: 2}) as limit:
        await limit.acquire(p)
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.asyncio
async def test_a_table_that_is_locked_is_waited_for(postgres_url, p):
    async with open_rate_limits(postgres_url, {p: 2}) as limit:
        assert await passing(limit, p, 1) == 1
        with psycopg.connect(postgres_url) as other:
            table = table_of(other, p)
            other.execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")  # as VACUUM does
            assert await limit.take(p) == timedelta(milliseconds=100)
        assert await passing(limit, p, 2) == 1


@pytest.mark.asyncio
async def test_who_takes_a_place_waits_for_others_who_do(postgres_url, p):
    """If the table were merely found locked, everybody would come back after a guess."""
    async with open_rate_limits(postgres_url, {p: 2}) as limit:
        with psycopg.connect(postgres_url) as other:
            other.execute(f"SELECT pg_advisory_xact_lock({rate_limits._LOCK})")
            taking = asyncio.create_task(limit.take(p))
            done, _ = await asyncio.wait({taking}, timeout=0.1)
            assert not done
        assert await taking == NO_WAIT


@pytest.mark.asyncio
async def test_while_the_database_is_away_each_keeps_to_the_limit_alone(postgres_url, p):
    time = 1000.0
    async with wire_to(postgres_url) as wire:
        url = wire.url
        port = int(url.rpartition(":")[2].partition("/")[0])
        with capture_logs() as logs:
            async with open_rate_limits(url, {p: 3}, clock=lambda: time) as limit:
                assert await passing(limit, p, 1) == 1
                await wire.close()
                assert await passing(limit, p, 9) == 3  # of its own
                assert [each["event"] for each in logs] == ["rate limits are not shared for now"]
                await wire.open(port)
                assert await passing(limit, p, 1) == 0  # nobody asks again so soon
                time += 10
                assert await passing(limit, p, 9) == 2  # what was left of those that are shared
        assert [each["log_level"] for each in logs] == ["warning", "info"]
        assert "password" not in str(logs)


@pytest.mark.asyncio
async def test_the_file_is_for_us_alone(tmp_path, p):
    async with open_rate_limits(f"sqlite:///{tmp_path}/kibitz.db", {p: 2}) as limit:
        assert await passing(limit, p, 1) == 1
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.asyncio
async def test_an_sqlite_that_cannot_be_used_is_no_error(tmp_path, p):
    (tmp_path / FILE).write_bytes(b"this is no database " * 100)
    with capture_logs() as logs:
        async with open_rate_limits(f"sqlite:///{tmp_path}/kibitz.db", {p: 2}) as limit:
            assert await passing(limit, p, 5) == 2
    assert len(logs) == 1


@pytest.mark.asyncio
async def test_a_database_that_says_nothing_is_away(postgres_url, monkeypatch, p):
    monkeypatch.setattr(rate_limits, "_PATIENCE", timedelta(milliseconds=200))
    async with wire_to(postgres_url) as wire, open_rate_limits(wire.url, {p: 2}) as limit:
        assert await passing(limit, p, 1) == 1
        wire.freeze()
        assert await passing(limit, p, 3) == 2  # of its own


@pytest.mark.asyncio
async def test_who_is_cancelled_leaves_the_queue(database_url, p):
    async with open_rate_limits(database_url, {p: 1}) as limit:
        await limit.acquire(p)
        first, second = (asyncio.create_task(limit.acquire(p)) for _ in range(2))
        await asyncio.sleep(0)
        for task in (first, second):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


@pytest.mark.asyncio
async def test_without_limits_no_database_is_needed(tmp_path):
    async with open_rate_limits(f"sqlite:///{tmp_path}/kibitz.db", {}) as limit:
        assert isinstance(limit, Unlimited)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.asyncio
async def test_what_is_no_address_or_no_limit_is_refused(tmp_path, p):
    with pytest.raises(InvalidDatabaseUrl):
        async with open_rate_limits("mysql://x", {}):
            pass
    with pytest.raises(ValueError, match="at least 1"):
        async with open_rate_limits(f"sqlite:///{tmp_path}/kibitz.db", {p: 0}):
            pass
