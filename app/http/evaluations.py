"""Routes of evaluations: start one, list them, look at one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from pydantic import Field

from agents.errors import AgentError
from app.evaluations.errors import (
    CannotCommand,
    EvaluationError,
    EvaluationIsOver,
    EvaluationNotFound,
    InvalidPlan,
    TooManyEvaluations,
    UnplayablePlan,
)
from app.evaluations.plan import Plan
from app.evaluations.service import EvaluationService, state_of
from app.evaluations.suites.suite import InvalidSuite
from app.http import (
    evaluation_commands,
    evaluation_plots,
    evaluation_reports,
    evaluation_stream,
    ratings,
)
from app.http.conditional import TAGGED, IfNoneMatch, tagged_response
from app.http.dependencies import GatesOf, ReadScope, WriteScope
from app.http.errors import AtFault, Kind, problems
from app.http.evaluation_answers import (
    EvaluationDetails,
    EvaluationList,
    PlanEstimateAnswer,
    Status,
)
from app.http.evaluation_dependencies import (
    NO_EVALUATION,
    PREFIX,
    TAG,
    EvaluationId,
    EvaluationsOf,
)
from app.http.paging import (
    PAGE,
    PageQuery,
    StrictQuery,
    cursor_of,
    id_of,
    json_response,
    page_response,
)
from app.http.replies import STARTED, IdempotencyKey, Replies, Reply, digest_of, replies_of
from app.matches.events import dumps
from app.persistence.evaluations import EvaluationRecord
from engine import RulesError

#: For `install_handlers`.
EVALUATION_KINDS: dict[type[Exception], Kind] = {
    EvaluationError: Kind(409, "evaluation", "The evaluation does not allow this"),
    EvaluationNotFound: Kind(404, "evaluation-not-found", "There is no such evaluation"),
    EvaluationIsOver: Kind(409, "evaluation-over", "The evaluation is over"),
    CannotCommand: Kind(409, "not-now", "That makes no sense as things stand"),
    InvalidPlan: Kind(422, "invalid-plan", "The plan cannot be read"),
    UnplayablePlan: Kind(422, "unplayable-plan", "What the plan asks for cannot be played"),
    InvalidSuite: Kind(422, "invalid-suite", "These are no positions with a best move"),
    TooManyEvaluations: Kind(
        429,
        "too-many-unfinished-evaluations",
        "Too many unfinished evaluations",
        retry_after=60,
    ),
}

router = APIRouter(prefix=PREFIX, tags=[TAG])
#: All routers of evaluations.
ROUTERS = (
    router,
    evaluation_reports.router,
    evaluation_plots.router,
    evaluation_stream.router,
    evaluation_commands.router,
    ratings.router,
)


async def _replies(request: Request) -> Replies:
    return replies_of(request.app.state, "evaluation_replies")


_RepliesOf = Annotated[Replies, Depends(_replies)]


class _StartQuery(StrictQuery):
    dry_run: bool = Field(
        default=False,
        description="Check the plan and tell what it will likely cost; start and store nothing.",
    )


class _ListQuery(PageQuery):
    status: Status | None = None


# --- starting ---


@router.post(
    "",
    status_code=201,
    summary="Start an evaluation",
    response_model=EvaluationDetails,
    responses={
        200: {
            "description": "With `dry_run`: what the plan will likely cost.",
            "model": PlanEstimateAnswer,
        },
        201: STARTED,
        **problems(400, 401, 403, 413, 415, 422, 429, 503),
    },
)
async def create(
    body: Annotated[Plan, Body(discriminator="kind")],
    query: Annotated[_StartQuery, Query()],
    client: WriteScope,
    gates: GatesOf,
    evaluations: EvaluationsOf,
    replies: _RepliesOf,
    key: IdempotencyKey = None,
) -> Response:
    """Start what a plan asks for: a ladder, a duel, a pool, or positions to be solved.

    Its games are played in the background, as matches with its id; `/events` tells how far it has
    come. With `dry_run` nothing is started.
    """
    if query.dry_run:
        gates.evaluations.check(client.name)
        return json_response(await _estimate(evaluations, body))
    digest = digest_of(body)

    async def start() -> tuple[Reply, bool]:
        gates.evaluations.check(client.name)
        with _naming_fields():
            started = await evaluations.create(
                body,
                client=client.name,
                idempotency_key=key,
                request_digest=None if key is None else digest,
            )
        record = started.record
        reply = Reply(digest, f"{PREFIX}/{record.id}", dumps(_details(record)))
        return reply, started.is_repeated

    return await replies.answer(client.name, key, digest, start)


async def _estimate(evaluations: EvaluationService, plan: Plan) -> dict[str, Any]:
    with _naming_fields():
        contest = await asyncio.to_thread(evaluations.prepare, plan)
    estimate = await asyncio.to_thread(evaluations.estimate, contest)
    return estimate.to_json()


@contextmanager
def _naming_fields() -> Iterator[None]:
    """Name the field at fault in what keeps a plan from being played."""
    try:
        yield
    except UnplayablePlan as error:
        cause = error.__cause__
        # The errors of players and rules have kinds of their own, and more to tell.
        told = cause if isinstance(cause, AgentError | RulesError) else error
        raise AtFault(told, error.field) from error
    except InvalidPlan as error:
        raise AtFault(error, error.field) from error
    except InvalidSuite as error:
        raise AtFault(error, "positions") from error


# --- finding ---


@router.get(
    "",
    summary="List evaluations",
    response_model=EvaluationList,
    responses={200: PAGE, **problems(401, 422, 503)},
)
async def index(
    request: Request,
    query: Annotated[_ListQuery, Query()],
    evaluations: EvaluationsOf,
    _: ReadScope,
) -> Response:
    """Return evaluations, the newest first, page by page."""
    before = None if query.cursor is None else id_of(query.cursor)
    records = await evaluations.list(query.status, before, query.limit + 1)
    shown = records[: query.limit]
    following = cursor_of(shown[-1].id) if len(records) > query.limit else None
    return page_response(request, {"evaluations": [state_of(each) for each in shown]}, following)


@router.get(
    "/{evaluation_id}",
    summary="Look at an evaluation",
    response_model=EvaluationDetails,
    responses=TAGGED | problems(401, 404, 503, s404=NO_EVALUATION),
)
async def show(
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    _: ReadScope,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return how far an evaluation has come, and its plan as it was understood."""
    record = await evaluations.find(evaluation_id)
    return tagged_response(_details(record), str(record.revision), if_none_match)


def _details(record: EvaluationRecord) -> dict[str, Any]:
    return state_of(record) | {"plan": json.loads(record.plan)}
