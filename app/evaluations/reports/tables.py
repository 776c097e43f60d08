"""The games and answers of an evaluation as CSV, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from app.evaluations.analysis.quality import summarise
from app.evaluations.games import EvaluationData, PlayedGame, PositionAnswer, SideRecord
from app.evaluations.reports.cells import Cell, safe
from engine import Color

_SIDE = (
    "plies",
    "illegal",
    "unreadable",
    "think_ms",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cost_usd",
    "latency_ms",
)
_QUALITY = ("accuracy", "acpl")
GAME_COLUMNS = (
    "number",
    "match_id",
    "white",
    "black",
    "opening",
    "pair",
    "result",
    "winner",
    "termination",
    "is_forfeit",
    "plies",
    "opening_plies",
    "ended_at",
    *(f"{color.value}_{name}" for color in Color for name in (*_SIDE, *_QUALITY)),
)
ANSWER_COLUMNS = (
    "number",
    "match_id",
    "agent",
    "position_id",
    "fen",
    "best",
    "difficulty",
    "difficulty_se",
    "answer",
    "is_right",
    *_SIDE,
)


def games_csv(data: EvaluationData) -> str:
    """Return one row for each scored game, under a row of names.

    What is unknown is empty. A text that a spreadsheet would take for a formula has an apostrophe
    before it.
    """
    return _csv(GAME_COLUMNS, (_game(data, game) for game in data.games))


def answers_csv(data: EvaluationData) -> str:
    """Return one row for each answer to a position, under a row of names, as `games_csv` does."""
    return _csv(ANSWER_COLUMNS, map(_answer, data.answers))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return text.getvalue()


def _game(data: EvaluationData, game: PlayedGame) -> list[Cell]:
    sides: list[Cell] = []
    for color in Color:
        sides += [*_side(game.side(color)), *_quality(data, game, color)]
    return [
        game.number,
        game.match_id,
        game.white,
        game.black,
        game.opening,
        game.pair,
        game.result,
        None if game.winner is None else game.winner.value,
        game.termination.value,
        _yes_or_no(game.is_forfeit),
        game.plies,
        game.opening_plies,
        game.ended_at.isoformat(),
        *sides,
    ]


def _answer(answer: PositionAnswer) -> list[Cell]:
    return [
        answer.number,
        answer.match_id,
        answer.agent,
        answer.position_id,
        answer.fen,
        " ".join(answer.best),
        answer.difficulty,
        answer.difficulty_se,
        answer.answer,
        _yes_or_no(answer.is_right),
        *_side(answer.side),
    ]


def _side(side: SideRecord) -> list[Cell]:
    cells: list[Cell] = [getattr(side, name) for name in _SIDE]
    cost = side.cost_usd
    cells[_SIDE.index("cost_usd")] = None if cost is None else format(cost, "f")
    return cells


def _quality(data: EvaluationData, game: PlayedGame, color: Color) -> list[Cell]:
    analysis = data.analyses.get(game.match_id)
    if analysis is None:
        return [None] * len(_QUALITY)
    overall = summarise([(analysis, color)]).overall
    return [_rounded(overall.accuracy), _rounded(overall.acpl)]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _yes_or_no(answer: bool) -> str:
    return "true" if answer else "false"
