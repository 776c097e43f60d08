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
_OF_MATCH = (
    select(*(getattr(Ply, name) for name in _NAMES))
    .where(Ply.match_id == bindparam("match"))
    .order_by(Ply.number)
)


def plies_of(connection: Connection, match_id: str) -> list[PlyRecord]:
    """Return the plies of a match, in order."""
    return [PlyRecord(*row) for row in connection.execute(_OF_MATCH, {"match": match_id})]


def append(connection: Connection, plies: Iterable[PlyRecord]) -> None:
    """Store plies, such as those of an opening."""
    rows: list[dict[str, Any]] = [{name: getattr(ply, name) for name in _NAMES} for ply in plies]
    if rows:
        connection.execute(_APPEND, rows)
