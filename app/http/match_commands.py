"""Routes that command a match: humans play in their seats, and whoever may write stops it."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from app.http.dependencies import WriteScope
from app.http.errors import NO_ANSWER, AtFault, Refusal, problems
from app.http.match_answers import MatchAnswer
from app.http.match_dependencies import NO_MATCH, PREFIX, SEAT_HEADER, MatchesOf, MatchId, Seat
from app.http.match_schemas import DrawBody, MoveBody, ReasonBody, ResumeBody, TakebackBody
from app.http.paging import json_response
from app.matches.commands import (
    Abort,
    Command,
    Draw,
    DrawAction,
    Pause,
    PlayMove,
    Resign,
    Resume,
    Takeback,
    TakebackAction,
)
from app.matches.service import MatchService, state_of
from engine import AmbiguousMove, MoveError, UnreadableMove

#: How long a command may take, such as when the database is away.
_PATIENCE = 30.0

_BODIES = problems(400, 413, 415, 422)
_SEAT_PROBLEMS = problems(
    401,
    403,
    404,
    409,
    503,
    s401=f"`{SEAT_HEADER}` is missing.",
    s403="The token opens no seat of this match.",
    s404=NO_MATCH,
    s409="It makes no sense as the match stands, or the match is over.",
)
_WRITE_PROBLEMS = problems(401, 403, 404, 409, 503, s404=NO_MATCH)

router = APIRouter(prefix=f"{PREFIX}/{{match_id}}", tags=["matches"])


@router.post(
    "/moves",
    summary="Move",
    response_model=MatchAnswer,
    responses=_SEAT_PROBLEMS
    | _BODIES
    | problems(422, s422="The move cannot be played: `reason` tells why, `legal_moves` which can."),
)
async def move(match_id: MatchId, seat: Seat, body: MoveBody, matches: MatchesOf) -> Response:
    """Play a move in a human's seat, and return the match once it is stored.

    Any notation that the rules engine reads will do. A move that cannot be played changes nothing.
    """
    try:
        return await _perform(matches, match_id, PlayMove(seat, body.move))
    except MoveError as error:
        raise await _refused(matches, match_id, error) from error


@router.post("/resign", summary="Resign", response_model=MatchAnswer, responses=_SEAT_PROBLEMS)
async def resign(match_id: MatchId, seat: Seat, matches: MatchesOf) -> Response:
    """Resign in a human's seat, whoever is to move."""
    return await _perform(matches, match_id, Resign(seat))


@router.post(
    "/draw",
    summary="Offer, accept, decline or claim a draw",
    response_model=MatchAnswer,
    responses=_SEAT_PROBLEMS | _BODIES,
)
async def draw(match_id: MatchId, seat: Seat, body: DrawBody, matches: MatchesOf) -> Response:
    """Do something about a draw in a human's seat.

    An offer stands until the opponent accepts, declines or moves. To offer where the opponent's
    offer stands accepts it. A draw can be claimed when the position occurs for the third time or
    fifty moves were made without a capture or a pawn move, now or with the move that is told; a
    claim that does not hold is 409, and changes nothing.
    """
    try:
        return await _perform(matches, match_id, Draw(seat, DrawAction(body.action), body.move))
    except MoveError as error:
        raise await _refused(matches, match_id, error) from error


@router.post(
    "/takeback",
    summary="Take back a move",
    response_model=MatchAnswer,
    responses=_SEAT_PROBLEMS | _BODIES,
)
async def takeback(
    match_id: MatchId, seat: Seat, body: TakebackBody, matches: MatchesOf
) -> Response:
    """Ask to take back the seat's last move, and what followed, or answer the opponent who asked.

    A player that is no human always agrees at once.
    """
    return await _perform(matches, match_id, Takeback(seat, TakebackAction(body.action)))


@router.post(
    "/pause",
    summary="Pause a match",
    response_model=MatchAnswer,
    responses=_WRITE_PROBLEMS | _BODIES,
)
async def pause(
    match_id: MatchId, matches: MatchesOf, _: WriteScope, body: ReasonBody | None = None
) -> Response:
    """Stop the clocks until the match is resumed."""
    return await _perform(matches, match_id, Pause(_reason(body)))


@router.post(
    "/resume",
    summary="Resume a match",
    response_model=MatchAnswer,
    responses=_WRITE_PROBLEMS | _BODIES,
)
async def resume(
    match_id: MatchId, matches: MatchesOf, _: WriteScope, body: ResumeBody | None = None
) -> Response:
    """Let a paused match go on, with another budget if one is given."""
    budget = None if body is None or body.budget is None else body.budget.settings()
    return await _perform(matches, match_id, Resume(budget))


@router.post(
    "/abort",
    summary="Abort a match",
    response_model=MatchAnswer,
    responses=_WRITE_PROBLEMS | _BODIES,
)
async def abort(
    match_id: MatchId, matches: MatchesOf, _: WriteScope, body: ReasonBody | None = None
) -> Response:
    """End a match without a result."""
    return await _perform(matches, match_id, Abort(_reason(body)))


async def _perform(matches: MatchService, match_id: str, command: Command) -> Response:
    """Have a command performed, and answer with the match as it stands then."""
    try:
        async with asyncio.timeout(_PATIENCE):
            record = await matches.command(match_id, command)
    except TimeoutError:
        detail = "the match did not answer in time: look whether it was done before you try again"
        raise Refusal(NO_ANSWER, detail) from None
    return json_response(state_of(record))


async def _refused(matches: MatchService, match_id: str, error: MoveError) -> AtFault:
    """Return what to tell of a move that cannot be played: why, and which can."""
    members = {"legal_moves": state_of(await matches.find(match_id))["legal_moves"]}
    match error:
        case UnreadableMove():
            members["reason"] = "unreadable"
        case AmbiguousMove():
            members["reason"] = "ambiguous"
    return AtFault(error, "move", members)


def _reason(body: ReasonBody | None) -> str:
    return (body.reason if body is not None else None) or ""
