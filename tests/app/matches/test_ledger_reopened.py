"""The ledger of a match that is opened again, or for a ply that was played before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from agents.models.budget import Budget, Spending
from agents.models.errors import BudgetSpent
from app.matches.commands import Abort, PlayMove, Takeback
from app.matches.ledger import MatchLedger
from app.persistence.database import Database
from engine import Color
from tests.app.matches.owning import run
from tests.support.model_server import ModelServer
from tests.support.team_matches import GOOD, furnish, hurry, playing


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(name="folder")
def furnished(tmp_path: Path, sqlite_template: Path) -> Path:
    """A folder for the services."""
    return furnish(tmp_path, sqlite_template)


class Stalls:
    """A database that does not answer one of its reads."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._left = number

    async def read(self, query: Callable[[Connection], Any]) -> Any:
        self._left -= 1
        if self._left == 0:
            await asyncio.Event().wait()
        return await self._database.read(query)


@pytest.mark.parametrize("number", [1, 2])
def test_what_was_spent_counts_once_though_the_first_to_ask_gave_up(
    number: int, folder: Path
) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, playing(server, folder) as play:
            match_id = await play.start("solo:default", max_plies=3)
            await play.ended(match_id)
            made = len(await play.calls(match_id))
            database: Any = Stalls(play.services.database, number)
            ledger = MatchLedger(match_id, Budget(calls=made + 1), database, lambda call: None)
            turn = ledger.for_turn(Color.WHITE, 3, lambda since, until: None)
            with pytest.raises(TimeoutError):  # as a specialist whose patience is over
                async with asyncio.timeout(0.05):
                    await turn.has_reply("solo")
            assert await turn.has_reply("solo")
            turn.reserve(Spending(calls=1), Budget())
            with pytest.raises(BudgetSpent):
                turn.reserve(Spending(calls=1), Budget())

    run(main())


@pytest.mark.parametrize("is_restarted", [False, True])
def test_plies_that_are_played_again_are_not_paid_for_again(
    is_restarted: bool, folder: Path
) -> None:
    async def main() -> None:
        async with ModelServer(GOOD) as server, AsyncExitStack() as stack:
            play = await stack.enter_async_context(playing(server, folder))
            match_id = await play.start("solo:default", "human", max_plies=None)

            async def opening() -> None:
                await play.until(match_id, lambda match: match.ply_count == 1)
                for move, count in (("e7e5", 3), ("d7d5", 5)):
                    await play.command(match_id, PlayMove(Color.BLACK, move))
                    await play.until(match_id, lambda match, count=count: match.ply_count == count)

            await opening()
            for _ in range(2):
                await play.command(match_id, Takeback(Color.BLACK))
            if is_restarted:
                await stack.aclose()
                play = await stack.enter_async_context(playing(server, folder))
            await opening()
            assert len(server.requests) == len(await play.calls(match_id)) == 3
            await play.command(match_id, Abort())

    run(main())
