"""Errors: each one is a problem, whatever went wrong, and none tells what clients need not know."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from fastapi import APIRouter, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from agents.errors import AgentError, CannotPlayVariant, UnknownPlayer
from agents.uci.errors import (
    InvalidLevel,
    InvalidLimit,
    InvalidRatings,
    PoolClosed,
    UciDied,
    UciNotFound,
    UciTimedOut,
)
from app.bodies import Body, VariantName
from app.errors import AppError
from app.http.errors import KINDS, AtFault, Kind, Refusal, problem, problems
from app.persistence.errors import (
    LostOwnership,
    SchemaBehind,
    StorageRefused,
    StorageUnavailable,
    UnusableDatabase,
)
from engine import (
    AmbiguousMove,
    DrawNotClaimable,
    GameOver,
    Illegality,
    IllegalMove,
    IllegalPosition,
    InvalidFen,
    InvalidPgn,
    InvalidSavedGame,
    InvalidTimeControl,
    Move,
    NothingToUndo,
    NotSolved,
    Outcome,
    PositionRule,
    RulesError,
    SavedGameFault,
    Termination,
    UnknownStart,
    UnknownVariant,
    UnreadableMove,
)
from tests.app.http.conftest import Parts, application, check_problem, served

SECRET = "hunter2-and-/srv/kibitz"
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MATE = Outcome(None, Termination.STALEMATE)


class Full(AppError):
    """An error of some other room, which says itself what it is."""


#: What goes wrong, the status and kind of its problem, and further members.
ERRORS = {
    "rules": (RulesError("no"), 422, "rules", {"detail": "no"}),
    "FEN": (InvalidFen("x", "it is odd"), 422, "invalid-fen", {}),
    "position": (
        IllegalPosition("x", PositionRule.ONE_KING_EACH), 422, "illegal-position",
        {"reason": "one_king_each"},
    ),
    "unreadable": (UnreadableMove("?"), 422, "unreadable-move", {}),
    "ambiguous": (
        AmbiguousMove("Nd2", FEN, (Move.from_uci("b1d2"), Move.from_uci("f3d2"))), 422,
        "ambiguous-move", {"candidates": ["b1d2", "f3d2"]},
    ),
    "illegal": (
        IllegalMove("Ke2", FEN, Illegality.KING_INTO_CHECK), 422, "illegal-move",
        {"reason": "king_into_check"},
    ),
    "over": (
        GameOver(MATE), 422, "game-over",
        {"termination": "stalemate", "result": "1/2-1/2"},
    ),
    "undo": (NothingToUndo(), 422, "nothing-to-undo", {}),
    "claim": (DrawNotClaimable(FEN), 422, "draw-not-claimable", {}),
    "PGN": (InvalidPgn(3, "it is odd"), 422, "invalid-pgn", {}),
    "time": (InvalidTimeControl("x", "it is odd"), 422, "invalid-time-control", {}),
    "saved": (InvalidSavedGame(SavedGameFault.NOT_JSON), 422, "invalid-saved-game", {}),
    "solved": (NotSolved("standard"), 422, "not-solved", {}),
    "variant": (UnknownVariant("x", ("a", "b")), 422, "unknown-variant", {"known": ["a", "b"]}),
    "start": (UnknownStart("chess960", "960", 960), 422, "unknown-start", {}),
    "agent": (AgentError("no"), 422, "player", {}),
    "player": (UnknownPlayer("x", ("a",)), 422, "unknown-player", {"known": ["a"]}),
    "cannot": (
        CannotPlayVariant("solver", "standard", ("kings-cooking",)), 422, "cannot-play-variant",
        {"plays": ["kings-cooking"]},
    ),
    "level": (InvalidLevel("9"), 422, "invalid-level", {}),
    "limit": (InvalidLimit("no"), 422, "invalid-limit", {}),
    "no engine": (UciNotFound("Stockfish", SECRET), 503, "engine-unavailable", {}),
    "dead": (UciDied("Stockfish", "thinking", 1, SECRET), 503, "engine-unavailable", {}),
    "late": (
        UciTimedOut("Stockfish", "x", timedelta(seconds=1)), 503, "engine-unavailable", {},
    ),
    "closed": (PoolClosed("Stockfish"), 503, "engine-unavailable", {}),
    "ratings": (InvalidRatings(SECRET, "x"), 503, "ratings-unavailable", {}),
    "storage": (StorageUnavailable(SECRET), 503, "database-unavailable", {}),
    "tables": (SchemaBehind(None, SECRET), 503, "database-unusable", {}),
    "damaged": (UnusableDatabase(SECRET), 503, "database-unusable", {}),
    "owner": (LostOwnership(SECRET), 503, "match-taken-over", {}),
    "refused": (StorageRefused(SECRET), 500, "internal", {}),
    "field": (
        AtFault(UnreadableMove("?"), "moves.3", {"legal_moves": []}), 422, "unreadable-move",
        {"field": "moves.3", "legal_moves": []},
    ),
    "field of ours": (AtFault(AppError(SECRET), "moves"), 500, "internal", {}),
    "refusal": (
        Refusal(Kind(409, "busy", "Busy"), "it is busy", "seat", members={"since": 3}), 409, "busy",
        {"detail": "it is busy", "field": "seat", "since": 3},
    ),
    "of another room": (Full("it is full"), 409, "full", {"detail": "it is full"}),
    "gone": (HTTPException(410, "it is gone"), 410, "http-410", {"detail": "it is gone"}),
    "not found": (HTTPException(404), 404, "not-found", {}),
    "ours": (AppError(SECRET), 500, "internal", {}),
    "unexpected": (ZeroDivisionError(SECRET), 500, "internal", {}),
    "group": (ExceptionGroup("x", [ValueError(SECRET)]), 500, "internal", {}),
}  # fmt: skip


class Wish(Body):
    variant: VariantName = "standard"
    count: int = 1
    name: str = ""
    names: list[str] = Field([])
    inner: Inner | None = None


class Inner(BaseModel):
    size: int


Wish.model_rebuild()


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    router = APIRouter()

    @router.get("/fail/{name}")
    async def fail(name: str) -> None:
        raise ERRORS[name][0]

    @router.get("/cut")
    async def cut() -> StreamingResponse:
        async def parts():
            yield b"a"
            raise ZeroDivisionError(SECRET)

        return StreamingResponse(parts())

    @router.post("/wish", responses=problems(409))
    async def wish(body: Wish, limit: int = 5) -> Wish:
        return body

    @router.get("/wish")
    async def get_wish() -> None: ...

    @router.delete("/wish")
    async def delete_wish() -> None: ...

    kinds = {Full: Kind(409, "full", "It is full")}
    with served(Parts(), router, kinds=kinds) as server, server.client() as client:
        yield client


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_problem(client, name):
    error, status, kind, members = ERRORS[name]
    response = client.get(f"/fail/{name}")
    content = check_problem(response, status, kind)
    assert SECRET not in response.text
    assert "Traceback" not in response.text
    assert members.items() <= content.items()
    if status == 422 and not members:
        assert content["detail"] == str(error)


@pytest.mark.parametrize(("name", "seconds"), [("storage", "1"), ("no engine", "10")])
def test_what_may_work_later_says_when(client, name, seconds):
    assert client.get(f"/fail/{name}").headers["retry-after"] == seconds


def test_what_cannot_work_later_says_nothing(client):
    assert "retry-after" not in client.get("/fail/tables").headers


def subclasses(of: type[Exception]) -> Iterator[type[Exception]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def test_kinds_do_not_contradict_each_other():
    by_name = {}
    for kind in KINDS.values():
        assert by_name.setdefault(kind.name, kind).status == kind.status
        assert kind.name == kind.name.lower().replace(" ", "-")
        assert kind.type == f"/problems/{kind.name}"
    # The sentence of an error that is not the client's fault is not for the client.
    assert all(kind.detail for kind in KINDS.values() if kind.status >= 500)


def test_every_error_of_the_rules_that_has_a_name_has_a_kind():
    abstract = {"MoveError"}
    ours = [each for each in subclasses(RulesError) if each.__module__ == "engine.errors"]
    assert len(ours) > 10
    assert {each.__name__ for each in ours if each not in KINDS} == abstract


# --- unexpected errors ---


def test_an_unexpected_error_is_logged_with_its_id(client, caplog):
    with caplog.at_level(logging.ERROR):
        response = client.get("/fail/unexpected")
    (record,) = (each for each in caplog.records if each.exc_info)
    assert isinstance(record.exc_info[1], ZeroDivisionError)
    assert record.getMessage() == "GET /fail/unexpected failed"
    name = response.headers["x-request-id"]
    assert response.json()["request_id"] == name


def test_the_log_says_what_a_client_is_not_told(client, caplog):
    client.get("/fail/storage")
    assert any(SECRET in each.getMessage() for each in caplog.records)


def test_an_answer_that_breaks_off_is_not_taken_for_whole(client, caplog):
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/cut")
    assert client.get("/healthz").status_code == 200
    assert any(each.getMessage() == "GET /cut failed" for each in caplog.records)
    raised = {type(each.exc_info[1]) for each in caplog.records if each.exc_info}
    assert raised == {ZeroDivisionError}  # and nothing of a second answer


def test_a_problem_can_be_sent_whatever_is_in_it():
    answer = problem(Kind(422, "odd", "Odd"), "\ud800", "\udfff", members={"x": "♘"})
    assert (
        answer.body
        == (
            '{"type": "/problems/odd", "title": "Odd", "status": 422, "detail": "?", "field": "?", '
            '"x": "♘"}'
        ).encode()
    )


# --- no such route, no such method ---


@pytest.mark.parametrize("path", ["/nope", "/wish/", "/api", "/api/nope", "/%ff%00", "/x?y=z"])
def test_unknown_routes(client, path):
    check_problem(client.get(path), 404, "not-found")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_wrong_methods_name_all_the_right_ones(client, method):
    response = client.request(method, "/wish")
    assert response.headers["allow"] == "GET, POST, DELETE"
    assert response.status_code == 405
    if method != "HEAD":
        check_problem(response, 405, "method-not-allowed")


# --- bodies ---

#: What is sent, and what the detail has to say.
UNREADABLE = {
    "half": (b'{"count": ', "Expecting value at character 10"),
    "text": (b"count=1", "Expecting value at character 0"),
    "single quotes": (b"{'count': 1}", "at character 1"),
    "no UTF-8": (b'{"name": "\xff"}', "cannot be read"),
    "many digits": (b'{"count": ' + b"9" * 5000 + b"}", "cannot be read"),
    "many brackets": (b"[" * 100_000, "cannot be read"),
}


@pytest.mark.parametrize(("body", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_bodies(client, body, why):
    response = client.post("/wish", content=body, headers={"content-type": "application/json"})
    assert why in check_problem(response, 400, "unreadable-body")["detail"]


@pytest.mark.parametrize(
    "media_type",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"],
)
def test_bodies_that_are_not_said_to_be_json(client, media_type):
    headers = {} if media_type is None else {"content-type": media_type}
    response = client.post("/wish", content=b'{"count": 1}', headers=headers)
    check_problem(response, 415, "unsupported-media-type")


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "application/x+json"])
def test_json_by_other_names(client, media_type):
    response = client.post("/wish", content=b"{}", headers={"content-type": media_type})
    assert response.status_code == 200


#: What is sent, the kind of the problem, the field and the detail.
INVALID = {
    "nothing": ("", "invalid-request", None, "the body is missing"),
    "null": ("null", "invalid-request", None, "the body should be a JSON object"),
    "a list": ("[]", "invalid-request", None, "the body should be a JSON object"),
    "a number": ("5", "invalid-request", None, "the body should be a JSON object"),
    "a word for a number": ('{"count": "5"}', "invalid-request", "count", None),
    "true for a number": ('{"count": true}', "invalid-request", "count", None),
    "half a number": ('{"count": 1.5}', "invalid-request", "count", None),
    "no number": ('{"count": NaN}', "invalid-request", "count", None),
    "endless": ('{"count": Infinity}', "invalid-request", "count", None),
    "null for a number": ('{"count": null}', "invalid-request", "count", None),
    "misspelt": ('{"cuont": 1}', "invalid-request", "cuont", "cuont is not known here"),
    "inside": ('{"inner": {"size": []}}', "invalid-request", "inner.size", None),
    "missing inside": ('{"inner": {}}', "invalid-request", "inner.size", "inner.size is missing"),
    "an odd object": ('{"inner": 5}', "invalid-request", "inner", None),
    "half a pair": (r'{"name": "\ud800"}', "invalid-request", "name", None),
    "half a pair in a list": (r'{"names": ["\udfff"]}', "invalid-request", "names", None),
    "NUL": (r'{"name": "\u0000"}', "invalid-request", "name", None),
    "half a pair in a name": (r'{"\ud800": 1}', "invalid-request", None, None),
    "a line break in a name": (r'{"a\nb": 1}', "invalid-request", r"a\nb", None),
    "a long name": ('{"' + "x" * 5000 + '": 1}', "invalid-request", None, None),
    "no variant": ('{"variant": "x"}', "unknown-variant", "variant", None),
    "odd variant": (r'{"variant": "\u0000"}', "unknown-variant", "variant", None),
    "long variant": (f'{{"variant": "{"x" * 51}"}}', "invalid-request", "variant", None),
}


@pytest.mark.parametrize(("body", "kind", "field", "detail"), INVALID.values(), ids=INVALID)
def test_invalid_bodies_name_the_field_at_fault(client, body, kind, field, detail):
    response = client.post("/wish", content=body, headers={"content-type": "application/json"})
    content = check_problem(response, 422, kind)
    assert content["in"] == "body"
    if field is not None:
        assert content["field"] == field
    if detail is not None:
        assert content["detail"] == detail
    assert "errors" not in content


def test_several_fields_at_fault(client):
    content = check_problem(
        client.post("/wish", json={"count": "x", "b": 1, "a": 2}), 422, "invalid-request"
    )
    assert content["field"] == "count"
    assert [each["field"] for each in content["errors"]] == ["count", "b", "a"]


def test_not_too_many_fields_at_fault(client):
    body = {f"x{number}": 1 for number in range(1000)}
    content = check_problem(client.post("/wish", json=body), 422, "invalid-request")
    assert len(content["errors"]) == 10


def test_a_field_of_the_query(client):
    content = check_problem(client.post("/wish?limit=x", json={}), 422, "invalid-request")
    assert (content["field"], content["in"]) == ("limit", "query")


# --- the document ---


def test_problems_are_documented(client):
    document = client.get("/openapi.json").json()
    answers = document["paths"]["/wish"]["post"]["responses"]
    for status in ("409", "422", "default"):
        (media_type,) = answers[status]["content"]
        assert media_type == "application/problem+json"
    assert "HTTPValidationError" not in str(document)
    assert document["components"]["schemas"]["Problem"]["required"] == [
        "type", "title", "status", "detail",
    ]  # fmt: skip


def test_an_application_does_not_change_the_table():
    before = dict(KINDS)
    application(Parts(), kinds={Full: Kind(409, "full", "It is full")})
    assert before == KINDS
