"""Whole matches of teams: their modes, their variants, restarts, and recordings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agents.errors import PlayerUnavailable
from agents.team.prompts import rules_of
from app.matches.commands import Draw, DrawAction, PlayMove
from app.persistence.records import ModelCallRecord
from engine import Color
from tests.app.matches.owning import run
from tests.support.model_server import (
    Asked,
    Behaviour,
    Fails,
    FailsInStream,
    Hangs,
    ModelServer,
    Says,
)
from tests.support.team_matches import (
    CRITICAL,
    GOOD,
    AnswersBy,
    Meets,
    advice,
    by_role,
    every,
    furnish,
    hurry,
    move,
    playing,
    position_of,
    question,
    role_of,
    solo,
    trio,
)

SECRET = "sk-loop-1234567890abcdefghij"


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


def _roles(server: ModelServer) -> list[str]:
    return [role_of(each) for each in server.requests]


# --- draws ---


@pytest.mark.parametrize("said", ["", "none", "e2e5"])
def test_a_draw_that_is_accepted_without_a_legal_move_is_agreed(folder: Path, said: str) -> None:
    async def main() -> None:
        accepts = Says(json.dumps({"reasoning": "equal", "accept_draw": True, "move": said}))
        async with ModelServer(accepts) as server, playing(server, folder) as play:
            match_id = await play.start("human", "solo:default", max_plies=4)
            await play.command(match_id, Draw(Color.WHITE, DrawAction.OFFER))
            await play.command(match_id, PlayMove(Color.WHITE, "e2e4"))
            record = await play.ended(match_id)
            assert (record.result, record.termination) == ("1/2-1/2", "agreement")
            assert await play.rejected(match_id) == []
            assert len(server.requests) == 1

    run(main())


# --- modes ---


def test_a_whole_match_against_a_random_player(database_url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            ModelServer(GOOD) as server,
            playing(server, tmp_path, database=database_url) as play,
        ):
            match_id = await play.start("team:default", max_plies=6)
            record = await play.ended(match_id)
            assert (record.termination, record.ply_count) == ("max_plies", 6)
            assert len(server.requests) == 9
            assert len(await play.calls(match_id)) == 9
            given = [(each["ply"], each["by"]) for each in await play.advice(match_id)]
            assert sorted(given) == [
                (ply, by) for ply in (1, 3, 5) for by in ("positional", "selector", "tactical")
            ]
            plies = await play.plies(match_id)
            assert [each["source"] for each in plies] == ["team:default", "random"] * 3
            assert plies[0]["decision"] == {"reason": "because", "attempts": 1}

    run(main())


def test_both_seats_may_be_teams(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", "solo:default", max_plies=4)
            await play.ended(match_id)
            calls = await play.calls(match_id)
            by_color = {
                color: sorted({each.role for each in calls if each.color == color})
                for color in ("white", "black")
            }
            assert by_color == {"white": ["positional", "selector", "tactical"], "black": ["solo"]}

    run(main())


def test_specialists_are_asked_at_the_same_time(folder: Path) -> None:
    async def main() -> None:
        # The first is not answered before the second has come.
        together = Meets(asyncio.Barrier(2))
        script = by_role(tactical=together, positional=together)
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", max_plies=3)
            await play.ended(match_id)
            assert len(server.requests) == 6
            assert {role_of(each) for each in server.requests[:2]} == {"tactical", "positional"}
            assert role_of(server.requests[2]) == "selector"

    run(main())


def test_the_selector_sees_all_advice_and_decides(folder: Path) -> None:
    async def main() -> None:
        script = by_role(
            tactical=advice("e2e4", "d2d4"), positional=advice("c2c4"), selector=move("c2c4")
        )
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("team:default")
            await play.ended(match_id)
            assert (await play.moves(match_id))[0] == "c2c4"
            told = question(server.requests[2])
            lines = [
                "- tactical, choice 1: e2e4 (e4): e2e4 is good",
                "- tactical, choice 2: d2d4 (d4): d2d4 is good",
                "- positional, choice 1: c2c4 (c4): c2c4 is good",
            ]
            assert "\n".join(lines) in told
            (tactical,) = await play.advice(match_id, "tactical")
            assert [each["uci"] for each in tactical["candidates"]] == ["e2e4", "d2d4"]
            assert tactical["words"] == "because"
            for asked in server.requests[:2]:
                assert "Advice of the team" not in question(asked)

    run(main())


def test_in_sequence_each_sees_what_was_said_before(folder: Path) -> None:
    async def main() -> None:
        script = by_role(tactical=advice("e2e4"), positional=advice("c2c4"), selector=move("e2e4"))
        async with ModelServer(script) as server, playing(server, folder) as play:
            match_id = await play.start("team:sequential")
            await play.ended(match_id)
            assert _roles(server) == ["tactical", "positional", "selector"]
            first, second, third = map(question, server.requests)
            said = "- tactical, choice 1: e2e4 (e4): e2e4 is good"
            assert said not in first
            assert said in second
            assert f"{said}\n- positional, choice 1: c2c4" in third

    run(main())


@pytest.mark.parametrize(
    ("fen", "roles"),
    [(None, {"solo"}), (CRITICAL, {"tactical", "positional", "selector"})],
    ids=["quiet", "critical"],
)
def test_an_escalating_team_asks_all_only_where_it_matters(
    fen: str | None, roles: set[str], folder: Path
) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("team:frugal", initial_fen=fen)
            await play.ended(match_id)
            assert set(_roles(server)) == roles
            assert len(server.requests) == len(roles)

    run(main())


def test_the_majority_of_a_vote_decides(folder: Path) -> None:
    async def main() -> None:
        # Two for the same move, whichever of them comes first.
        votes = iter([move("e2e4"), move("d2d4"), move("d2d4")])
        async with (
            ModelServer(lambda asked: next(votes)) as server,
            playing(server, folder) as play,
        ):
            match_id = await play.start("team:vote")
            await play.ended(match_id)
            assert (await play.moves(match_id))[0] == "d2d4"
            assert _roles(server) == ["solo"] * 3
            (ply, _) = await play.plies(match_id)
            assert ply["decision"]["reason"] == "2 of 3 chose it: because"
            given = await play.advice(match_id)
            assert sorted(each["by"] for each in given) == ["solo", "solo 1", "solo 2", "solo 3"]
            # They are samples of one question, and each is paid for.
            calls = await play.calls(match_id)
            assert len({each.request_digest for each in calls}) == 3
            assert len({question(each) for each in server.requests}) == 1

    run(main())


def test_a_vote_in_which_nobody_names_a_legal_move_is_one_attempt(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(move("e2e5")) as server, playing(server, folder) as play:
            match_id = await play.start("team:vote")
            record = await play.ended(match_id)
            assert record.termination == "rules_infraction"
            assert len(await play.rejected(match_id)) == 4
            assert len(server.requests) == 12

    run(main())


@pytest.mark.parametrize(("name", "tokens"), [("default", 12_000), ("vote", 12_000)])
def test_the_control_of_a_team_has_all_of_its_tokens_in_one_call(
    name: str, tokens: int, folder: Path
) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start(f"solo:{name}")
            await play.ended(match_id)
            (asked,) = server.requests
            assert role_of(asked) == "solo"
            assert asked.body["max_tokens"] == tokens

    run(main())


def test_a_pure_team_gets_no_help(folder: Path) -> None:
    def legally(asked: Asked) -> Behaviour:
        legal = sorted(each.uci() for each in position_of(asked).legal_moves())
        return move(legal[0]) if role_of(asked) == "selector" else advice(legal[0])

    async def main() -> None:
        async with ModelServer(legally) as server, playing(server, folder) as play:
            match_id = await play.start("team:pure", max_plies=4)
            record = await play.ended(match_id)
            assert record.termination == "max_plies"
            assert len(server.requests) == 6
            for asked in server.requests:
                assert "legal moves:" not in asked.prompt
                assert "rules engine sees" not in asked.prompt
                assert "enum" not in str(asked.schema)
            assert "Moves so far: 1. " in question(server.requests[-1])

            await play.ended(await play.start("team:default"))
            for asked in server.requests[6:]:
                assert "Your legal moves: a2a3 (a3), " in asked.prompt
                assert "rules engine sees" in asked.prompt
                assert len(asked.enum("move")) == 20

    run(main())


def test_a_forced_move_is_played_without_a_call(folder: Path) -> None:
    async def main() -> None:
        forced = "7k/8/8/8/8/8/1q6/K7 w - - 0 1"  # only the queen can be taken
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", initial_fen=forced)
            await play.ended(match_id)
            assert (await play.moves(match_id))[0] == "a1b2"
            assert server.requests == []

    run(main())


# --- variants ---


@pytest.mark.parametrize("variant", ["standard", "chess960", "kings-cooking"])
def test_the_rules_of_the_variant_come_first(variant: str, folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            await play.ended(await play.start("team:default", variant=variant))
            assert len(server.requests) == 3
            for asked in server.requests:
                first = asked.body["messages"][0]
                assert first["role"] == "system"
                assert first["content"].startswith(rules_of(variant))
                position = position_of(asked, variant)
                assert set(asked.enum("move")) == {it.uci() for it in position.legal_moves()}

    run(main())


def test_a_team_plays_kings_cooking_to_the_end(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("team:default", variant="kings-cooking", max_plies=None)
            record = await play.ended(match_id)
            assert record.termination not in (None, "max_plies", "rules_infraction")
            assert record.ply_count > 4
            assert len(await play.calls(match_id)) == len(server.requests)

    run(main())


# --- restarts ---


def test_after_a_restart_nobody_is_asked_again_who_has_answered(
    database_url: str, tmp_path: Path
) -> None:
    async def main() -> None:
        script = by_role(tactical=advice("e2e4"), positional=advice("d2d4"), selector=Hangs())
        async with ModelServer(script) as server:
            async with playing(server, tmp_path, database=database_url) as play:
                match_id = await play.start("team:default")
                await server.received(3)
            server.behave(by_role(selector=move("d2d4")))
            async with playing(server, tmp_path, database=database_url) as play:
                await play.ended(match_id)
                assert sorted(_roles(server)[:2]) == ["positional", "tactical"]
                assert _roles(server)[2:] == ["selector", "selector"]
                assert (await play.moves(match_id))[0] == "d2d4"
                # The same was asked, and nothing was told twice.
                assert server.requests[3].body == server.requests[2].body
                given = [each["by"] for each in await play.advice(match_id)]
                assert sorted(given) == ["positional", "selector", "tactical"]
                calls = await play.calls(match_id)
                assert [each.outcome for each in calls] == ["ok", "ok", "cancelled", "ok"]

    run(main())


def test_after_a_restart_refused_attempts_still_count(folder: Path) -> None:
    async def main() -> None:
        async with ModelServer([move("e2e5"), Hangs(), move("e2e5")]) as server:
            async with playing(server, folder) as play:
                match_id = await play.start("solo:default", max_plies=9)
                await server.received(2)
            async with playing(server, folder) as play:
                record = await play.ended(match_id)
                assert record.termination == "rules_infraction"
                assert [each["attempt"] for each in await play.rejected(match_id)] == [1, 2, 3, 4]
                assert server.requests[2].body == server.requests[1].body

    run(main())


# --- recordings ---


def test_a_recorded_match_is_played_again_without_a_provider(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"

    async def main() -> None:
        # Faults, refused attempts and all.
        illegal = every(2, move("e2e5"))
        sound = by_role(AnswersBy(illegal), tactical=GOOD, positional=GOOD)
        script = every(4, Fails(500), then=AnswersBy(sound))
        async with (
            ModelServer(script) as server,
            playing(server, folder, record_file=recording) as play,
        ):
            match_id = await play.start("team:default", max_plies=6)
            await play.ended(match_id)
            moves, calls = await play.moves(match_id), await play.calls(match_id)
            rejected = await play.rejected(match_id)
            assert {each.outcome for each in calls} == {"ok", "server_fault"}
            assert rejected
        # There is no provider of that name any more.
        async with playing(None, tmp_path / "again", replay_file=recording) as play:
            match_id = await play.start("team:default", max_plies=6)
            await play.ended(match_id)
            assert await play.moves(match_id) == moves
            assert _used(await play.calls(match_id)) == _used(calls)
            again = await play.rejected(match_id)
            assert [each["detail"] for each in again] == [each["detail"] for each in rejected]

    run(main())


def _used(calls: Sequence[ModelCallRecord]) -> list[tuple[object, ...]]:
    """Return what the ledger tells, but for ids and times, whoever answered first."""
    unlike = {"id": "", "match_id": "", "at": datetime.min, "latency_ms": 0}
    return sorted((astuple(replace(each, **unlike)) for each in calls), key=repr)


def test_a_changed_prompt_does_not_fit_the_recording(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"

    async def main() -> None:
        teams = {"own.toml": solo(solo_prompt="own.md"), "own.md": "You decide alone. Play well."}
        async with (
            ModelServer(GOOD) as server,
            playing(server, folder, teams=teams, record_file=recording) as play,
        ):
            await play.ended(await play.start("team:own"))
        teams["own.md"] = "You decide alone. Play badly."
        again = tmp_path / "again"
        async with playing(None, again, teams=teams, replay_file=recording) as play:
            match_id = await play.start("team:own")
            reason = await play.paused(match_id)
            assert "recording.jsonl does not fit" in reason
            assert "the nearest recorded request has another prompt or rules (message 1)" in reason
            assert await play.calls(match_id) == []

    run(main())


# --- keys ---


def test_a_key_is_sent_and_nowhere_else_to_be_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Not even where a provider repeats it in whatever it says is wrong."""
    monkeypatch.setenv("LOOP_TEST_KEY", SECRET)
    caplog.set_level("DEBUG")
    faults = [
        Fails(500, f"your key {SECRET} is fine, but we are not"),
        FailsInStream(None, f"{SECRET} is out of luck", content="Well, "),
        Fails(401, f"Incorrect API key provided: {SECRET}", "invalid_api_key"),
    ]
    teams = {"own.toml": trio(retries=0)}

    async def main() -> None:
        async with (
            ModelServer(faults[2]) as server,
            playing(server, folder, teams=teams, provider={"api_key_env": "LOOP_TEST_KEY"}) as play,
        ):
            for fault in faults:
                server.behave(fault)
                match_id = await play.start("team:own")
                reason = await play.paused(match_id)
                told.append(reason)
                told.append(str([astuple(each) for each in await play.calls(match_id)]))
                told.append(str(await play.log(match_id)))
            assert "(401)" in reason
            assert {each.headers["authorization"] for each in server.requests} == {
                f"Bearer {SECRET}"
            }

    told: list[str] = []
    with capture_logs() as logs:
        run(main())
    assert logs
    told += [str(logs), caplog.text]
    told += [path.read_bytes().decode("latin-1") for path in folder.glob("kibitz.db*")]
    assert len(told) >= 12
    for each in told:
        assert SECRET not in each
        assert SECRET[3:] not in each


def test_without_its_key_a_team_cannot_be_seated(folder: Path) -> None:
    async def main() -> None:
        async with (
            ModelServer(GOOD) as server,
            playing(server, folder, provider={"api_key_env": "LOOP_TEST_KEY"}) as play,
        ):
            with pytest.raises(PlayerUnavailable, match="LOOP_TEST_KEY is not set"):
                await play.start("team:default")
            assert server.requests == []

    run(main())


def test_a_team_whose_own_budget_cannot_be_kept_is_not_seated(folder: Path) -> None:
    async def main() -> None:
        teams = {"dear.toml": trio(budget={"usd": 2.0}), "free.toml": trio()}
        async with ModelServer(GOOD) as server, playing(server, folder, teams=teams) as play:
            lack = play.services.catalogue.lack_of("team:dear")
            assert lack is not None
            assert lack.startswith("it has a budget in USD, and nobody knows what loop/")
            assert play.services.catalogue.lack_of("team:free") is None
            with pytest.raises(PlayerUnavailable, match="it has a budget in USD"):
                await play.start("team:dear")

    run(main())
