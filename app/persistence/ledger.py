"""The ledger in the database: every model call, and the sums over those of a match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from app.persistence.records import LedgerTotals, ModelCallRecord
from app.persistence.tables import ModelCall, Usd

_NAMES = tuple(field.name for field in fields(ModelCallRecord))
_APPEND = insert(ModelCall)
_TOTALS = select(
    func.count(),
    func.coalesce(func.sum(ModelCall.prompt_tokens), 0),
    func.coalesce(func.sum(ModelCall.completion_tokens), 0),
    func.sum(ModelCall.cost_usd, type_=Usd),
).where(ModelCall.match_id == bindparam("match"))


def ledger_of(connection: Connection, match_id: str) -> LedgerTotals:
    """Return the sums over the model calls of a match; all are 0 if there was none."""
    calls, prompt, completion, cost = connection.execute(_TOTALS, {"match": match_id}).one()
    return LedgerTotals(int(calls), int(prompt), int(completion), cost)


def append(connection: Connection, calls: Iterable[ModelCallRecord]) -> None:
    """Store model calls."""
    rows: list[dict[str, Any]] = [{name: getattr(call, name) for name in _NAMES} for call in calls]
    if rows:
        connection.execute(_APPEND, rows)
