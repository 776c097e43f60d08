"""Plies in the database. Those of running matches are written by `batch`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from app.persistence.records import PlyRecord
from app.persistence.tables import Ply

_NAMES = tuple(field.name for field in fields(PlyRecord))
_APPEND = insert(Ply)
_PLIES = select(*(getattr(Ply, name) for name in _NAMES)).where(Ply.match_id == bindparam("match"))
_AFTER = _PLIES.where(Ply.number > bindparam("after")).order_by(Ply.number)
_PAGE = _AFTER.limit(bindparam("most"))
_ONE = _PLIES.where(Ply.number == bindparam("wanted"))
#: The greatest number that the column can hold.
_LAST = 2**31 - 1


def plies_of(
    connection: Connection, match_id: str, after: int = 0, limit: int | None = None
) -> list[PlyRecord]:
    """Return the plies of a match that follow a number, in order, and not more than a limit."""
    parameters: dict[str, Any] = {"match": match_id, "after": min(after, _LAST)}
    if limit is None:
        rows = connection.execute(_AFTER, parameters)
    else:
        rows = connection.execute(_PAGE, parameters | {"most": limit})
    return [PlyRecord(*row) for row in rows]


def ply_of(connection: Connection, match_id: str, number: int) -> PlyRecord | None:
    """Return a ply of a match by its number, or None."""
    row = connection.execute(_ONE, {"match": match_id, "wanted": number}).one_or_none()
    return None if row is None else PlyRecord(*row)


def append(connection: Connection, plies: Iterable[PlyRecord]) -> None:
    """Store plies, such as those of an opening."""
    rows: list[dict[str, Any]] = [{name: getattr(ply, name) for name in _NAMES} for ply in plies]
    if rows:
        connection.execute(_APPEND, rows)
