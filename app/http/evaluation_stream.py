"""The route by which an evaluation is watched."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.http.errors import problems
from app.http.evaluation_answers import STATE
from app.http.evaluation_dependencies import NO_EVALUATION, PREFIX, TAG, EvaluationId
from app.http.streams import REFUSALS, PlaceOf, StreamsOf
from app.matches.events import dumps
from app.streaming.formats import Format
from app.streaming.progress import PROGRESS, Progress

_DATA = dumps(STATE)

router = APIRouter(prefix=PREFIX, tags=[TAG])


async def _progress(request: Request) -> Progress:
    progress: Progress = request.app.state.services.progress
    return progress


@router.get(
    "/{evaluation_id}/events",
    summary="Watch an evaluation",
    response_class=Response,
    responses={
        200: {
            "description": "The state as it is, and again whenever it has changed.",
            "content": {
                Format.SSE.value: {
                    "schema": {"type": "string"},
                    "example": f"retry: 2000\n\nid: {STATE['revision']}\nevent: {PROGRESS}\n"
                    f"data: {_DATA}\n\n",
                },
                Format.NDJSON.value: {
                    "schema": {"type": "string"},
                    "example": f"{dumps({'type': PROGRESS} | STATE)}\n",
                },
            },
        },
        204: {"description": "The evaluation is over, and the client has its last state."},
        **REFUSALS,
        **problems(404, s404=NO_EVALUATION),
    },
)
async def watch(
    evaluation_id: EvaluationId,
    streams: StreamsOf,
    progress: Annotated[Progress, Depends(_progress)],
    place: PlaceOf,
) -> Response:
    """Stream how far an evaluation has come, as `GET /api/evaluations/{evaluation_id}` tells it.

    The id of a `progress` event is the revision of the state. It is sent at once, and whenever the
    state has changed; whoever reads slowly gets only the newest. With `Last-Event-ID` nothing comes
    before the state is newer than that. A comment (or an empty line) every 15 s shows that the
    connection is alive. After `evaluation.ended`, with the same state, the stream ends.
    """
    return place.stream(streams.feed, progress.of(evaluation_id))
