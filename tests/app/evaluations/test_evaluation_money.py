"""An evaluation keeps to its budget, wherever its matches are played, and wastes little of it."""

import asyncio
import json
from dataclasses import dataclass
from decimal import Decimal

import pytest
from structlog.testing import capture_logs

from agents.models.ledger import CallOutcome
from app.catalogue import make_catalogue
from app.evaluations.errors import EvaluationIsOver, UnplayablePlan
from app.evaluations.plan import read_plan
from app.matches.schemas import BudgetBody
from app.persistence import ledger
from app.settings import Settings
from tests.app.persistence.samples import a_call
from tests.support.evaluating import evaluating, hurry
from tests.support.model_server import ModelServer
from tests.support.team_matches import GOOD, MODEL, PROVIDER, solo, trio

pytestmark = pytest.mark.asyncio

#: A game has five decisions of each side.
PLAN = {
    "kind": "duel",
    "agents": ["team:one", "random"],
    "openings": "none",
    "analysis": {"nodes": 0},
    "match": {"max_plies": 10},
    "games": 8,
}
TEAMS = {
    "brief.toml": solo(selector={"max_tokens": 100}),
    "one.toml": solo(),
    "own.toml": solo(budget={"calls": 3}),
    "three.toml": trio(),
}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    hurry(monkeypatch)
    monkeypatch.setattr("app.evaluations.costs.MOVES", 5)
    with capture_logs():
        yield


def services(server, database_url, tmp_path, teams=None, prices=None, **settings):
    folder = tmp_path / "teams"
    folder.mkdir(exist_ok=True)
    for name, text in (teams or TEAMS).items():
        (folder / name).write_text(text)
    values = {
        "model": MODEL,
        "teams_folder": folder,
        "providers": {PROVIDER: {"base_url": server.base_url}},
        "data_folder": tmp_path,
        "prices": prices or {},
        **settings,
    }
    catalogue = make_catalogue(Settings(**values))
    return evaluating(database_url, tmp_path, catalogue=catalogue, **values)


async def calls_of(play, evaluation_id, *outcomes):
    """Return how many calls the ledger has, or how many of them went so."""
    calls = []
    for game in await play.games(evaluation_id):
        calls += await play.services.matches.calls(game.match_id)
    return sum(not outcomes or call.outcome in outcomes for call in calls)


@dataclass(frozen=True)
class Waits:
    """Answer as others do, but not before an event has come."""

    gate: asyncio.Event

    async def answer(self, wire):
        await self.gate.wait()
        await GOOD.answer(wire)


async def paused(server, play, plan, *, call):
    """Start an evaluation, and pause it during a call; the next ones wait for what is returned."""
    gate = asyncio.Event()
    server.behave([*[GOOD] * (call - 1), Waits(gate)])
    evaluation_id = await play.start(**plan)
    await server.received(call)
    await play.evaluations.pause(evaluation_id)
    # It was made, though nobody waits for the answer.
    while await calls_of(play, evaluation_id) < call:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.01)
    return evaluation_id, gate


async def test_without_a_budget_every_game_is_played(database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        evaluation_id = await play.start(**PLAN)
        record = await play.finished(evaluation_id)
        assert json.loads(record.progress)["spent"]["calls"] == 8 * 5
        assert len(server.requests) == 8 * 5
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["games"] == 8


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_an_evaluation_stops_before_its_budget_is_broken(concurrency, database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "budget": {"calls": 23}, "concurrency": concurrency}
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        assert "budget is spent" in record.detail
        assert len(server.requests) <= 23
        assert await calls_of(play, evaluation_id) <= 23
        games = await play.games(evaluation_id)
        # Of 23 calls, four games of five can be paid for.
        assert sum(game.status == "scored" for game in games) >= 3
        assert all(game.match_status in ("ended", "aborted") for game in games)


@pytest.mark.usefixtures("without_coverage")
async def test_a_budget_of_dollars_is_kept_to_the_cent(database_url, tmp_path):
    prices = {MODEL: {"input": 1, "output": 10_000}}
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path, prices=prices) as play,
    ):
        plan = {**PLAN, "agents": ["team:brief", "random"], "budget": {"usd": 10}, "games": 60}
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        assert "budget is spent" in record.detail
        spent = Decimal(json.loads(record.progress)["spent"]["cost_usd"])
        assert 5 < spent <= 10


async def test_a_call_that_comes_in_after_the_end_of_its_match_counts(database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        gate = asyncio.Event()
        server.behave([*[GOOD] * 5, Waits(gate)])  # one game, and no more
        evaluation_id = await play.start(**{**PLAN, "concurrency": 1})
        await play.until(evaluation_id, lambda it: '"scored":1' in it.progress)
        scored, _ = await play.games(evaluation_id)
        call = a_call(scored.match_id, color="white")
        await play.services.database.write(lambda each: ledger.append(each, call))
        await play.until(evaluation_id, lambda it: json.loads(it.progress)["spent"]["calls"] == 6)
        await play.evaluations.cancel(evaluation_id)
        gate.set()


async def test_more_money_lets_it_go_on(database_url, tmp_path):
    """Two games can be paid for, until somebody gives enough for all of them."""
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "games": 4, "budget": {"calls": 12}, "concurrency": 1}
        evaluation_id, gate = await paused(server, play, plan, call=3)
        with pytest.raises(UnplayablePlan, match="spent already"):
            await play.evaluations.resume(evaluation_id, BudgetBody(calls=3))
        await play.evaluations.resume(evaluation_id, BudgetBody(calls=100))
        gate.set()
        record = await play.finished(evaluation_id)
        assert record.detail == "all 4 games were played"
        assert len(server.requests) == await calls_of(play, evaluation_id) == 4 * 5 + 1


async def test_what_ended_for_want_of_money_goes_on_with_more(database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "games": 4, "budget": {"calls": 12}, "concurrency": 1}
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        assert "budget is spent" in record.detail
        before = {game.match_id for game in await play.games(evaluation_id)}
        with pytest.raises(UnplayablePlan, match="spent already"):
            await play.evaluations.resume(evaluation_id, BudgetBody(calls=1))
        with pytest.raises(EvaluationIsOver):
            await play.evaluations.resume(evaluation_id)
        record = await play.evaluations.resume(evaluation_id, BudgetBody(calls=100))
        assert (record.status, record.ended_at, record.has_report) == ("created", None, False)
        record = await play.finished(evaluation_id)
        assert record.detail == "all 4 games were played"
        games = await play.games(evaluation_id)
        assert before <= {game.match_id for game in games}
        assert [game.number for game in games if game.status == "scored"] == [1, 2, 3, 4]
        with pytest.raises(EvaluationIsOver):  # nothing is missing now
            await play.evaluations.resume(evaluation_id, BudgetBody(calls=1000))


async def test_a_budget_that_pays_for_no_game_is_refused(database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        with pytest.raises(UnplayablePlan, match="does not pay for a single game") as caught:
            await play.start(**{**PLAN, "budget": {"calls": 2}})
        assert caught.value.field == "budget"
        assert not server.requests


async def test_a_match_that_may_spend_less_than_it_needs_pauses_it(database_url, tmp_path):
    """The plan gives a match no more, so somebody has to decide."""
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "games": 2, "match": {"max_plies": 10, "budget": {"calls": 3}}}
        evaluation_id = await play.start(**plan)
        record = await play.stopped(evaluation_id)
        assert record.status == "paused", record.detail
        assert "budget is spent" in record.detail
        assert len(server.requests) <= 6
        assert (await play.evaluations.cancel(evaluation_id)).status == "cancelled"


async def test_a_team_that_keeps_to_a_budget_of_its_own_pauses_it(database_url, tmp_path):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "agents": ["team:own", "random"], "budget": {"calls": 1000}}
        evaluation_id = await play.start(**plan)
        record = await play.stopped(evaluation_id)
        assert record.status == "paused", record.detail
        assert "budget" in record.detail
        assert len(server.requests) <= 3 * 2


async def test_a_paused_evaluation_is_resumed_with_another_budget(database_url, tmp_path):
    """It pays for one more call, with which the game under way does not come to its end."""
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "games": 4, "budget": {"calls": 1000}, "concurrency": 1}
        evaluation_id, gate = await paused(server, play, plan, call=8)
        await play.evaluations.resume(evaluation_id, BudgetBody(calls=9))
        gate.set()
        record = await play.finished(evaluation_id)
        assert json.loads(record.plan)["budget"]["calls"] == 9
        assert "budget is spent" in record.detail
        assert len(server.requests) == await calls_of(play, evaluation_id) == 9
        games = await play.games(evaluation_id)
        assert [game.status for game in games] == ["scored", "void"]


@pytest.mark.parametrize("before", [{}, {"calls": 1000}])
async def test_a_smaller_budget_holds_for_every_match(before, database_url, tmp_path):
    """Also for those that had not begun."""
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path, concurrent_matches=1) as play,
    ):
        plan = {**PLAN, "budget": before, "concurrency": 4}
        evaluation_id, gate = await paused(server, play, plan, call=2)
        await play.evaluations.resume(evaluation_id, BudgetBody(calls=9))
        gate.set()
        record = await play.finished(evaluation_id)
        assert "budget is spent" in record.detail
        assert len(server.requests) <= await calls_of(play, evaluation_id) <= 9
        # What was given up on its way may not have arrived; all else has.
        given_up = await calls_of(play, evaluation_id, CallOutcome.CANCELLED)
        assert len(server.requests) >= await calls_of(play, evaluation_id) - given_up


async def test_dollars_that_nobody_can_count_are_refused_before_anything_is_spent(
    database_url, tmp_path
):
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        for plan in (
            {**PLAN, "budget": {"usd": 5}},
            {**PLAN, "match": {"budget": {"usd": 5}}},
        ):
            with pytest.raises(UnplayablePlan, match="nobody knows what loop/some-model costs"):
                play.evaluations.prepare(read_plan(plan))
        assert not server.requests


async def test_what_a_team_said_is_in_the_report(database_url, tmp_path):
    """Specialists and selector regret come from the stored advice and Stockfish's view of it."""
    async with (
        ModelServer(GOOD) as server,
        services(server, database_url, tmp_path) as play,
    ):
        plan = {**PLAN, "agents": ["team:three", "random"], "games": 2}
        plan["analysis"] = {"nodes": 200}
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        assert json.loads(record.progress)["analysed"] == 2
        data = await play.evaluations.data(evaluation_id)
        assert {game.match_id for game in data.games} == set(data.analyses)
        game = data.games[0]
        side = game.side(game.color_of("team:three"))
        assert (side.plies, side.calls, side.illegal) == (5, 15, 0)
        assert side.prompt_tokens > 0
        assert side.cost_usd is None  # nobody knows the price
        report = await play.evaluations.report(evaluation_id)
        told = json.dumps(report)
        assert "tactical" in told
        assert "regret" in told
