"""Workers: the processes that run matches, and which of them are alive.

On SQLite only one process has the file open, so every other worker is dead. On Postgres a worker
holds an advisory lock named after it (see `notifications`), and is alive exactly while it does: the
server frees the lock when the process is killed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b

from sqlalchemy import Connection, bindparam, insert, select, text, update
from uuid_utils.compat import uuid7

from app.persistence.tables import Worker
from app.timekeeping import now

_REGISTER = insert(Worker)
_BEAT = (
    update(Worker)
    .where(Worker.id == bindparam("worker"))
    .values(seen_at=bindparam("now"), stopped_at=bindparam("stopped"))
)
_SEEN_AT = select(Worker.seen_at).where(Worker.id == bindparam("worker"))
_HELD_LOCKS = text(
    "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"
    " WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Workers:
    """This process among the workers."""

    def __init__(self) -> None:
        self.id = str(uuid7())

    def register(self, connection: Connection) -> None:
        """Say that we are there."""
        at = now()
        connection.execute(_REGISTER, {"id": self.id, "started_at": at, "seen_at": at})

    def beat(self, connection: Connection) -> None:
        """Say that we are still there."""
        at = now()
        connection.execute(_BEAT, {"worker": self.id, "now": at, "stopped": None})

    def close(self, connection: Connection) -> None:
        """Say that we stop."""
        at = now()
        connection.execute(_BEAT, {"worker": self.id, "now": at, "stopped": at})

    @staticmethod
    def seen_at(connection: Connection, worker_id: str) -> datetime | None:
        """Return when a worker last said that it was there, or None if there is none of that id."""
        found: datetime | None = connection.execute(_SEEN_AT, {"worker": worker_id}).scalar()
        return found


def dead_of(connection: Connection, workers: Iterable[str], own: str) -> set[str]:
    """Return those of some workers that are dead. We ourselves are not."""
    others = {worker for worker in workers if worker != own}
    if not others or connection.dialect.name == "sqlite":
        return others
    held = set(connection.execute(_HELD_LOCKS).scalars())
    return {worker for worker in others if lock_key(worker) not in held}


def lock_key(worker: str) -> int:
    """Return the number of the advisory lock that a worker holds: 64 bits, signed."""
    return int.from_bytes(blake2b(worker.encode(), digest_size=8).digest(), signed=True)
