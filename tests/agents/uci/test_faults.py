"""Every way in which a UCI engine can go wrong: the error, in time, and the next turn after it."""

from __future__ import annotations

import asyncio
import os
import pickle
import random
import re
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.player import Turn
from agents.uci.errors import (
    UciDied,
    UciError,
    UciFault,
    UciGarbled,
    UciIllegalAnswer,
    UciNotFound,
    UciTimedOut,
    UciWontStart,
)
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.pool import UciPool
from agents.uci.process import UciProcess
from agents.uci.program import UciProgram
from engine import Position
from tests.support.processes import (
    LINUX,
    children,
    descriptors,
    program,
    run,
    survivors,
    until,
    watchers,
)
from tests.support.uci_engine import MODES

START = Turn(Position.start())
FEN = START.position.fen()
DEPTH = Limit(depth=3)


@dataclass(frozen=True)
class Fault:
    """A misbehaviour, and what is to be said of it."""

    mode: str
    error: type[UciFault]
    fields: dict[str, Any]
    sentence: str
    moves: str = "e2e4"
    #: Only what the fault has to be waited for; for all else there is time enough.
    patience: dict[str, float] = field(default_factory=dict)


def died(mode: str, doing: str, how: str = "", code: int | None = None, words: str = "") -> Fault:
    fields = {"doing": doing, "exit_code": code, "last_words": words}
    return Fault(mode, UciDied, fields, f"Crash Test process died while {doing}{how}")


def timed_out(mode: str, doing: str, **patience: float) -> Fault:
    sentence = rf"Crash Test timed out: {doing} took over \d+(\.\d)? s"
    return Fault(mode, UciTimedOut, {"doing": doing}, sentence, patience=patience)


def garbled(mode: str, reason: str, sample: str) -> Fault:
    sentence = f"Crash Test does not speak UCI: {reason}, as in '{sample}"
    return Fault(mode, UciGarbled, {"reason": reason}, sentence)


def illegal(answer: str, mode: str = "Engine") -> Fault:
    sentence = re.escape(f"Crash Test answered '{answer}', which is no legal move in {FEN}")
    fields = {"answer": answer, "fen": FEN}
    return Fault(mode, UciIllegalAnswer, fields, sentence, f"{answer},e2e4")


SOON = 0.3
NO_MEANING = "it prints line after line of no meaning"
NO_END = "it prints a line without end"
EXIT = r" \(exit code {}\)"

FAULTS = {
    "dies at start": died(
        "DiesAtStart",
        "starting",
        EXIT.format(3) + ", saying 'cannot find the network'",
        3,
        "cannot find the network",
    ),
    "dies at `uci`": died("DiesWhenGreeted", "starting", EXIT.format(4), 4),
    "dies of its errors": died("LoudLineOfErrors", "starting", ".*, saying 'eee.*", 5, "e" * 2000),
    "closes its output": died("ClosesOutput", "starting"),
    "says nothing": timed_out("Silent", "starting", start=SOON),
    "does not read": timed_out("Deaf", "starting", start=SOON),
    "blank lines": timed_out("BlankLines", "starting", start=SOON),
    "babbles": garbled("Babbles", NO_MEANING, "hello'"),
    "line without end": garbled("LineWithoutEnd", NO_END, "xxx.*"),
    "never ready": timed_out("NeverReady", "getting ready", ready=SOON),
    "closes its input": timed_out("ClosesInput", "getting ready", ready=SOON),
    "dies getting ready": died("DiesGettingReady", "getting ready", EXIT.format(6), 6),
    "dies thinking": died(
        "DiesThinking",
        "thinking",
        EXIT.format(7) + ", saying 'assertion failed'",
        7,
        "assertion failed",
    ),
    "killed thinking": died("KilledThinking", "thinking", r" \(signal 9\)", -9),
    "closes its output thinking": died("ClosesOutputThinking", "thinking"),
    "babbles thinking": garbled("BabblesThinking", NO_MEANING, "thinking hard'"),
    "ignores stop": timed_out("IgnoresStop", "thinking", search=0.1, stop=SOON),
    "floods": timed_out("FloodsIgnoringStop", "thinking", search=0.1, stop=SOON),
    "too late after stop": timed_out("TooLateAfterStop", "thinking", search=0.1, stop=SOON),
    "half an answer": died("HalfAnAnswer", "thinking", EXIT.format(9), 9),
    "leaves a child": died("LeavesChild", "thinking", EXIT.format(10), 10),
    "a script around it": timed_out("Wrapper", "thinking", search=0.1, stop=SOON),
    "no move": illegal("", "NoMove"),
    "illegal move": illegal("e2e5"),
    "null move": illegal("0000"),
    "no square": illegal("(none)"),
    "goes nowhere": illegal("a1a1"),
    "nonsense": illegal("resign"),
    "promotes to nothing": illegal("e2e4q"),
}
#: What the engine does is bad manners, but no fault; or it has a test of its own.
ELSEWHERE = {
    "Bytes", "Trickles", "ManyOptions", "LoudErrors", "UntilStop", "LateAfterStop", "CountsNodes",
    "CountsNodesOnly", "CountsDepth", "DiesAfterAnswer", "AnswersTwice", "IgnoresQuit",
    "IgnoresSignals", "LeavesOrphan", "LeavesDeafOrphan", "Moody", "Remarks", "AnswersAtOnce",
    "TellsEnvironment", "Says", "Chatters", "LeavesOrphanIdle",
    "LateAtStart", "LateReady",
}  # fmt: skip

each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


def test_every_mode_of_the_program_is_tested():
    assert {fault.mode for fault in FAULTS.values()} | ELSEWHERE == set(MODES)


async def take_turn(pool: UciPool) -> str:
    async with pool.lease() as process:
        return (await process.search(START, DEPTH)).move.uci()


async def prepare_and_search(
    process: UciProcess, options: Mapping[str, Value] | None = None
) -> None:
    await process.prepare(options or {}, "standard")
    await process.search(START, DEPTH)


def check(error: UciFault, fault: Fault) -> None:
    assert type(error) is fault.error
    assert error.engine == "Crash Test"
    assert {name: getattr(error, name) for name in fault.fields} == fault.fields
    assert re.fullmatch(fault.sentence, str(error))
    if isinstance(error, UciTimedOut):
        # The timer may be early by less than the clock can tell.
        assert error.waited >= timedelta(seconds=min(fault.patience.values()) - 0.1)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@each_fault
def test_a_fault_is_an_error_and_the_turn_can_be_retried(fault, tmp_path):
    async def main():
        flawed = program(fault.mode, fault.moves, once=tmp_path / "once", **fault.patience)
        async with UciPool(flawed, size=1) as pool:
            with pytest.raises(UciFault) as caught:
                await take_turn(pool)
            assert survivors() == set()  # nothing is left of it when the error is there
            assert pool.processes == ()
            assert await take_turn(pool) == "e2e4"
            assert await take_turn(pool) == "e2e4"
        return caught.value

    check(run(main()), fault)


@each_fault
def test_a_fault_of_a_single_process(fault):
    async def main():
        process = UciProcess(program(fault.mode, fault.moves, **fault.patience))

        async def go_through_all() -> None:
            await process.begin()
            await prepare_and_search(process)

        with pytest.raises(UciFault) as caught:
            await go_through_all()
        assert not process.is_alive
        with pytest.raises(fault.error) as again:
            await process.search(START, DEPTH)
        assert again.value is caught.value  # the first fault is the one that counts
        await process.aclose()
        await process.aclose()
        return caught.value

    check(run(main(), debug=False), fault)


ORPHANS = {
    "of a dead process": ("LeavesOrphan", {}, UciDied),
    # More than a pipe holds, so that some of it has not been written when the process is killed.
    "that reads nothing": (
        "LeavesDeafOrphan",
        {f"Text {number}": "x" * 4096 for number in range(40)},
        UciTimedOut,
    ),
}


@pytest.mark.skipif(not LINUX, reason="orphans are found in /proc")
@pytest.mark.parametrize(("mode", "options", "error"), ORPHANS.values(), ids=ORPHANS)
def test_an_orphan_that_holds_the_pipes_open_is_not_waited_for(mode, options, error):
    async def main():
        process = await UciProcess.start(program(mode, ready=SOON))
        with pytest.raises(error):
            await prepare_and_search(process, options)
        await process.aclose()
        assert process.is_gone
        # It has left the group, so it is out of reach; but it keeps us from nothing.
        orphans = survivors()
        for orphan in orphans:
            os.kill(orphan, signal.SIGKILL)
        await until(lambda: not survivors())
        return orphans

    assert len(run(main())) == 1


# --- programs that cannot be started ---


def executable(place: Path, content: bytes, mode: int = 0o755) -> str:
    place.write_bytes(content)
    place.chmod(mode)
    return str(place)


@dataclass(frozen=True)
class Unstartable:
    command: Any  # of a folder to put a program into
    error: type[UciError]
    sentence: str


CANNOT_START = {
    "no such file": Unstartable(
        lambda at: (str(at / "nothing"),), UciNotFound, r"X was not found at '.*'"
    ),
    "not on PATH": Unstartable(
        lambda _: ("no-such-program",), UciNotFound, r"X was not found at 'no-such-program'"
    ),
    "no such folder": Unstartable(
        lambda at: (str(at / "no" / "thing"),), UciNotFound, r"X was not found at '.*'"
    ),
    "a folder": Unstartable(
        lambda at: (str(at),), UciWontStart, r"X cannot be started from '.*': Permission denied"
    ),
    "under a file": Unstartable(
        lambda at: (executable(at / "file", b"") + "/x",),
        UciWontStart,
        r"X cannot be started from '.*': Not a directory",
    ),
    "not executable": Unstartable(
        lambda at: (executable(at / "x", b"#!/bin/sh\n", 0o644),),
        UciWontStart,
        r"X cannot be started from '.*': Permission denied",
    ),
    "text": Unstartable(
        lambda at: (executable(at / "x", b"echo uciok\n"),),
        UciWontStart,
        r"X cannot be started from '.*': Exec format error",
    ),
    "garbage": Unstartable(
        lambda at: (executable(at / "x", b"\x7fELF\x00\xff" * 99),),
        UciWontStart,
        r"X cannot be started from '.*': Exec format error",
    ),
    "empty file": Unstartable(
        lambda at: (executable(at / "x", b""),),
        UciWontStart,
        r"X cannot be started from '.*': Exec format error",
    ),
    "missing interpreter": Unstartable(
        lambda at: (executable(at / "x", b"#!/no/such/interpreter\n"),),
        UciWontStart,
        r"X cannot be started from '.*': what it needs to run is not installed",
    ),
    "NUL in the program": Unstartable(
        lambda _: ("/bin/\0sh",),
        UciWontStart,
        r"X cannot be started from '/bin/\\x00sh': embedded null byte",
    ),
    "NUL in an argument": Unstartable(
        lambda _: (sys.executable, "-c", "\0"),
        UciWontStart,
        r"X cannot be started from '.*': embedded null byte",
    ),
    "lone surrogate": Unstartable(
        lambda _: ("/bin/\ud800",), UciWontStart, r"X cannot be started from '.*': .*surrogates.*"
    ),
    "no name": Unstartable(lambda _: ("",), UciNotFound, r"X was not found at ''"),
    "no command": Unstartable(lambda _: (), UciNotFound, r"X was not found at ''"),
    "too long": Unstartable(
        lambda _: (sys.executable, "-c", "#" * 10_000_000),
        UciWontStart,
        r"X cannot be started from '.*': Argument list too long",
    ),
}


@pytest.mark.parametrize("row", CANNOT_START.values(), ids=CANNOT_START)
def test_a_program_that_cannot_be_started(row, tmp_path):
    named = UciProgram("X", row.command(tmp_path))

    async def main():
        async with UciPool(named, size=1) as pool:
            for _ in range(3):  # nor does it use up the pool
                with pytest.raises(UciError) as caught:
                    await take_turn(pool)
            assert pool.processes == ()
        return caught.value

    error = run(main())
    assert type(error) is row.error
    assert error.engine == "X"
    assert error.program == (named.command or ("",))[0]
    assert re.fullmatch(row.sentence, str(error))


def test_a_variable_that_cannot_be_passed_on():
    async def main():
        with pytest.raises(UciWontStart) as caught:
            await UciProcess.start(program(environment={"A=B": "\0"}))
        return caught.value

    assert str(run(main())).endswith(": illegal environment variable name")


# --- a thousand of them ---


@pytest.mark.usefixtures("without_coverage")
def test_a_thousand_faults_leave_nothing_behind():
    swift = {"start": 0.05, "ready": 0.05, "search": 0.02, "stop": 0.05}
    pools = {}
    for fault in FAULTS.values():
        patience = {name: swift[name] for name in fault.patience}
        pools[fault.mode, fault.moves] = UciPool(program(fault.mode, fault.moves, **patience))
    faults = list(FAULTS.values()) * (1 + 1000 // len(FAULTS))
    random.Random(1).shuffle(faults)
    waiting = iter(faults)

    async def work() -> None:
        for fault in waiting:
            with pytest.raises(fault.error):
                await take_turn(pools[fault.mode, fault.moves])

    async def main():
        before = (descriptors(), children())
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(work())
        # Before any pool is closed: what has failed needs no closing.
        assert all(pool.processes == () for pool in pools.values())
        assert (descriptors(), children()) == before
        assert survivors() == set()
        for thread in watchers():
            thread.join()
        for pool in pools.values():
            await pool.aclose()

    assert len(faults) >= 1000
    run(main(), debug=False, hangs_after=300)
