"""The worker processes: they answer, they are replaced, and nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.classical.allowance import Allowance
from agents.classical.errors import (
    InvalidThinking,
    WorkerDied,
    WorkersClosed,
    WorkerTimedOut,
    WorkerWontStart,
)
from agents.classical.player import ClassicalPlayer
from agents.classical.workers import ClassicalWorkers
from agents.errors import AgentError
from agents.player import NobodyListens, Turn
from engine import Game
from tests.support.processes import HANGS_AFTER, LINUX, children, run, until

pytestmark = pytest.mark.usefixtures("measured_processes")

TURN = Turn.of(Game())
#: More than anybody waits for.
ENDLESS = Allowance(None, 10**9)
BRIEF = Allowance(None, 300)


def processor_time(pid: int) -> int:
    """Return how long a process has run, in ticks."""
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


async def is_searching(pid: int) -> None:
    """Wait until a process is at work."""
    began = processor_time(pid)
    await until(lambda: processor_time(pid) > began + 3)


def test_by_nodes_every_worker_decides_the_same():
    async def main():
        async with ClassicalWorkers() as used, ClassicalWorkers() as fresh:
            first = await used.think(TURN, 5, BRIEF)
            other = Turn.of(
                Game("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -")
            )
            await used.think(other, 1, BRIEF)
            again = await used.think(TURN, 5, BRIEF)
            elsewhere = await fresh.think(TURN, 5, BRIEF)
            told = {(each.move, each.score, each.advice) for each in (first, again, elsewhere)}
            assert len(told) == 1
            assert len(used.pids) == len(fresh.pids) == 1

    run(main())


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_a_worker_that_is_killed_is_replaced():
    async def main():
        async with ClassicalWorkers() as workers:
            await workers.warm()
            (pid,) = workers.pids
            task = asyncio.create_task(workers.think(TURN, 1, ENDLESS))
            await is_searching(pid)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(WorkerDied) as caught:
                await task
            assert caught.value.exit_code == -signal.SIGKILL
            assert isinstance(caught.value, AgentError)
            assert pid not in children()  # nor is it a zombie
            assert (await workers.think(TURN, 1, BRIEF)).move
            # One that dies while nobody looks is nobody's fault.
            (other,) = workers.pids
            os.kill(other, signal.SIGKILL)
            await until(lambda: workers.pids == ())
            assert (await workers.think(TURN, 1, BRIEF)).move
            assert len(workers.pids) == 1

    run(main())


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_a_worker_that_hangs_is_replaced():
    async def main():
        async with ClassicalWorkers() as workers:
            await workers.warm()
            workers._patience = timedelta(milliseconds=50)
            (pid,) = workers.pids
            os.kill(pid, signal.SIGSTOP)
            with pytest.raises(WorkerTimedOut, match="took over"):
                await workers.think(TURN, 1, Allowance(timedelta(milliseconds=1)))
            assert pid not in children()
            workers._patience = timedelta(seconds=HANGS_AFTER)
            assert (await workers.think(TURN, 1, BRIEF)).move

    run(main())


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_a_worker_that_hangs_is_given_up_before_the_flag_falls():
    async def main():
        async with ClassicalWorkers() as workers:
            await workers.warm()
            os.kill(workers.pids[0], signal.SIGSTOP)
            little = timedelta(seconds=1.5)
            allowance = Allowance(timedelta(milliseconds=1), share=little, left=little)
            with pytest.raises(WorkerTimedOut) as caught:
                await workers.think(TURN, 1, allowance)
            assert caught.value.waited < little

    run(main())


def test_waiting_for_a_process_is_excused():
    class Waits(NobodyListens):
        def __init__(self):
            self.excused = asyncio.Event()

        def excuse(self, since, until):
            assert since < until
            self.excused.set()

    async def main():
        async with ClassicalWorkers() as workers:
            await workers.warm()
            first = asyncio.create_task(workers.think(TURN, 1, ENDLESS))
            listener = Waits()
            turn = replace(TURN, listener=listener)
            second = asyncio.create_task(workers.think(turn, 1, BRIEF))
            await listener.excused.wait()
            first.cancel()
            assert (await second).move

    run(main())


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_who_is_cancelled_frees_the_worker():
    async def main():
        async with ClassicalWorkers() as workers:
            await workers.warm()
            pids = workers.pids
            task = asyncio.create_task(workers.think(TURN, 1, ENDLESS))
            waiting = asyncio.create_task(workers.think(TURN, 1, BRIEF))
            await is_searching(pids[0])
            task.cancel()
            answer = await waiting  # it would take hours if the search went on
            assert answer.nodes < 10_000
            assert workers.pids == pids
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())


def test_closing_ends_all_and_for_good():
    async def main():
        before = children()
        workers = ClassicalWorkers(2)
        await workers.warm(5)
        assert len(workers.pids) == 2
        tasks = [asyncio.create_task(workers.think(TURN, 1, ENDLESS)) for _ in range(3)]
        await asyncio.sleep(0)
        await workers.aclose()
        await workers.aclose()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(result, WorkersClosed)
        assert children() == before
        with pytest.raises(WorkersClosed):
            await workers.think(TURN, 1, BRIEF)
        with pytest.raises(WorkersClosed):
            await workers.warm()

    run(main())


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_start_that_is_cancelled_leaves_nothing_behind(is_killed):
    async def main():
        workers = ClassicalWorkers()
        task = asyncio.create_task(workers.warm())
        await asyncio.sleep(0)  # it is being launched
        (worker,) = workers._all
        if is_killed:
            worker.kill()  # as closing does
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert workers.pids == ()
        await workers.aclose()

    # Not even a complaint. When debugged, asyncio has one of its own: that it kills what started.
    run(main(), debug=False)


PARENT = """
import asyncio, sys
from agents.classical.allowance import Allowance
from agents.classical.workers import ClassicalWorkers
from agents.player import Turn
from engine import Game

async def main():
    workers = ClassicalWorkers()
    await workers.warm()
    task = asyncio.create_task(workers.think(Turn.of(Game()), 1, Allowance(None, 10**9)))
    await asyncio.sleep(0)
    print(*workers.pids, flush=True)
    await task

asyncio.run(main())
"""


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_a_worker_ends_with_its_parent_even_in_the_middle_of_a_search():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    with parent:
        worker = int(parent.stdout.readline())
        assert Path(f"/proc/{worker}").exists()
        parent.kill()
    asyncio.run(asyncio.wait_for(until(lambda: not is_running(worker)), HANGS_AFTER))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # whose it is then is up to the system


def test_what_cannot_start_says_so(monkeypatch):
    async def main():
        async with ClassicalWorkers() as workers:
            with pytest.raises(WorkerWontStart, match="cannot be started"):
                await workers.think(TURN, 1, BRIEF)
            assert workers.pids == ()

    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    run(main())
    with pytest.raises(WorkerWontStart, match="at least one"):
        ClassicalWorkers(0)


REFUSED = [
    {"think": timedelta(0)},
    {"think": timedelta(hours=2)},
    {"think": 300},
    {"nodes": 0},
    {"nodes": 10**10},
    {"nodes": True},
]


@pytest.mark.parametrize("limits", REFUSED)
def test_limits_out_of_bounds_are_refused(limits):
    with pytest.raises(InvalidThinking, match="must be"):
        ClassicalPlayer(ClassicalWorkers(), **limits)


ERRORS = [WorkerDied(-9, "oh"), WorkerDied(), WorkerDied(1), WorkerTimedOut(timedelta(seconds=2))]


@pytest.mark.parametrize(
    "error", [*ERRORS, WorkersClosed(), InvalidThinking("no"), WorkerWontStart("x")]
)
def test_errors_can_be_sent(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "\n" not in str(error)
