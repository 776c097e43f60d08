"""Usage as providers tell it, and our guess where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from agents.models.model import Usage

_CHARACTERS_PER_TOKEN = 4
#: More than any model reads or writes: a number beyond it is a mistake.
_MOST_TOKENS = 1_000_000_000
_MOST_DOLLARS = 1_000_000


def estimated(characters: int) -> int:
    """Return about how many tokens so many characters are."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def read_usage(told: object, prompt: int, completion: int) -> Usage:
    """Return what a provider tells of its usage; what it does not tell is estimated.

    `prompt` and `completion` are how many characters were read and written.
    """
    fields = told if isinstance(told, Mapping) else {}
    read = _count(fields.get("prompt_tokens"))
    written = _count(fields.get("completion_tokens"))
    is_estimated = read is None or written is None
    read = max(estimated(prompt), 1) if read is None else read
    written = max(estimated(completion), 1) if written is None else written
    cached = _count(_within(fields, "prompt_tokens_details").get("cached_tokens")) or 0
    thought = _count(_within(fields, "completion_tokens_details").get("reasoning_tokens")) or 0
    # Some leave hidden reasoning out of the completion, and bill it as if it were in.
    is_apart = thought > 0 and fields.get("total_tokens") == read + written + thought
    if is_apart or thought > written:
        written += thought
    return Usage(
        prompt_tokens=read,
        cached_tokens=cached if cached <= read else 0,
        reasoning_tokens=thought,
        completion_tokens=written,
        cost_usd=_dollars(fields.get("cost")),
        is_estimated=is_estimated,
    )


def _within(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = fields.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _count(value: object) -> int | None:
    """Return a number of tokens; None for whatever is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
        return value
    return None


def _dollars(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    dollars = Decimal(str(value))
    return dollars if dollars.is_finite() and 0 <= dollars <= _MOST_DOLLARS else None
