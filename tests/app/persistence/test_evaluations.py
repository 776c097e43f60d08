"""Evaluations in the database: who may conduct them, and who may not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from uuid_utils.compat import uuid7

from app.persistence.database import Database
from app.persistence.evaluations import (
    CONDUCTED,
    OPEN,
    EvaluationRecord,
    claim,
    claimable,
    find_evaluation,
    insert_evaluation,
    revisions_of,
)
from app.persistence.workers import Workers

pytestmark = pytest.mark.asyncio

AT = datetime(2026, 1, 1, tzinfo=UTC)


def evaluation(**values):
    record = EvaluationRecord(
        id=str(uuid7()),
        created_at=AT,
        updated_at=AT,
        status="created",
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
    return replace(record, **values)


@pytest_asyncio.fixture
async def database(database_url):
    async with await Database.open(database_url) as database:
        yield database


async def store(database, *records):
    def work(connection):
        for record in records:
            insert_evaluation(connection, record)

    await database.write(work)


async def take(database, record, worker, *, by_force=False):
    return await database.write(
        lambda connection: claim(
            connection,
            record.id,
            worker.id,
            by_force=by_force,
            among=OPEN if by_force else CONDUCTED,
        )
    )


async def test_what_goes_on_and_nobody_else_conducts_can_be_taken(database):
    ours = Workers()
    await database.write(ours.register)
    records = {
        "new": evaluation(),
        "ours": evaluation(status="running", owner=ours.id),
        "of a dead one": evaluation(status="running", owner=str(uuid7())),
        "paused": evaluation(status="paused"),
        "over": evaluation(status="finished"),
    }
    await store(database, *records.values())
    found = await database.read(lambda connection: claimable(connection, ours.id))
    # Ours is among them: a fault may have ended our conducting it.
    assert found == [records[name].id for name in ("new", "ours", "of a dead one")]
    taken = {name: await take(database, each, ours) for name, each in records.items()}
    assert taken == {"new": 1, "ours": 1, "of a dead one": 1, "paused": None, "over": None}
    owned = await database.read(
        lambda connection: find_evaluation(connection, records["of a dead one"].id)
    )
    assert (owned.owner, owned.epoch) == (ours.id, 1)


async def test_a_command_takes_what_is_not_over_from_whoever_has_it(database):
    ours = Workers()
    await database.write(ours.register)
    paused, over = evaluation(status="paused"), evaluation(status="cancelled")
    await store(database, paused, over)
    assert await take(database, paused, ours, by_force=True) == 1
    assert await take(database, over, ours, by_force=True) is None


async def test_how_often_evaluations_have_changed(database):
    one, other = evaluation(revision=3), evaluation()
    await store(database, one, other)
    everything = await database.read(revisions_of)
    assert everything == {one.id: 3, other.id: 0}
    some = await database.read(lambda connection: revisions_of(connection, [one.id, "none"]))
    assert some == {one.id: 3}
    assert await database.read(lambda connection: revisions_of(connection, [])) == {}
