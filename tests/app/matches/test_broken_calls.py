"""Calls that broke: what they may have cost is on the bill, and what they said is not lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection
from structlog.testing import capture_logs

from app.matches.commands import Abort
from app.matches.paid_calls import PaidCalls
from app.persistence.errors import StorageUnavailable
from app.persistence.ledger import append
from app.persistence.records import ModelCallRecord
from tests.app.matches.owning import run
from tests.app.persistence.samples import a_call
from tests.support.model_server import (
    Asked,
    Behaviour,
    Cuts,
    FailsInStream,
    Hangs,
    ModelServer,
    Moment,
)
from tests.support.processes import steps_of_the_loop, until
from tests.support.team_matches import GOOD, MODEL, furnish, hurry, playing, solo


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (Cuts(Moment.BEFORE_HEADERS), "connection_lost"),
        (Cuts(Moment.BEFORE_HEADERS, is_rude=True), "connection_lost"),
        (Hangs(), "timed_out"),
    ],
    ids=str,
)
def test_what_was_sent_and_lost_counts_against_the_budget(
    behaviour: Behaviour, outcome: str, folder: Path
) -> None:
    async def main() -> None:
        team = solo(retries=4, budget={"calls": 1}, selector={"timeout": 1.0})
        async with (
            ModelServer(behaviour) as server,
            playing(server, folder, teams={"own.toml": team}) as play,
        ):
            match_id = await play.start("team:own")
            assert "0 of its calls are left" in await play.paused(match_id)
            (row,) = await play.calls(match_id)
            assert len(server.requests) == 1
            assert (row.outcome, row.is_estimated) == (outcome, True)
            # As many as it may write at most.
            assert row.completion_tokens == server.requests[0].body["max_tokens"]

    run(main())


def test_a_request_that_is_refused_in_the_middle_of_a_reply_is_on_the_bill(folder: Path) -> None:
    async def main() -> None:
        refused = FailsInStream(400, content="I have thought for long")
        async with (
            ModelServer(refused) as server,
            playing(server, folder, teams={"own.toml": solo()}) as play,
        ):
            match_id = await play.start("team:own")
            assert "refuses the request (400)" in await play.paused(match_id)
            (row,) = await play.calls(match_id)
            assert (row.outcome, row.is_estimated) == ("not_accepted", True)
            assert row.completion_tokens == server.requests[0].body["max_tokens"]

    run(main())


def test_a_reply_that_could_not_be_recorded_is_used_all_the_same(folder: Path) -> None:
    async def main() -> None:
        file = folder / "calls.jsonl"

        def script(_: Asked) -> Behaviour:
            file.write_bytes(b"half a line of somebody else")
            return GOOD

        async with (
            ModelServer(script) as server,
            playing(server, folder, teams={"own.toml": solo()}, record_file=file) as play,
        ):
            match_id = await play.start("team:own")
            assert "its last line is not whole" in await play.paused(match_id)
            file.write_bytes(b"")
            await play.resume(match_id)
            await play.ended(match_id)
            (row,) = await play.calls(match_id)
            assert (row.outcome, len(server.requests)) == ("ok", 1)
            assert "its last line is not whole" in row.error

    run(main())


class Storage:
    """The table of calls, which may be out of reach."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_there = False
        monkeypatch.setattr("app.matches.ledger.append", self._append)
        monkeypatch.setattr("app.matches.ledger.FIRST_PAUSE", timedelta(milliseconds=5))
        # Nobody waits for it.
        monkeypatch.setattr("agents.models.caller._LAST_WORDS", timedelta(0))

    def _append(self, connection: Connection, call: ModelCallRecord) -> None:
        if not self.is_there:
            raise StorageUnavailable("it is away")
        append(connection, call)


def test_a_call_that_was_given_up_is_stored_when_the_database_is_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        storage = Storage(monkeypatch)
        async with ModelServer(Hangs()) as server, playing(server, folder) as play:
            match_id = await play.start("solo:default")
            await server.received(1)
            await play.command(match_id, Abort())
            await until(lambda: play.services.runner.running == 0)
            assert await play.calls(match_id) == []
            storage.is_there = True
            while not (calls := await play.calls(match_id)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert [each.outcome for each in calls] == ["cancelled"]

    run(main())


def test_a_call_that_cannot_be_stored_before_the_end_is_logged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        Storage(monkeypatch)
        with capture_logs() as logs:
            async with ModelServer(Hangs()) as server, playing(server, folder) as play:
                match_id = await play.start("solo:default")
                await server.received(1)
        (told,) = [each for each in logs if each["event"] == "model call not written down"]
        assert (told["match_id"], told["role"], told["model"]) == (match_id, "solo", MODEL)
        assert (told["outcome"], len(told["request_digest"])) == ("cancelled", 64)

    run(main())


@pytest.mark.parametrize("steps", range(4))
def test_a_call_that_is_given_up_at_any_moment_is_known_to_be_missing(steps: int) -> None:
    async def main() -> None:
        paid, stored = PaidCalls(), asyncio.Event()

        async def store() -> None:
            await stored.wait()

        with capture_logs() as logs:
            storing = asyncio.create_task(paid.store(a_call(), store()))
            await asyncio.sleep(0)  # it is in the hands of the service
            await steps_of_the_loop(steps)
            await paid.aclose()
            with pytest.raises(asyncio.CancelledError):
                await storing
        (told,) = [each for each in logs if each["event"] == "model call not written down"]
        assert told["error"] == "it was given up"

    run(main())
