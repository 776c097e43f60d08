"""Matches: what is stored comes back; lists, filters and counts; who may own one."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial

import pytest
from sqlalchemy import insert

from app.persistence.database import Database
from app.persistence.errors import StorageRefused
from app.persistence.matches import (
    MatchFilter,
    claim,
    claimable,
    count_by_status,
    count_claimable,
    find_by_key,
    find_match,
    insert_match,
    list_matches,
    unfinished_of,
)
from app.persistence.tables import Evaluation
from app.persistence.workers import Workers
from tests.app.persistence.samples import NOON, a_match, an_event, inserted, new_id

pytestmark = pytest.mark.asyncio

FULL = {
    "status": "ended",
    "variant": "chess960",
    "white": "human",
    "black": "uci:Ünï♞",
    "settings": '{"seed":1}',
    "ply_count": 7,
    "last_sequence": 2,
    "winner": "black",
    "termination": "checkmate",
    "result": "0-1",
    "owner": new_id(),
    "epoch": 3,
    "client": "token:abc",
    "idempotency_key": "k",
    "request_digest": "d",
    "white_token_hash": "w",
    "black_token_hash": "b",
    "tags": ("zebra", "a tag", "Ünï"),
}


@pytest.mark.parametrize("fields", [{}, FULL])
async def test_a_match_comes_back_as_it_was(database_url, fields):
    async with await Database.open(database_url) as database:
        record = await inserted(database, **fields)
        await inserted(database)
        found = await database.read(lambda connection: find_match(connection, record.id))
    assert found == record
    assert found.created_at.utcoffset() == timedelta(0)


async def test_times_come_back_in_utc(database_url):
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-7)))
    async with await Database.open(database_url) as database:
        record = await inserted(database, created_at=elsewhere)
        found = await database.read(lambda connection: find_match(connection, record.id))
    assert found.created_at.isoformat() == "2025-03-09T12:00:00.123456+00:00"


async def test_a_time_without_a_zone_is_a_mistake(database_url):
    async with await Database.open(database_url) as database:
        with pytest.raises(StorageRefused, match="no time zone"):
            await inserted(database, created_at=datetime(2025, 1, 1))


async def test_what_is_not_there_is_none(database_url):
    async with await Database.open(database_url) as database:
        record = await inserted(database, idempotency_key="k", client="me")
        assert await database.read(lambda connection: find_match(connection, new_id())) is None
        for client, key, expected in (("me", "k", record), ("you", "k", None), ("me", "j", None)):
            found = await database.read(partial(find_by_key, client=client, idempotency_key=key))
            assert found == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "finished"},
        {"result": "2-0"},
        {"winner": "nobody", "termination": "checkmate", "status": "ended"},
        {"winner": "white"},
        {"status": "ended"},
        {"termination": "checkmate"},
        {"epoch": -1},
        {"ply_count": -1},
        {"evaluation_id": new_id()},
        {"client": None},
        {"white": "\ud800"},
        {"ply_count": 2**70},
        {"idempotency_key": "taken"},
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_nothing(database_url, fields):
    async with await Database.open(database_url) as database:
        first = await inserted(database, idempotency_key="taken")
        with pytest.raises(StorageRefused):
            await inserted(database, **fields)
        found = await database.read(lambda each: list_matches(each, MatchFilter(), None, 10))
    assert found == [first]


async def test_the_same_id_is_refused(database_url):
    async with await Database.open(database_url) as database:
        record = await inserted(database)
        with pytest.raises(StorageRefused):
            await inserted(database, id=record.id, white="stockfish:1")


async def test_keys_count_by_client(database_url):
    async with await Database.open(database_url) as database:
        for client in ("me", "you"):
            await inserted(database, client=client, idempotency_key="k")
        await inserted(database, client="me")
        await inserted(database, client="me")
        counted = await database.read(lambda connection: unfinished_of(connection, "me"))
    assert counted == 3


async def test_lists_are_newest_first_and_go_on_from_an_id(database_url):
    async with await Database.open(database_url) as database:
        ids = [(await inserted(database, tags=(str(number),))).id for number in range(7)]
        pages, before = [], None
        while True:
            page = await database.read(
                lambda each, cursor=before: list_matches(each, MatchFilter(), cursor, 3)
            )
            if not page:
                break
            pages.append(page)
            before = page[-1].id
    assert [[record.id for record in page] for page in pages] == [
        ids[:3:-1],
        ids[3:0:-1],
        ids[:1],
    ]
    assert [record.tags for page in pages for record in page] == [
        (str(n),) for n in range(6, -1, -1)
    ]


FILTERS = [
    (MatchFilter(), "abcdef"),
    (MatchFilter(status="paused"), "b"),
    (MatchFilter(player="classical"), "ac"),
    (MatchFilter(player="human"), "d"),
    (MatchFilter(variant="chess960"), "c"),
    (MatchFilter(tag="nightly"), "ae"),
    (MatchFilter(tag="night"), ""),
    (MatchFilter(player="classical", variant="chess960"), "c"),
    (MatchFilter(player="classical", tag="nightly"), "a"),
    (MatchFilter(player="classical", tag="nightly", status="ended"), ""),
    (MatchFilter(evaluation="x" * 36), "f"),
]


@pytest.mark.parametrize(("wanted", "names"), FILTERS)
async def test_filters(database_url, wanted, names):
    matches = {
        "a": {"white": "classical", "tags": ("other", "nightly")},
        "b": {"status": "paused"},
        "c": {"black": "classical", "variant": "chess960"},
        "d": {"white": "human", "black": "human"},
        "e": {"tags": ("nightly",)},
        "f": {"evaluation_id": "x" * 36},
    }
    evaluation = {
        "id": "x" * 36,
        "created_at": NOON,
        "updated_at": NOON,
        "status": "created",
        "plan": "{}",
        "client": "local",
    }
    async with await Database.open(database_url) as database:
        await database.write(lambda connection: connection.execute(insert(Evaluation), evaluation))
        ids = {}
        for name, fields in matches.items():
            ids[(await inserted(database, **fields)).id] = name
        found = await database.read(lambda connection: list_matches(connection, wanted, None, 10))
    assert "".join(sorted(ids[record.id] for record in found)) == names


async def test_counts(database_url):
    over = {"status": "ended", "termination": "stalemate", "result": "1/2-1/2"}
    async with await Database.open(database_url) as database:
        assert await database.read(count_by_status) == {}
        for fields in ({}, {}, {"status": "created"}, over, {"status": "aborted"}):
            await inserted(database, **fields)
        await inserted(database, status="paused", client="you")
        assert await database.read(count_by_status) == {
            "running": 2,
            "created": 1,
            "ended": 1,
            "aborted": 1,
            "paused": 1,
        }
        for client, count in (("local", 3), ("you", 1), ("nobody", 0)):
            assert await database.read(partial(unfinished_of, client=client)) == count


async def test_insert_match_tells_positions(database_url):
    async with await Database.open(database_url) as database:
        await inserted(database)
        record = a_match(last_sequence=2)
        events = [an_event(record.id), an_event(record.id, 2, "match.started")]
        stored = await database.write(lambda each: insert_match(each, record, events))
    assert stored == (replace(events[0], position=2), replace(events[1], position=3))


CLAIMS = [
    ({"status": "created"}, False, 1),
    ({"status": "running", "epoch": 4}, False, 5),
    ({"status": "paused"}, False, 1),
    ({"status": "ended", "termination": "agreement"}, True, None),
    ({"status": "aborted"}, True, None),
    ({"owner": "ourselves"}, False, None),
    ({"owner": "ourselves", "epoch": 1}, True, 2),
    ({"owner": "the dead", "epoch": 1}, False, 2),
]


@pytest.mark.parametrize(("fields", "by_force", "epoch"), CLAIMS)
async def test_claim(database_url, fields, by_force, epoch):
    ours = Workers().id
    owners = {"owner": ours if fields.get("owner") == "ourselves" else new_id()}
    fields = fields | (owners if "owner" in fields else {})
    async with await Database.open(database_url) as database:
        record = await inserted(database, **fields)
        claimed = await database.write(lambda each: claim(each, record.id, ours, by_force=by_force))
        found = await database.read(lambda connection: find_match(connection, record.id))
    assert claimed == epoch
    changed = {} if epoch is None else {"owner": ours, "epoch": epoch}
    assert found == replace(record, **changed)


async def test_what_is_not_there_cannot_be_claimed(database_url):
    async with await Database.open(database_url) as database:
        claimed = await database.write(lambda each: claim(each, new_id(), new_id(), by_force=True))
    assert claimed is None


async def test_claimable_are_those_that_no_living_worker_runs(database_url):
    ours, dead = new_id(), new_id()
    async with await Database.open(database_url) as database:
        free = [(await inserted(database, status=status)).id for status in ("created", "running")]
        orphan = (await inserted(database, owner=dead)).id
        await inserted(database, owner=ours)
        await inserted(database, status="paused")
        await inserted(database, status="aborted")
        human = (await inserted(database, black="human")).id

        async def found(limit, **kind):
            return await database.read(lambda each: claimable(each, ours, limit, **kind))

        assert await found(10) == [*free, orphan]
        assert await found(2) == free
        assert await found(10, humans=True) == [human]
        assert await database.read(lambda each: count_claimable(each, ours)) == 4
        assert await database.read(lambda each: count_claimable(each, new_id())) == 5


def _insert_evaluation(connection, evaluation_id, status="created"):
    row = {"id": evaluation_id, "created_at": NOON, "updated_at": NOON, "status": status}
    connection.execute(insert(Evaluation), row | {"plan": "{}", "client": "c"})


async def test_only_matches_of_some_evaluations_are_claimable_for_who_asks_for_them(database_url):
    ours, wanted, other = new_id(), new_id(), new_id()
    async with await Database.open(database_url) as database:
        for each in (wanted, other):
            await database.write(partial(_insert_evaluation, evaluation_id=each))
        await inserted(database)
        theirs = (await inserted(database, evaluation_id=wanted)).id
        await inserted(database, evaluation_id=other)
        human = (await inserted(database, evaluation_id=wanted, white="human")).id

        async def found(*among, **kind):
            return await database.read(lambda each: claimable(each, ours, 9, among=among, **kind))

        assert await found(wanted) == [theirs]
        assert await found(wanted, humans=True) == [human]
        assert await found() == []


@pytest.mark.parametrize(
    ("status", "is_claimable"),
    [
        ("created", True),
        ("running", True),
        ("paused", False),
        ("finished", False),
        ("cancelled", False),
    ],
)
async def test_a_match_goes_on_with_its_evaluation(status, is_claimable, database_url):
    ours, evaluation = new_id(), new_id()
    async with await Database.open(database_url) as database:
        await database.write(partial(_insert_evaluation, evaluation_id=evaluation, status=status))
        match = (await inserted(database, evaluation_id=evaluation)).id
        found = await database.read(lambda each: claimable(each, ours, 9))
        assert found == ([match] if is_claimable else [])
        waiting = await database.read(lambda each: count_claimable(each, ours))
        assert waiting == len(found)
