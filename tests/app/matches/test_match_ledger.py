"""The ledger of a match: every call, what it cost, and the budgets that it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agents.models.budget import Budget
from agents.team.library import load_teams
from app.matches.commands import Abort, Pause
from app.matches.errors import UnplayableSettings
from app.matches.ledger import MatchLedger
from app.matches.service import state_of
from app.persistence.ledger import ledger_of
from engine import Color
from tests.app.matches.owning import run
from tests.support.model_server import (
    AnswersSchema,
    Asked,
    Behaviour,
    Fails,
    Hangs,
    ModelServer,
    Moment,
    Says,
)
from tests.support.processes import until
from tests.support.team_matches import (
    GOOD,
    MODEL,
    Pauses,
    Play,
    advice,
    by_role,
    every,
    furnish,
    hurry,
    move,
    playing,
    role_of,
    solo,
    trio,
)

USAGE = {
    "prompt_tokens": 812,
    "completion_tokens": 214,
    "total_tokens": 1026,
    "prompt_tokens_details": {"cached_tokens": 640},
    "completion_tokens_details": {"reasoning_tokens": 128},
}
COUNTED = AnswersSchema(usage=USAGE)
PRICES = {MODEL: {"input": "0.25", "cached_input": "0.025", "output": "2"}}
#: 172 tokens that were read, 640 that were cached, and 214 that were written.
COST = Decimal("0.000487")


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


# --- rows ---


def test_each_call_is_a_row_before_anybody_acts_on_the_reply(
    database_url: str, tmp_path: Path
) -> None:
    async def main() -> None:
        selector = Pauses('{"reasoning": "so be it", ', '"move": "d2d4"}')
        script = by_role(COUNTED, selector=selector)
        async with (
            ModelServer(script) as server,
            playing(server, tmp_path, database=database_url, prices=PRICES) as play,
        ):
            match_id = await play.start("team:default")
            await server.received(3)
            # Both specialists have answered, the selector is still speaking, and nobody has moved.
            calls = {each.role: each for each in await play.calls(match_id)}
            assert set(calls) == {"tactical", "positional"}
            assert await play.plies(match_id) == []
            selector.until.set()
            await play.ended(match_id)

            assert len(await play.calls(match_id)) == 3
            team = load_teams()["default"]
            for role, call in calls.items():
                assert (call.match_id, call.ply_number, call.color) == (match_id, 1, "white")
                assert (call.model, call.attempt, call.retry) == (MODEL, 1, 0)
                assert (call.prompt_tokens, call.completion_tokens) == (812, 214)
                assert (call.cached_tokens, call.reasoning_tokens) == (640, 128)
                assert (call.cost_usd, call.is_estimated) == (COST, False)
                assert (call.outcome, call.error) == ("ok", "")
                assert call.latency_ms >= 0
                assert call.prompt_digest == team.prompt(f"{role}.md", "standard").digest
                assert call.reply is not None
                assert '"form":"json_schema"' in call.reply
                assert '"model":"some-model-2026"' in call.reply
            assert len({each.request_digest for each in calls.values()}) == 2
            # Nobody told the usage of the third.
            third = (await play.calls(match_id))[2]
            assert (third.role, third.is_estimated) == ("selector", True)
            assert third.prompt_tokens > 100
            assert third.completion_tokens > 0

    run(main())


def test_each_try_is_a_row_and_what_was_turned_away_costs_nothing(folder: Path) -> None:
    async def main() -> None:
        script = [Fails(500), Fails(429), COUNTED]
        teams = {"own.toml": solo(retries=2)}
        async with (
            ModelServer(script) as server,
            playing(server, folder, teams=teams, prices=PRICES) as play,
        ):
            match_id = await play.start("team:own")
            await play.ended(match_id)
            calls = await play.calls(match_id)
            assert [(each.retry, each.outcome) for each in calls] == [
                (0, "server_fault"),
                (1, "rate_limited"),
                (2, "ok"),
            ]
            assert len({each.request_digest for each in calls}) == 1
            assert [each.error for each in calls] == [
                "loop answered 500: something is wrong",
                "loop takes no more requests just now: something is wrong",
                "",
            ]
            assert [each.cost_usd for each in calls] == [0, 0, COST]
            assert [each.reply is None for each in calls] == [True, True, False]
            assert [each.id for each in calls] == sorted(each.id for each in calls)

    run(main())


def test_an_attempt_that_is_refused_is_paid_for_like_any_other(folder: Path) -> None:
    async def main() -> None:
        script = [Says(_decision("e2e5"), usage=USAGE), Says(_decision("e2e4"), usage=USAGE)]
        async with (
            ModelServer(script) as server,
            playing(server, folder, prices=PRICES) as play,
        ):
            match_id = await play.start("solo:default")
            await play.ended(match_id)
            calls = await play.calls(match_id)
            assert [each.attempt for each in calls] == [1, 2]
            assert len({each.request_digest for each in calls}) == 2  # the second was told why
            assert await _total(play, match_id) == 2 * COST

    run(main())


def test_nobody_knows_what_a_model_without_a_price_costs(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(COUNTED) as server, playing(server, folder) as play:
            match_id = await play.start("solo:default")
            await play.ended(match_id)
            (call,) = await play.calls(match_id)
            assert (call.cost_usd, call.prompt_tokens) == (None, 812)
            _, totals = await play.services.matches.find_with_ledger(match_id)
            assert (totals.cost_usd, totals.calls, totals.unpriced_calls) == (None, 1, 1)

    run(main())


def test_a_match_that_is_aborted_leaves_its_calls_in_the_ledger(folder: Path) -> None:
    async def main() -> None:
        hanging = Hangs(Moment.MID_STREAM, "I am about to say something")
        async with (
            ModelServer(by_role(hanging, positional=COUNTED)) as server,
            playing(server, folder, prices=PRICES) as play,
        ):
            match_id = await play.start("team:default")
            await server.received(2)
            await _until_called(play, match_id, 1)
            await play.command(match_id, Abort())
            await server.was_abandoned()
            await until(lambda: play.services.runner.running == 0)
            calls = {each.role: each for each in await play.calls(match_id)}
            assert {role: each.outcome for role, each in calls.items()} == {
                "positional": "ok",
                "tactical": "cancelled",
            }
            given_up = calls["tactical"]
            # The provider bills it, so it is guessed what it took.
            assert given_up.is_estimated
            assert given_up.prompt_tokens > 100
            assert given_up.cost_usd is not None
            assert given_up.cost_usd > 0
            assert given_up.reply is None

    run(main())


def test_a_paused_match_asks_nobody_and_goes_on_with_what_was_paid_for(folder: Path) -> None:
    async def main() -> None:
        script = by_role(tactical=advice("e2e4"), positional=advice("d2d4"), selector=Hangs())
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("team:default")
            await server.received(3)
            await play.command(match_id, Pause("a break"))
            await server.was_abandoned()
            server.behave(by_role(selector=move("d2d4")))
            await play.resume(match_id)
            await play.ended(match_id)
            assert [role_of(each) for each in server.requests[2:]] == ["selector", "selector"]

    run(main())


def test_a_database_that_is_slow_costs_the_player_no_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("random")
            database, excused = play.services.database, []
            ledger = MatchLedger(match_id, Budget(), database, lambda call: None)
            turn = ledger.for_turn(Color.WHITE, 1, lambda *span: excused.append(span))
            await turn.has_reply("selector")
            assert excused == []
            monkeypatch.setattr("app.matches.ledger.SLOW", timedelta(0))
            await turn.has_reply("selector")
            ((since, until),) = excused
            assert since <= until

    run(main())


# --- budgets ---


BUDGETS: dict[str, tuple[Budget, str]] = {
    "calls": (Budget(calls=2), "0 of its calls are left, and the next call could take 1"),
    "tokens": (Budget(tokens=20_000), " of its tokens are left, and "),
    "usd": (Budget(usd=Decimal("0.03")), " of its usd are left, and the next call could take 0.0"),
}
#: Each call takes all that it may write, so that a few of them spend a budget.
DEAR = AnswersSchema(usage={"prompt_tokens": 1000, "completion_tokens": 2000})
DEAR_PRICES = {MODEL: {"input": 1, "output": 2}}


@pytest.mark.parametrize("what", BUDGETS)
def test_a_call_that_could_break_the_budget_is_not_made(what: str, folder: Path) -> None:
    budget, sentence = BUDGETS[what]

    async def main() -> None:
        teams = {"own.toml": solo()}
        async with ModelServer(DEAR) as server:
            async with playing(server, folder, teams=teams, prices=DEAR_PRICES) as play:
                match_id = await play.start("team:own", max_plies=40, budget=budget)
                reason = await play.paused(match_id)
                assert reason.startswith("team:own could not decide: the match's budget is spent: ")
                assert sentence in reason
                assert await play.rejected(match_id) == []
                asked = len(server.requests)
                assert asked == len(await play.calls(match_id)) >= 2
                await _keeps(play, match_id, budget)
                # Of forced moves nobody is asked.
                assert len(await play.plies(match_id)) >= 2 * asked
            # What was spent before a restart was spent.
            async with playing(server, folder, teams=teams, prices=DEAR_PRICES) as play:
                await play.resume(match_id)
                assert sentence in await play.paused(match_id)
                assert len(server.requests) == asked
                await _keeps(play, match_id, budget)

    run(main())


def test_a_match_goes_on_with_another_budget(folder: Path) -> None:
    async def main() -> None:
        teams = {"own.toml": solo()}
        async with ModelServer(DEAR) as server:
            async with playing(server, folder, teams=teams) as play:
                match_id = await play.start("team:own", max_plies=40, budget=Budget(calls=2))
                await play.paused(match_id)
                with pytest.raises(UnplayableSettings, match=f"nobody knows what {MODEL} costs"):
                    await play.resume(match_id, Budget(usd=Decimal(1)))
                # What was spent before counts, so there is one more call.
                await play.resume(match_id, Budget(calls=3))
                await play.paused(match_id)
                assert len(server.requests) == 3
                record = await play.services.matches.find(match_id)
                assert state_of(record)["budget"] == {"usd": None, "tokens": None, "calls": 3}
                match = await play.services.matches.load(match_id)
                assert (match.budget, match.settings.budget) == (Budget(calls=3), Budget(calls=2))
            # It is the budget after a restart, too.
            async with playing(server, folder, teams=teams) as play:
                await play.resume(match_id)
                assert "the match's budget is spent" in await play.paused(match_id)
                assert len(server.requests) == 3
                server.behave(Hangs())
                await play.resume(match_id, Budget(calls=5))
                await server.received(4)
            # It was not paused then, so it goes on by itself; what was given up was paid for.
            server.behave(DEAR)
            async with playing(server, folder, teams=teams) as play:
                assert "the match's budget is spent" in await play.paused(match_id)
                assert len(server.requests) == 5
                # No bound at all.
                await play.resume(match_id, Budget())
                await play.ended(match_id)
                assert len(server.requests) > 6

    run(main())


@pytest.mark.parametrize("table", [{"calls": 2}, {"tokens": 20_000}, {"usd": 0.03}], ids=str)
def test_a_team_keeps_its_own_budget_besides(table: dict[str, Any], folder: Path) -> None:
    async def main() -> None:
        teams = {"own.toml": solo(budget=table), "rich.toml": solo()}
        async with (
            ModelServer(DEAR) as server,
            playing(server, folder, teams=teams, prices=DEAR_PRICES) as play,
        ):
            match_id = await play.start("team:rich", "team:own", max_plies=40)
            reason = await play.paused(match_id)
            assert reason.startswith("team:own could not decide: the player's budget is spent: ")
            calls = await play.calls(match_id)
            spent = [each for each in calls if each.color == "black"]
            # What the opponent took is not on the team's bill.
            assert len(spent) == len(calls) // 2 >= 2
            assert len(calls) == len(server.requests)
            if "usd" in table:
                assert sum(each.cost_usd or 0 for each in spent) <= Decimal(str(table["usd"]))

    run(main())


def test_specialists_go_without_what_the_budget_does_not_cover(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", max_plies=9, budget=Budget(calls=4))
            assert "the match's budget is spent" in await play.paused(match_id)
            assert len(server.requests) == 4
            abstained = [each for each in await play.advice(match_id) if each["abstained"]]
            assert [each["ply"] for each in abstained] == [3]
            assert abstained[0]["abstained"].startswith("the match's budget is spent: ")
            assert len(await play.plies(match_id)) == 2

    run(main())


def test_calls_at_the_same_time_reserve_what_each_may_cost(folder: Path) -> None:
    async def main() -> None:
        # One call is covered, and two are not: what the first may cost is set aside.
        waiting = Pauses('{"reasoning": "", ', '"candidates": []}')
        script: Callable[[Asked], Behaviour] = by_role(GOOD, tactical=waiting, positional=waiting)
        async with (
            ModelServer(script) as server,
            playing(server, folder, teams={"own.toml": trio()}) as play,
        ):
            match_id = await play.start("team:own", budget=Budget(tokens=8_000))
            await server.received(1)
            # The second abstains at once, while the first is still speaking.
            await play.until(match_id, lambda it: it.last_sequence >= 4)
            (abstention,) = await play.advice(match_id)
            assert abstention["abstained"].startswith("the match's budget is spent: ")
            assert len(server.requests) == 1
            waiting.until.set()
            await play.ended(match_id)
            assert len(server.requests) == 2

    run(main())


def test_no_budget_in_dollars_can_be_kept_without_a_price(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            with pytest.raises(UnplayableSettings, match=f"nobody knows what {MODEL} costs"):
                await play.start("random", "team:default", budget=Budget(usd=Decimal(1)))
            # Of other budgets nobody needs a price, and others ask no models.
            await play.ended(await play.start("team:default", budget=Budget(calls=9)))
            await play.ended(await play.start("random", budget=Budget(usd=Decimal(1))))

    run(main())


def test_faults_that_took_nothing_are_not_on_the_bill(folder: Path) -> None:
    async def main() -> None:
        async with (
            ModelServer(every(2, GOOD, then=Fails(500))) as server,
            playing(server, folder, teams={"own.toml": solo(retries=3)}) as play,
        ):
            match_id = await play.start("team:own", max_plies=9, budget=Budget(calls=2))
            assert "0 of its calls are left" in await play.paused(match_id)
            assert len(server.requests) == 4
            assert len(await play.plies(match_id)) == 4

    run(main())


# --- what tests share ---


def _decision(uci: str) -> str:
    return f'{{"reasoning": "because", "move": "{uci}"}}'


async def _total(play: Play, match_id: str) -> Decimal | None:
    totals = await play.services.database.read(lambda connection: ledger_of(connection, match_id))
    return totals.cost_usd


async def _until_called(play: Play, match_id: str, count: int) -> None:
    """Return when so many calls are in the ledger, which no event tells."""
    while len(await play.calls(match_id)) < count:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def _keeps(play: Play, match_id: str, budget: Budget) -> None:
    """Check that no more was spent than there was."""
    calls = await play.calls(match_id)
    if budget.calls is not None:
        assert len(calls) == budget.calls
    if budget.tokens is not None:
        spent = sum(each.prompt_tokens + each.completion_tokens for each in calls)
        assert spent <= budget.tokens < spent + 15_000
    if budget.usd is not None:
        dollars = await _total(play, match_id)
        assert dollars is not None
        assert dollars == len(calls) * Decimal("0.005")
        assert dollars <= budget.usd < dollars + Decimal("0.02")
