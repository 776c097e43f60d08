"""A call that is replayed: the same reply and the same rows of the ledger, without waiting."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from agents.models.budget import Budget
from agents.models.caller import ModelCaller
from agents.models.errors import RateLimited, ServerFault
from agents.models.ledger import MemoryLedger, Question
from agents.models.pricing import Prices
from agents.models.recorded import Recorder, Recording
from tests.agents.models.test_recorded import PIECES, REPLY, REQUEST, USAGE, Script


def test_a_replayed_call_shows_the_same_ledger_without_waiting(tmp_path):
    file = tmp_path / "calls.jsonl"
    prices, question = Prices.load(), Question("solo", 1, "p")
    reply = replace(REPLY, usage=replace(USAGE, cost_usd=None))
    faults = [ServerFault("openai", 500), RateLimited("openai", timedelta(seconds=59))]

    async def run() -> None:
        ledgers = []

        async def no_wait(_seconds: float) -> None:
            await asyncio.sleep(0)

        live = Recorder(Script(*faults, reply), file)
        for make in (
            lambda: ModelCaller({"openai": live}, prices, sleep=no_wait),
            lambda: ModelCaller.replaying(Recording(file), prices),
        ):
            ledger, heard = MemoryLedger(), []
            got = await make().call(
                REQUEST, question, ledger, Budget(), heard.append, lambda _since, _until: None
            )
            assert (got, heard) == (reply, PIECES * 3)
            ledgers.append(
                [
                    (row.outcome, row.usage, row.cost_usd, row.reply, row.retry)
                    for row in ledger.calls
                ]
            )
        assert ledgers[0] == ledgers[1]
        assert len(ledgers[0]) == 3
        assert ledgers[0][-1][2] == Decimal("0.001525")

    asyncio.run(run())
