"""Routes of what an evaluation found: its report in several formats, and its games."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field
from starlette.responses import StreamingResponse

from app.evaluations.reports.page import render_html
from app.evaluations.reports.style import CONTENT_SECURITY_POLICY
from app.evaluations.reports.tables import answers_csv, games_csv
from app.evaluations.service import EvaluationService
from app.http.dependencies import Gates, GatesOf, ReadScope
from app.http.disconnection import while_connected
from app.http.errors import problem_response, problems
from app.http.evaluation_answers import KindName, SpentAnswer, Status
from app.http.evaluation_dependencies import (
    NO_EVALUATION,
    PREFIX,
    TAG,
    EvaluationId,
    EvaluationsOf,
)
from app.http.schemas import Answer
from app.media_types import preferred
from app.streaming.errors import NoSuchFormat

_JSON, _HTML, _CSV, _PGN = "application/json", "text/html", "text/csv", "application/x-chess-pgn"
#: The first is preferred.
_OFFERED = (_JSON, _HTML, _CSV)
#: It can be opened as a page, but neither framed nor run: names in it are whatever clients wrote.
_PAGE_POLICY = f"{CONTENT_SECURITY_POLICY}; frame-ancestors 'none'; sandbox"

router = APIRouter(prefix=f"{PREFIX}/{{evaluation_id}}", tags=[TAG])


class AllSpent(SpentAnswer):
    """What model calls of all matches have cost."""

    void: SpentAnswer = Field(description="Of it, in games that do not count.")


class ReportAnswer(Answer):
    """What an evaluation found."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "kibitz_report": 1,
                "id": "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10",
                "name": "the default team",
                "kind": "ladder",
                "status": "finished",
                "detail": "every rating is known to ±100",
                "created_at": "2025-07-01T12:00:00+00:00",
                "ended_at": "2025-07-01T13:05:12+00:00",
                "scale": "anchors",
                "reference": None,
                "white_advantage": 0.0,
                "counts": {
                    "games": 47,
                    "answers": 0,
                    "void_games": 1,
                    "forfeits": 1,
                    "plies": 3811,
                    "analysed": 47,
                },
                "spent": {
                    "calls": 5820,
                    "tokens": 9251404,
                    "cost_usd": "1.386",
                    "void": {"calls": 912, "tokens": 1440210, "cost_usd": "0.216"},
                },
                "anchors": [{"label": "stockfish:5", "elo": 985.4, "se": 29.9}],
                "agents": [{"label": "team:default"}],
                "duel": None,
                "crosstable": None,
                "controls": [],
                "rating_against_cost": [],
                "notes": [],
                "plan": {"kind": "ladder"},
                "manifest": {"kibitz": "1.0"},
            }
        },
    )

    kibitz_report: int = Field(description="The version of the form; it changes if a key does.")
    id: str
    name: str
    kind: KindName
    status: Status
    detail: str
    created_at: str
    ended_at: str | None
    scale: str | None = Field(description="What ratings are told on.")
    reference: str | None = Field(description="Whose rating is 0, where there are no anchors.")
    white_advantage: float
    counts: dict[str, int]
    spent: AllSpent
    anchors: list[dict[str, Any]]
    agents: list[dict[str, Any]] = Field(
        description="Of each agent: rating with and without forfeits, score by colour and opponent,"
        " quality of moves, keeping to the rules, time, tokens and money."
    )
    duel: dict[str, Any] | None
    crosstable: dict[str, Any] | None
    controls: list[dict[str, Any]]
    rating_against_cost: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    plan: dict[str, Any]
    manifest: dict[str, Any] = Field(description="What makes it repeatable.")


def _text(media_type: str, example: str) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string"}, "example": example}}


_HTML_CONTENT = _text(_HTML, "<!DOCTYPE html>...")
_CSV_CONTENT = _text(_CSV, "number,match_id,white,black,...\r\n1,01980a4e-...,random,...\r\n")
_FILE = {
    "Content-Disposition": {"description": "A name for the file.", "schema": {"type": "string"}}
}
_PROBLEMS = problems(401, 404, 503, s404=NO_EVALUATION)


# --- making them ---

_Make = Callable[[EvaluationService, str], Awaitable[Response]]


async def _make_json(evaluations: EvaluationService, evaluation_id: str) -> Response:
    report = await evaluations.report(evaluation_id)
    text = await asyncio.to_thread(json.dumps, report, allow_nan=False, ensure_ascii=False)
    return Response(text, media_type=_JSON)


async def _make_html(evaluations: EvaluationService, evaluation_id: str) -> Response:
    page = await asyncio.to_thread(render_html, await evaluations.report(evaluation_id))
    return Response(page, headers={"Content-Security-Policy": _PAGE_POLICY}, media_type=_HTML)


async def _make_csv(evaluations: EvaluationService, evaluation_id: str) -> Response:
    data = await evaluations.data(evaluation_id)
    table = await asyncio.to_thread(answers_csv if data.kind == "positions" else games_csv, data)
    return Response(table, headers=_named(evaluation_id, "csv"), media_type=_CSV)


_MAKERS: dict[str, _Make] = {_JSON: _make_json, _HTML: _make_html, _CSV: _make_csv}


async def _report(
    request: Request, evaluations: EvaluationService, gates: Gates, evaluation_id: str, media: str
) -> Response:
    """Make a report, one at a time: it keeps a processor busy for a while."""

    async def make() -> Response:
        async with gates.reports:
            return await _MAKERS[media](evaluations, evaluation_id)

    return await while_connected(request, make())


def _named(evaluation_id: str, suffix: str) -> dict[str, str]:
    name = f"kibitz-{evaluation_id}.{suffix}"
    return {"Content-Disposition": f'attachment; filename="{name}"'}


# --- routes ---


@router.get(
    "/report",
    summary="Report what an evaluation found",
    response_model=ReportAnswer,
    responses={
        200: {
            "description": "The report, in the format that `Accept` likes best.",
            "content": _HTML_CONTENT | _CSV_CONTENT,
        },
        406: problem_response("A report comes in none of the formats that `Accept` allows."),
        **_PROBLEMS,
    },
)
async def report(
    request: Request,
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Return ratings with their intervals, quality of moves, conduct and costs, and how to repeat.

    JSON has everything, HTML shows it as a page that stands alone, CSV has a row for each game or
    answer. Before the evaluation is over, it is of what was played until now.
    """
    media = preferred(",".join(request.headers.getlist("accept")), _OFFERED)
    if media is None:
        raise NoSuchFormat(_OFFERED, "a report")
    response = await _report(request, evaluations, gates, evaluation_id, media)
    response.headers["Vary"] = "Accept"
    return response


@router.get(
    "/report.json",
    summary="Report as JSON",
    response_model=ReportAnswer,
    responses=_PROBLEMS,
)
async def report_json(
    request: Request,
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Return the report with all that there is to say, as JSON."""
    return await _report(request, evaluations, gates, evaluation_id, _JSON)


@router.get(
    "/report.html",
    summary="Report as a page",
    response_class=Response,
    responses={
        200: {"description": "A page that needs nothing else.", "content": _HTML_CONTENT},
        **_PROBLEMS,
    },
)
async def report_html(
    request: Request,
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Return the report as one page with plots, without any script."""
    return await _report(request, evaluations, gates, evaluation_id, _HTML)


@router.get(
    "/report.csv",
    summary="Games or answers as a table",
    response_class=Response,
    responses={
        200: {
            "description": "A row for each scored game, or for each answer to a position.",
            "headers": _FILE,
            "content": _CSV_CONTENT,
        },
        **_PROBLEMS,
    },
)
async def report_csv(
    request: Request,
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Return every game or answer as a row, for spreadsheets and other programs."""
    return await _report(request, evaluations, gates, evaluation_id, _CSV)


@router.get(
    "/pgn",
    summary="Download the games of an evaluation",
    response_class=Response,
    responses={
        200: {
            "description": "All scored games, with clocks and evaluations.",
            "headers": _FILE,
            "content": _text(_PGN, '[Event "Kibitz match"]\n[Round "1"]\n\n1. e4 e5 *\n'),
        },
        **_PROBLEMS,
    },
)
async def pgn(evaluation_id: EvaluationId, evaluations: EvaluationsOf, _: ReadScope) -> Response:
    """Return every game that counts, in the format that chess programs exchange.

    They are sent one by one, in the order in which they were begun.
    """
    await evaluations.find(evaluation_id)  # while the answer can still be 404
    return StreamingResponse(
        evaluations.pgn_games(evaluation_id),
        headers=_named(evaluation_id, "pgn"),
        media_type=f"{_PGN}; charset=utf-8",
    )
