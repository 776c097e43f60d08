"""Stored calls: model calls as rows, and their replies back from them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from uuid_utils.compat import uuid7

from agents.models.ledger import ModelCall
from agents.models.model import ModelReply, ReplyForm, Usage
from app.matches.events import dumps, milliseconds
from app.persistence.records import ModelCallRecord
from engine import Color


def call_record(match_id: str, color: Color, ply_number: int, call: ModelCall) -> ModelCallRecord:
    """Return a call as it is stored."""
    usage = call.usage
    return ModelCallRecord(
        id=str(uuid7()),
        match_id=match_id,
        evaluation_id=None,
        ply_number=ply_number,
        role=call.question.role,
        model=call.model,
        attempt=call.question.attempt,
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        completion_tokens=usage.completion_tokens,
        latency_ms=milliseconds(call.latency),
        cost_usd=call.cost_usd,
        request_digest=call.request_digest,
        outcome=call.outcome.value,
        at=call.at,
        color=color.value,
        retry=call.retry,
        prompt_digest=call.question.prompt_digest,
        is_estimated=usage.is_estimated,
        reply=None if call.reply is None else _reply_json(call.reply),
        error=call.error,
    )


def _reply_json(reply: ModelReply) -> str:
    # A lone surrogate is no text that databases take.
    text = reply.text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    data: dict[str, Any] = {
        "text": text,
        "finish_reason": reply.finish_reason,
        "refusal": reply.refusal,
        "model": reply.model,
        "form": reply.form.value,
    }
    return dumps(data)


def reply_of(call: ModelCallRecord) -> ModelReply:
    """Return the reply to a call that is stored."""
    data = json.loads(call.reply or "{}")
    usage = Usage(
        call.prompt_tokens,
        call.cached_tokens,
        call.reasoning_tokens,
        call.completion_tokens,
        is_estimated=call.is_estimated,
    )
    return ModelReply(
        data["text"],
        usage,
        timedelta(milliseconds=call.latency_ms),
        data["finish_reason"],
        data["refusal"],
        data["model"],
        ReplyForm(data["form"]),
    )
