"""Saying: what players say, as it can be stored and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.player import Advice, Candidate
from engine import Move

#: The most of a player's words that is kept.
MAX_WORDS = 20_000


def printable_advice(advice: Advice) -> Advice:
    """Return advice as it can be stored and shown."""
    candidates = (replace(each, reason=printable(each.reason)) for each in advice.candidates)
    return Advice(
        printable(advice.by, 100),
        tuple(candidates),
        printable(advice.words, MAX_WORDS),
        printable(advice.abstained),
    )


def advice_of(said: Mapping[str, Any]) -> Advice:
    """Return the advice that a match has noted."""
    candidates = (
        Candidate(Move.from_uci(each["uci"]), each["reason"]) for each in said["candidates"]
    )
    return Advice(said["by"], tuple(candidates), said["words"], said["abstained"])


def printable(text: str, limit: int = 2000) -> str:
    """Return a player's words as they can be stored and shown: bounded, and valid Unicode."""
    return text[:limit].encode("utf-8", "replace").decode()
