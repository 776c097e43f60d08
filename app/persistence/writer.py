"""Writer: commits what matches write, those that wait at the same moment in one transaction."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from app.persistence import events, matches
from app.persistence.batch import store
from app.persistence.database import Database
from app.persistence.errors import LostOwnership, StorageUnavailable
from app.persistence.records import Change

#: A transaction of more would keep the first of them waiting.
_MOST = 128


class Writer:
    """The only way in which running matches write. A task runs it: see `run`."""

    def __init__(self, database: Database, published: Callable[[Sequence[Change]], None]) -> None:
        """After each commit `published` gets the changes, whose events now have positions."""
        self._database = database
        self._published = published
        self._waiting: deque[_Waiting] = deque()
        self._wake = asyncio.Event()
        self._stopped = False

    async def run(self) -> None:
        """Commit until cancelled; then finish the transaction in hand.

        Whoever waits for another one gets `StorageUnavailable`.
        """
        work = asyncio.create_task(self._work())
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            self._stop()
            await asyncio.wait([work])
            raise

    async def commit(self, change: Change) -> None:
        """Commit a change; when this returns it is durable and has been published.

        A caller that is cancelled does not know whether it was. Raises `LostOwnership` if the match
        has another owner by now, `StorageRefused`, or `StorageUnavailable`: then the same change
        may be tried again, also if it had been committed after all.
        """
        if self._stopped:
            raise StorageUnavailable("the service stops")
        waiting = _Waiting(change, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._wake.set()
        await waiting.done

    async def _work(self) -> None:
        try:
            while not self._stopped:
                await self._wake.wait()
                self._wake.clear()
                while batch := self._next_batch():
                    await self._commit_batch(batch)
        finally:
            self._stop()

    def _stop(self) -> None:
        self._stopped = True
        self._wake.set()
        for waiting in self._waiting:
            waiting.fail(StorageUnavailable("the service stops"))
        self._waiting.clear()

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < _MOST:
            waiting = self._waiting.popleft()
            if not waiting.done.done():  # whoever was cancelled meanwhile wants nothing any more
                batch.append(waiting)
        return batch

    async def _commit_batch(self, batch: list[_Waiting]) -> None:
        try:
            stored = await self._store([waiting.change for waiting in batch])
        except Exception:
            # One of them may spoil it for all; and of a commit whose connection was lost nobody
            # knows. So each is tried by itself.
            await self._commit_each(batch)
        else:
            self._finish(batch, stored)

    async def _commit_each(self, batch: list[_Waiting]) -> None:
        for number, waiting in enumerate(batch):
            try:
                stored = await self._store_or_find(waiting.change)
            except StorageUnavailable as error:
                _fail(batch[number:], error)
                return
            except Exception as error:
                waiting.fail(error)
            else:
                self._finish([waiting], [stored])

    async def _store(self, changes: Sequence[Change]) -> list[Change]:
        # To give up would not help: the next one would have to wait for the same thread.
        return await self._database.write(
            lambda connection: store(connection, changes), is_patient=True
        )

    async def _store_or_find(self, change: Change) -> Change:
        """Store a change, or find that it was stored when the connection was lost."""
        try:
            (stored,) = await self._store([change])
        except LostOwnership:
            found = await self._database.read(lambda connection: _find(connection, change))
            if found is None:
                raise
            return found
        return stored

    def _finish(self, batch: Sequence[_Waiting], stored: Sequence[Change]) -> None:
        try:
            self._published(stored)
        finally:
            for waiting in batch:
                waiting.succeed()


def _find(connection: Connection, change: Change) -> Change | None:
    """Return the change as it is stored, if it is and the match is still ours."""
    match = matches.find_match(connection, change.match_id)
    if match is None or match.epoch != change.epoch or match.last_sequence != change.last_sequence:
        return None
    found = events.events_of(connection, change.match_id, change.base_sequence, len(change.events))
    if [event.data for event in found] != [event.data for event in change.events]:
        return None
    return replace(change, events=tuple(found))


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A change, and who waits for it."""

    change: Change
    done: asyncio.Future[None]

    def succeed(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)


def _fail(batch: Sequence[_Waiting], error: BaseException) -> None:
    for waiting in batch:
        waiting.fail(error)
