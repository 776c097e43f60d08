"""Processes of a UCI engine that are shared: who gets one, and what becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from agents.errors import CannotPlayVariant
from agents.player import Turn
from agents.uci.errors import InvalidOption, PoolClosed, UciDied, UciFault, UciTimedOut
from agents.uci.limits import Limit
from agents.uci.pool import UciPool
from agents.uci.process import SearchResult, UciProcess
from agents.uci.program import find_stockfish
from engine import Clock, Position, TimeControl
from tests.support.processes import program, run, steps_of_the_loop, survivors, told, until
from tests.support.uci_engine import MOODS

START = Turn(Position.start())
DEPTH = Limit(depth=3)
#: Longer than any search here takes.
LONG = Limit(time=timedelta(minutes=30))


async def play(pool: UciPool, **lease: Any) -> tuple[str, int]:
    """Take a turn, and return the move and who made it."""
    async with pool.lease(**lease) as process:
        return (await process.search(START, DEPTH)).move.uci(), process.pid


async def think(pool: UciPool, thinking: asyncio.Event) -> None:
    """Think for ever."""
    async with pool.lease() as process:
        await process.search(START, LONG, listener=lambda _: thinking.set())


async def hold(pool: UciPool, come: asyncio.Event, leave: asyncio.Event) -> UciProcess:
    """Borrow a process until further notice."""
    async with pool.lease() as process:
        come.set()
        await leave.wait()
        return process


async def settle() -> None:
    """Let everybody run until they wait for something outside."""
    await steps_of_the_loop(20)


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def has_room_for(pool: UciPool, size: int) -> None:
    """See that a pool lends as many processes as it should, and no more."""
    come, leave = [asyncio.Event() for _ in range(size + 1)], asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for each in come[:-1]:
            group.create_task(hold(pool, each, leave))
        for each in come[:-1]:
            await each.wait()
        group.create_task(hold(pool, come[-1], leave))
        await settle()
        assert not come[-1].is_set()
        assert len([each for each in pool.processes if each.is_alive]) == size
        leave.set()


# --- lending ---


def test_processes_stay_for_the_next():
    async def main():
        async with UciPool(program()) as pool:
            assert pool.processes == ()
            moves = [await play(pool) for _ in range(3)]
            assert len(pool.processes) == 1
            await has_room_for(pool, 2)
            return moves

    moves = run(main())
    assert len(set(moves)) == 1


def test_who_comes_when_all_are_out_waits_in_turn():
    order = []

    async def take(pool: UciPool, number: int) -> None:
        async with pool.lease() as process:
            order.append(number)
            await process.search(START, DEPTH)

    async def main():
        async with UciPool(program(), size=1) as pool, asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(take(pool, number))

    run(main())
    assert order == list(range(10))


def test_the_process_that_remembers_a_game_is_preferred():
    games = [object() for _ in range(3)]

    async def main():
        async with UciPool(program(), size=3) as pool:
            async with AsyncExitStack() as stack:
                leases = [pool.lease(game=game) for game in games]
                first = [await stack.enter_async_context(each) for each in leases]
            return [
                (await play(pool, game=games[number]))[1] == first[number].pid
                for number in (2, 0, 1, 1, 0, 2)
            ]

    assert run(main()) == [True] * 6


def test_the_process_that_is_set_up_already_is_preferred():
    options = [{"Hash": 32}, {"Hash": 64}, {"Hash": 128}]

    async def main():
        async with UciPool(program(), size=3) as pool:
            async with AsyncExitStack() as stack:
                leases = [pool.lease(each) for each in options]
                first = [await stack.enter_async_context(each) for each in leases]
            return [
                (await play(pool, options=options[number]))[1] == first[number].pid
                for number in (2, 0, 1, 1, 0, 2)
            ]

    assert run(main()) == [True] * 6


def test_a_game_goes_on_and_another_begins_anew(tmp_path):
    log = tmp_path / "log"
    first, second = object(), object()

    async def main():
        async with UciPool(program(log=log), size=1) as pool:
            for game in (first, first, second, first, None, None):
                await play(pool, game=game)

    run(main())
    told_of_games = [line for line in told(log) if line.startswith(("ucinew", "go"))]
    new, go = "ucinewgame", "go depth 3"
    assert told_of_games == [new, go, go, new, go, new, go, go, go]


def test_a_game_gets_a_process_of_its_own_while_there_is_room():
    first, second, third = object(), object(), object()

    async def main():
        async with UciPool(program(), size=2) as pool:
            pids = [(await play(pool, game=game))[1] for game in (first, second, first, second)]
            assert pids[:2] == pids[2:]
            assert len(set(pids)) == 2
            assert (await play(pool, game=third))[1] in pids  # there is no more room
            assert (await play(pool))[1] in pids

    run(main())


# --- searching ---


def test_a_search_is_repeated_once_by_another_process(tmp_path):
    async def main():
        async with UciPool(program("DiesThinking", once=tmp_path / "once"), size=1) as pool:
            assert (await pool.search(START, DEPTH)).move.uci() == "e2e4"
        async with UciPool(program("DiesThinking", log=tmp_path / "log"), size=1) as pool:
            with pytest.raises(UciDied):
                await pool.search(START, DEPTH)

    run(main())
    assert told(tmp_path / "log").count("go depth 3") == 2


def test_a_search_that_took_all_its_time_is_not_repeated(tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program("IgnoresStop", log=log, search=0.2, stop=0.2), size=1) as pool:
            with pytest.raises(UciTimedOut):
                await pool.search(START, DEPTH)

    run(main())
    assert told(log).count("go depth 3") == 1


def test_waiting_is_charged_to_the_clock(tmp_path):
    log = tmp_path / "log"
    limit = Limit(clock=Clock.start(TimeControl.parse("60")))

    async def main():
        async with UciPool(program(log=log), size=1) as pool:
            await pool.search(START, limit)
            async with pool.lease():
                task = asyncio.create_task(pool.search(START, limit))
                await asyncio.sleep(0.5)  # what has passed is what the test is about
            await task

    run(main())
    at_once, later = (int(line.split()[2]) for line in told(log) if line.startswith("go wtime"))
    assert at_once > later
    assert later <= 60_000 - 500


REFUSED = {
    "option": ({"options": {"Elo": 1}}, InvalidOption),
    "value": ({"options": {"Hash": 0}}, InvalidOption),
    "variant": ({"variant": "kings-cooking"}, CannotPlayVariant),
}


@pytest.mark.parametrize(("lease", "error"), REFUSED.values(), ids=REFUSED)
def test_who_asks_for_the_impossible_harms_nobody(lease, error):
    async def main():
        async with UciPool(program(), size=1) as pool:
            with pytest.raises(error):  # even as the first
                await play(pool, **lease)
            before = await play(pool)
            with pytest.raises(error):
                await play(pool, **lease)
            assert await play(pool) == before
            assert len(pool.processes) == 1

    run(main())


def test_an_error_of_the_borrowers_own_harms_nobody():
    async def stumble(pool: UciPool) -> None:
        async with pool.lease():
            raise ZeroDivisionError

    async def main():
        async with UciPool(program(), size=1) as pool:
            before = await play(pool)
            with pytest.raises(ZeroDivisionError):
                await stumble(pool)
            assert await play(pool) == before

    run(main())


# --- processes that die in between ---


@pytest.mark.parametrize("noticed", [False, True], ids=["just now", "a while ago"])
def test_an_idle_process_that_died_is_replaced_without_anyone_noticing(noticed):
    async def main():
        async with UciPool(program(), size=2) as pool:
            await has_room_for(pool, 2)
            victims = pool.processes
            for process in victims:
                os.kill(process.pid, signal.SIGKILL)
            if noticed:
                await until(lambda: not any(each.is_alive for each in victims))
            move, pid = await play(pool, game=object())
            assert move == "e2e4"
            assert pid not in {each.pid for each in victims}
            await has_room_for(pool, 2)

    run(main())


def test_one_that_dies_after_each_answer_is_replaced_each_time():
    async def main():
        async with UciPool(program("DiesAfterAnswer"), size=1) as pool:
            return [await play(pool, game=object()) for _ in range(5)]

    moves = run(main())
    assert [move for move, _ in moves] == ["e2e4"] * 5
    assert len({pid for _, pid in moves}) == 5


@pytest.mark.parametrize("mode", ["DiesAtStart", "DiesGettingReady"])
def test_who_gets_a_new_process_hears_of_its_fault(mode):
    async def main():
        async with UciPool(program(mode), size=1) as pool:
            for _ in range(3):
                with pytest.raises(UciDied):
                    await play(pool)
                assert pool.processes == ()

    run(main())


# --- closing ---


@pytest.mark.parametrize("times", [1, 2, 5])
def test_closing_ends_everything_however_often(times):
    async def main():
        pool = UciPool(program(), size=2)
        await has_room_for(pool, 2)
        async with asyncio.TaskGroup() as group:
            for _ in range(times):
                group.create_task(pool.aclose())
        assert survivors() == set()
        assert pool.processes == ()
        await pool.aclose()
        with pytest.raises(PoolClosed) as caught:
            await play(pool)
        return caught.value

    assert str(run(main())) == "the pool of Crash Test is closed"


def test_closing_what_was_never_used():
    async def main():
        pool = UciPool(program())
        await pool.aclose()
        with pytest.raises(PoolClosed):
            await play(pool)

    run(main())


BUSY = {
    "hears quit": ("UntilStop", 600),
    "hears nothing": ("IgnoresStop", 0.2),
    "floods": ("FloodsIgnoringStop", 0.2),
}


@pytest.mark.parametrize(("mode", "grace"), BUSY.values(), ids=BUSY)
def test_closing_while_some_search_and_some_wait(mode, grace):
    async def main():
        pool = UciPool(program(mode, stop=grace), size=2)
        events = [asyncio.Event() for _ in range(2)]
        searches = [asyncio.create_task(think(pool, each)) for each in events]
        for each in events:
            await each.wait()
        waiting = [asyncio.create_task(play(pool)) for _ in range(3)]
        await settle()
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(pool.aclose())
        assert survivors() == set()
        outcomes = await asyncio.gather(*searches, *waiting, return_exceptions=True)
        assert [type(each) for each in outcomes] == [UciDied] * 2 + [PoolClosed] * 3
        assert pool.processes == ()

    run(main())


@pytest.mark.parametrize("mode", ["Silent", "Deaf", "NeverReady", "Engine"])
@pytest.mark.parametrize("steps", [1, 3, 10, None])
def test_closing_while_some_start(mode, steps, tmp_path):
    log = tmp_path / "log"

    async def main():
        pool = UciPool(program(mode, log=log, stop=0.2), size=2)
        starting = [asyncio.create_task(play(pool)) for _ in range(4)]
        if steps is None:
            await until(lambda: log.exists() and told(log).count("started") == 2)
        else:
            await steps_of_the_loop(steps)
        await pool.aclose()
        assert survivors() == set()
        assert pool.processes == ()
        return await asyncio.gather(*starting, return_exceptions=True)

    # A well-behaved one may have had its turn by then, or have been in the middle of it.
    kinds = (PoolClosed, UciDied, tuple) if mode == "Engine" else PoolClosed
    assert all(isinstance(each, kinds) for each in run(main()))


def test_closing_when_a_turn_has_come_but_is_not_yet_taken():
    async def main():
        pool = UciPool(program(), size=1)
        async with pool.lease():
            waiting = asyncio.create_task(play(pool))
            await settle()
        await pool.aclose()  # the turn has been passed on, and who waited does not know it yet
        with pytest.raises(PoolClosed):
            await waiting
        assert survivors() == set()

    run(main())


def test_closing_by_a_borrower():
    async def main():
        pool = UciPool(program(), size=1)
        async with pool.lease() as process:
            await pool.aclose()
            with pytest.raises(UciDied):
                await process.search(START, DEPTH)
        assert survivors() == set()

    run(main())


def test_closing_can_be_cancelled_and_closed_again():
    async def main():
        pool = UciPool(program("IgnoresQuit"), size=2)
        await has_room_for(pool, 2)
        closing = asyncio.create_task(pool.aclose())
        await settle()
        await cancel(closing)
        await pool.aclose()
        assert survivors() == set()

    run(main())


# --- cancelling ---


def test_who_gives_up_waiting_frees_their_place():
    order = []

    async def take(pool: UciPool, number: int) -> None:
        async with pool.lease():
            order.append(number)

    async def main():
        async with UciPool(program(), size=1) as pool:
            come, leave = asyncio.Event(), asyncio.Event()
            holder = asyncio.create_task(hold(pool, come, leave))
            await come.wait()
            waiting = [asyncio.create_task(take(pool, number)) for number in range(6)]
            await settle()
            for number in (0, 3, 5):
                await cancel(waiting[number])
            leave.set()
            await holder
            await asyncio.gather(*(waiting[number] for number in (1, 2, 4)))
            await has_room_for(pool, 1)

    run(main())
    assert order == [1, 2, 4]


def test_all_who_wait_give_up():
    async def main():
        async with UciPool(program(), size=1) as pool:
            come, leave = asyncio.Event(), asyncio.Event()
            holder = asyncio.create_task(hold(pool, come, leave))
            await come.wait()
            waiting = [asyncio.create_task(play(pool)) for _ in range(3)]
            await settle()
            for each in waiting:
                each.cancel()
            leave.set()  # before those who have given up know it
            await asyncio.gather(holder, *waiting, return_exceptions=True)
            await has_room_for(pool, 1)

    run(main())


@pytest.mark.parametrize("others", [0, 1, 2])
def test_who_gives_up_at_the_moment_of_their_turn_passes_it_on(others):
    async def main():
        async with UciPool(program(), size=1) as pool:
            async with pool.lease():
                unlucky, *lucky = [asyncio.create_task(play(pool)) for _ in range(1 + others)]
                await settle()
            await cancel(unlucky)  # the turn has come, and who waited does not know it yet
            assert [(await each)[0] for each in lucky] == ["e2e4"] * others
            await has_room_for(pool, 1)

    run(main())


def test_a_cancelled_search_frees_its_process_for_the_next(tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program("UntilStop", "e2e4,d2d4", log=log, search=0.1), size=1) as pool:
            thinking = asyncio.Event()
            search = asyncio.create_task(think(pool, thinking))
            await thinking.wait()
            (process,) = pool.processes
            await cancel(search)
            assert await play(pool) == ("d2d4", process.pid)

    run(main())
    assert told(log).count("started") == 1


def test_a_cancelled_search_that_does_not_stop_is_replaced(tmp_path):
    async def main():
        flawed = program("IgnoresStop", "d2d4,e2e4", once=tmp_path / "once", stop=0.2)
        async with UciPool(flawed, size=1) as pool:
            thinking = asyncio.Event()
            search = asyncio.create_task(think(pool, thinking))
            await thinking.wait()
            (process,) = pool.processes
            await cancel(search)
            move, pid = await play(pool)
            assert move == "e2e4"
            assert pid != process.pid
            assert [each.pid for each in pool.processes] == [pid]

    run(main())


def test_a_pool_can_be_closed_with_a_cancelled_search_under_way():
    async def main():
        async with UciPool(program("IgnoresStop", stop=0.2), size=1) as pool:
            thinking = asyncio.Event()
            search = asyncio.create_task(think(pool, thinking))
            await thinking.wait()
            await cancel(search)

    run(main())


UNFINISHED = {"start": "Silent", "prepare": "NeverReady"}


@pytest.mark.parametrize("mode", UNFINISHED.values(), ids=UNFINISHED)
def test_who_gives_up_on_a_process_that_is_not_ready_loses_nothing(mode, tmp_path):
    log = tmp_path / "log"
    last = "uci" if mode == "Silent" else "isready"

    async def main():
        flawed = program(mode, log=log, once=tmp_path / "once", stop=0.2)
        async with UciPool(flawed, size=1) as pool:
            first = asyncio.create_task(play(pool))
            await until(lambda: log.exists() and told(log)[-1:] == [last])
            second = asyncio.create_task(play(pool))
            await settle()
            await cancel(first)
            assert (await second)[0] == "e2e4"
            await has_room_for(pool, 1)

    run(main())


@pytest.mark.parametrize("again", [None, 1, 4, 10])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 12, 20, 40])
def test_who_gives_up_at_any_moment_loses_nothing(steps, again):
    async def main():
        async with UciPool(program(), size=1) as pool:
            for _ in range(2):  # with a process to be started, and with one that is there
                turn = asyncio.create_task(play(pool))
                for pause in (steps, again):
                    if pause is not None:
                        await steps_of_the_loop(pause)
                        turn.cancel()
                await asyncio.gather(turn, return_exceptions=True)
                await has_room_for(pool, 1)

    run(main(), debug=False)  # in debug mode asyncio remarks on a start that was cancelled


# --- all at once ---


@pytest.mark.parametrize("seed", range(3))
def test_after_a_storm_all_is_as_before(seed):
    chance = random.Random(seed)
    games = [None, *(object() for _ in range(3))]
    size, lent, moves, killed = 3, 0, [], []

    async def customer(pool: UciPool) -> None:
        mood = chance.choice([*MOODS, 1, 1, 1, 2, 2])
        wishes = {"options": {"Hash": chance.choice((16, 32))}, "game": chance.choice(games)}
        search = chance.choice((pool.search, partial(search_once, pool)))
        patience = chance.choice((None, None, 0, 0.001, 0.01, 0.05, 0.1))
        await asyncio.sleep(chance.uniform(0, 2))
        async with asyncio.timeout(patience):
            result = await search(START, Limit(depth=mood), **wishes)
        assert result.move.uci() == MOODS[mood][1]  # and not what another one has asked for
        moves.append(result.move)

    async def search_once(pool: UciPool, turn: Turn, limit: Limit, **wishes: Any) -> SearchResult:
        nonlocal lent
        async with pool.lease(**wishes) as process:
            lent += 1
            try:
                assert lent <= size
                assert len([each for each in pool.processes if each.is_alive]) <= size
                return await process.search(turn, limit)
            finally:
                lent -= 1

    async def trouble(pool: UciPool, customers: list[asyncio.Task[None]]) -> None:
        while not all(each.done() for each in customers):
            await asyncio.sleep(0.02)
            chance.choice(customers).cancel()
            for process in chance.sample(pool.processes, min(1, len(pool.processes))):
                if process.is_alive and process.pid and chance.random() < 0.2:
                    with contextlib.suppress(ProcessLookupError):  # it was quicker
                        os.kill(process.pid, signal.SIGKILL)
                        killed.append(process)

    async def main():
        async with UciPool(program("Moody", search=0.05, stop=0.1), size) as pool:
            customers = [asyncio.create_task(customer(pool)) for _ in range(200)]
            await trouble(pool, customers)
            outcomes = await asyncio.gather(*customers, return_exceptions=True)
            kinds = (UciFault, TimeoutError, asyncio.CancelledError, type(None))
            assert [each for each in outcomes if not isinstance(each, kinds)] == []
            assert lent == 0
            # Nobody can know yet of one that was idle and killed just now.
            await until(lambda: not any(each.is_alive for each in killed))
            await has_room_for(pool, size)

    run(main(), debug=False)
    assert moves


# --- findings ---


def test_closing_while_one_thinks_gives_no_half_thought_move():
    """Told to quit, Stockfish answers what it has; that is no result of a search by nodes."""

    async def main():
        pool = UciPool(find_stockfish(), size=1)
        thinking = asyncio.Event()
        task = asyncio.create_task(
            pool.search(START, Limit(nodes=10**9), listener=lambda _: thinking.set())
        )
        await thinking.wait()
        await pool.aclose()
        with pytest.raises(PoolClosed):
            await task

    asyncio.run(main())


def test_games_that_nobody_plays_any_more_leave_their_process_to_others():
    class Match:
        """Something that can be forgotten."""

    async def main():
        async with UciPool(program(), size=4) as pool:
            pids = {(await play(pool, game=Match()))[1] for _ in range(5)}
            assert len(pids) == 1
            kept = [Match(), Match()]
            assert len({(await play(pool, game=match))[1] for match in kept}) == 2

    run(main())


@pytest.mark.parametrize("size", [1, 3])
def test_a_search_survives_the_death_of_all_idle_processes(size):
    async def main():
        async with UciPool(program(), size=size) as pool:
            for _ in range(3):
                await pool.warm(size)
                assert len(pool.processes) == size
                for process in pool.processes:
                    os.kill(process.pid, signal.SIGKILL)
                assert (await pool.search(START, DEPTH)).move.uci() == "e2e4"
            await has_room_for(pool, size)

    run(main())


def test_warming_by_several_at_once_does_not_lock_up():
    async def main():
        async with UciPool(program(), size=3) as pool:
            async with asyncio.TaskGroup() as group:
                for _ in range(3):
                    group.create_task(pool.warm(3))
            assert len(pool.processes) == 3

    run(main())


def test_warming_starts_what_there_is_room_for():
    async def main():
        async with UciPool(program(), size=2) as pool:
            await pool.warm()
            assert len(pool.processes) == 1
            await play(pool, game=object())
            await pool.warm()  # what remembers a game is warm, too
            assert len(pool.processes) == 1
            await pool.warm(5)
            assert len(pool.processes) == 2
            await has_room_for(pool, 2)
        with pytest.raises(PoolClosed):
            await pool.warm()

    run(main())
