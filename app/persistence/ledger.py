"""The ledger in the database: every model call, and the sums over those of a match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, select

from app.persistence.records import LedgerTotals, ModelCallRecord
from app.persistence.tables import ModelCall, Usd, pico_usd, stored_time

_NAMES = tuple(field.name for field in fields(ModelCallRecord))
_COLUMNS = [getattr(ModelCall, name) for name in _NAMES]
#: Whoever does not know whether a call was stored stores it again. It is said to the drivers
#: themselves, as in `batch`: a decision of a team stores three calls.
_APPEND = (
    f"INSERT INTO model_calls ({', '.join(_NAMES)}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
    " ON CONFLICT (id) DO NOTHING"
)
_APPEND_POSTGRES = _APPEND.replace("?", "%s")
_row: Callable[[ModelCallRecord], tuple[Any, ...]] = attrgetter(*_NAMES)
_COST, _AT = _NAMES.index("cost_usd"), _NAMES.index("at")
_TOOK_TOKENS = ModelCall.prompt_tokens + ModelCall.completion_tokens > 0
_SUMS = (
    func.count(),
    func.coalesce(func.sum(ModelCall.prompt_tokens), 0),
    func.coalesce(func.sum(ModelCall.completion_tokens), 0),
    func.sum(ModelCall.cost_usd, type_=Usd),
    func.count(case(((ModelCall.cost_usd.is_(None)) & _TOOK_TOKENS, 1))),
    func.coalesce(func.sum(ModelCall.cached_tokens), 0),
    func.coalesce(func.sum(ModelCall.reasoning_tokens), 0),
)
_OF_MATCH = ModelCall.match_id == bindparam("match")
_TOTALS = select(*_SUMS).where(_OF_MATCH)
_BILLED = select(ModelCall.color, *_SUMS).where(_OF_MATCH & _TOOK_TOKENS).group_by(ModelCall.color)
_CALLS = (
    select(*_COLUMNS)
    .where(_OF_MATCH & (ModelCall.id > bindparam("after")))
    .order_by(ModelCall.id)
    .limit(bindparam("limit"))
)
_OF_PLY = (
    select(*_COLUMNS)
    .where(_OF_MATCH & (ModelCall.ply_number == bindparam("ply")))
    .order_by(ModelCall.id)
)


def ledger_of(connection: Connection, match_id: str) -> LedgerTotals:
    """Return the sums over the model calls of a match; all are 0 if there was none."""
    return _totals(connection.execute(_TOTALS, {"match": match_id}).one())


def billed_of(connection: Connection, match_id: str) -> dict[str | None, LedgerTotals]:
    """Return the sums over the calls of a match that took tokens, by the colour they were for."""
    rows = connection.execute(_BILLED, {"match": match_id})
    return {color: _totals(sums) for color, *sums in rows}


def calls_of(
    connection: Connection, match_id: str, after: str = "", limit: int = 1000
) -> list[ModelCallRecord]:
    """Return model calls of a match in the order in which they ended, those after an id."""
    rows = connection.execute(_CALLS, {"match": match_id, "after": after, "limit": limit})
    return [ModelCallRecord(*row) for row in rows]


def calls_of_ply(connection: Connection, match_id: str, ply_number: int) -> list[ModelCallRecord]:
    """Return the model calls that were made for a ply, in the order in which they ended."""
    rows = connection.execute(_OF_PLY, {"match": match_id, "ply": ply_number})
    return [ModelCallRecord(*row) for row in rows]


def append(connection: Connection, call: ModelCallRecord) -> None:
    """Store a model call, unless it is there already."""
    row = list(_row(call))
    row[_COST] = pico_usd(call.cost_usd)
    at = stored_time(call.at)  # which refuses one without a time zone
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "postgresql":
        driver.execute(_APPEND_POSTGRES, row)
    else:
        row[_AT] = at
        driver.execute(_APPEND, row)


def _totals(sums: Iterable[Any]) -> LedgerTotals:
    calls, prompt, completion, cost, unpriced, cached, reasoning = sums
    return LedgerTotals(
        int(calls),
        int(prompt),
        int(completion),
        cost,
        int(unpriced),
        int(cached),
        int(reasoning),
    )
