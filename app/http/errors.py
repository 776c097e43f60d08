"""Errors as clients see them: RFC 9457 `application/problem+json`, whatever went wrong.

`KINDS` is the table: which error is which kind of problem. An error that is not in it is a defect
of ours: 500, logged, and nothing of it shown.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from agents.errors import AgentError, CannotPlayVariant, PlayerUnavailable, UnknownPlayer
from agents.uci.errors import InvalidLevel, InvalidLimit, InvalidRatings, UciError
from app.errors import AppError
from app.http.validation import detail_of, field_of, place_of, told
from app.persistence.errors import (
    LostEvaluation,
    LostOwnership,
    SchemaBehind,
    StorageUnavailable,
    UnusableDatabase,
)
from engine import (
    AmbiguousMove,
    DrawNotClaimable,
    GameOver,
    IllegalMove,
    IllegalPosition,
    InvalidFen,
    InvalidPgn,
    InvalidSavedGame,
    InvalidTimeControl,
    NothingToUndo,
    NotSolved,
    RulesError,
    UnknownStart,
    UnknownVariant,
    UnreadableMove,
)
from engine.errors import shown

MEDIA_TYPE = "application/problem+json"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MOST_ERRORS = 10

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: what is the same whenever it occurs."""

    status: int
    #: The last part of its `type`, which never changes.
    name: str
    title: str
    #: What clients are told instead of the error's own sentence, which is only for the operator.
    detail: str | None = None
    #: In seconds.
    retry_after: int | None = None

    @property
    def type(self) -> str:
        """The URI that tells the kind."""
        return f"/problems/{self.name}"


INTERNAL = Kind(500, "internal", "Something went wrong here", "an unexpected error, not yours")
INVALID_REQUEST = Kind(422, "invalid-request", "A field of the request is wrong")
NO_ANSWER = Kind(503, "no-answer", "It does not answer", retry_after=5)
UNREADABLE_BODY = Kind(400, "unreadable-body", "The body is not JSON")
_NO_DATABASE = Kind(
    503,
    "database-unusable",
    "The database cannot be used",
    "the database needs its operator; the service's log says why",
)

#: Which error is which kind. The nearest base class counts.
KINDS: dict[type[Exception], Kind] = {
    RulesError: Kind(422, "rules", "The rules do not allow this"),
    InvalidFen: Kind(422, "invalid-fen", "This is not a FEN"),
    IllegalPosition: Kind(422, "illegal-position", "The position breaks a rule"),
    UnreadableMove: Kind(422, "unreadable-move", "This is not a move in any notation"),
    AmbiguousMove: Kind(422, "ambiguous-move", "Several legal moves are written like this"),
    IllegalMove: Kind(422, "illegal-move", "The move is illegal"),
    GameOver: Kind(422, "game-over", "The game is over"),
    NothingToUndo: Kind(422, "nothing-to-undo", "There is no move to take back"),
    DrawNotClaimable: Kind(422, "draw-not-claimable", "No draw can be claimed"),
    InvalidPgn: Kind(422, "invalid-pgn", "This is not PGN"),
    InvalidTimeControl: Kind(422, "invalid-time-control", "This is not a time control"),
    InvalidSavedGame: Kind(422, "invalid-saved-game", "The saved game is refused"),
    NotSolved: Kind(422, "not-solved", "The variant is not solved"),
    UnknownVariant: Kind(422, "unknown-variant", "There is no such variant"),
    UnknownStart: Kind(422, "unknown-start", "There is no such starting position"),
    AgentError: Kind(422, "player", "The player cannot be seated"),
    UnknownPlayer: Kind(422, "unknown-player", "There is no such player"),
    CannotPlayVariant: Kind(422, "cannot-play-variant", "The player does not know the variant"),
    PlayerUnavailable: Kind(422, "player-unavailable", "The player is not set up"),
    InvalidLevel: Kind(422, "invalid-level", "There is no such level"),
    InvalidLimit: Kind(422, "invalid-limit", "Nothing can be searched under this limit"),
    UciError: Kind(
        503,
        "engine-unavailable",
        "The UCI engine does not answer",
        "the UCI engine is missing or broken; the service's log says why",
        retry_after=10,
    ),
    InvalidRatings: Kind(
        503,
        "ratings-unavailable",
        "The ratings cannot be read",
        "the file of ratings is damaged; the service's log says why",
    ),
    StorageUnavailable: Kind(
        503,
        "database-unavailable",
        "The database does not answer",
        "the database does not answer just now; try again soon",
        retry_after=1,
    ),
    SchemaBehind: _NO_DATABASE,
    UnusableDatabase: _NO_DATABASE,
    LostOwnership: Kind(
        503,
        "match-taken-over",
        "Another process has taken the match over",
        "another process has just taken the match over; try again",
        retry_after=1,
    ),
    LostEvaluation: Kind(
        503,
        "evaluation-taken-over",
        "Another process has taken the evaluation over",
        "another process has just taken the evaluation over; try again",
        retry_after=1,
    ),
}

#: What the framework refuses, by status.
NOT_FOUND = Kind(404, "not-found", "There is nothing here")
_BY_STATUS = {
    404: NOT_FOUND,
    405: Kind(405, "method-not-allowed", "The method is not possible here"),
    415: Kind(415, "unsupported-media-type", "The body is not sent as JSON"),
}


@dataclass(eq=False)
class Refusal(AppError):
    """A request that HTTP itself is enough to refuse, with everything that its client is told."""

    kind: Kind
    detail: str
    field: str | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    members: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

    def response(self) -> Response:
        """Return what to answer."""
        return problem(self.kind, self.detail, self.field, self.headers, self.members)


@dataclass(eq=False)
class AtFault(AppError):
    """An error, and the field of the request that is at fault."""

    error: Exception
    field: str
    members: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.field}: {self.error}"


@contextmanager
def blaming(field: str) -> Iterator[None]:
    """Name the field at fault in whatever the rules or the players refuse."""
    try:
        yield
    except (RulesError, AgentError) as error:
        raise AtFault(error, field) from error


def problem(
    kind: Kind,
    detail: str,
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, object] | None = None,
) -> Response:
    """Return the answer that tells a problem; `detail` is one sentence."""
    content: dict[str, object] = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
    }
    if field:
        content["field"] = field
    content |= members or {}
    all_headers = dict(headers or {})
    if kind.retry_after is not None:
        all_headers.setdefault("Retry-After", str(kind.retry_after))
    # A client may have sent half a surrogate pair, which UTF-8 cannot write.
    body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, kind.status, all_headers, MEDIA_TYPE)


def install_handlers(
    app: FastAPI,
    kinds: Mapping[type[Exception], Kind] | None = None,
    nothing_here: Callable[[Request], Response | None] = lambda _: None,
) -> None:
    """Let an application answer with problems: those of `KINDS`, and of further errors.

    `nothing_here` may have another answer where there is no route.
    """
    table = KINDS | dict(kinds or {})

    async def answer(_: Request, error: Exception) -> Response:
        return _answer(table, error)

    async def answer_framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - for types
        shown = nothing_here(request) if error.status_code == 404 else None
        return shown or _answer_framework(request, error)

    for kind in (*table, AtFault, Refusal):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(HTTPException, answer_framework)
    app.add_exception_handler(RequestValidationError, _answer_validation(table))


def _answer(
    table: Mapping[type[Exception], Kind],
    error: Exception,
    where: Mapping[str, object] | None = None,
) -> Response:
    """Return the problem of a refusal, or of an error in the table; raise any other."""
    if isinstance(error, Refusal):
        return error.response()
    field: str | None = None
    members: dict[str, object] = dict(where or {})
    if isinstance(error, AtFault):
        field = error.field
        members |= error.members
        error = error.error
    kind = next((table[base] for base in type(error).__mro__ if base in table), None)
    if kind is None:
        raise error
    if kind.status >= 500:
        _log.warning("%s: %s", kind.name, error)
    return problem(kind, kind.detail or str(error), field, members=_members(error) | members)


def _members(error: Exception) -> dict[str, object]:
    """Return what an error has to tell to programs."""
    match error:
        case IllegalMove(reason=reason):
            return {"reason": reason.name.lower()}
        case IllegalPosition(rule=rule):
            return {"reason": rule.name.lower()}
        case AmbiguousMove(candidates=candidates):
            return {"candidates": [move.uci() for move in candidates]}
        case GameOver(outcome=outcome):
            return {"termination": outcome.termination.value, "result": outcome.result}
        case UnknownVariant(known=known) | UnknownPlayer(known=known):
            return {"known": list(known)}
        case CannotPlayVariant(plays=plays):
            return {"plays": list(plays)}
    return {}


def _answer_framework(request: Request, error: HTTPException) -> Response:
    """Answer what the framework refuses: no such route, no such method, a body it cannot read."""
    status, headers = error.status_code, dict(error.headers or {})
    if status == 404:
        detail = f"there is nothing at {shown(request.url.path)}"
    elif status == 405:
        allowed = ", ".join(_allowed(request.app, request.scope))
        headers["Allow"] = allowed
        detail = f"{shown(request.method)[1:-1]} is not possible here, but {allowed}"
    elif status == 400 and error.__cause__ is not None:  # so FastAPI tells of a body
        return problem(UNREADABLE_BODY, "the body cannot be read as JSON")
    else:
        detail = str(error.detail)
    kind = _BY_STATUS.get(status) or Kind(status, f"http-{status}", detail)
    return problem(kind, detail, headers=headers)


def _allowed(app: FastAPI, scope: Scope) -> list[str]:
    """Return the methods that some route has at the path of a request."""
    return [
        method
        for method in _METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]


def _answer_validation(table: Mapping[type[Exception], Kind]) -> Any:  # noqa: ANN401 - a handler
    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - for types
        body = getattr(request.scope.get("route"), "body_field", None)
        errors = told(error.errors(), None if body is None else body.field_info.discriminator)
        first = errors[0]
        if isinstance(error.body, bytes):  # as FastAPI leaves it if it is not said to be JSON
            sentence = "the body should be JSON, and its Content-Type application/json"
            return problem(_BY_STATUS[415], sentence, headers={"Accept": "application/json"})
        if first["type"] == "json_invalid":
            why = f"{first['ctx']['error']} at character {first['loc'][-1]}"
            return problem(UNREADABLE_BODY, f"the body is not JSON: {why}")
        where, name = {"in": place_of(first)}, field_of(first)
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, RulesError):
            return _answer(table, AtFault(cause, name), where)
        listed = [{"field": field_of(each), "detail": detail_of(each)} for each in errors]
        members = where | ({"errors": listed[:_MOST_ERRORS]} if len(listed) > 1 else {})
        return problem(INVALID_REQUEST, detail_of(first), name, members=members)

    return answer


# --- for OpenAPI ---


class FieldError(BaseModel):
    """One of several fields that are wrong."""

    field: str
    detail: str


class Problem(BaseModel):
    """An error, as RFC 9457 has it. Some kinds have further members."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "/problems/illegal-move",
                "title": "The move is illegal",
                "status": 422,
                "detail": "'Ke2' in 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 is illegal: "
                "a piece of the same side stands on the target square",
                "field": "moves.0",
                "reason": "own_piece",
            }
        },
    )

    type: str = Field(description="Which kind of problem it is; this never changes.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What is wrong this time, in one sentence.")
    field: str | None = Field(None, description="The field at fault, as a dotted path.")
    errors: list[FieldError] | None = Field(None, description="If several fields are wrong.")


_DESCRIPTIONS = {
    400: "The body is not JSON.",
    401: "A token is needed, and missing or wrong.",
    403: "The token does not allow this.",
    404: "There is no such thing.",
    409: "It does not go with the state in which it is now.",
    413: "The body is too large.",
    415: "The body is not sent as JSON.",
    422: "A field is wrong, or the rules refuse it.",
    429: "Too many at once; `Retry-After` tells when to try again.",
    500: "An unexpected error of ours.",
    503: "Something that is needed does not answer; `Retry-After` tells when to try again.",
}


def problems(*statuses: int, **descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Return what a route can say in `responses=` about statuses; `s404="..."` describes one."""
    return {
        status: problem_response(descriptions.get(f"s{status}") or _DESCRIPTIONS[status])
        for status in statuses
    }


def problem_response(description: str) -> dict[str, Any]:
    """Return the response of an OpenAPI document that is a problem."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": description, "content": content}
