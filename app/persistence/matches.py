"""Matches in the database: made, found, listed and claimed; `batch` writes how they go on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from app.persistence import events as event_log
from app.persistence import workers
from app.persistence.records import EventRecord, MatchRecord
from app.persistence.tables import UNFINISHED, Evaluation, Match, MatchTag

#: What a human seat is called.
HUMAN = "human"

_NAMES = tuple(field.name for field in fields(MatchRecord) if field.name != "tags")
#: All matches: what further queries begin with.
MATCHES = select(*(getattr(Match, name) for name in _NAMES))
_INSERT = insert(Match)
_INSERT_TAGS = insert(MatchTag)
_FIND = MATCHES.where(Match.id == bindparam("match"))
_FIND_BY_KEY = MATCHES.where(
    Match.client == bindparam("by_client"), Match.idempotency_key == bindparam("by_key")
)
_KEYS = select(Match.idempotency_key).where(
    Match.client == bindparam("by_client"),
    Match.idempotency_key.in_(bindparam("keys", expanding=True)),
)
_TAGS = (
    select(MatchTag.match_id, MatchTag.tag)
    .where(MatchTag.match_id.in_(bindparam("matches", expanding=True)))
    .order_by(MatchTag.match_id, MatchTag.number)
)
_COUNTS = select(Match.status, func.count().label("total")).group_by(Match.status)
_TAGGED = (
    select(MatchTag.match_id, MatchTag.tag)
    .where(MatchTag.tag.startswith(bindparam("beginning")))
    .order_by(MatchTag.match_id.desc())
    .limit(bindparam("most"))
)
_RESEAT = (
    update(Match)
    .where(Match.id == bindparam("match"))
    .values(white_token_hash=bindparam("for_white"), black_token_hash=bindparam("for_black"))
)
_UNTAG = delete(MatchTag).where(
    MatchTag.match_id == bindparam("match"), MatchTag.tag == bindparam("which")
)
_UNFINISHED = (
    select(func.count())
    .select_from(Match)
    .where(Match.client == bindparam("by_client"), Match.status.in_(UNFINISHED))
)
_CLAIMABLE_STATUSES = ("created", "running")
_OWNERS = (
    select(Match.owner)
    .where(Match.status.in_(_CLAIMABLE_STATUSES), Match.owner.is_not(None))
    .distinct()
)
#: A match of an evaluation that is paused, or over, waits for it.
_MAY_GO_ON = or_(
    Match.evaluation_id.is_(None),
    exists().where(
        Evaluation.id == Match.evaluation_id, Evaluation.status.in_(_CLAIMABLE_STATUSES)
    ),
)
_IS_CLAIMABLE = (
    Match.status.in_(_CLAIMABLE_STATUSES),
    or_(Match.owner.is_(None), Match.owner.in_(bindparam("dead", expanding=True))),
    _MAY_GO_ON,
)
_COUNT_CLAIMABLE = select(func.count()).select_from(Match).where(*_IS_CLAIMABLE)
_CLAIMABLE = (
    select(Match.id)
    .where(
        *_IS_CLAIMABLE,
        or_(Match.white == HUMAN, Match.black == HUMAN) == bindparam("humans"),
    )
    .order_by(Match.id)
    .limit(bindparam("most"))
)
_CLAIMABLE_OF = _CLAIMABLE.where(Match.evaluation_id.in_(bindparam("among", expanding=True)))
_OWNED = (
    select(Match.status, Match.owner, Match.epoch)
    .where(Match.id == bindparam("match"))
    .with_for_update()
)
_CLAIM = (
    update(Match)
    .where(Match.id == bindparam("match"), Match.epoch == bindparam("old_epoch"))
    .values(owner=bindparam("new_owner"), epoch=Match.epoch + 1)
)


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Which matches to list; what is None does not matter."""

    status: str | None = None
    player: str | None = None
    variant: str | None = None
    evaluation: str | None = None
    tag: str | None = None


def insert_match(
    connection: Connection, record: MatchRecord, events: Sequence[EventRecord]
) -> tuple[EventRecord, ...]:
    """Store a new match with its first events, and return these with their positions.

    Raises an `IntegrityError`, of which `Database.write` makes `StorageRefused`, if the id or the
    client's idempotency key is there already.
    """
    event_log.take_turn(connection)
    insert_records(connection, [record])
    return event_log.append(connection, events)


def insert_records(connection: Connection, records: Sequence[MatchRecord]) -> None:
    """Store new matches without anything that has happened in them, as `insert_match` does."""
    rows = [{name: getattr(record, name) for name in _NAMES} for record in records]
    connection.execute(_INSERT, rows)
    tags = [
        {"match_id": record.id, "number": number, "tag": tag}
        for record in records
        for number, tag in enumerate(record.tags, 1)
    ]
    if tags:
        connection.execute(_INSERT_TAGS, tags)


def find_match(connection: Connection, match_id: str) -> MatchRecord | None:
    """Return a match, or None."""
    return _first(connection, connection.execute(_FIND, {"match": match_id}).all())


def find_by_key(connection: Connection, client: str, idempotency_key: str) -> MatchRecord | None:
    """Return the match that a client started with an idempotency key, or None."""
    parameters = {"by_client": client, "by_key": idempotency_key}
    return _first(connection, connection.execute(_FIND_BY_KEY, parameters).all())


def list_matches(
    connection: Connection,
    filter: MatchFilter,  # noqa: A002
    before: str | None,
    limit: int,
) -> list[MatchRecord]:
    """Return matches, the newest first, from the one that precedes an id on."""
    query = _filtered(filter)
    if before is not None:
        query = query.where(Match.id < before)
    return records_where(connection, query.order_by(Match.id.desc()).limit(limit))


def records_where(connection: Connection, query: Select[Any]) -> list[MatchRecord]:
    """Return the matches that a query of `MATCHES` finds, in its order."""
    return _records(connection, connection.execute(query).all())


def keys_of(connection: Connection, client: str, keys: Collection[str]) -> frozenset[str]:
    """Return those of some idempotency keys with which a client has started a match."""
    return frozenset(connection.scalars(_KEYS, {"by_client": client, "keys": list(keys)}))


def list_tagged(
    connection: Connection, beginning: str, limit: int
) -> list[tuple[str, MatchRecord]]:
    """Return tags that begin so, each with its match, those of the newest matches first."""
    found = connection.execute(_TAGGED, {"beginning": beginning, "most": limit}).all()
    ids = list(dict.fromkeys(row.match_id for row in found))
    rows = connection.execute(MATCHES.where(Match.id.in_(ids))).all()
    records = {record.id: record for record in _records(connection, rows)}
    # `LIKE` takes no notice of case in one database, and does in the other.
    return [(row.tag, records[row.match_id]) for row in found if row.tag.startswith(beginning)]


def untag(connection: Connection, match_id: str, tag: str) -> None:
    """Take a tag off a match."""
    connection.execute(_UNTAG, {"match": match_id, "which": tag})


def reseat(
    connection: Connection,
    match_id: str,
    white_token_hash: str | None,
    black_token_hash: str | None,
) -> None:
    """Let other tokens open the seats of a match from now on."""
    hashes = {"for_white": white_token_hash, "for_black": black_token_hash}
    connection.execute(_RESEAT, {"match": match_id, **hashes})


def count_by_status(connection: Connection) -> dict[str, int]:
    """Return how many matches there are of each status that occurs."""
    return {row.status: row.total for row in connection.execute(_COUNTS)}


def unfinished_of(connection: Connection, client: str) -> int:
    """Return how many matches of a client are not finished."""
    count: int = connection.execute(_UNFINISHED, {"by_client": client}).scalar_one()
    return count


def claim(connection: Connection, match_id: str, worker: str, *, by_force: bool) -> int | None:
    """Make a worker the owner of a match, and return the new epoch.

    Returns None if there is no such match, if it is finished, or if a living worker owns it and it
    is not taken by force.
    """
    row = connection.execute(_OWNED, {"match": match_id}).one_or_none()
    if row is None or row.status not in UNFINISHED:
        return None
    owners = [] if by_force or row.owner is None else [row.owner]
    if len(workers.dead_of(connection, owners, worker)) < len(owners):
        return None
    connection.execute(_CLAIM, {"match": match_id, "old_epoch": row.epoch, "new_owner": worker})
    epoch: int = row.epoch + 1
    return epoch


def claimable(
    connection: Connection,
    worker: str,
    limit: int,
    *,
    humans: bool = False,
    among: Sequence[str] | None = None,
) -> list[str]:
    """Return ids of matches to be run that no living worker owns, the oldest first.

    They are those without a human in a seat, or else only those with one; of all matches, or those
    of some evaluations. What belongs to an evaluation that is paused is not to be run.
    """
    dead = _dead_owners(connection, worker)
    wanted = {"dead": dead, "humans": humans, "most": limit}
    if among is None:
        return list(connection.execute(_CLAIMABLE, wanted).scalars())
    return list(connection.execute(_CLAIMABLE_OF, {**wanted, "among": list(among)}).scalars())


def count_claimable(connection: Connection, worker: str) -> int:
    """Return how many matches to be run no living worker owns, with humans or without."""
    parameters = {"dead": _dead_owners(connection, worker)}
    count: int = connection.execute(_COUNT_CLAIMABLE, parameters).scalar_one()
    return count


def _dead_owners(connection: Connection, worker: str) -> list[str]:
    owners = [owner for owner in connection.scalars(_OWNERS) if owner is not None]
    return sorted(workers.dead_of(connection, owners, worker))


def _filtered(filter: MatchFilter) -> Select[Any]:  # noqa: A002
    rules = []
    if filter.status is not None:
        rules.append(Match.status == filter.status)
    if filter.player is not None:
        rules.append(or_(Match.white == filter.player, Match.black == filter.player))
    if filter.variant is not None:
        rules.append(Match.variant == filter.variant)
    if filter.evaluation is not None:
        rules.append(Match.evaluation_id == filter.evaluation)
    if filter.tag is not None:
        tagged = and_(MatchTag.match_id == Match.id, MatchTag.tag == filter.tag)
        rules.append(exists().where(tagged))
    return MATCHES.where(*rules)


def _first(connection: Connection, rows: Sequence[Row[Any]]) -> MatchRecord | None:
    records = _records(connection, rows)
    return records[0] if records else None


def _records(connection: Connection, rows: Sequence[Row[Any]]) -> list[MatchRecord]:
    if not rows:
        return []
    tags: dict[str, list[str]] = {}
    for match_id, tag in connection.execute(_TAGS, {"matches": [row.id for row in rows]}):
        tags.setdefault(match_id, []).append(tag)
    return [MatchRecord(**row._mapping, tags=tuple(tags.get(row.id, ()))) for row in rows]
