"""Notifications: how Postgres tells this process that another one has committed something.

The same connection holds the advisory lock that says that this worker is alive, so that it ends
with the process, whichever way that ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy.engine.interfaces import Dialect

from app.persistence.database import Database
from app.persistence.engines import POSTGRES_OPTIONS
from app.persistence.events import CHANNEL
from app.persistence.faults import translated
from app.persistence.workers import lock_key

#: How long to wait before connecting again: twice as long each time, up to the second.
_FIRST_WAIT = timedelta(milliseconds=100)
_LONGEST_WAIT = timedelta(seconds=5)
#: How often to ask for the lock that a former connection of ours still holds.
_ASK_EVERY = timedelta(milliseconds=500)

_log = structlog.get_logger(__name__)


class Notifications:
    """Listens, and keeps this worker alive, over a connection of its own. A task runs it."""

    def __init__(self, database: Database, worker: str, notified: Callable[[], None]) -> None:
        """Call `notified` when there may be something new: also too often, and after a gap."""
        self._address = database.address
        self._worker = worker
        self._notified = notified
        self._alive = asyncio.Event()

    @property
    def is_alive(self) -> bool:
        """Whether other workers know that we are alive."""
        return self._alive.is_set()

    async def ready(self) -> None:
        """Wait until other workers know that we are alive."""
        await self._alive.wait()

    async def run(self) -> None:
        """Listen until cancelled. When the connection is lost, make another one."""
        import psycopg

        wait = _FIRST_WAIT
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    **self._options(), autocommit=True
                ) as connection:
                    await self._take_lock(connection)
                    wait = _FIRST_WAIT
                    await self._listen(connection)
            except psycopg.Error as error:
                reason = str(translated(error, self._address))
                _log.warning("not notified by Postgres", error=reason, worker=self._worker)
            finally:
                self._alive.clear()
            await asyncio.sleep(wait.total_seconds())
            wait = min(2 * wait, _LONGEST_WAIT)

    async def _take_lock(self, connection: Any) -> None:  # noqa: ANN401 - psycopg comes late
        """Take the lock, which a former connection may hold until the server knows of its end."""
        query = f"SELECT pg_try_advisory_lock({lock_key(self._worker)})"
        while not await _first(connection, query):  # noqa: ASYNC110
            await asyncio.sleep(_ASK_EVERY.total_seconds())
        self._alive.set()

    async def _listen(self, connection: Any) -> None:  # noqa: ANN401
        await connection.execute(f"LISTEN {CHANNEL}")
        self._notified()  # of what was committed while nobody listened
        async for _ in connection.notifies():
            self._notified()

    def _options(self) -> dict[str, Any]:
        dialect: Dialect = self._address.url.get_dialect()()
        _, options = dialect.create_connect_args(self._address.url)
        return {**POSTGRES_OPTIONS, **options}


async def _first(connection: Any, query: str) -> Any:  # noqa: ANN401
    row = await (await connection.execute(query)).fetchone()
    return row[0]
