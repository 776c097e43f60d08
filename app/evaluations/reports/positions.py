"""The part of a report about positions: how many were solved, and how hard they were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.evaluations.games import EvaluationData, PositionAnswer
from app.evaluations.ratings import Estimate
from app.evaluations.scores import wilson
from app.evaluations.suites.solving import solving_chance

#: Positions are grouped by difficulty in bands of so many Elo.
BAND = 200


def positions(data: EvaluationData, agent: str, own: Estimate | None) -> dict[str, Any] | None:
    """Return what an agent solved, in all and by difficulty; None in other kinds of evaluation."""
    if data.kind != "positions":
        return None
    answers = [each for each in data.answers if each.agent == agent]
    bands: dict[int, list[PositionAnswer]] = {}
    for each in answers:
        if each.difficulty is not None:
            bands.setdefault(math.floor(each.difficulty / BAND), []).append(each)
    return {
        **_solved(answers, own),
        "no_answer": sum(each.answer is None for each in answers),
        "bands": [
            {"from": number * BAND, "to": (number + 1) * BAND, **_solved(bands[number], own)}
            for number in sorted(bands)
        ],
    }


def _solved(answers: Sequence[PositionAnswer], own: Estimate | None) -> dict[str, Any]:
    right = sum(each.is_right for each in answers)
    low, high = wilson(right, len(answers))
    expected = None
    elos = [each.difficulty for each in answers if each.difficulty is not None]
    if own is not None and elos:
        expected = math.fsum(solving_chance(own.elo, elo) for elo in elos) / len(elos)
    return {
        "answers": len(answers),
        "right": right,
        "share": right / len(answers) if answers else None,
        "low": low,
        "high": high,
        "expected_share": expected,
    }
