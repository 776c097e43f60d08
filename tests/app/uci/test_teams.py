"""Teams as UCI engines, whose models are a server of ours on loopback, over real HTTP."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from agents.catalogue import Catalogue
from agents.models.access import ModelAccess
from agents.models.budget import Budget
from agents.models.providers import Provider
from tests.support.model_server import AnswersSchema, Fails, Hangs, ModelServer, rate_limited
from tests.support.team_matches import MODEL, PROVIDER, advice, by_role, hurry, move, question
from tests.support.uci_gui import gui

pytestmark = pytest.mark.asyncio

SECRET = "sk-hush-hush-0123456789"
ADVISING = {"tactical": advice("e2e4", "d2d4"), "positional": advice("g1f3")}


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    hurry(monkeypatch)
    monkeypatch.setattr("app.uci.thinking.FIRST_PAUSE", timedelta(milliseconds=1))


def of(server):
    """A catalogue whose models are asked of a server."""
    provider = replace(Provider(PROVIDER, server.base_url), key_variable="LOOP_KEY")
    access = ModelAccess({PROVIDER: provider}, {"LOOP_KEY": SECRET})
    return partial(Catalogue, models=access, default_model=MODEL)


async def test_a_team_plays_and_its_specialists_are_heard():
    ledger: list[str] = []
    script = by_role(**ADVISING, selector=move("g1f3"))
    async with (
        ModelServer(script) as server,
        gui(player="team:default", catalogue=of(server), calls=ledger.append) as it,
    ):
        await it.settled()
        assert await it.best("debug on", "go") == "g1f3"
        assert await it.best("position startpos moves e2e4 e7e5", "go") == "g1f3"
    told = it.strings()
    assert "tactical: e4 (e2e4 is good); d4 (d2d4 is good)" in told
    assert "positional: Nf3 (g1f3 is good)" in told
    assert "selector: Nf3 (because)" in told
    assert [each for each in told if each.startswith("call: selector asked loop/some-model: ok, ")]
    costs = [each for each in told if each.startswith("cost: ")]
    assert costs[0].startswith("cost: a price nobody knows (3 calls, ")
    assert ", a price nobody knows (6 calls, " in costs[1]
    rows = [json.loads(line) for line in ledger]
    assert [each["role"] for each in rows][2] == "selector"
    assert len(rows) == 6
    assert {each["outcome"] for each in rows} == {"ok"}
    assert SECRET not in "".join(ledger)
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_a_team_is_told_the_moves_that_are_wanted():
    async with (
        ModelServer(AnswersSchema()) as server,
        gui(player="team:default", catalogue=of(server)) as it,
    ):
        assert await it.best("go searchmoves h2h3 h2h4") in ("h2h3", "h2h4")
    assert len(server.requests) == 3


async def test_a_team_tries_again_after_an_illegal_move():
    moves = iter(["e2e5", "e2e4"])

    def choose(asked):
        return ADVISING.get("tactical") if "candidates" in str(asked.schema) else move(next(moves))

    async with (
        ModelServer(choose) as server,
        gui(player="team:default", catalogue=of(server)) as it,
    ):
        assert await it.best("go") == "e2e4"
    assert any(each.startswith("refused: e2e5 (") for each in it.strings())
    assert "e2e5" in question(server.requests[-1])


async def test_stopped_while_the_selector_hangs_a_specialists_move_is_played():
    script = by_role(**ADVISING, selector=Hangs())
    async with (
        ModelServer(script) as server,
        gui(player="team:default", catalogue=of(server)) as it,
    ):
        it.say("go infinite")
        await server.received(3)
        assert await it.best("isready", "stop") == "e2e4"
        await server.was_abandoned()
    assert "it was stopped; e4 is the best on its table" in it.strings()[-2]


async def test_a_model_that_dawdles_does_not_cost_the_game():
    async with (
        ModelServer(Hangs()) as server,
        gui(player="solo:default", catalogue=of(server)) as it,
    ):
        await it.settled()
        move = await it.best("position startpos moves f2f3 e7e5 g2g4", "go wtime 400 btime 400")
        assert move == "d8h4"  # even Kibitz offline sees a mate
    assert "NOT a move of solo:default" in it.strings()[0]


@pytest.mark.parametrize("fault", [Fails(500), rate_limited(), Fails(401)])
async def test_a_provider_that_fails_does_not_cost_the_game(fault):
    async with (
        ModelServer(fault) as server,
        gui(player="solo:default", catalogue=of(server)) as it,
    ):
        assert await it.best("go") != "(none)"
        (emergency,) = [each for each in it.strings() if each.startswith("emergency: ")]
    assert "NOT a move of solo:default" in emergency
    assert SECRET not in "".join(it.lines)


async def test_a_budget_that_is_spent_is_told():
    async with (
        ModelServer(AnswersSchema()) as server,
        gui(player="solo:default", catalogue=of(server), budget=Budget(calls=1)) as it,
    ):
        await it.best("go")
        await it.best("ucinewgame", "go")  # it is for all games together
        assert "the match's budget is spent: 0 of its calls are left" in it.strings()[-1]
        assert len(server.requests) == 1
        await it.best("setoption name Budget Calls value 2", "go")
        assert len(server.requests) == 2
