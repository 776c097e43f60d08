"""Evaluations watched over real HTTP: signs of life, slow watchers, other processes, the end."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs
from uuid_utils.compat import uuid7

from app.persistence.errors import StorageUnavailable
from app.persistence.evaluations import EvaluationRecord, insert_evaluation, move_on
from app.streaming import progress
from app.streaming.watcher import Limits
from tests.app.streaming.service import Service, serving
from tests.app.streaming.watching import Connection
from tests.support.processes import HANGS_AFTER, run, until

AT = datetime(2026, 1, 1, tzinfo=UTC)
BEATING = replace(Limits(), keep_alive=timedelta(milliseconds=50))
#: Whoever does not read is dropped after two signs of life that it did not take.
PATIENT = replace(Limits(), keep_alive=timedelta(hours=1))


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(progress, "LOOK_EVERY", timedelta(milliseconds=10))


class WatchedEvaluation:
    """An evaluation that says nothing but how often it has changed."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.id = str(uuid7())
        self.path = f"/api/evaluations/{self.id}/events"
        self.revision = 0

    async def create(self) -> None:
        record = EvaluationRecord(
            id=self.id,
            created_at=AT,
            updated_at=AT,
            status="running",
            plan="{}",
            client="local",
            idempotency_key=None,
            name="evaluation",
            kind="duel",
            detail="",
            manifest="{}",
            progress="{}",
            revision=0,
            request_digest=None,
            ended_at=None,
            owner=None,
            epoch=0,
        )
        await self._service.database.write(lambda each: insert_evaluation(each, record))

    async def change(self, text: str = "", **values: str) -> None:
        told = json.dumps({"text": text})
        await self._service.database.write(
            lambda each: move_on(each, self.id, 0, progress=told, **values)
        )
        self.revision += 1

    async def watch(self, **options) -> Connection:
        return await Connection.open(self._service.port, self.path, **options)


async def begun(service: Service) -> WatchedEvaluation:
    evaluation = WatchedEvaluation(service)
    await evaluation.create()
    return evaluation


def test_what_another_process_changes_is_seen_though_nobody_tells(database_url):
    async def main():
        async with serving(database_url) as service:
            one, other = await begun(service), await begun(service)
            async with await one.watch() as first, await one.watch() as second:
                for watcher in (first, second):
                    assert (await watcher.event()).id == 0
                async with await other.watch() as third:
                    assert (await third.event()).data["id"] == other.id
                    await one.change("news")
                    for watcher in (first, second):
                        event = await watcher.event()
                        assert (event.id, event.type) == (1, "progress")
                        assert event.data["progress"] == {"text": "news"}
                    await other.change(status="cancelled")
                    ends = [(each.id, each.type) for each in await third.events()]
                    assert ends == [(1, "progress"), (1, "evaluation.ended")]
                await one.change(status="finished")
                for watcher in (first, second):
                    assert len(await watcher.events()) == 2

    run(main(), debug=False)


def test_signs_of_life(database_url):
    async def main():
        async with serving(database_url, BEATING) as service:
            evaluation = await begun(service)
            async with await evaluation.watch(last_event_id=0) as watcher:
                blocks = [await watcher.block() for _ in range(3)]
                assert blocks == ["retry: 2000", ": keep-alive", ": keep-alive"]

    run(main(), debug=False)


def test_whoever_is_slow_gets_the_newest_state_only(database_url):
    async def main():
        async with serving(database_url, PATIENT) as service:
            evaluation = await begun(service)
            async with await evaluation.watch() as quick:
                slow = await Connection.open(service.port, evaluation.path, reads=False)
                await until(lambda: service.feed.watchers == 2)
                seen = [(await quick.event()).id]
                # More than the kernel keeps for somebody who does not read.
                while evaluation.revision < 40:
                    await evaluation.change("x" * 500_000)
                    while seen[-1] < evaluation.revision:
                        seen.append((await quick.event()).id)
                await slow.begin()
                ids = [(await slow.event()).id]
                while ids[-1] < evaluation.revision:
                    ids.append((await slow.event()).id)
                assert seen == list(range(41))
                assert ids == sorted(set(ids))
                assert len(ids) < len(seen)
                assert service.feed.dropped == 0
                await slow.close()

    run(main(), debug=False, hangs_after=2 * HANGS_AFTER)


def test_whoever_never_reads_is_dropped(database_url):
    async def main():
        async with serving(database_url, BEATING) as service:
            evaluation = await begun(service)
            slow = await Connection.open(service.port, evaluation.path, reads=False)
            await until(lambda: service.feed.watchers == 1)
            await evaluation.change("x" * 8_000_000)
            await until(lambda: service.feed.dropped)
            await until(lambda: service.feed.watchers == 0)
            await slow.close()

    run(main(), debug=False)


def test_streams_end_with_the_service(database_url):
    async def main():
        async with serving(database_url) as service:
            evaluation = await begun(service)
            async with await evaluation.watch() as watcher:
                await service.feed.aclose()
                assert [(each.id, each.type) for each in await watcher.events()] == [
                    (0, "progress")
                ]
            async with await evaluation.watch() as refused:
                assert refused.status == 503
                assert (await refused.body())["type"] == "/problems/stopping"

    run(main(), debug=False)


def test_whoever_leaves_is_not_looked_after_any_more(database_url, monkeypatch):
    asked = []
    read = progress.revisions_of

    def note(connection, evaluation_ids):
        asked.append(set(evaluation_ids))
        return read(connection, evaluation_ids)

    monkeypatch.setattr(progress, "revisions_of", note)

    async def main():
        async with serving(database_url) as service:
            one, other = await begun(service), await begun(service)
            async with await one.watch() as watcher:
                await watcher.event()
                async with await other.watch() as second:
                    await second.event()
                    await until(lambda: {one.id, other.id} in asked)
                await until(lambda: asked[-1] == {one.id})
            await until(lambda: service.feed.watchers == 0)

    run(main(), debug=False)


def test_a_database_that_does_not_answer_for_a_while(database_url, monkeypatch):
    faults = [StorageUnavailable("it is away")] * 3
    read = progress.revisions_of

    def failing(connection, evaluation_ids):
        if faults:
            raise faults.pop()
        return read(connection, evaluation_ids)

    monkeypatch.setattr(progress, "revisions_of", failing)

    async def main():
        async with serving(database_url) as service:
            evaluation = await begun(service)
            async with await evaluation.watch() as watcher:
                assert (await watcher.event()).id == 0
                await until(lambda: not faults)
                await evaluation.change()
                assert (await watcher.event()).id == 1

    with capture_logs() as logs:
        run(main(), debug=False)
    assert [each["event"] for each in logs].count("progress.storage_error") == 3


def test_a_change_of_this_process_is_told_at_once(database_url, monkeypatch):
    monkeypatch.setattr(progress, "LOOK_EVERY", timedelta(hours=1))

    async def main():
        async with serving(database_url) as service:
            evaluation = await begun(service)
            async with await evaluation.watch() as watcher:
                await watcher.event()
                await evaluation.change()
                service.tell()
                assert (await watcher.event()).id == 1

    run(main(), debug=False)
