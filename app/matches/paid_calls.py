"""PaidCalls: stores model calls to the end, though whoever made them is given up meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

import structlog

from app.persistence.records import ModelCallRecord

_log = structlog.get_logger(__name__)


class PaidCalls:
    """The calls that are being stored: money was spent, whatever has become of the match.

    A match that is stopped does not wait for a database that is out of reach; its calls are stored
    when that is back. `aclose` gives up those that are not by then, and each is logged.
    """

    def __init__(self) -> None:
        self._storing: set[asyncio.Task[None]] = set()

    async def store(self, call: ModelCallRecord, storing: Coroutine[Any, Any, None]) -> None:
        """Return when a call is stored; whoever is cancelled before need not see to it."""
        task = asyncio.create_task(storing)
        self._storing.add(task)
        task.add_done_callback(partial(self._settled, call))
        await asyncio.shield(task)

    def _settled(self, call: ModelCallRecord, task: asyncio.Task[None]) -> None:
        self._storing.discard(task)
        error = "it was given up" if task.cancelled() else task.exception()
        if error is not None:
            _log_missing(call, str(error) or type(error).__name__)

    async def aclose(self) -> None:
        """Give up what is not stored yet. Safe to call twice."""
        for task in (tasks := tuple(self._storing)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _log_missing(call: ModelCallRecord, error: str) -> None:
    """Let the operator know what is missing in the ledger."""
    _log.error(
        "model call not written down",
        match_id=call.match_id,
        ply=call.ply_number,
        color=call.color,
        role=call.role,
        model=call.model,
        request_digest=call.request_digest,
        outcome=call.outcome,
        cost_usd=None if call.cost_usd is None else str(call.cost_usd),
        error=error,
    )
