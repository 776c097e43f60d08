"""Plies and the ledger."""

from decimal import Decimal
from functools import partial

import pytest

from app.persistence import ledger, plies
from app.persistence.database import Database
from app.persistence.errors import StorageRefused
from app.persistence.ledger import ledger_of
from app.persistence.plies import plies_of, ply_of
from app.persistence.records import LedgerTotals
from tests.app.persistence.samples import a_call, a_ply, inserted, new_id

pytestmark = pytest.mark.asyncio


async def test_plies_come_back_in_order(database_url):
    async with await Database.open(database_url) as database:
        record, other = await inserted(database), await inserted(database)
        bare = dict.fromkeys(("elapsed_ms", "clock_ms", "evaluation"))
        stored = [
            a_ply(record.id, 1, advice='{"tactical":"Nf7!"}', attempts="[]"),
            a_ply(record.id, 2, **bare),
            a_ply(record.id, 3, clock_ms=-1),
        ]
        await database.write(lambda each: plies.append(each, [stored[1], stored[2], stored[0]]))
        await database.write(lambda each: plies.append(each, [a_ply(other.id)]))
        await database.write(lambda each: plies.append(each, []))
        assert await database.read(lambda each: plies_of(each, record.id)) == stored
        assert await database.read(lambda each: plies_of(each, new_id())) == []


async def test_some_plies(database_url):
    async with await Database.open(database_url) as database:
        record, other = await inserted(database), await inserted(database)
        stored = [a_ply(record.id, number) for number in range(1, 8)]
        others = [a_ply(other.id, number) for number in range(1, 10)]
        await database.write(lambda each: plies.append(each, stored + others))

        async def found(*bounds):
            return await database.read(lambda each: plies_of(each, record.id, *bounds))

        async def one(number):
            return await database.read(lambda each: ply_of(each, record.id, number))

        assert await found(0, 3) == stored[:3]
        assert await found(3, 3) == stored[3:6]
        assert await found(5, 3) == stored[5:]
        assert await found(5) == stored[5:]
        assert await found(0, 0) == await found(7) == await found(10**49, 5) == []
        assert [await one(number) for number in (0, 1, 7, 8)] == [None, stored[0], stored[6], None]


@pytest.mark.parametrize(
    "fields", [{"number": 0}, {"number": 1}, {"color": "red"}, {"elapsed_ms": -1}]
)
async def test_impossible_plies_are_refused(database_url, fields):
    async with await Database.open(database_url) as database:
        record = await inserted(database)
        await database.write(lambda each: plies.append(each, [a_ply(record.id)]))
        ply = a_ply(record.id, **{"number": 2} | fields)
        with pytest.raises(StorageRefused):
            await database.write(lambda each: plies.append(each, [ply]))


async def test_a_ledger_adds_up_exactly(database_url):
    async with await Database.open(database_url) as database:
        record, other = await inserted(database), await inserted(database)
        assert await database.read(lambda each: ledger_of(each, record.id)) == LedgerTotals(
            0, 0, 0, None
        )
        unknown = a_call(record.id, cost_usd=None, prompt_tokens=1)
        await database.write(lambda each: ledger.append(each, unknown))
        assert await database.read(lambda each: ledger_of(each, record.id)) == LedgerTotals(
            1, 1, 7, None, 1, 40, 0
        )
        calls = [a_call(record.id) for _ in range(3)]
        calls.append(a_call(record.id, cost_usd=Decimal("123456.000000000001")))
        for call in (*calls, calls[0], a_call(other.id), a_call()):  # one of them twice
            await database.write(partial(ledger.append, call=call))
        totals = await database.read(lambda each: ledger_of(each, record.id))
    assert totals == LedgerTotals(5, 401, 35, Decimal("123456.000112500001"), 1, 200, 0)
    assert isinstance(totals.calls, int)
    assert isinstance(totals.prompt_tokens, int)


@pytest.mark.parametrize(
    "fields", [{"attempt": 0}, {"completion_tokens": -1}, {"cost_usd": Decimal(-1)}]
)
async def test_impossible_calls_are_refused(database_url, fields):
    async with await Database.open(database_url) as database:
        record = await inserted(database)
        with pytest.raises(StorageRefused):
            await database.write(lambda each: ledger.append(each, a_call(record.id, **fields)))
