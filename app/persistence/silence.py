"""Silence: connections to Postgres that do not wait for ever.

The limits of a session are kept by the server, and those of TCP by the kernels. A server that is
frozen keeps to neither: its kernel goes on to say that all is well.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Engine, event

T = TypeVar("T")


class _Connection(psycopg.Connection[TupleRow]):
    """A connection that is given up when the server is silent for too long."""

    silence: timedelta | None = None

    def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:  # noqa: ANN401
        """Wait for the server, or raise an `OperationalError`; after that we are closed."""
        if self.silence is None:
            return super().wait(gen, *arguments, **options)
        return super().wait(self._limited(gen, self.silence.total_seconds()), *arguments, **options)

    def _limited(self, waiting: PQGen[T], seconds: float) -> PQGen[T]:
        """Pass everything on in both directions, until it takes too long."""
        deadline = time.monotonic() + seconds
        try:
            wanted = next(waiting)
            while True:
                ready = yield wanted
                if ready:
                    deadline = time.monotonic() + seconds
                elif time.monotonic() >= deadline:
                    self.close()  # so that nobody takes it for one that could be used again
                    raise psycopg.OperationalError(f"it said nothing for {seconds:g} seconds")
                wanted = waiting.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result


def limited(engine: Engine, silence: timedelta) -> None:
    """Give up connections of an engine when the server is silent for longer."""

    def connect(_dialect: object, _record: object, arguments: Any, options: Any) -> _Connection:  # noqa: ANN401
        connection = _Connection.connect(*arguments, **options)
        connection.silence = silence
        return connection

    event.listen(engine, "do_connect", connect)
