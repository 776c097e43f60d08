"""Lane: threads that each hold one connection, and run one transaction after the other.

A transaction costs one hop to a thread and one back, and in between the driver works without the
event loop. That takes half the processor time, or less, of what the async drivers take.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine

from app.persistence.address import Address
from app.persistence.errors import StorageUnavailable
from app.persistence.faults import connect, driver_errors, translated

T = TypeVar("T")


class Lane:
    """Runs transactions in threads of its own.

    A caller that is cancelled does not interrupt the transaction in hand.
    """

    def __init__(self, address: Address, engine: Engine, threads: int, name: str) -> None:
        self._address = address
        self._engine = engine
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._closed = False
        # A daemon: a program that ends without closing us does not hang.
        self._threads = [
            threading.Thread(
                target=_Session(address, engine).serve,
                args=(self._jobs,),
                name=f"kibitz-{name}-{number}",
                daemon=True,
            )
            for number in range(1, threads + 1)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[Connection], T], patience: timedelta | None = None) -> T:
        """Run a transaction, and return what it returns; see `Database.write`.

        Nobody waits longer than his patience, be it for a thread that is free or for the database.
        """
        if self._closed:
            raise StorageUnavailable("the database is closed")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        job = _Job(work, done, loop)
        self._jobs.put(job)
        if patience is None:
            return await done
        seconds = patience.total_seconds()
        error = StorageUnavailable(f"{self._address} does not answer within {seconds:g} seconds")
        timer = loop.call_later(seconds, job.fail, error)
        try:
            return await done
        finally:
            timer.cancel()

    def stop(self) -> None:
        """Take no more transactions."""
        if not self._closed:
            self._closed = True
            for _ in self._threads:
                self._jobs.put(None)

    def join(self, deadline: float) -> bool:
        """Wait until those that were asked for are finished, and connections closed; it blocks.

        Returns whether they are by then, as `time.monotonic` has it.
        """
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._engine.dispose()
        return not any(thread.is_alive() for thread in self._threads)


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    """A transaction, and who waits for it."""

    work: Callable[[Connection], T]
    done: asyncio.Future[T]
    loop: asyncio.AbstractEventLoop

    def run(self, session: _Session) -> None:
        if self.done.done():  # the caller was cancelled, or gave up, before it was his turn
            return
        try:
            result = session.transaction(self.work)
        except BaseException as error:
            self._tell(self.fail, error)
        else:
            self._tell(self._succeed, result)

    def _tell(self, callback: Callable[[Any], None], news: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(callback, news)

    def _succeed(self, result: T) -> None:
        if not self.done.done():
            self.done.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Tell whoever waits what is wrong, unless he knows more already."""
        if not self.done.done():
            self.done.set_exception(error)


class _Session:
    """One thread's connection, which is made when it is needed, and again when it was lost."""

    def __init__(self, address: Address, engine: Engine) -> None:
        self._address = address
        self._engine = engine
        self._errors = driver_errors(engine)
        self._connection: Connection | None = None

    def serve(self, jobs: SimpleQueue[_Job[Any] | None]) -> None:
        """Run transactions until there is a None among them."""
        while (job := jobs.get()) is not None:
            job.run(self)
            del job  # what it refers to should not live until the next one comes
        self._forget()

    def transaction(self, work: Callable[[Connection], T]) -> T:
        """Run a transaction in this thread."""
        try:
            try:
                return self._attempt(work)
            except _LostBeforeCommit:
                # The server was restarted while we were idle, say. Nothing was committed.
                return self._attempt(work)
        except _LostBeforeCommit as lost:
            raise translated(lost.error, self._address) from None
        except self._errors as error:
            raise translated(error, self._address) from None

    def _attempt(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = connect(self._engine, self._address)
        connection = self._connection
        transaction = connection.begin()
        try:
            result = work(connection)
        except self._errors as error:
            if _is_lost(connection):
                self._forget()
                raise _LostBeforeCommit(error) from None
            self._roll_back(connection)
            raise
        except BaseException:
            self._roll_back(connection)
            raise
        try:
            transaction.commit()
        except BaseException:
            # Whether it was committed, nobody knows; a fresh connection can look.
            self._forget()
            raise
        return result

    def _roll_back(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except self._errors:
            self._forget()  # which ends the transaction, too

    def _forget(self) -> None:
        if self._connection is None:
            return
        connection, self._connection = self._connection, None
        with contextlib.suppress(*self._errors):
            connection.invalidate()
        with contextlib.suppress(*self._errors):
            connection.close()


class _LostBeforeCommit(Exception):
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _is_lost(connection: Connection) -> bool:
    """Tell whether the server has gone. An SQLite connection never does."""
    if connection.invalidated:
        return True
    return bool(getattr(connection.connection.driver_connection, "closed", False))
