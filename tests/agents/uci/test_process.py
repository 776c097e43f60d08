"""One process of a UCI engine: its life, what it is told, and what becomes of a search."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from typing import Any

import pytest

from agents.errors import CannotPlayVariant
from agents.player import Turn
from agents.uci.errors import InvalidLimit, InvalidOption, UciDied, UciTimedOut
from agents.uci.info import Info
from agents.uci.limits import Limit
from agents.uci.process import SearchResult, UciProcess
from engine import Game, Position
from tests.support.processes import LINUX, program, run, survivors, told, until

START = Turn(Position.start())
DEPTH = Limit(depth=3)
#: Longer than any search here takes, and much longer than one that is stopped.
LONG = Limit(time=timedelta(minutes=10))


async def think(process: UciProcess, limit: Limit = LONG) -> asyncio.Task[SearchResult]:
    """Return a search that is under way."""
    thinking = asyncio.Event()
    search = process.search(START, limit, listener=lambda _: thinking.set())
    task = asyncio.create_task(search)
    await thinking.wait()
    return task


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# --- its life ---


def test_it_introduces_itself():
    async def main():
        process = await UciProcess.start(program())
        assert process.is_alive
        assert not process.is_gone
        os.kill(process.pid, 0)  # which would raise if it were not there
        assert (process.title, process.name) == ("Crash Test", "Crash Test 1.0")
        assert process.author == "Nobody"
        assert [option.name for option in process.options] == [
            "Hash", "Threads", "Skill Level", "OwnBook", "UCI_Chess960", "Style", "Clear Hash",
            "Book File",
        ]  # fmt: skip
        await process.aclose()
        assert not process.is_alive
        assert process.is_gone

    run(main())


def test_it_searches():
    async def main():
        process = await UciProcess.start(program())
        await process.prepare({}, "standard")
        heard: list[Info] = []
        result = await process.search(START, DEPTH, listener=heard.append)
        await process.aclose()
        return result, heard

    result, heard = run(main())
    assert (result.move.uci(), result.ponder, result.overran) == ("e2e4", "e7e5", False)
    assert result.turn is START
    assert [(info.nodes, info.pv) for info in result.infos] == [(20, ("e2e4",))]
    assert tuple(heard) == result.infos


QUIRKS = {
    "no encoding": "Bytes",
    "a byte at a time": "Trickles",
    "thousands of options": "ManyOptions",
    "megabytes of errors": "LoudErrors",
    "two answers": "AnswersTwice",
    "small talk": "Chatters",
}


@pytest.mark.parametrize("mode", QUIRKS.values(), ids=QUIRKS)
def test_bad_manners_are_put_up_with(mode):
    async def main():
        process = await UciProcess.start(program(mode))
        await process.prepare({}, "standard")
        for _ in range(3):
            assert (await process.search(START, DEPTH)).move.uci() == "e2e4"
        assert process.is_alive
        await process.aclose()
        return process

    process = run(main())
    assert process.name.isprintable()
    assert len(list(process.options)) <= 1000


def test_of_two_answers_the_second_is_nobodys():
    async def main():
        process = await UciProcess.start(program("AnswersTwice"))
        await process.prepare({}, "standard", game := object())
        await process.search(START, DEPTH)
        with pytest.raises(InvalidOption):
            await process.prepare({"No": 1}, "standard", game)
        await process.prepare({"Hash": 32}, "standard", game)
        await process.aclose()

    run(main())


def test_the_answer_of_one_that_dies_with_it_counts():
    async def main():
        process = await UciProcess.start(program("DiesAfterAnswer"))
        await process.prepare({}, "standard")
        assert (await process.search(START, DEPTH)).move.uci() == "e2e4"
        with pytest.raises(UciDied) as caught:
            await process.search(START, DEPTH)
        await process.aclose()
        return caught.value

    # It may have been asked again before its death was known.
    error = run(main())
    assert error.exit_code == 8
    assert error.doing in ("idle", "thinking")


def test_it_is_known_when_an_idle_one_dies():
    async def main():
        process = await UciProcess.start(program())
        await process.prepare({}, "standard")
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: process.is_gone)
        assert not process.is_alive
        with pytest.raises(UciDied) as caught:
            await process.prepare({}, "standard")
        await process.aclose()
        return caught.value

    assert str(run(main())) == "Crash Test process died while idle (signal 9)"


@pytest.mark.skipif(not LINUX, reason="orphans are found in /proc")
def test_one_that_has_ended_is_not_alive_whoever_holds_its_output():
    async def main():
        process = await UciProcess.start(program("LeavesOrphanIdle"))
        await process.search(START, DEPTH)
        await until(lambda: process._child.has_exited)
        assert not process.is_alive
        await process.aclose()
        for orphan in survivors():
            os.kill(orphan, signal.SIGKILL)
        await until(lambda: not survivors())

    run(main())


# --- its environment ---


def test_a_program_sees_none_of_our_secrets(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PATH", "/somewhere")
    monkeypatch.setenv("HOME", "/home/us")
    log = tmp_path / "log"

    async def main():
        given = {"LICENCE": "yes", "HOME": "/nowhere"}
        process = await UciProcess.start(program("TellsEnvironment", log=log, environment=given))
        await process.aclose()

    run(main())
    found = dict(line.split("=", 1) for line in told(log) if "=" in line)
    assert "OPENAI_API_KEY" not in found
    assert (found["PATH"], found["LICENCE"], found["HOME"]) == ("/somewhere", "yes", "/nowhere")


# --- getting ready ---

NEW = ["ucinewgame", "isready"]
#: What every process of the program is told that is not told otherwise.
FIRST = ["setoption name OwnBook value false", *NEW]
#: What is asked for, one after the other, and what the engine is told each time. Games are numbers.
PREPARED = {
    "nothing": [({}, "standard", 1, FIRST)],
    "the same game": [({}, "standard", 1, FIRST), ({}, "standard", 1, [])],
    "another game": [({}, "standard", 1, FIRST), ({}, "standard", 2, NEW)],
    "no game in particular": [
        ({}, "standard", None, [FIRST[0], "isready"]),
        ({}, "standard", 1, NEW),
        ({}, "standard", None, []),
        ({}, "standard", 1, []),
    ],
    "back to a game": [
        ({}, "standard", 1, FIRST),
        ({}, "standard", 2, NEW),
        ({}, "standard", 1, NEW),
    ],
    "an option stays": [
        ({"Hash": 32}, "standard", 1, ["setoption name Hash value 32", *FIRST]),
        ({"hash": "32"}, "standard", 1, []),
        ({"Hash": 32}, "standard", 2, NEW),
    ],
    "an option changes in a game": [
        ({"Hash": 32}, "standard", 1, ["setoption name Hash value 32", *FIRST]),
        ({"Hash": 64}, "standard", 1, ["setoption name Hash value 64", "isready"]),
    ],
    "back to the default": [
        ({"Skill Level": 3}, "standard", 1, ["setoption name Skill Level value 3", *FIRST]),
        ({}, "standard", 2, ["setoption name Skill Level value 20", *NEW]),
        ({}, "standard", 3, NEW),
    ],
    "the default is not sent": [({"Hash": 16, "Style": "normal"}, "standard", 1, FIRST)],
    "each in its own way": [
        (
            {"Style": "risky", "Clear Hash": None, "Book File": "a b.bin", "OwnBook": True},
            "standard",
            1,
            [
                "setoption name Style value Risky",
                "setoption name Clear Hash",
                "setoption name Book File value a b.bin",
                *NEW,
            ],
        ),
        (
            {"Clear Hash": None},
            "standard",
            1,
            [
                "setoption name OwnBook value false",
                "setoption name Style value Normal",
                "setoption name Book File value <empty>",
                "isready",
            ],
        ),
    ],
    "Chess960 and back": [
        ({}, "chess960", 1, ["setoption name UCI_Chess960 value true", *FIRST]),
        ({}, "chess960", 2, NEW),
        ({}, "standard", 3, ["setoption name UCI_Chess960 value false", *NEW]),
    ],
}


@pytest.mark.parametrize("steps", PREPARED.values(), ids=PREPARED)
def test_it_is_told_what_differs(steps, tmp_path):
    log = tmp_path / "log"
    games = {None: None} | {number: object() for number in range(1, 4)}

    async def main():
        process = await UciProcess.start(program(log=log))
        told_before = 2  # that it started, and `uci`
        for options, variant, game, commands in steps:
            await process.prepare(options, variant, games[game])
            await process.search(START, DEPTH)
            *prepared, position, go = told(log)[told_before:]
            assert sorted(prepared) == sorted(commands)
            assert prepared[-1:] == commands[-1:]  # `isready`
            assert (position, go) == ("position startpos", "go depth 3")
            told_before += len(prepared) + 2
        await process.aclose()
        assert told(log)[told_before:] == ["quit"]

    run(main())


def test_the_operators_options_are_the_default_of_all(tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(program(log=log, options={"Hash": 64, "Threads": 2}))
        await process.prepare({"threads": 4}, "standard")
        await process.prepare({}, "standard")
        await process.aclose()

    run(main())
    lines = [line.partition(" name ")[2] for line in told(log) if line.startswith("setoption")]
    assert sorted(lines[:-1]) == ["Hash value 64", "OwnBook value false", "Threads value 4"]
    assert lines[-1] == "Threads value 2"


REFUSED = {
    "no such option": ({"Elo": 1}, "standard", InvalidOption),
    "too much": ({"Hash": 4096}, "standard", InvalidOption),
    "a command in disguise": ({"Book File": "x\nquit"}, "standard", InvalidOption),
    "a game it does not know": ({}, "kings-cooking", CannotPlayVariant),
}


@pytest.mark.parametrize(("options", "variant", "error"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(options, variant, error, tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(program(log=log))
        await process.prepare({"Hash": 32}, "standard", game := object())
        before = told(log)
        with pytest.raises(error):
            await process.prepare({"Threads": 2, **options}, variant, object())
        await process.prepare({"Hash": 32}, "standard", game)
        assert (await process.search(START, DEPTH)).move.uci() == "e2e4"
        assert told(log) == [*before, "position startpos", "go depth 3"]
        await process.aclose()

    run(main())


def test_one_without_chess960_cannot_play_it():
    async def main():
        process = await UciProcess.start(program("Trickles"))
        with pytest.raises(CannotPlayVariant):
            await process.prepare({}, "chess960")
        await process.prepare({}, "standard")
        await process.aclose()

    run(main())


def test_a_search_may_begin_with_an_empty_memory(tmp_path):
    log = tmp_path / "log"
    game = Game()
    game.play("e4")
    game.play("e5")

    async def main():
        process = await UciProcess.start(program(moves="g1f3", log=log))
        await process.search(Turn.of(game), DEPTH, forget=True)
        await process.aclose()

    run(main())
    position = "position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert told(log)[2:] == ["ucinewgame", position, "go depth 3", "quit"]


# --- limits ---

OVERRUNS = {
    "nodes": ("CountsNodes", Limit(nodes=1_000)),
    "nodes alone": ("CountsNodesOnly", Limit(nodes=1_000)),
    "depth": ("CountsDepth", Limit(depth=5)),
    "time": ("UntilStop", Limit(time=timedelta(milliseconds=10))),
    "patience": ("UntilStop", Limit(depth=5)),
    "takes a while to stop": ("LateAfterStop", Limit(time=timedelta(milliseconds=10))),
}


@pytest.mark.parametrize(("mode", "limit"), OVERRUNS.values(), ids=OVERRUNS)
def test_one_that_goes_over_its_limit_is_stopped(mode, limit, tmp_path):
    log = tmp_path / "log"
    # Only where there is nothing else to go by is the deadline what ends it.
    patience = {"search": 0.1} if mode == "UntilStop" else {}

    async def main():
        process = await UciProcess.start(program(mode, "e2e4,d2d4", log=log, **patience))
        await process.prepare({}, "standard", game := object())
        results = [await process.search(START, limit)]
        await process.prepare({}, "standard", game)
        results.append(await process.search(START, limit))
        assert process.is_alive
        await process.aclose()
        return results

    assert [(each.move.uci(), each.overran) for each in run(main())] == [
        ("e2e4", True),
        ("d2d4", True),
    ]
    assert told(log).count("stop") == 2  # and not once for every line


def test_nodes_in_a_remark_are_not_counted():
    async def main():
        process = await UciProcess.start(program("Remarks"))
        result = await process.search(START, Limit(nodes=1, depth=1))
        await process.aclose()
        return result

    assert not run(main()).overran


def test_a_search_without_limit_is_refused():
    async def main():
        process = await UciProcess.start(program())
        with pytest.raises(InvalidLimit):
            await process.search(START, Limit())
        assert (await process.search(START, DEPTH)).move.uci() == "e2e4"
        await process.aclose()

    run(main())


# --- cancelling ---


def test_a_cancelled_search_is_stopped_and_its_answer_is_not_the_next_ones(tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(
            program("UntilStop", "e2e4,d2d4,c2c4", log=log, search=0.1)
        )
        await process.prepare({}, "standard", game := object())
        await cancel(await think(process))
        assert process.is_alive
        await process.prepare({}, "standard", game)
        second = await process.search(START, DEPTH)
        await cancel(await think(process))
        fourth = await process.search(START, DEPTH)  # at once, without being made ready
        await process.aclose()
        return second, fourth, process.pid

    second, fourth, pid = run(main())
    assert (second.move.uci(), fourth.move.uci()) == ("d2d4", "c2c4")
    assert told(log, pid).count("stop") == 4


AGAIN = {
    "prepare": lambda process: process.prepare({}, "standard"),
    "search": lambda process: process.search(START, DEPTH),
}


@pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)
def test_a_cancelled_search_that_does_not_stop_is_killed(again):
    async def main():
        process = await UciProcess.start(program("IgnoresStop", stop=0.2))
        await cancel(await think(process))
        with pytest.raises(UciTimedOut):
            await again(process)
        assert not process.is_alive
        await until(lambda: process.is_gone)
        await process.aclose()

    run(main())


def test_nobody_needs_to_wait_for_a_cancelled_search_to_be_killed():
    async def main():
        process = await UciProcess.start(program("IgnoresStop", stop=0.1))
        search = await think(process)
        search.cancel()
        await until(lambda: process.is_gone)

    run(main())


def test_waiting_for_a_cancelled_search_can_be_cancelled_too():
    async def main():
        process = await UciProcess.start(program("LateAfterStop", "e2e4,d2d4"))
        await process.prepare({}, "standard", game := object())
        await cancel(await think(process))
        for _ in range(3):
            ready = asyncio.create_task(process.prepare({}, "standard", game))
            await asyncio.sleep(0)
            await cancel(ready)
        assert process.is_alive
        result = await process.search(START, Limit(time=timedelta(milliseconds=1)))
        await process.aclose()
        return result.move.uci()

    assert run(main()) == "d2d4"


def test_a_search_cancelled_when_its_answer_is_there(tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(program("AnswersAtOnce", "e2e4,d2d4", log=log))
        loop = asyncio.get_running_loop()
        search = asyncio.create_task(
            # Both lines come together, so the answer is there when this is called back.
            process.search(START, DEPTH, listener=lambda _: loop.call_soon(search.cancel))
        )
        with pytest.raises(asyncio.CancelledError):
            await search
        assert process.is_alive
        move = (await process.search(START, DEPTH)).move.uci()
        await process.aclose()
        return move

    assert run(main()) == "d2d4"
    assert "stop" not in told(log)


def test_a_cancelled_search_has_no_more_listeners():
    heard: list[Info] = []

    async def main():
        process = await UciProcess.start(program("LateAfterStop"))
        search = asyncio.create_task(process.search(START, LONG, listener=heard.append))
        await until(lambda: heard)
        await cancel(search)
        await process.prepare({}, "standard")  # by now it has said more
        await process.aclose()

    run(main())
    assert len(heard) == 1


def test_a_listener_that_fails_fails_its_search_and_not_the_process():
    async def main():
        process = await UciProcess.start(program("UntilStop", "e2e4,d2d4", search=0.1))

        def stumble(_: Info) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await process.search(START, LONG, listener=stumble)
        assert process.is_alive
        move = (await process.search(START, DEPTH)).move.uci()
        await process.aclose()
        return move

    assert run(main()) == "d2d4"


def test_a_cancelled_preparation_goes_on_for_whoever_comes_next(tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(program("LateReady", log=log))
        ready = asyncio.create_task(process.prepare({}, "standard", game := object()))
        await asyncio.sleep(0)
        await cancel(ready)
        assert process.is_alive
        await process.prepare({}, "standard", game)
        move = (await process.search(START, DEPTH)).move.uci()
        await process.aclose()
        return move

    assert run(main()) == "e2e4"
    assert (told(log).count("ucinewgame"), told(log).count("isready")) == (1, 1)


def test_a_cancelled_preparation_that_does_not_end_is_killed():
    async def main():
        process = await UciProcess.start(program("NeverReady", stop=0.1))
        ready = asyncio.create_task(process.prepare({}, "standard"))
        await asyncio.sleep(0)
        await cancel(ready)
        await until(lambda: process.is_gone)
        await process.aclose()

    run(main())


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6, 8, 10, 20, 50])
def test_a_start_cancelled_at_any_moment_leaves_nothing(steps):
    async def main():
        process = UciProcess(program("Silent"))
        start = asyncio.create_task(process.begin())
        for _ in range(steps):
            await asyncio.sleep(0)
        await cancel(start)
        assert process.is_gone
        assert survivors() == set()

    run(main(), debug=False)  # asyncio itself remarks on it in debug mode


def test_a_start_cancelled_when_the_program_runs(tmp_path):
    log = tmp_path / "log"

    async def main():
        start = asyncio.create_task(UciProcess.start(program("Silent", log=log)))
        await until(lambda: log.exists() and "uci" in told(log))
        await cancel(start)
        assert survivors() == set()

    run(main())


# --- closing ---

CLOSED = {
    "polite": ("Engine", {}),
    "ignores quit": ("IgnoresQuit", {"stop": 0.2}),
    "ignores signals": ("IgnoresSignals", {"stop": 0.2}),
    "does not hear": ("ClosesInput", {"stop": 0.2}),
}


@pytest.mark.parametrize(("mode", "patience"), CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_closing_ends_it_however_often(mode, patience, times):
    async def main():
        process = await UciProcess.start(program(mode, **patience))
        async with asyncio.TaskGroup() as group:
            for _ in range(times):
                group.create_task(process.aclose())
        assert process.is_gone
        assert survivors() == set()
        await process.aclose()

    run(main())


def test_closing_is_polite(tmp_path):
    log = tmp_path / "log"

    async def main():
        process = await UciProcess.start(program(log=log))
        await process.aclose()
        with pytest.raises(UciDied) as caught:
            await process.search(START, DEPTH)
        return caught.value

    assert run(main()).exit_code == 0
    assert told(log) == ["started", "uci", "quit"]


@pytest.mark.parametrize("mode", ["UntilStop", "IgnoresStop", "FloodsIgnoringStop"])
@pytest.mark.parametrize("how", ["aclose", "kill"])
def test_a_search_in_one_that_is_closed_is_an_error(mode, how):
    async def main():
        process = await UciProcess.start(program(mode, stop=0.2))
        search = await think(process)
        if how == "kill":
            process.kill()
        await process.aclose()
        assert process.is_gone
        with pytest.raises(UciDied) as caught:
            await search
        return caught.value

    assert run(main()).doing == "thinking"


def test_closing_can_be_cancelled_and_then_it_is_killed():
    async def main():
        process = await UciProcess.start(program("IgnoresQuit"))
        closing = asyncio.create_task(process.aclose())
        await asyncio.sleep(0)
        await cancel(closing)
        await until(lambda: process.is_gone)

    run(main())


@pytest.mark.parametrize("how", ["aclose", "kill"])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 6, 10, 30])
def test_one_that_is_closed_while_it_starts(steps, how):
    async def main():
        process = UciProcess(program("Silent"))
        start = asyncio.create_task(process.begin())
        for _ in range(steps):
            await asyncio.sleep(0)
        if how == "kill":
            process.kill()
        await process.aclose()
        assert process.is_gone
        assert survivors() == set()
        with pytest.raises(UciDied):
            await start

    run(main())


# --- which line is the last word ---

EXACT = "info depth 5 score cp 40 nodes 900 pv e2e4 e7e5"
LOW = "info depth 6 score cp -110 upperbound nodes 1000 pv e2e4 a7a6"
OTHER = "info depth 6 score cp 90 lowerbound nodes 1000 pv d2d4"
#: What the engine says, what it plays, and the score that counts.
LAST_WORDS = {
    "an exact score stays when the search is cut off": ([EXACT, LOW], "e2e4", 40),
    "a bound is better than nothing": ([LOW], "e2e4", -110),
    "a bound of another move that is played": ([EXACT, OTHER], "d2d4", 90),
    "a bound of a move that is not played": ([EXACT, OTHER], "e2e4", 40),
    "an exact score after a bound": ([LOW, EXACT], "e2e4", 40),
    "a move that neither is of": ([EXACT, LOW], "g1f3", 40),
}


@pytest.mark.parametrize(("lines", "move", "score"), LAST_WORDS.values(), ids=LAST_WORDS)
def test_a_bound_is_not_taken_for_a_score(lines, move, score):
    async def main():
        process = await UciProcess.start(program("Says", f"{move},{'|'.join(lines)}"))
        result = await process.search(START, DEPTH)
        await process.aclose()
        return result

    result = run(main())
    assert result.move.uci() == move
    assert [info.score.centipawns for info in result.infos] == [score]
