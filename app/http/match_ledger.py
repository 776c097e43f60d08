"""Routes of the ledger of a match: every model call, what it cost, and what was said."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from agents.models.ledger import CallOutcome
from app.http.dependencies import ReadScope
from app.http.errors import problems
from app.http.match_dependencies import NO_MATCH, PREFIX, MatchesOf, MatchId
from app.http.paging import PAGE, PageQuery, cursor_of, id_of, page_response
from app.http.schemas import Answer, ColorName
from app.matches.told import call_json

router = APIRouter(prefix=f"{PREFIX}/{{match_id}}", tags=["matches"])

_CALL: dict[str, Any] = {
    "id": "01980a4e-7b1f-7c2a-8a55-2f0d3c6b8e21",
    "at": "2025-07-01T12:00:00.000Z",
    "ply": 1,
    "color": "white",
    "role": "tactical",
    "model": "openai/gpt-5-mini",
    "attempt": 1,
    "retry": 0,
    "outcome": "ok",
    "prompt_tokens": 812,
    "cached_tokens": 640,
    "reasoning_tokens": 128,
    "completion_tokens": 214,
    "is_estimated": False,
    "latency_ms": 2140,
    "cost_usd": "0.000487",
    "prompt_digest": "9f2c…",
    "request_digest": "41d0…",
    "error": "",
    "reply": {
        "text": '{"reasoning": "...", "candidates": []}',
        "finish_reason": "stop",
        "refusal": "",
        "model": "gpt-5-mini-2025-08-07",
        "form": "json_schema",
    },
}


class ReplyAnswer(Answer):
    """What a model said."""

    text: str
    finish_reason: str = Field(description="As the provider says it.", examples=["stop"])
    refusal: str = Field(description="Why it would not answer, if it said so apart from the text.")
    model: str = Field(description="How the provider calls what answered.")
    form: str = Field(description="How the reply was asked for.", examples=["json_schema"])


class ModelCallAnswer(Answer):
    """One model call."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CALL]})

    id: str
    at: datetime
    ply: int | None = Field(description="The number of the ply it was made for.")
    color: ColorName | None
    role: str = Field(description="Who asked: a specialist, `selector` or `solo`.")
    model: str = Field(description="As `provider/model`.")
    attempt: int = Field(description="The how-manieth attempt at a move it was made for.")
    retry: int = Field(description="How often the call had been tried before.")
    outcome: CallOutcome
    prompt_tokens: int
    cached_tokens: int = Field(description="Among those of the prompt.")
    reasoning_tokens: int = Field(description="Among those of the completion.")
    completion_tokens: int
    is_estimated: bool = Field(description="Whether nobody counted the tokens.")
    latency_ms: int
    cost_usd: str | None = Field(description="As text, exact; null if no price is known.")
    prompt_digest: str = Field(description="SHA-256 of the prompt files.")
    request_digest: str = Field(description="SHA-256 of all that was asked.")
    error: str = Field(description="What went wrong, in a sentence.")
    reply: ReplyAnswer | None


class LedgerList(Answer):
    """A page of the ledger of a match."""

    calls: list[ModelCallAnswer]
    next_cursor: str | None


@router.get(
    "/ledger",
    summary="List the model calls of a match",
    response_model=LedgerList,
    responses={200: PAGE, **problems(401, 404, 422, 503, s404=NO_MATCH)},
)
async def ledger(
    request: Request,
    match_id: MatchId,
    query: Annotated[PageQuery, Query()],
    matches: MatchesOf,
    _: ReadScope,
) -> Response:
    """Return every model call, in the order in which they ended, with what it cost and said."""
    after = "" if query.cursor is None else id_of(query.cursor)
    records = await matches.calls(match_id, after, query.limit + 1)
    page = records[: query.limit]
    following = cursor_of(page[-1].id) if len(records) > query.limit else None
    return page_response(request, {"calls": [call_json(record) for record in page]}, following)
