"""Selection: which matches are wanted, and these in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, or_, select

from app.persistence.matches import MATCHES, records_where
from app.persistence.records import EventRecord, MatchRecord
from app.persistence.tables import Evaluation, Event, Match, MatchTag


@dataclass(frozen=True, slots=True)
class Selection:
    """What matches must have to be chosen; what is empty or None does not matter."""

    ids: Sequence[str] = ()
    statuses: Sequence[str] = ()
    #: Each a player by the names that may be meant; all of them have to have played.
    players: Sequence[Sequence[str]] = ()
    tags: Sequence[str] = ()
    variant: str | None = None
    evaluation: str | None = None
    result: str | None = None
    #: When they were created: from one time on, and before the other.
    since: datetime | None = None
    until: datetime | None = None
    #: Only so many, the newest.
    newest: int | None = None


def select_after(
    connection: Connection, selection: Selection, after: str, limit: int
) -> list[MatchRecord]:
    """Return chosen matches that follow an id, the oldest first."""
    query = MATCHES.where(*_rules(selection), Match.id > after)
    return records_where(connection, query.order_by(Match.id).limit(limit))


def start_of(connection: Connection, selection: Selection) -> str:
    """Return the id that the chosen matches follow if only the newest are wanted; or nothing."""
    if selection.newest is None:
        return ""
    chosen = select(Match.id).where(*_rules(selection)).order_by(Match.id.desc())
    return connection.scalar(chosen.offset(selection.newest).limit(1)) or ""


def last_events(connection: Connection, records: Sequence[MatchRecord]) -> list[EventRecord]:
    """Return the last event of each match, as far as there is one."""
    columns = (Event.match_id, Event.sequence, Event.type, Event.data, Event.at, Event.position)
    query = (
        select(*columns)
        .join(Match, (Match.id == Event.match_id) & (Match.last_sequence == Event.sequence))
        .where(Match.id.in_([record.id for record in records]))
    )
    return [EventRecord(*row) for row in connection.execute(query)]


def matches_beginning(connection: Connection, beginning: str, limit: int) -> list[str]:
    """Return ids of matches that begin so."""
    return _beginning(connection, Match.id, beginning, limit)


def evaluations_beginning(connection: Connection, beginning: str, limit: int) -> list[str]:
    """Return ids of evaluations that begin so."""
    return _beginning(connection, Evaluation.id, beginning, limit)


def _beginning(connection: Connection, column: Any, beginning: str, limit: int) -> list[str]:  # noqa: ANN401 - a column
    query = select(column).where(column.startswith(beginning, autoescape=True))
    return list(connection.scalars(query.order_by(column).limit(limit)))


def _rules(selection: Selection) -> list[ColumnElement[bool]]:
    rules: list[ColumnElement[bool]] = []
    if selection.ids:
        rules.append(Match.id.in_(selection.ids))
    if selection.statuses:
        rules.append(Match.status.in_(selection.statuses))
    rules += [or_(Match.white.in_(each), Match.black.in_(each)) for each in selection.players]
    rules += [
        exists().where(MatchTag.match_id == Match.id, MatchTag.tag == tag) for tag in selection.tags
    ]
    if selection.variant is not None:
        rules.append(Match.variant == selection.variant)
    if selection.evaluation is not None:
        rules.append(Match.evaluation_id == selection.evaluation)
    if selection.result is not None:
        rules.append(Match.result == selection.result)
    if selection.since is not None:
        rules.append(Match.created_at >= selection.since)
    if selection.until is not None:
        rules.append(Match.created_at < selection.until)
    return rules
