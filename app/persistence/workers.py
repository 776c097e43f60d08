"""Workers: the processes that run matches, and which of them are alive.

On SQLite only one process has the file open, so every other worker is dead. On Postgres a worker
holds an advisory lock named after it (see `notifications`), and is alive exactly while it does: the
server frees the lock when the process is killed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import blake2b

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update
from uuid_utils.compat import uuid7

from agents.timekeeping import now
from app.persistence.tables import UNFINISHED, Match, Worker

#: Who stopped, or was last seen, longer ago than this is forgotten.
REMEMBERED = timedelta(days=7)

_REGISTER = insert(Worker)
_FORGET = delete(Worker).where(
    Worker.seen_at < bindparam("before"),  # who stops is seen then
    Worker.id.not_in(
        select(Match.owner).where(Match.status.in_(UNFINISHED), Match.owner.is_not(None))
    ),
)
_BEAT = (
    update(Worker)
    .where(Worker.id == bindparam("worker"))
    .values(seen_at=bindparam("now"), stopped_at=bindparam("stopped"))
)
_LIFE = select(Worker.started_at, Worker.seen_at).where(Worker.id == bindparam("worker"))
_SEEN_AFTER = select(func.min(Worker.seen_at)).where(
    Worker.started_at <= bindparam("at"), Worker.seen_at >= bindparam("at")
)
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
        """Say that we are there. Workers that are long gone, and own nothing, are forgotten."""
        at = now()
        connection.execute(_FORGET, {"before": at - REMEMBERED})
        connection.execute(_REGISTER, {"id": self.id, "started_at": at, "seen_at": at})

    def beat(self, connection: Connection) -> None:
        """Say that we are still there."""
        at = now()
        connection.execute(_BEAT, {"worker": self.id, "now": at, "stopped": None})

    def close(self, connection: Connection) -> None:
        """Say that we stop."""
        at = now()
        connection.execute(_BEAT, {"worker": self.id, "now": at, "stopped": at})


def dead_of(connection: Connection, workers: Iterable[str], own: str) -> set[str]:
    """Return those of some workers that are dead. We ourselves are not."""
    others = {worker for worker in workers if worker != own}
    if not others or connection.dialect.name == "sqlite":
        return others
    held = set(connection.execute(_HELD_LOCKS).scalars())
    return {worker for worker in others if lock_key(worker) not in held}


def charged_until(
    connection: Connection, worker: str | None, turn_at: datetime, own: str
) -> datetime | None:
    """Return until when the clock of a worker's match ran in a turn; None if it still does."""
    if worker is None or not dead_of(connection, [worker], own):
        return None
    life = connection.execute(_LIFE, {"worker": worker}).one_or_none()
    began, seen = (turn_at, turn_at) if life is None else life
    if began <= turn_at:
        charged: datetime = seen
        return charged
    # It took the match over, and died before it went on with the turn: so it ran no clock, but
    # whoever was there when the turn began. If they were several, nobody pays too much.
    earliest: datetime | None = connection.scalar(_SEEN_AFTER, {"at": turn_at})
    return earliest or turn_at


def lock_key(worker: str) -> int:
    """Return the number of the advisory lock that a worker holds: 64 bits, signed."""
    return int.from_bytes(blake2b(worker.encode(), digest_size=8).digest(), signed=True)
