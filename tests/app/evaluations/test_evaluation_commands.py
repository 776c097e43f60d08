"""Pausing and cancelling evaluations, whatever their matches do; and what faults of models do."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from agents.models.budget import Budget
from agents.models.errors import RequestRefused, ServerFault
from app.matches import owner
from app.matches.commands import Abort, Resume
from app.matches.errors import CannotDo
from app.persistence.evaluations import move_on
from app.persistence.matches import claimable
from engine import Move
from tests.support.evaluating import QUICK, evaluating, hurry, weak
from tests.support.players import RESIGNS, ScriptedPlayer, Waits

pytestmark = pytest.mark.asyncio

DUEL = {"kind": "duel", "agents": ["thinker", "strong"], "games": 4, **QUICK}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    hurry(monkeypatch)
    with capture_logs():
        yield


def thinking(gate):
    """Return players who resign when the gate is opened."""

    def thinker(seed):
        return ScriptedPlayer(*[Waits(gate, RESIGNS)] * 9, name="thinker")

    return {"thinker": thinker}


async def states_of(play, evaluation_id):
    """Return how the matches stand, and why."""
    matches = [
        await play.services.matches.find(game.match_id) for game in await play.games(evaluation_id)
    ]
    return [(match.status, json.loads(match.state)["pause_cause"]) for match in matches]


async def test_a_match_that_has_not_begun_waits_for_its_evaluation(database_url, tmp_path):
    gate = asyncio.Event()
    async with evaluating(database_url, tmp_path, thinking(gate), concurrent_matches=1) as play:
        evaluation_id = await play.start(**DUEL, concurrency=4)
        await play.playing(evaluation_id, 4)
        await play.evaluations.pause(evaluation_id)
        worker = play.services.runner.worker
        found = await play.services.database.read(lambda each: claimable(each, worker, 9))
        assert found == []
        states = await states_of(play, evaluation_id)
        assert {status for status, _ in states} <= {"created", "paused"}
        gate.set()
        await play.evaluations.resume(evaluation_id)
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        assert [(game.number, game.attempt) for game in games] == [(n, 1) for n in range(1, 5)]


async def test_an_evaluation_that_pauses_by_itself_pauses_its_games(database_url, tmp_path):
    async with evaluating(database_url, tmp_path, thinking(asyncio.Event())) as play:
        evaluation_id = await play.start(**DUEL)
        for attempt in (1, 2, 3):
            await play.until(evaluation_id, lambda it, n=attempt: f'"void":{n - 1}' in it.progress)
            first, _ = await play.playing(evaluation_id, 2)
            assert (first.number, first.attempt) == (1, attempt)
            await play.services.matches.command(first.match_id, Abort("nobody likes it"))
        record = await play.until(evaluation_id, lambda it: it.status == "paused")
        assert "game 1 came to nothing 3 times: nobody likes it" in record.detail
        games = await play.games(evaluation_id)
        assert [(game.number, game.status) for game in games] == [
            *[(1, "void")] * 3,
            (2, "playing"),
        ]
        assert (await states_of(play, evaluation_id))[-1] == ("paused", "evaluation")


async def test_cancelling_keeps_a_game_that_ended_unseen(database_url, tmp_path):
    gate = asyncio.Event()
    async with evaluating(database_url, tmp_path, thinking(gate)) as play:
        evaluation_id = await play.start(**DUEL)
        first, second = await play.playing(evaluation_id, 2)
        await play.evaluations.pause(evaluation_id)
        gate.set()
        matches = play.services.matches
        await matches.command(first.match_id, Resume())
        while (await matches.find(first.match_id)).status != "ended":  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        record = await play.evaluations.cancel(evaluation_id)
        games = await play.games(evaluation_id)
        assert [(game.match_id, game.status) for game in games] == [
            (first.match_id, "scored"),
            (second.match_id, "void"),
        ]
        progress = json.loads(record.progress)
        assert progress["phase"] == "done"
        assert progress["games"] | {"expected": 0} == {
            "scored": 1, "playing": 0, "void": 1, "expected": 0,
        }  # fmt: skip
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["games"] == 1


async def test_nobody_else_gives_its_matches_another_budget(database_url, tmp_path):
    async with evaluating(database_url, tmp_path, thinking(asyncio.Event())) as play:
        evaluation_id = await play.start(**DUEL)
        game, _ = await play.playing(evaluation_id, 2)
        with pytest.raises(CannotDo, match="has its budget from its evaluation"):
            await play.services.matches.command(game.match_id, Resume(Budget(calls=1000)))
        await play.evaluations.cancel(evaluation_id)


REFUSED = RequestRefused("provider", 401, "wrong key")
AWAY = ServerFault("provider", 500)


@pytest.mark.parametrize(
    ("fault", "cause", "words"),
    [(REFUSED, "setup", "wrong key"), (AWAY, "outage", "answered 500")],
)
async def test_games_are_kept_while_a_model_cannot_be_asked(
    fault, cause, words, database_url, tmp_path
):
    def unheard(seed):
        return ScriptedPlayer(*[fault] * 1000, name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": unheard}) as play:
        evaluation_id = await play.start(**DUEL)
        record = await play.stopped(evaluation_id)
        assert record.status == "paused"
        assert words in record.detail
        before = await play.games(evaluation_id)
        assert [(game.number, game.status) for game in before] == [(1, "playing"), (2, "playing")]
        causes = {cause for _, cause in await states_of(play, evaluation_id)}
        assert cause in causes <= {cause, "evaluation"}

    async with evaluating(database_url, tmp_path, {"thinker": weak}) as play:
        await play.evaluations.resume(evaluation_id)
        await play.finished(evaluation_id)
        games = await play.games(evaluation_id)
        assert [game.match_id for game in games[:2]] == [game.match_id for game in before]
        assert [(game.number, game.status) for game in games] == [
            (number, "scored") for number in range(1, 5)
        ]


def any_move(turn):
    return min(turn.position.legal_moves(), key=Move.uci)


async def test_a_fault_after_a_while_is_another_one(database_url, tmp_path):
    """A provider that is away now and then, and not for long, is not given up."""
    # A match pauses after so many faults, and every resumption has another player decide.
    spell = [AWAY] * 3 * owner.FAULTS
    steps = iter([*[*spell, any_move] * 4, RESIGNS] * 2)

    def often_unheard(seed):
        return ScriptedPlayer(*[lambda turn: next(steps)] * 99, name="thinker")

    async with evaluating(database_url, tmp_path, {"thinker": often_unheard}) as play:
        evaluation_id = await play.start(**{**DUEL, "games": 2, "concurrency": 1})
        record = await play.stopped(evaluation_id)
        assert record.status == "finished", record.detail
        games = await play.games(evaluation_id)
        assert [(game.number, game.status) for game in games] == [(1, "scored"), (2, "scored")]


async def test_what_nobody_understands_any_more_can_be_cancelled(database_url, tmp_path):
    """A plan of another version, say."""
    async with evaluating(database_url, tmp_path, thinking(asyncio.Event())) as play:
        evaluation_id = await play.start(**DUEL)
        await play.playing(evaluation_id, 2)
        paused = await play.evaluations.pause(evaluation_id)
        await play.services.database.write(
            lambda each: move_on(each, evaluation_id, paused.epoch, plan='{"kind": "tournament"}')
        )
        record = await play.evaluations.cancel(evaluation_id)
        assert (record.status, record.progress) == ("cancelled", paused.progress)
        assert {game.status for game in await play.games(evaluation_id)} == {"void"}
