"""What the routes of evaluations are given: their service, and the id of one."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Request

from app.evaluations.errors import EvaluationNotFound
from app.evaluations.service import EvaluationService
from engine.errors import shown

PREFIX = "/api/evaluations"
TAG = "evaluations"
#: What 404 means here.
NO_EVALUATION = "There is no such evaluation."


async def _evaluations(request: Request) -> EvaluationService:
    evaluations: EvaluationService = request.app.state.services.evaluations
    return evaluations


async def _evaluation_id(
    evaluation_id: Annotated[
        str, Path(description="The id of the evaluation.", json_schema_extra={"format": "uuid"})
    ],
) -> str:
    try:
        is_id = str(UUID(evaluation_id)) == evaluation_id
    except ValueError:
        is_id = False
    if not is_id:
        raise EvaluationNotFound(shown(evaluation_id))
    return evaluation_id


#: The evaluations.
EvaluationsOf = Annotated[EvaluationService, Depends(_evaluations)]
#: The id in the path; else 404.
EvaluationId = Annotated[str, Depends(_evaluation_id)]
