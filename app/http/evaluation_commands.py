"""Routes that command an evaluation: pause, resume, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter, Response

from app.evaluations.errors import UnplayablePlan
from app.evaluations.service import state_of
from app.http.dependencies import WriteScope
from app.http.errors import NO_ANSWER, AtFault, Refusal, problems
from app.http.evaluation_answers import EvaluationState
from app.http.evaluation_dependencies import (
    NO_EVALUATION,
    PREFIX,
    TAG,
    EvaluationId,
    EvaluationsOf,
)
from app.http.match_schemas import ResumeBody
from app.http.paging import json_response
from app.persistence.evaluations import EvaluationRecord

#: How long a command may take: every game under way hears of it.
_PATIENCE = 30.0

_PROBLEMS = problems(401, 403, 404, 409, 503, s404=NO_EVALUATION)

router = APIRouter(prefix=f"{PREFIX}/{{evaluation_id}}", tags=[TAG])


@router.post(
    "/pause", summary="Pause an evaluation", response_model=EvaluationState, responses=_PROBLEMS
)
async def pause(evaluation_id: EvaluationId, evaluations: EvaluationsOf, _: WriteScope) -> Response:
    """Begin no more games, and let the clocks of those under way stand until it is resumed."""
    return await _perform(evaluations.pause(evaluation_id))


@router.post(
    "/resume",
    summary="Resume an evaluation",
    response_model=EvaluationState,
    responses=_PROBLEMS | problems(400, 413, 415, 422),
)
async def resume(
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    _: WriteScope,
    body: ResumeBody | None = None,
) -> Response:
    """Let a paused evaluation go on, with another budget if one is given.

    With a larger budget also one that is finished since its budget was spent.
    """
    budget = None if body is None else body.budget
    try:
        return await _perform(evaluations.resume(evaluation_id, budget))
    except UnplayablePlan as error:
        raise AtFault(error, error.field) from error


@router.post(
    "/cancel", summary="Cancel an evaluation", response_model=EvaluationState, responses=_PROBLEMS
)
async def cancel(
    evaluation_id: EvaluationId, evaluations: EvaluationsOf, _: WriteScope
) -> Response:
    """End an evaluation for good: games under way are aborted, those that were played are kept."""
    return await _perform(evaluations.cancel(evaluation_id))


async def _perform(work: Awaitable[EvaluationRecord]) -> Response:
    """Have a command performed, and answer with the evaluation as it stands then."""
    try:
        async with asyncio.timeout(_PATIENCE):
            record = await work
    except TimeoutError:
        detail = "it was not done in time: look whether it was before you try again"
        raise Refusal(NO_ANSWER, detail) from None
    return json_response(state_of(record))
