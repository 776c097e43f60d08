"""Matches in which a specialist was given up, or a turn was begun once more, replay as well."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.matches.commands import Pause
from tests.app.matches.owning import run
from tests.support.model_server import Behaviour, Fails, Hangs, ModelServer, Moment, rate_limited
from tests.support.team_matches import (
    GOOD,
    Play,
    advice,
    by_role,
    furnish,
    hurry,
    move,
    playing,
    role_of,
    trio,
)

#: A server that is silent is tried once more, and given up meanwhile.
IMPATIENT = {"own.toml": trio("timeout = 1.0\npatience = 1.5", retries=4)}


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


async def _story(play: Play, match_id: str) -> tuple[object, ...]:
    """Return what happened in a match: moves, who abstained and why, and the calls."""
    said = {(each["ply"], each["by"], each["abstained"]) for each in await play.advice(match_id)}
    rows = [
        (each.role, each.retry, each.outcome, each.prompt_tokens, each.completion_tokens)
        for each in await play.calls(match_id)
    ]
    return await play.moves(match_id), said, sorted(rows)


async def _replayed(folder: Path, template: Path, file: Path) -> tuple[object, ...]:
    again = folder / "again"
    again.mkdir()
    async with playing(None, furnish(again, template), teams=IMPATIENT, replay_file=file) as play:
        match_id = await play.start("team:own", max_plies=1)
        await play.ended(match_id)
        return await _story(play, match_id)


@pytest.mark.parametrize(
    ("tactical", "outcomes"),
    [
        (Hangs(), {"timed_out", "cancelled"}),  # in the middle of a request
        (rate_limited(timedelta(seconds=30)), {"rate_limited"}),  # in the pause between two
    ],
    ids=["silent", "limited"],
)
def test_a_match_in_which_patience_ended_is_the_same_again(
    tactical: Behaviour, outcomes: set[str], folder: Path, sqlite_template: Path
) -> None:
    async def main() -> None:
        file = folder / "calls.jsonl"
        async with (
            ModelServer(by_role(GOOD, tactical=tactical)) as server,
            playing(server, folder, teams=IMPATIENT, record_file=file) as play,
        ):
            match_id = await play.start("team:own", max_plies=1)
            await play.ended(match_id)
            calls = await play.calls(match_id)
            assert {each.outcome for each in calls if each.role == "tactical"} == outcomes
            story = await _story(play, match_id)
        assert (1, "tactical", "it did not answer in time") in story[1]
        assert await _replayed(folder, sqlite_template, file) == story

    run(main())


@pytest.mark.parametrize("before", [Hangs(Moment.MID_STREAM), Fails(500)], ids=["hung", "failed"])
def test_who_abstained_and_spoke_after_a_pause_speaks_at_once(
    before: Behaviour, folder: Path, sqlite_template: Path
) -> None:
    async def main() -> None:
        file = folder / "calls.jsonl"
        async with (
            ModelServer(by_role(GOOD, tactical=before, selector=Hangs())) as server,
            playing(server, folder, teams=IMPATIENT, record_file=file) as play,
        ):
            match_id = await play.start("team:own", max_plies=1)
            while "selector" not in map(role_of, server.requests):
                await server.received(len(server.requests) + 1)
            await play.command(match_id, Pause("a break"))
            await server.was_abandoned()
            server.behave(by_role(tactical=advice("h2h4"), selector=move("h2h4")))
            await play.resume(match_id)
            await play.ended(match_id)
            moves, _, _ = await _story(play, match_id)
        assert moves == ["h2h4"]
        replayed, said, rows = await _replayed(folder, sqlite_template, file)
        assert replayed == moves
        assert said == {(1, "tactical", ""), (1, "positional", ""), (1, "selector", "")}
        assert [row[2] for row in rows] == ["ok"] * 3

    run(main())
