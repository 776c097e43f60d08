"""Told: plies and model calls as plain data, as they are shown to whoever may look at a match."""

from __future__ import annotations

import json
from typing import Any

from app.matches.events import timestamp
from app.persistence.records import LedgerTotals, ModelCallRecord, PlyRecord


def ply_json(record: PlyRecord) -> dict[str, Any]:
    """Return a ply as everybody may see it."""
    return {
        "number": record.number,
        "color": record.color,
        "uci": record.uci,
        "san": record.san,
        "fen": record.fen,
        "elapsed_ms": record.elapsed_ms,
        "clock_ms": record.clock_ms,
        "evaluation": json.loads(record.evaluation or "null"),
        "source": record.source,
        "played_at": timestamp(record.played_at),
        "advice": json.loads(record.advice or "[]"),
        "attempts": json.loads(record.attempts or "[]"),
    }


def totals_json(totals: LedgerTotals) -> dict[str, Any]:
    """Return the sums over the calls of a match as they are told."""
    return {
        "calls": totals.calls,
        "prompt_tokens": totals.prompt_tokens,
        "cached_tokens": totals.cached_tokens,
        "reasoning_tokens": totals.reasoning_tokens,
        "completion_tokens": totals.completion_tokens,
        "cost_usd": None if totals.cost_usd is None else f"{totals.cost_usd:f}",
        "unpriced_calls": totals.unpriced_calls,
    }


def call_json(record: ModelCallRecord) -> dict[str, Any]:
    """Return a model call as everybody may see it."""
    cost = record.cost_usd
    return {
        "id": record.id,
        "at": timestamp(record.at),
        "ply": record.ply_number,
        "color": record.color,
        "role": record.role,
        "model": record.model,
        "attempt": record.attempt,
        "retry": record.retry,
        "outcome": record.outcome,
        "prompt_tokens": record.prompt_tokens,
        "cached_tokens": record.cached_tokens,
        "reasoning_tokens": record.reasoning_tokens,
        "completion_tokens": record.completion_tokens,
        "is_estimated": record.is_estimated,
        "latency_ms": record.latency_ms,
        "cost_usd": None if cost is None else f"{cost:f}",
        "prompt_digest": record.prompt_digest,
        "request_digest": record.request_digest,
        "error": record.error,
        "reply": None if record.reply is None else json.loads(record.reply),
    }
