"""A UCI engine in a seat: what it decides, that it can be repeated, and what it survives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.errors import CannotPlayVariant
from agents.player import Decision, Player, Turn
from agents.uci.errors import (
    PoolClosed,
    UciDied,
    UciFault,
    UciIllegalAnswer,
    UciNotFound,
    UciTimedOut,
)
from agents.uci.levels import LEVELS
from agents.uci.limits import Limit
from agents.uci.player import UciPlayer
from agents.uci.pool import UciPool
from agents.uci.process import SearchResult, UciProcess
from agents.uci.program import UciProgram, find_stockfish
from engine import Color, Game, GameOver, Termination
from tests.support.processes import MARK, program, run, told, until

FULL_STRENGTH = LEVELS[-1]
DEPTH = Limit(depth=3)
#: What an engine thinks of its move, for people.
REASON = re.compile(
    r"(instead of [a-h1-8]{4}[qrbn]?: )?([≥≤] )?([+-]\d+\.\d\d|mate in \d+|mated in \d+), depth \d+"
)


def stockfish() -> UciProgram:
    return replace(find_stockfish(), environment={"UCI_MARK": MARK})


def after(*moves: str, variant: str = "standard", time_control: str | None = None) -> Turn:
    """Return the turn after some moves."""
    game = Game(variant=variant, time_control=time_control)
    for move in moves:
        game.play(move)
    return Turn.of(game)


async def play_on(game: Game, players: dict[Color, Player], plies: int) -> list[Decision]:
    decisions = []
    while not game.is_over and len(game.line) < plies:
        decisions.append(await players[game.turn].decide(Turn.of(game)))
        game.play(decisions[-1].move)
    return decisions


# --- what it decides ---

SEATED = {
    "by nodes": (Limit(nodes=300), {}, None),
    "by depth": (Limit(depth=3), {}, None),
    "by time": (Limit(time=timedelta(milliseconds=5)), {}, None),
    "by the clock": (None, {}, "1+0.02"),
    "by the clock and nodes": (Limit(nodes=300), {}, "60"),
    "by itself": (None, {}, None),
    "with less skill": (Limit(depth=2), {"Skill Level": 1}, None),
}


@pytest.mark.parametrize(("limit", "options", "control"), SEATED.values(), ids=SEATED)
def test_decisions_are_legal_and_tell_why(limit, options, control):
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            short = Limit(nodes=100)
            player = UciPlayer("sf", pool, limit=limit, untimed=short, options=options)
            await player.decide(after())  # what it takes to start is not for the clock
            decisions = []
            for variant in ("standard", "chess960"):
                game = Game(variant=variant, time_control=control)
                decisions += await play_on(game, dict.fromkeys(Color, player), 8)
            return decisions

    decisions = run(main())
    assert len(decisions) == 16
    for decision in decisions:
        (advice,) = decision.advice
        (candidate,) = advice.candidates
        assert (advice.by, candidate.move) == ("sf", decision.move)
        assert REASON.fullmatch(candidate.reason), candidate.reason


#: What the crash test dummy plays, while it always says that it thinks of e2e4.
REASONS = {
    "of its move": ("Engine", "e2e4", "+0.13, depth 1"),
    "of another move": ("Engine", "d2d4", "instead of e2e4: +0.13, depth 1"),
    "none": ("Remarks", "e2e4", ""),
}


@pytest.mark.parametrize(("mode", "move", "reason"), REASONS.values(), ids=REASONS)
def test_the_reason_is_what_the_engine_said_of_the_move(mode, move, reason):
    async def main():
        async with UciPool(program(mode, move)) as pool:
            return await UciPlayer("x", pool, limit=DEPTH).decide(after())

    decision = run(main())
    assert decision.move.uci() == move
    assert decision.advice[0].candidates[0].reason == reason


def test_with_less_skill_stockfish_says_what_it_would_rather_have_played():
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = UciPlayer("sf", pool, limit=DEPTH, options={"Skill Level": 0})
            return [await player.decide(after("e4", "e5")) for _ in range(40)]

    decisions = run(main())
    reasons = [(each.move.uci(), each.advice[0].candidates[0].reason) for each in decisions]
    worse = [pair for pair in reasons if pair[1].startswith("instead of ")]
    assert worse
    assert not any(reason.startswith(f"instead of {move}:") for move, reason in worse)


# --- the same again ---


async def played(pool: UciPool, nodes: int = 400, plies: int = 40) -> list[str]:
    """Return a game that full strength plays against itself."""
    players = {color: FULL_STRENGTH.player(pool, limit=Limit(nodes=nodes)) for color in Color}
    game = Game(claims_draws=True)
    await play_on(game, players, plies)
    return [ply.uci for ply in game.plies]


def test_with_nodes_and_full_strength_it_is_the_same_game_whatever_else_goes_on():
    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            alone = await played(pool)
            async with asyncio.TaskGroup() as group:
                # Of the same pool, in between: the first game again, and others with it.
                again = [group.create_task(played(pool)) for _ in range(2)]
                others = [group.create_task(played(pool, nodes)) for nodes in (150, 700)]
            other_games = {tuple(each.result()) for each in others}
            return alone, [each.result() for each in again], other_games

    alone, again, other_games = run(main())
    assert len(alone) == 40
    assert again == [alone, alone]
    assert tuple(alone) not in other_games


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended, and its lines still come
        os.kill(pid, signal.SIGKILL)


def test_it_is_the_same_game_when_processes_are_killed_in_the_middle(monkeypatch):
    killed = []
    search = UciProcess.search
    count = 0

    async def deadly(self: UciProcess, *arguments, **named) -> SearchResult:
        # Now and then one is killed before it is asked, and now and then while it thinks.
        nonlocal count
        count += 1
        if count % 10 == 3:
            os.kill(self.pid, signal.SIGKILL)
            killed.append(self.pid)
        elif count % 10 == 8:
            killed.append(self.pid)
            named["listener"] = lambda _: _kill(self.pid)
        return await search(self, *arguments, **named)

    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            undisturbed = await played(pool, plies=30)
            monkeypatch.setattr(UciProcess, "search", deadly)
            return undisturbed, await played(pool, plies=30)

    undisturbed, disturbed = run(main())
    assert disturbed == undisturbed
    assert len(killed) == len(set(killed)) >= 6


# --- the clock ---


async def timed_game(pool: UciPool, control: str, plies: int) -> Game:
    """Return a game of full strength against itself, by the real clock."""
    players = {color: FULL_STRENGTH.player(pool) for color in Color}
    game = Game(time_control=control)
    clock = asyncio.get_running_loop().time
    try:
        while not game.is_over and len(game.line) < plies:
            began = clock()
            decision = await players[game.turn].decide(Turn.of(game))
            game.play(decision.move, elapsed=timedelta(seconds=clock() - began))
    except GameOver:
        pass  # the flag has fallen, as the game can tell
    return game


def test_its_flag_does_not_fall():
    async def main():
        async with UciPool(stockfish(), size=2) as pool:
            # A machine that has much else to do may need more. One that flags then cannot play.
            for control in ("1+0.1", "5+0.5", "20+2"):
                game = await timed_game(pool, control, plies=40)
                if not game.is_over:
                    break
            return game

    game = run(main())
    assert game.outcome is None or game.outcome.termination is not Termination.TIME_FORFEIT
    assert len(game.plies) == 40


def gone(log) -> list[dict[str, str]]:
    """Return what every `go` said, as a table."""
    lines = [line.split()[1:] for line in told(log) if line.startswith("go ")]
    return [dict(zip(words[::2], words[1::2], strict=True)) for words in lines]


def test_waiting_for_a_process_counts_as_thinking(tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program(log=log), size=1) as pool:
            player = UciPlayer("slow", pool)
            loop = asyncio.get_running_loop()
            async with pool.lease():
                began = loop.time()
                turn = asyncio.create_task(player.decide(after(time_control="10+1")))
                await until(lambda: loop.time() > began + 0.2)
            await turn

    run(main())
    (words,) = gone(log)
    assert int(words["wtime"]) <= 10_000 - 30 - 200
    assert int(words["btime"]) == 10_000


def test_what_a_broken_process_took_counts_as_thinking(tmp_path):
    log = tmp_path / "log"

    async def main():
        broken = program("UntilStop", "d2d4,e2e4", log=log, once=tmp_path / "once")
        async with UciPool(broken, size=1) as pool:
            loop = asyncio.get_running_loop()
            began = loop.time()
            turn = asyncio.create_task(UciPlayer("x", pool).decide(after(time_control="60")))
            await until(lambda: log.exists() and len(gone(log)) == 1)
            await until(lambda: loop.time() > began + 0.2)
            os.kill(pool.processes[0].pid, signal.SIGKILL)
            return await turn

    assert run(main()).move.uci() == "e2e4"
    first, second = gone(log)
    assert int(second["wtime"]) <= int(first["wtime"])
    assert int(second["wtime"]) <= 60_000 - 30 - 200


GO = {
    "a limit": (Limit(depth=4), "-", "go depth 4"),
    "nothing": (None, None, "go nodes 7"),
    "no clock": (None, "-", "go nodes 7"),
    "a time for each move": (None, "2s", r"go movetime \d+"),
    "a clock": (None, "60+1", r"go wtime \d+ btime 60000 winc 1000 binc 1000"),
    "a clock and a limit": (DEPTH, "60", r"go wtime \d+ btime 60000 depth 3"),
    "moves to go": (None, "40/60:20/30", r"go wtime \d+ btime 60000 movestogo 40"),
}


@pytest.mark.parametrize(("limit", "control", "command"), GO.values(), ids=GO)
def test_what_it_may_think_is_the_limit_and_the_clock(limit, control, command, tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program(log=log)) as pool:
            player = UciPlayer("x", pool, limit=limit, untimed=Limit(nodes=7))
            await player.decide(after(time_control=control))

    run(main())
    assert re.fullmatch(command, told(log)[-2])


# --- memory ---

#: How often `ucinewgame` is said in three turns of a game and two of another: for each, or for all.
FORGETTING = {
    "nodes": (Limit(nodes=100), None, None, 5),
    "depth": (DEPTH, None, None, 5),
    "nodes, and told to remember": (Limit(nodes=100), None, False, 2),
    "time": (Limit(time=timedelta(seconds=1)), None, None, 2),
    "time, and told to forget": (Limit(time=timedelta(seconds=1)), None, True, 5),
    "a clock": (None, "60+1", None, 2),
    "a clock and nodes": (Limit(nodes=100), "60+1", None, 2),
}


@pytest.mark.parametrize(
    ("limit", "control", "forgets", "times"), FORGETTING.values(), ids=FORGETTING
)
def test_it_remembers_within_a_game_unless_it_is_to_be_repeatable(
    limit, control, forgets, times, tmp_path
):
    log = tmp_path / "log"
    one = [("",), ("d4 d5",), ("d4 d5 c4 c6",)]
    other = [("e4",), ("e4 e5 d4",)]

    async def main():
        async with UciPool(program(moves="e2e3,e2e3,e2e3,g8f6,g8f6", log=log), size=1) as pool:
            player = UciPlayer("x", pool, limit=limit, forgets=forgets)
            games = []
            for (moves,) in one + other:
                await player.decide(after(*moves.split(), time_control=control))
                games.append(pool.processes[0].game)
            return games

    games = run(main())
    is_kept = times == 2
    assert [games.index(each) for each in games] == ([0, 0, 0, 3, 3] if is_kept else [0] * 5)
    assert told(log).count("ucinewgame") == times


def test_each_game_of_a_pool_keeps_its_own_process(tmp_path):
    log = tmp_path / "log"
    lines = ["", "d4 d5", "d4 d5 c4 c6", "d4 d5 c4 c6 Nc3 Nf6"]

    async def main():
        async with UciPool(program(moves="e2e3", log=log), size=2) as pool:
            players = [UciPlayer(name, pool, limit=Limit(depth=9), forgets=False) for name in "ab"]
            for line in lines:
                turn = after(*line.split())
                await asyncio.gather(*(player.decide(turn) for player in players))
            for player in players:  # one after the other, each finds its own again
                await player.decide(after(*lines[-1].split()))
            return [process.pid for process in pool.processes]

    pids = run(main())
    assert [told(log, pid).count("ucinewgame") for pid in pids] == [1, 1]
    assert [len([x for x in told(log, pid) if x.startswith("go")]) for pid in pids] == [5, 5]


CONTINUES = {
    "the same turn again": ("e4 e5", "e4 e5", True),
    "a move further": ("e4 e5", "e4 e5 Nf3", True),
    "from the start": ("", "e4 e5", True),
    "taken back": ("e4 e5", "e4", False),
    "another move": ("e4 e5", "e4 c5 Nf3", False),
    "the same place by other ways": ("e3 e6 d3 d6", "d3 d6 e3 e6 Bd2", True),
}


@pytest.mark.parametrize(("first", "second", "is_same"), CONTINUES.values(), ids=CONTINUES)
def test_what_is_the_same_game(first, second, is_same):
    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = UciPlayer("x", pool, limit=Limit(nodes=10), forgets=False)
            games = []
            for line in (first, second):
                await player.decide(after(*line.split()))
                games.append(pool.processes[0].game)
            return games

    one, other = run(main())
    assert (one is other) == is_same


# --- what it survives ---


def test_a_process_killed_while_it_thinks_is_replaced_and_nobody_notices(monkeypatch):
    thinking = asyncio.Event()
    search = UciProcess.search

    def watched(self: UciProcess, *arguments, **named):
        named["listener"] = lambda _: thinking.set()
        return search(self, *arguments, **named)

    monkeypatch.setattr(UciProcess, "search", watched)

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = UciPlayer("sf", pool, limit=Limit(nodes=100_000))
            expected = await player.decide(after("e4", "c5"))
            (victim,) = pool.processes
            thinking.clear()
            turn = asyncio.create_task(player.decide(after("e4", "c5")))
            await thinking.wait()
            assert not turn.done()
            os.kill(victim.pid, signal.SIGKILL)
            decision = await turn
            (heir,) = pool.processes
            assert heir.pid != victim.pid
            return expected, decision

    expected, decision = run(main())
    assert decision == expected


ONCE = [
    "DiesThinking",
    "KilledThinking",
    "HalfAnAnswer",
    "NoMove",
    "BabblesThinking",
    "LeavesChild",
]


@pytest.mark.parametrize("mode", ONCE)
def test_one_fault_is_nobodys_business(mode, tmp_path):
    log = tmp_path / "log"

    async def main():
        flawed = program(mode, "d2d4,e2e4", log=log, once=tmp_path / "once")
        async with UciPool(flawed, size=1) as pool:
            return await UciPlayer("x", pool, limit=DEPTH).decide(after())

    assert run(main()).move.uci() == "e2e4"
    assert told(log).count("started") == 2


TWICE = {
    "dies": (program("DiesThinking"), UciDied),
    "does not start": (program("DiesAtStart"), UciDied),
    "answers nonsense": (program(moves="e2e5"), UciIllegalAnswer),
    "answers with no move": (program("NoMove"), UciIllegalAnswer),
    "answers with a null move": (program(moves="0000"), UciIllegalAnswer),
    "gives up": (program(moves="(none)"), UciIllegalAnswer),
}


@pytest.mark.parametrize(("flawed", "error"), TWICE.values(), ids=TWICE)
def test_two_faults_are_told_and_the_turn_can_be_retried(flawed, error, tmp_path):
    log = tmp_path / "log"
    flawed = replace(flawed, environment={**flawed.environment, "UCI_LOG": str(log)})

    async def main():
        async with UciPool(flawed, size=1) as pool:
            player = UciPlayer("x", pool, limit=DEPTH)
            for attempts in (2, 4):
                with pytest.raises(error) as caught:
                    await player.decide(after())
                assert told(log).count("started") == attempts
            return caught.value

    assert isinstance(run(main()), UciFault)


def test_one_that_does_not_answer_is_not_asked_twice(tmp_path):
    log = tmp_path / "log"

    async def main():
        async with UciPool(program("IgnoresStop", log=log, stop=0.1), size=1) as pool:
            player = UciPlayer("x", pool, limit=Limit(time=timedelta(milliseconds=1)))
            with pytest.raises(UciTimedOut, match="Crash Test timed out: thinking took over"):
                await player.decide(after())

    run(main())
    assert told(log).count("started") == 1


REFUSED = {
    "no such program": (replace(program(), command=("/no/such/engine",)), "standard", UciNotFound),
    "King's Cooking": (program(), "kings-cooking", CannotPlayVariant),
    "no Chess960": (program("Trickles"), "chess960", CannotPlayVariant),
}


@pytest.mark.parametrize(("engine", "variant", "error"), REFUSED.values(), ids=REFUSED)
def test_what_no_other_process_would_mend_is_told_at_once(engine, variant, error):
    async def main():
        async with UciPool(engine) as pool:
            with pytest.raises(error):
                await UciPlayer("x", pool, limit=DEPTH).decide(after(variant=variant))

    run(main())


def test_a_closed_pool_seats_nobody():
    async def main():
        pool = UciPool(program())
        player = UciPlayer("x", pool, limit=DEPTH)
        await player.decide(after())
        await pool.aclose()
        with pytest.raises(PoolClosed):
            await player.decide(after())

    run(main())


def test_who_gives_up_on_a_turn_can_ask_again(monkeypatch):
    thinking = asyncio.Event()
    search = UciProcess.search

    def watched(self: UciProcess, *arguments, **named):
        named["listener"] = lambda _: thinking.set()
        return search(self, *arguments, **named)

    async def main():
        async with UciPool(stockfish(), size=1) as pool:
            player = UciPlayer("sf", pool, limit=Limit(nodes=1000))
            expected = await player.decide(after("d4"))
            monkeypatch.setattr(UciProcess, "search", watched)
            patient = UciPlayer("sf", pool, limit=Limit(time=timedelta(minutes=10)))
            turn = asyncio.create_task(patient.decide(after("d4")))
            await thinking.wait()
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert await player.decide(after("d4")) == expected

    run(main())
