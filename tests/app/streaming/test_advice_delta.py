"""Words of a specialist who is still speaking: seen at once by watchers, and never stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.streaming.watching import Connection, Seen
from tests.support.model_server import Cuts, ModelServer
from tests.support.processes import HANGS_AFTER
from tests.support.team_matches import (
    GOOD,
    Pauses,
    Play,
    by_role,
    furnish,
    hurry,
    move,
    playing,
    served,
)

DELTA = "advice.delta"
#: With escapes, cut in the middle of one.
FIRST = '{"reasoning": "The knight\\u2019s fork \\"wins\\\\draws\\u20'
REST = (
    '14\\nAnd more", "candidates": [{"reason": "it forks", "move": "g8f6"}, '
    '{"reason": "it waits", "move": "a7a6"}]}'
)
WORDS = 'The knight\N{RIGHT SINGLE QUOTATION MARK}s fork "wins\\draws\N{EM DASH}\nAnd more'


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


@asynccontextmanager
async def watched(
    server: ModelServer, folder: Path, player: str
) -> AsyncIterator[tuple[Play, str, Connection]]:
    """Start a match against a player, watch it, and only then make the first move."""
    async with (
        asyncio.timeout(HANGS_AFTER),
        playing(server, folder) as play,
        served(play) as client,
    ):
        body = {"white": "human", "black": player, "max_plies": 2}
        created = (await client.post("/api/matches", json=body)).json()
        path = f"/api/matches/{created['id']}"
        port = client.base_url.port
        assert port is not None
        async with await Connection.open(port, f"{path}/events") as watcher:
            await _next(watcher, "snapshot")
            token = {"X-Seat-Token": created["seats"]["white"]["token"]}
            await client.post(f"{path}/moves", json={"move": "e4"}, headers=token)
            yield play, created["id"], watcher


async def _next(watcher: Connection, kind: str) -> Seen:
    """Return the next event of a type."""
    async for event in watcher:
        if event.type == kind:
            return event
    raise AssertionError(f"there is no {kind}")


def _words(events: list[Seen]) -> str:
    return "".join(each.data["words"] for each in events if each.type == DELTA)


@pytest.mark.asyncio
async def test_words_come_while_a_specialist_speaks_and_are_told_whole_once(folder: Path) -> None:
    tactical = Pauses(FIRST, REST)
    # The other waits, too, so that nothing else is said meanwhile.
    positional = Pauses("", '{"reasoning": "Nothing to add.", "candidates": []}')
    script = by_role(tactical=tactical, positional=positional)
    async with (
        ModelServer(script) as server,
        watched(server, folder, "team:default") as (play, match_id, watcher),
    ):
        # The rest is not sent before the first words were seen.
        first = await _next(watcher, DELTA)
        assert first.id is None
        assert first.data == {
            "type": DELTA,
            "match_id": match_id,
            "ply": 2,
            "color": "black",
            "by": "tactical",
            "words": 'The knight\N{RIGHT SINGLE QUOTATION MARK}s fork "wins\\draws',
        }
        tactical.until.set()
        said = [first]
        while (event := await watcher.event()) is not None and event.type == DELTA:
            said.append(event)
        assert event is not None
        assert event.type == "advice.given"
        assert {each.data["by"] for each in said} == {"tactical"}
        # All reasons, each on its own line, and nothing of the JSON around them.
        assert _words(said) == f"{WORDS}\nit forks\nit waits\n"

        assert event.id is not None
        assert (event.data["by"], event.data["words"]) == ("tactical", WORDS)
        assert [each["uci"] for each in event.data["candidates"]] == ["g8f6", "a7a6"]
        positional.until.set()
        await watcher.events()
        stored = await play.log(match_id)
        assert DELTA not in {each.type.value for each in stored}
        given = [each for each in stored if each.fields.get("words") == WORDS]
        assert [(each.sequence, each.type.value) for each in given] == [(event.id, "advice.given")]


@pytest.mark.asyncio
async def test_words_that_are_no_json_are_passed_on_as_they_are(folder: Path) -> None:
    alone = Pauses("I would play ", "the move d7d5.")
    async with (
        ModelServer(alone) as server,
        watched(server, folder, "solo:default") as (_, _match_id, watcher),
    ):
        first = await _next(watcher, DELTA)
        assert (first.id, first.data["words"]) == (None, "I would play ")
        assert first.data["by"] == "solo"
        alone.until.set()
        events = await watcher.events()
    assert _words(events) == "the move d7d5."
    numbered = [each for each in events if each.id is not None]
    (given,) = [each for each in numbered if each.type == "advice.given"]
    assert given.data["words"] == "I would play the move d7d5."
    ids = [each.id for each in numbered]
    assert ids == list(range(ids[0], ids[0] + len(ids)))  # deltas leave no gap
    assert numbered[-1].type == "match.ended"


@pytest.mark.asyncio
async def test_who_is_cut_short_begins_anew(folder: Path) -> None:
    script = [Cuts(content='{"reasoning": "I thi'), move("e7e5", 'All is "well".')]
    async with (
        ModelServer(script) as server,
        watched(server, folder, "solo:default") as (_, _match_id, watcher),
    ):
        events = await watcher.events()
        assert len(server.requests) == 2
    assert _words(events) == 'I thiAll is "well".\n'
    (given,) = [each for each in events if each.type == "advice.given"]
    assert given.data["words"] == 'All is "well".'


@pytest.mark.asyncio
async def test_who_comes_later_gets_no_words_of_before(folder: Path) -> None:
    async with (
        asyncio.timeout(HANGS_AFTER),
        ModelServer(GOOD) as server,
        playing(server, folder) as play,
        served(play) as client,
    ):
        match_id = await play.start("team:default")
        await play.ended(match_id)
        path = f"/api/matches/{match_id}/events"
        async with await Connection.open(
            client.base_url.port or 0, path, last_event_id=0
        ) as watcher:
            events = await watcher.events()
        assert DELTA not in {each.type for each in events}
        assert len([each for each in events if each.type == "advice.given"]) == 3
