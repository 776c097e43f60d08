"""Models and providers that fail, in whole matches: what is an attempt, and what is nobody's fault.

What a model says wrongly is an attempt, as the match's policy has it. What a provider does wrongly
is never scored: the match goes on when it is back.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from app.matches.commands import Pause
from app.matches.settings import Feedback, IllegalMoves, LastResort
from tests.app.matches.owning import run
from tests.support.model_server import (
    BROKEN_JSON,
    EMPTY,
    HTML,
    REFUSES,
    Asked,
    Behaviour,
    Cuts,
    Fails,
    FailsInStream,
    Floods,
    Hangs,
    ModelServer,
    Moment,
    Says,
    rate_limited,
)
from tests.support.processes import HANGS_AFTER
from tests.support.team_matches import (
    GOOD,
    advice,
    by_role,
    every,
    furnish,
    hurry,
    move,
    playing,
    question,
    role_of,
    solo,
    trio,
)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


#: What a model says wrongly: what comes over the wire, how the ledger calls it, the kind of the
#: refusal, and a part of the reason.
MODEL_FAULTS: dict[str, tuple[Behaviour, str, str, str]] = {
    "illegal": (move("e2e5"), "ok", "IllegalMove", "'e2e5'"),
    "empty": (EMPTY, "empty", "UnreadableMove", "'' cannot be read as a move"),
    "refusal": (REFUSES, "refused", "UnreadableMove", "I will not play chess."),
    "broken JSON": (Says('{"reasoning": "I think tha'), "ok", "UnreadableMove", "I think tha"),
    "prose": (Says("I have no idea."), "ok", "UnreadableMove", "I have no idea."),
    "giant": (Floods(), "cut_short", "UnreadableMove", "xxx"),
}

#: What a provider does wrongly, and how the ledger calls it.
PROVIDER_FAULTS: dict[str, tuple[Behaviour, str]] = {
    "429": (rate_limited(timedelta(0)), "rate_limited"),
    "429 without a time": (rate_limited(), "rate_limited"),
    "500": (Fails(500), "server_fault"),
    "hang before headers": (Hangs(), "timed_out"),
    "hang mid-stream": (Hangs(Moment.MID_STREAM), "timed_out"),
    "cut stream": (Cuts(), "connection_lost"),
    "rude cut": (Cuts(Moment.AFTER_HEADERS, is_rude=True), "connection_lost"),
    "broken JSON": (BROKEN_JSON, "broken"),
    "a page of HTML": (HTML, "broken"),
    "an error in the stream": (FailsInStream(502), "server_fault"),
}
RETRIES = 1


def _timeout(fault: Behaviour) -> float:
    """Return in how many seconds a call is given up: soon only where nothing else would end it."""
    return 0.2 if isinstance(fault, Hangs) else 60


def _policy(
    feedback: Feedback = Feedback.WHY, then: LastResort = LastResort.FORFEIT
) -> IllegalMoves:
    return IllegalMoves(RETRIES, feedback, then)


# --- models ---


@pytest.mark.parametrize("name", MODEL_FAULTS)
def test_a_model_that_never_names_a_legal_move_forfeits(name: str, folder: Path) -> None:
    fault, outcome, kind, reason = MODEL_FAULTS[name]

    async def main() -> None:
        async with ModelServer(fault) as server, playing(server, folder) as play:
            match_id = await play.start(illegal_moves=_policy())
            record = await play.ended(match_id)
            assert (record.winner, record.termination) == ("black", "rules_infraction")
            assert await play.plies(match_id) == []

            rejected = await play.rejected(match_id)
            assert [(each["attempt"], each["kind"]) for each in rejected] == [(1, kind), (2, kind)]
            assert all(reason in each["detail"] for each in rejected)
            assert all(len(each["detail"]) < 1000 for each in rejected)

            # The specialists were asked once, and are of no use; the selector was asked again.
            asked = [role_of(each) for each in server.requests]
            assert sorted(asked[:2]) == ["positional", "tactical"]
            assert asked[2:] == ["selector", "selector"]
            given = [each for each in await play.advice(match_id) if each["by"] != "selector"]
            assert sorted(each["by"] for each in given) == ["positional", "tactical"]
            assert all(each["abstained"] and not each["candidates"] for each in given)

            calls = await play.calls(match_id)
            assert [each.outcome for each in calls] == [outcome] * 4
            assert [each.attempt for each in calls] == [1, 1, 1, 2]
            # It was told why, once it had tried.
            assert "refused" not in question(server.requests[2])
            assert "You have already tried" in question(server.requests[3])

    run(main())


@pytest.mark.parametrize("name", MODEL_FAULTS)
def test_a_model_that_fails_now_and_then_is_told_so_and_plays_on(name: str, folder: Path) -> None:
    fault, outcome, kind, reason = MODEL_FAULTS[name]

    async def main() -> None:
        async with (
            ModelServer(every(2, fault)) as server,
            playing(server, folder) as play,
        ):
            # Every second request fails: the first of every turn but the first.
            match_id = await play.start("solo:default", max_plies=6, illegal_moves=_policy())
            record = await play.ended(match_id)
            assert (record.termination, record.ply_count) == ("max_plies", 6)

            rejected = await play.rejected(match_id)
            assert [(each["ply"], each["kind"]) for each in rejected] == [(3, kind), (5, kind)]
            assert all(reason in each["detail"] for each in rejected)
            assert [each.outcome for each in await play.calls(match_id)] == [
                "ok",
                outcome,
                "ok",
                outcome,
                "ok",
            ]
            plies = await play.plies(match_id)
            assert [each["decision"].get("attempts") for each in plies[::2]] == [1, 2, 2]

    run(main())


@pytest.mark.parametrize(
    ("feedback", "told"),
    [
        (Feedback.WHY, "already tried e2e5, and it was refused ('e2e5' in rnbqkbnr/"),
        (Feedback.ILLEGAL, "already tried e2e5, and it was refused (it is illegal). Choose"),
        (Feedback.NONE, ""),
    ],
)
def test_a_retry_is_told_as_much_as_the_match_says(
    feedback: Feedback, told: str, folder: Path
) -> None:
    async def main() -> None:
        script = [move("e2e5"), move("a1a8"), move("e2e4")]
        async with ModelServer(script) as server, playing(server, folder) as play:
            policy = IllegalMoves(2, feedback)
            match_id = await play.start("solo:default", illegal_moves=policy)
            await play.ended(match_id)
            assert (await play.moves(match_id))[0] == "e2e4"
            first, second, third = map(question, server.requests)
            assert told in second
            assert "tried" not in first
            if feedback is Feedback.NONE:
                assert first == second == third
            else:
                # Both refusals are told in the end, in their order.
                assert third.index("tried e2e5") < third.index("tried a1a8")
            assert ("is illegal: " in second) == (feedback is Feedback.WHY)

    run(main())


@pytest.mark.parametrize(
    ("then", "source", "uci"),
    [
        (LastResort.CANDIDATE, "team:default (candidate)", "g1f3"),
        (LastResort.RANDOM, "team:default (random)", None),
    ],
)
def test_after_the_last_try_the_last_resort_is_taken(
    then: LastResort, source: str, uci: str | None, folder: Path
) -> None:
    async def main() -> None:
        script = by_role(move("e2e5"), tactical=advice("g1f3", "b1c3"), positional=EMPTY)
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start(illegal_moves=_policy(then=then))
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            first, second = await play.plies(match_id)
            assert (first["source"], second["source"]) == (source, "random")
            assert uci in (None, first["uci"])
            assert len(await play.rejected(match_id)) == RETRIES + 1

            again = await play.start(illegal_moves=_policy(then=then))
            await play.ended(again)
            assert await play.moves(again) == await play.moves(match_id)  # by the same seed

    run(main())


def test_without_any_candidate_a_random_move_is_the_last_resort(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(EMPTY) as server, playing(server, folder) as play:
            match_id = await play.start(illegal_moves=_policy(then=LastResort.CANDIDATE))
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            assert (await play.plies(match_id))[0]["source"] == "team:default (random)"

    run(main())


def test_a_specialist_that_abstained_is_not_asked_again_with_the_selector(folder: Path) -> None:
    """Its answer would make another question of the selector's, which is paid for."""

    async def main() -> None:
        moves = iter(("e2e5", "e2e4"))

        def behave(asked: Asked) -> Behaviour:
            if role_of(asked) == "selector":
                return move(next(moves))
            return by_role(positional=Fails(500))(asked)

        async with ModelServer(behave) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", max_plies=1)
            await play.ended(match_id)
            asked = [role_of(each) for each in server.requests]
            assert (asked.count("positional"), asked.count("selector")) == (5, 2)
            assert len(await play.rejected(match_id)) == 1

    run(main())


# --- providers ---


@pytest.mark.parametrize("name", PROVIDER_FAULTS)
def test_a_provider_that_is_down_pauses_the_match_which_goes_on_when_it_is_back(
    name: str, folder: Path
) -> None:
    fault, outcome = PROVIDER_FAULTS[name]

    async def main() -> None:
        teams = {"quick.toml": solo(selector={"timeout": _timeout(fault)})}
        async with ModelServer(fault) as server, playing(server, folder, teams=teams) as play:
            match_id = await play.start("team:quick", illegal_moves=_policy())
            reason = await play.paused(match_id)
            assert reason.startswith("team:quick could not decide: ")
            assert "loop" in reason
            assert await play.outcomes(match_id) == {outcome}
            assert await play.rejected(match_id) == []
            assert await play.plies(match_id) == []

            before = len(server.requests)
            assert before >= 5  # each turn is tried again, and each call
            server.behave(GOOD)
            await play.resume(match_id)
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            assert await play.rejected(match_id) == []

    run(main())


@pytest.mark.parametrize("name", PROVIDER_FAULTS)
def test_a_provider_that_fails_now_and_then_costs_nothing_but_time(name: str, folder: Path) -> None:
    fault, outcome = PROVIDER_FAULTS[name]

    async def main() -> None:
        # Long enough for calls that are answered, however busy the machine is.
        timeout = 10 * _timeout(fault)
        teams = {"patient.toml": trio(f"timeout = {timeout}", retries=5)}
        async with (
            ModelServer(every(4, fault)) as server,
            playing(server, folder, teams=teams) as play,
        ):
            match_id = await play.start("team:patient", max_plies=4)
            record = await play.ended(match_id)
            assert (record.termination, record.ply_count) == ("max_plies", 4)
            assert await play.rejected(match_id) == []
            assert all(not each["abstained"] for each in await play.advice(match_id))
            calls = await play.calls(match_id)
            assert {each.outcome for each in calls} == {"ok", outcome}
            assert all((each.outcome == "ok") == (each.error == "") for each in calls)
            assert len(calls) == len(server.requests)
            assert sum(each.outcome == "ok" for each in calls) == 6

    run(main())


def test_a_whole_team_whose_provider_is_down_abstains_and_is_paused(folder: Path) -> None:
    async def main() -> None:
        teams = {"trio.toml": trio(mode="sequential")}
        async with (
            ModelServer(Fails(503)) as server,
            playing(server, folder, teams=teams) as play,
        ):
            match_id = await play.start("team:trio")
            assert "could not decide" in await play.paused(match_id)
            assert {each["by"] for each in await play.advice(match_id)} == {
                "tactical",
                "positional",
            }
            assert await play.rejected(match_id) == []
            server.behave(GOOD)
            await play.resume(match_id)
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            by = [each["by"] for each in await play.advice(match_id) if each["candidates"]]
            assert sorted(by) == ["positional", "selector", "tactical"]

    run(main())


def test_a_silent_selector_can_be_replaced_by_the_favourite_of_the_specialists(
    folder: Path,
) -> None:
    async def main() -> None:
        script = by_role(Fails(500), tactical=advice("d2d4"), positional=advice("d2d4", "e2e4"))
        teams = {"bold.toml": trio(fallback="candidate")}
        async with ModelServer(script) as server, playing(server, folder, teams=teams) as play:
            match_id = await play.start("team:bold")
            await play.ended(match_id)
            assert (await play.moves(match_id))[0] == "d2d4"
            (selector,) = await play.advice(match_id, "selector")
            assert selector["abstained"] == "loop answered 500: something is wrong"

    run(main())


def test_a_provider_that_will_never_take_the_request_pauses_the_match_at_once(
    folder: Path,
) -> None:
    async def main() -> None:
        async with (
            ModelServer(Fails(401, "no such key", "invalid_api_key")) as server,
            playing(server, folder) as play,
        ):
            match_id = await play.start("solo:default")
            assert "loop refuses the request (401)" in await play.paused(match_id)
            assert len(server.requests) == 1
            assert await play.outcomes(match_id) == {"not_accepted"}

    run(main())


def test_a_match_that_waits_for_a_provider_can_be_paused_and_goes_on_at_once(
    folder: Path,
) -> None:
    async def main() -> None:
        # Nobody waits so long for one call, so the turn itself is put off.
        script = [rate_limited(timedelta(minutes=5)), GOOD]
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("solo:default", time_control="60+0")
            await server.received(1)
            await play.until(match_id, lambda it: it.last_sequence > 3)
            assert len(server.requests) == 1
            await play.command(match_id, Pause("no use in waiting"))
            await play.resume(match_id)
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            assert await play.rejected(match_id) == []

    run(main())


# --- specialists ---


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fails(500, "out of memory"), "loop answered 500: out of memory"),
        (Cuts(), "the connection to loop was lost"),
        (Hangs(), "loop timed out"),
        (BROKEN_JSON, "loop sent what is no reply"),
        (rate_limited(timedelta(0)), "loop takes no more requests"),
        (REFUSES, "it refuses: I will not play chess."),
        (EMPTY, "it said nothing"),
        (advice(), "it named no move"),
        (advice("e2e5"), "'e2e5' in"),
        (Says("no idea"), "no idea"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_a_team_goes_on_without_a_specialist_who_fails(
    fault: Behaviour, why: str, folder: Path
) -> None:
    async def main() -> None:
        line = "name = 'tactical'"
        team = trio().replace(line, f"{line}\ntimeout = {_timeout(fault)}")
        script = by_role(tactical=fault, positional=advice("d2d4"), selector=move("d2d4"))
        async with (
            ModelServer(script) as server,
            playing(server, folder, teams={"trio.toml": team}) as play,
        ):
            match_id = await play.start("team:trio")
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            assert (await play.moves(match_id))[0] == "d2d4"
            assert await play.rejected(match_id) == []
            (abstention,) = await play.advice(match_id, "tactical")
            assert why in abstention["abstained"]
            assert abstention["candidates"] == []
            (selector,) = [each for each in server.requests if role_of(each) == "selector"]
            assert "- tactical abstains." in question(selector)
            assert "- positional, choice 1: d2d4 (d4): d2d4 is good" in question(selector)

    run(main())


def test_a_specialist_whose_patience_is_over_abstains(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server is not found to have fallen silent before that.
    monkeypatch.setattr("agents.models.openai_chat._STALL", HANGS_AFTER)

    async def main() -> None:
        # Long enough for the call to be made on a busy machine.
        team = trio().replace("name = 'tactical'", "name = 'tactical'\npatience = 3.0")
        async with (
            ModelServer(by_role(tactical=Hangs(Moment.MID_STREAM))) as server,
            playing(server, folder, teams={"trio.toml": team}) as play,
        ):
            match_id = await play.start("team:trio")
            await play.ended(match_id)
            (abstention,) = await play.advice(match_id, "tactical")
            assert abstention["abstained"] == "it did not answer in time"
            outcomes = {each.role: each.outcome for each in await play.calls(match_id)}
            assert outcomes == {"tactical": "cancelled", "positional": "ok", "selector": "ok"}

    run(main())


@pytest.mark.parametrize("mode", ["concurrent", "sequential"])
def test_who_speaks_after_an_outage_is_heard_until_the_move_is_played(
    mode: str, folder: Path
) -> None:
    """In the first try of the turn all but one fail; then it speaks, and a move is refused."""

    async def main() -> None:
        tries = Counter[str]()

        def script(asked: Asked) -> Behaviour:
            role = role_of(asked)
            tries[role] += 1
            match role, tries[role]:
                case ("tactical" | "selector", 1):
                    return Fails(503)
                case "tactical", _:
                    return advice("e2e4")
                case "positional", _:
                    return advice("d2d4")
                case _, 2:
                    return move("e2e5")
            return move("d2d4")

        teams = {"trio.toml": trio(retries=0, mode=mode)}
        async with ModelServer(script) as server, playing(server, folder, teams=teams) as play:
            match_id = await play.start("team:trio", max_plies=1)
            await play.ended(match_id)
            rows = await play.calls(match_id)
            paid = [(each.role, each.attempt) for each in rows if each.outcome == "ok"]
            told = [question(each) for each in server.requests if role_of(each) == "selector"]
        assert sorted(paid) == sorted(set(paid)), "somebody was paid twice"
        is_silent = ["- tactical abstains." in each for each in told]
        # Whoever is asked after it was told of its silence already, where they speak in turn.
        assert is_silent == [True, mode == "sequential", mode == "sequential"]

    run(main())
