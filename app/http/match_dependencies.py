"""What the routes of matches are given: the service of matches, and an id or a seat of one."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Header, Path, Request

from app.http.errors import Kind, Refusal
from app.matches.errors import MatchNotFound
from app.matches.service import MatchService
from engine import Color
from engine.errors import shown

PREFIX = "/api/matches"
#: What 404 means here.
NO_MATCH = "There is no such match."
SEAT_HEADER = "X-Seat-Token"

_NO_TOKEN = Kind(401, "seat-token-missing", "The token of a seat is needed")


async def _matches(request: Request) -> MatchService:
    matches: MatchService = request.app.state.services.matches
    return matches


async def _match_id(
    match_id: Annotated[
        str, Path(description="The id of the match.", json_schema_extra={"format": "uuid"})
    ],
) -> str:
    try:
        is_id = str(UUID(match_id)) == match_id
    except ValueError:
        is_id = False
    if not is_id:
        raise MatchNotFound(shown(match_id))
    return match_id


#: The matches.
MatchesOf = Annotated[MatchService, Depends(_matches)]
#: The id in the path; else 404.
MatchId = Annotated[str, Depends(_match_id)]


async def _seat(
    match_id: MatchId,
    matches: MatchesOf,
    token: Annotated[
        str | None,
        Header(
            alias=SEAT_HEADER, description="What `POST /api/matches` returned for a human seat."
        ),
    ] = None,
) -> Color:
    if not token:
        detail = f"this needs the token of a seat, in the header {SEAT_HEADER}"
        headers = {"WWW-Authenticate": f'Seat header="{SEAT_HEADER}"'}
        raise Refusal(_NO_TOKEN, detail, headers=headers)
    return await matches.color_of(match_id, token)


#: The seat that the request has the token of; else 401 or 403.
Seat = Annotated[Color, Depends(_seat)]
