"""The route of the plots of a report, for pages that show them in their own colours."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field

from app.http.dependencies import GatesOf, ReadScope
from app.http.disconnection import while_connected
from app.http.errors import problems
from app.http.evaluation_dependencies import (
    NO_EVALUATION,
    PREFIX,
    TAG,
    EvaluationId,
    EvaluationsOf,
)
from app.http.paging import json_response
from app.http.schemas import Answer

router = APIRouter(prefix=f"{PREFIX}/{{evaluation_id}}", tags=[TAG])


class PlotAnswer(Answer):
    """A plot of a report."""

    key: str = Field(description="What it shows.", examples=["rating"])
    title: str
    caption: str
    svg: str = Field(description="A picture whose colours are attributes, and whose text is text.")


class PlotsAnswer(Answer):
    """The plots of a report, in the order in which they are read."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "plots": [
                        {
                            "key": "rating",
                            "title": "Rating",
                            "caption": "Blue: as played. Lines are 95 % intervals.",
                            "svg": '<svg xmlns="http://www.w3.org/2000/svg">...</svg>',
                        }
                    ]
                }
            ]
        }
    )

    plots: list[PlotAnswer] = Field(description="Only those for which there is something to show.")


@router.get(
    "/plots",
    summary="Draw the plots of a report",
    response_model=PlotsAnswer,
    responses=problems(401, 404, 503, s404=NO_EVALUATION),
)
async def plots(
    request: Request,
    evaluation_id: EvaluationId,
    evaluations: EvaluationsOf,
    gates: GatesOf,
    _: ReadScope,
) -> Response:
    """Return the plots of the report as SVG; before the evaluation is over, of what was scored."""

    async def make() -> list[dict[str, Any]]:
        async with gates.reports:
            report = await evaluations.report(evaluation_id)
            return await asyncio.to_thread(_drawn, report)

    return json_response({"plots": await while_connected(request, make())})


def _drawn(report: dict[str, Any]) -> list[dict[str, Any]]:
    # Only who draws needs it, and it takes long to import.
    from app.evaluations.reports.plots import plots_of

    return [
        {"key": plot.key, "title": plot.title, "caption": plot.caption, "svg": plot.svg}
        for plot in plots_of(report)
    ]
