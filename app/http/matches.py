"""Routes of matches: start one, list them, look at one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field, StringConstraints

from agents.errors import AgentError, CannotPlayVariant, PlayerUnavailable, UnknownPlayer
from agents.uci.errors import InvalidLevel
from app.bodies import VariantName
from app.http import match_commands, match_games, match_ledger
from app.http.conditional import TAGGED, IfNoneMatch, tagged_response
from app.http.dependencies import GatesOf, ReadScope, WriteScope
from app.http.errors import AtFault, Kind, problems
from app.http.match_answers import MatchCreated, MatchList, MatchWithLedger
from app.http.match_dependencies import NO_MATCH, PREFIX, MatchesOf, MatchId
from app.http.match_schemas import MatchBody
from app.http.paging import PAGE, PageQuery, cursor_of, id_of, page_response
from app.http.replies import STARTED, IdempotencyKey, Replies, Reply, digest_of, replies_of
from app.matches.errors import (
    CannotDo,
    KeyReused,
    MatchError,
    MatchIsOver,
    MatchNotFound,
    NotYourTurn,
    TooManyMatches,
    UnplayableSettings,
    WrongSeatToken,
)
from app.matches.events import dumps
from app.matches.match import MatchStatus
from app.matches.schemas import TEXT_PATTERN, PlayerName, Tag
from app.matches.service import Created, MatchService, state_of
from app.matches.storing import settings_of
from app.matches.told import totals_json
from app.persistence.matches import MatchFilter
from engine import Color, RulesError

#: For `install_handlers`.
MATCH_KINDS: dict[type[Exception], Kind] = {
    MatchError: Kind(409, "match", "The match does not allow this"),
    MatchNotFound: Kind(404, "match-not-found", "There is no such match"),
    MatchIsOver: Kind(409, "match-over", "The match is over"),
    WrongSeatToken: Kind(403, "wrong-seat-token", "The token opens no seat of the match"),
    NotYourTurn: Kind(409, "not-your-turn", "The other side is to move"),
    CannotDo: Kind(409, "not-now", "That makes no sense as things stand"),
    KeyReused: Kind(422, "idempotency-key-reused", "The key was used for another request"),
    TooManyMatches: Kind(
        429, "too-many-unfinished-matches", "Too many unfinished matches", retry_after=60
    ),
    UnplayableSettings: Kind(422, "invalid-settings", "The match cannot be played like that"),
}

router = APIRouter(prefix=PREFIX, tags=["matches"])
#: All routers of matches.
ROUTERS = (router, match_games.router, match_ledger.router, match_commands.router)


async def _replies(request: Request) -> Replies:
    return replies_of(request.app.state, "match_replies")


_RepliesOf = Annotated[Replies, Depends(_replies)]


class _ListQuery(PageQuery):
    status: MatchStatus | None = None
    player: PlayerName | None = Field(None, description="The name of a player of either side.")
    variant: VariantName | None = None
    evaluation: Annotated[str, StringConstraints(max_length=36, pattern=TEXT_PATTERN)] | None = (
        Field(None, description="The id of the evaluation that started it.")
    )
    tag: Tag | None = None


# --- starting ---


@router.post(
    "",
    status_code=201,
    summary="Start a match",
    response_model=MatchCreated,
    responses={
        201: STARTED,
        **problems(400, 401, 403, 413, 415, 422, 429, 503),
    },
)
async def create(
    body: MatchBody,
    client: WriteScope,
    gates: GatesOf,
    matches: MatchesOf,
    replies: _RepliesOf,
    key: IdempotencyKey = None,
) -> Response:
    """Start a match between two players, and return it with the secret tokens of its human seats.

    It is played in the background; `/events` tells how it goes. The tokens are shown only here.
    """
    digest = digest_of(body)

    async def start() -> tuple[Reply, bool]:
        gates.starts.check(client.name)
        created = await _create(matches, body, client.name, key, digest)
        return _reply(created, digest), created.is_repeated

    return await replies.answer(client.name, key, digest, start)


async def _create(
    matches: MatchService,
    body: MatchBody,
    client: str,
    key: str | None,
    digest: str,
) -> Created:
    with _naming_fields(body):
        return await matches.create(
            body.settings(),
            client=client,
            idempotency_key=key,
            request_digest=None if key is None else digest,
        )


@contextmanager
def _naming_fields(body: MatchBody) -> Iterator[None]:
    """Name the field at fault in what keeps a match from being started."""
    try:
        yield
    except UnplayableSettings as error:
        cause = error.__cause__
        # The rules' own error has a kind, and more to tell.
        raise AtFault(cause if isinstance(cause, RulesError) else error, error.field) from error
    except AgentError as error:
        match error:
            case (
                UnknownPlayer(name=name)
                | CannotPlayVariant(player=name)
                | PlayerUnavailable(player=name)
            ):
                pass
            case InvalidLevel(level=level):
                name = f"stockfish:{level}"
            case _:
                raise
        raise AtFault(error, "white" if body.white.name == name else "black") from error


def _reply(created: Created, digest: str) -> Reply:
    record = created.record
    humans = (color for color in Color if settings_of(record).player(color).is_human)
    seats = {color.value: {"token": created.tokens.get(color)} for color in humans}
    content = dumps(state_of(record) | {"seats": seats})
    return Reply(digest, f"{PREFIX}/{record.id}", content)


# --- finding ---


@router.get(
    "",
    summary="List matches",
    response_model=MatchList,
    responses={
        200: PAGE,
        **problems(401, 422, 503),
    },
)
async def index(
    request: Request, query: Annotated[_ListQuery, Query()], matches: MatchesOf, _: ReadScope
) -> Response:
    """Return matches, the newest first, page by page; filters can be combined."""
    wanted = MatchFilter(query.status, query.player, query.variant, query.evaluation, query.tag)
    before = None if query.cursor is None else id_of(query.cursor)
    records = await matches.list(wanted, before, query.limit + 1)
    shown_records = records[: query.limit]
    following = cursor_of(shown_records[-1].id) if len(records) > query.limit else None
    listed = [state_of(record, with_moves=False) for record in shown_records]
    return page_response(request, {"matches": listed}, following)


@router.get(
    "/{match_id}",
    summary="Look at a match",
    response_model=MatchWithLedger,
    responses=TAGGED | problems(401, 404, 503, s404=NO_MATCH),
)
async def show(
    match_id: MatchId, matches: MatchesOf, _: ReadScope, if_none_match: IfNoneMatch = None
) -> Response:
    """Return where a match stands: position, legal moves, clocks, outcome, and what it cost."""
    record, ledger = await matches.find_with_ledger(match_id)
    content = state_of(record) | {"ledger": totals_json(ledger)}
    return tagged_response(content, f"{record.last_sequence}-{ledger.calls}", if_none_match)
