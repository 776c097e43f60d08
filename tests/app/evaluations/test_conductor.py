"""Evaluations are conducted to their end: with faults, aborts, pauses and restarts in between."""

import asyncio
import json
from itertools import count

import pytest
from structlog.testing import capture_logs

from app.evaluations.errors import CannotCommand, EvaluationIsOver, EvaluationNotFound
from app.matches.commands import Abort, Pause, Resume
from tests.support.evaluating import QUICK, evaluating, hurry, weak
from tests.support.players import RESIGNS, Fault, ScriptedPlayer, Waits

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    hurry(monkeypatch)
    with capture_logs():
        yield


DUEL = {"kind": "duel", "agents": ["strong", "weak"], "games": 6, **QUICK}


def check_complete(games, number):
    """Every game is scored exactly once, and nothing was left out."""
    scored = [game.number for game in games if game.status == "scored"]
    assert scored == list(range(1, number + 1))
    assert len({game.match_id for game in games}) == len(games)


async def test_a_duel_is_played_to_its_end(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        evaluation_id = await play.start(**DUEL)
        record = await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        check_complete(games, 6)
        assert record.detail == "all 6 games were played"
        assert record.ended_at is not None
        assert record.owner is None
        progress = json.loads(record.progress)
        assert progress["phase"] == "done"
        assert progress["games"] == {"scored": 6, "playing": 0, "void": 0, "expected": 6}
        assert progress["agents"][0]["wins"] == 6
        assert progress["agents"][1]["losses"] == 6
        match = await play.services.matches.find(games[0].match_id)
        assert (match.evaluation_id, match.status) == (evaluation_id, "ended")
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["games"] == 6
        assert (await play.evaluations.pgn(evaluation_id)).count("[Result") == 6


async def test_no_more_games_are_played_at_a_time_than_the_plan_says(database_url, tmp_path):
    gate, thinking, most = asyncio.Event(), set(), []
    numbers = count()

    def thinker(seed):
        async def decide(turn):
            thinking.add(number)
            most.append(len(thinking))
            await gate.wait()
            thinking.discard(number)
            return await ScriptedPlayer("0000").decide(turn)

        number = next(numbers)
        player = ScriptedPlayer(name="thinker")
        player.decide = decide
        return player

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        plan = {**DUEL, "agents": ["thinker", "weak"], "games": 8, "concurrency": 3}
        plan["match"] = {"illegal_moves": {"retries": 0}}
        evaluation_id = await play.start(**plan)
        await play.playing(evaluation_id, 3)
        gate.set()
        await play.finished(evaluation_id)
        check_complete(await play.games(evaluation_id), 8)
        assert max(most) <= 3


async def test_it_goes_on_after_a_restart_with_nothing_played_twice(database_url, tmp_path):
    """The services stop in the middle of two games, and the next ones go on with these."""

    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    plan = {**DUEL, "agents": ["thinker", "weak"], "concurrency": 2}
    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        evaluation_id = await play.start(**plan)
        # Game 1 hangs, in game 2 the other one resigns, game 3 hangs.
        await play.until(evaluation_id, lambda it: '"scored":1' in it.progress)
        before = await play.playing(evaluation_id, 2)
        assert [game.number for game in before] == [1, 3]

    async with evaluating(database_url, tmp_path, {"thinker": weak}) as play:
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        check_complete(games, 6)
        assert len(games) == 6
        assert {games[0].match_id, games[2].match_id} == {game.match_id for game in before}


async def test_an_aborted_game_is_played_again(database_url, tmp_path):
    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        plan = {**DUEL, "agents": ["thinker", "weak"], "games": 2, "concurrency": 1}
        evaluation_id = await play.start(**plan)
        (game,) = await play.playing(evaluation_id, 1)
        await play.services.matches.command(game.match_id, Abort("nobody likes it"))
        await play.until(evaluation_id, lambda it: '"void":1' in it.progress)
        first, second = await play.games(evaluation_id)
        assert (first.status, first.attempt, first.detail) == ("void", 1, "nobody likes it")
        assert (second.status, second.number, second.attempt) == ("playing", 1, 2)
        await play.evaluations.cancel(evaluation_id)


async def test_a_game_that_comes_to_nothing_again_and_again_pauses_the_evaluation(
    database_url, tmp_path
):
    def broken(seed):
        return ScriptedPlayer(*[Fault("the line is dead")] * 1000, name="broken")

    async with evaluating(database_url, tmp_path, {"broken": broken}) as play:
        plan = {**DUEL, "agents": ["broken", "strong"], "concurrency": 1}
        evaluation_id = await play.start(**plan)
        record = await play.stopped(evaluation_id)
        assert record.status == "paused"
        assert "game 1 came to nothing 3 times" in record.detail
        assert "the line is dead" in record.detail
        games = await play.games(evaluation_id)
        assert [(game.number, game.attempt, game.status) for game in games] == [
            (1, 1, "void"),
            (1, 2, "void"),
            (1, 3, "void"),
        ]
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["games"] == 0


async def test_a_passing_fault_is_no_result(database_url, tmp_path):
    """A match that paused by a fault is resumed, and goes on as the same match."""

    faults = [Fault()] * 6

    def flaky(seed):
        # Each owner of a match has a player of its own; what is wrong is wrong for all of them.
        return ScriptedPlayer(*[lambda turn: faults.pop() if faults else RESIGNS] * 9, name="flaky")

    async with evaluating(database_url, tmp_path, {"flaky": flaky}) as play:
        plan = {**DUEL, "agents": ["flaky", "strong"], "games": 2, "concurrency": 1}
        evaluation_id = await play.start(**plan)
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        check_complete(games, 2)
        assert [game.attempt for game in games] == [1, 1]


async def test_a_match_that_somebody_paused_is_waited_for(database_url, tmp_path):
    gate = asyncio.Event()

    def thinker(seed):
        return ScriptedPlayer(Waits(gate, RESIGNS), Waits(gate, RESIGNS), name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        plan = {**DUEL, "agents": ["thinker", "strong"], "games": 2, "concurrency": 1}
        evaluation_id = await play.start(**plan)
        (game,) = await play.playing(evaluation_id, 1)
        await play.services.matches.command(game.match_id, Pause("tea"))
        await play.until(evaluation_id, lambda it: "paused by somebody" in it.progress)
        gate.set()
        await play.services.matches.command(game.match_id, Resume())
        await play.finished(evaluation_id)
        check_complete(await play.games(evaluation_id), 2)


# --- commands ---


async def test_pausing_stops_the_games_and_resuming_goes_on_with_them(database_url, tmp_path):
    gate = asyncio.Event()

    def thinker(seed):
        return ScriptedPlayer(Waits(gate, RESIGNS), Waits(gate, RESIGNS), name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        plan = {**DUEL, "agents": ["thinker", "strong"], "games": 4}
        evaluation_id = await play.start(**plan)
        before = await play.playing(evaluation_id, 2)
        record = await play.evaluations.pause(evaluation_id)
        assert (record.status, record.owner) == ("paused", None)
        for game in before:
            match = await play.services.matches.find(game.match_id)
            assert match.status == "paused"
        with pytest.raises(CannotCommand, match="paused"):
            await play.evaluations.pause(evaluation_id)
        record = await play.evaluations.resume(evaluation_id)
        assert record.status in ("created", "running")
        with pytest.raises(CannotCommand):
            await play.evaluations.resume(evaluation_id)
        gate.set()
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        check_complete(games, 4)
        assert {game.match_id for game in before} == {games[0].match_id, games[1].match_id}


async def test_an_evaluation_that_was_half_paused_goes_on(database_url, tmp_path, monkeypatch):
    """Its games stand, and whoever was about to store that it is paused has died."""
    gate = asyncio.Event()

    def thinker(seed):
        return ScriptedPlayer(Waits(gate, RESIGNS), Waits(gate, RESIGNS), name="thinker")

    class Died(Exception):
        pass

    async def die(*_, **__):
        raise Died

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        plan = {**DUEL, "agents": ["thinker", "strong"], "games": 4}
        evaluation_id = await play.start(**plan)
        before = await play.playing(evaluation_id, 2)
        with monkeypatch.context() as dying:
            dying.setattr(play.evaluations, "_move_on", die)
            with pytest.raises(Died):
                await play.evaluations.pause(evaluation_id)
        gate.set()
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        check_complete(games, 4)
        assert {game.match_id for game in before} == {games[0].match_id, games[1].match_id}


async def test_cancelling_aborts_the_games_and_keeps_those_that_were_played(database_url, tmp_path):
    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": thinker}) as play:
        evaluation_id = await play.start(**{**DUEL, "agents": ["thinker", "weak"]})
        await play.until(evaluation_id, lambda it: '"scored":1' in it.progress)
        record = await play.evaluations.cancel(evaluation_id)
        assert (record.status, record.detail) == ("cancelled", "it was cancelled")
        assert record.ended_at is not None
        for game in await play.games(evaluation_id):
            match = await play.services.matches.find(game.match_id)
            assert match.status in ("ended", "aborted")
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["games"] == 1
        for command in (
            play.evaluations.pause,
            play.evaluations.resume,
            play.evaluations.cancel,
        ):
            with pytest.raises(EvaluationIsOver, match="cancelled"):
                await command(evaluation_id)


async def test_there_is_nothing_to_command_where_there_is_no_evaluation(database_url, tmp_path):
    nobody = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"
    async with evaluating(database_url, tmp_path) as play:
        for command in (
            play.evaluations.find,
            play.evaluations.pause,
            play.evaluations.resume,
            play.evaluations.cancel,
            play.evaluations.report,
            play.evaluations.pgn,
        ):
            with pytest.raises(EvaluationNotFound, match=nobody):
                await command(nobody)


# --- several processes ---


async def test_two_processes_conduct_an_evaluation_once(postgres_url, tmp_path):
    plan = {**DUEL, "games": 20}
    async with (
        evaluating(postgres_url, tmp_path) as one,
        evaluating(postgres_url, tmp_path) as other,
    ):
        evaluation_id = await one.start(**plan)
        await other.finished(evaluation_id)
        games = await other.games(evaluation_id)
        check_complete(games, 20)
        assert len(games) == 20


async def test_another_process_takes_an_evaluation_over(postgres_url, tmp_path):
    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    plan = {**DUEL, "agents": ["thinker", "weak"], "concurrency": 2}
    async with evaluating(postgres_url, tmp_path, {"thinker": weak}) as other:
        idle = (other.services.runner, other.evaluations._scheduler)
        for each in idle:
            each._concurrent = 0
        async with evaluating(postgres_url, tmp_path, {"thinker": thinker}) as one:
            evaluation_id = await one.start(**plan)
            await one.until(evaluation_id, lambda it: '"scored":1' in it.progress)
            before = await one.playing(evaluation_id, 2)
            record = await other.evaluations.find(evaluation_id)
            assert (record.status, record.owner) == ("running", one.services.runner.worker)
        for each in idle:
            each._concurrent = 10
            each.wake()
        await other.finished(evaluation_id)
        games = await other.games(evaluation_id)
        check_complete(games, 6)
        assert {game.match_id for game in before} <= {game.match_id for game in games}
        assert len(games) == 6


async def test_a_command_works_in_whichever_process_it_comes(postgres_url, tmp_path):
    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    plan = {**DUEL, "agents": ["thinker", "strong"]}
    players = {"thinker": thinker}
    async with (
        evaluating(postgres_url, tmp_path, players) as one,
        evaluating(postgres_url, tmp_path, players) as other,
    ):
        evaluation_id = await one.start(**plan)
        games = await one.playing(evaluation_id, 2)
        assert (await other.evaluations.pause(evaluation_id)).status == "paused"
        assert (await one.evaluations.find(evaluation_id)).status == "paused"
        for game in games:
            assert (await one.services.matches.find(game.match_id)).status == "paused"
        assert (await one.evaluations.cancel(evaluation_id)).status == "cancelled"
        assert [game.match_id for game in await other.games(evaluation_id)] == [
            game.match_id for game in games
        ]
        for game in games:
            assert (await other.services.matches.find(game.match_id)).status == "aborted"


async def test_an_evaluation_whose_report_cannot_be_made_is_over_nevertheless(
    database_url, tmp_path
):
    async def fail(evaluation_id):
        raise ZeroDivisionError

    async with evaluating(database_url, tmp_path) as play:
        make_report, scheduler = play.evaluations.make_report, play.evaluations._scheduler
        scheduler.make_report = fail
        evaluation_id = await play.start(**DUEL)
        record = await play.stopped(evaluation_id)
        while scheduler._tasks:
            await play.evaluations.change()
        assert await play.evaluations.find(evaluation_id) == record
        assert (record.status, record.has_report) == ("finished", False)
        assert await play.evaluations.report(evaluation_id) == await make_report(evaluation_id)
