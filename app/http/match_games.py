"""Routes of the game of a match: its plies, its PGN, its board."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from app.http.dependencies import ReadScope
from app.http.errors import INVALID_REQUEST, Refusal, problems
from app.http.match_answers import PlyList
from app.http.match_dependencies import NO_MATCH, PREFIX, MatchesOf, MatchId
from app.http.paging import PAGE, PageQuery, StrictQuery, number_of, page_response
from app.matches.service import MatchService
from app.matches.storing import settings_of
from app.matches.told import ply_json
from app.persistence.records import MatchRecord
from engine import Color, Move, Position

_PGN, _SVG = "application/x-chess-pgn", "image/svg+xml"

router = APIRouter(prefix=f"{PREFIX}/{{match_id}}", tags=["matches"])


class _PlyQuery(PageQuery):
    limit: int = Field(500, ge=1, le=2_000, description="How many at most.")


class _BoardQuery(StrictQuery):
    perspective: Literal["white", "black"] = Field("white", description="Who sits below.")
    size: int = Field(400, ge=100, le=2_000, description="The width in pixels.")
    ply: int | None = Field(
        None, ge=0, le=100_000, description="After which ply; 0 is before the first."
    )


@router.get(
    "/plies",
    summary="List the plies of a match",
    response_model=PlyList,
    responses={
        200: PAGE,
        **problems(401, 404, 422, 503, s404=NO_MATCH),
    },
)
async def plies(
    request: Request,
    match_id: MatchId,
    query: Annotated[_PlyQuery, Query()],
    matches: MatchesOf,
    _: ReadScope,
) -> Response:
    """Return what was played, with clocks and evaluations, and what was said and refused before."""
    after = 0 if query.cursor is None else number_of(query.cursor)
    match, records = await matches.plies(match_id, after, query.limit + 1)
    page = records[: query.limit]
    following = str(page[-1].number) if len(records) > query.limit else None
    start_fen = settings_of(match).start.fen()
    answer = {"start_fen": start_fen, "plies": [ply_json(record) for record in page]}
    return page_response(request, answer, following)


@router.get(
    "/pgn",
    summary="Download a match as PGN",
    response_class=Response,
    responses={
        200: {
            "description": "The game so far, with clocks and evaluations.",
            "headers": {
                "Content-Disposition": {
                    "description": "A name for the file.",
                    "schema": {"type": "string"},
                }
            },
            "content": {
                _PGN: {
                    "schema": {"type": "string"},
                    "example": '[Event "Kibitz match"]\n[Result "*"]\n\n1. e4 e5 *\n',
                }
            },
        },
        **problems(401, 404, 503, s404=NO_MATCH),
    },
)
async def pgn(match_id: MatchId, matches: MatchesOf, _: ReadScope) -> Response:
    """Return the game in the format that chess programs exchange."""
    match = await matches.load(match_id)
    text = await asyncio.to_thread(match.game.pgn)  # it writes every move in short notation
    headers = {"Content-Disposition": f'attachment; filename="kibitz-{match_id}.pgn"'}
    return Response(text, headers=headers, media_type=f"{_PGN}; charset=utf-8")


@router.get(
    "/board.svg",
    summary="Draw the board of a match",
    response_class=Response,
    responses={
        200: {
            "description": "The board, with the last move and a check marked.",
            "content": {_SVG: {"schema": {"type": "string"}, "example": "<svg>...</svg>"}},
        },
        **problems(401, 404, 422, 503, s404=NO_MATCH),
    },
)
async def board(
    match_id: MatchId, query: Annotated[_BoardQuery, Query()], matches: MatchesOf, _: ReadScope
) -> Response:
    """Return a picture of the position now, or after some ply."""
    if query.ply:
        record, fen, move = await _after(matches, match_id, query.ply)
    else:
        record = await matches.find(match_id)
        fen, move = _now(record) if query.ply is None else (settings_of(record).start.fen(), None)
    picture = Position.from_fen(fen, record.variant).svg(
        perspective=Color(query.perspective),
        last_move=None if move is None else Move.from_uci(move),
        size=query.size,
    )
    return Response(picture, media_type=_SVG)


def _now(record: MatchRecord) -> tuple[str, str | None]:
    """Return the position of a match as it stands, and the last move."""
    last = json.loads(record.state)["last_move"]
    return record.fen, None if last is None else last["uci"]


async def _after(
    matches: MatchService, match_id: str, number: int
) -> tuple[MatchRecord, str, str | None]:
    """Return a match, the position after a ply, and its move; `Refusal` if it has no such ply."""
    record, ply = await matches.ply(match_id, number)
    if ply is None:
        detail = f"ply: the match has no ply {number}"
        raise Refusal(INVALID_REQUEST, detail, "ply", members={"in": "query"})
    return record, ply.fen, ply.uci
