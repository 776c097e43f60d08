"""Paging: lists come page by page, and each tells where the next one begins."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from uuid import UUID

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.http.errors import INVALID_REQUEST, Refusal
from app.matches.events import dumps

#: For `responses=`.
PAGE: dict[str, Any] = {
    "headers": {
        "Link": {
            "description": 'The next page, as `<...>; rel="next"`.',
            "schema": {"type": "string"},
        }
    }
}


class StrictQuery(BaseModel):
    """Parameters of a query. A misspelt one is an error: it would else list everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(StrictQuery):
    """Which page of a list."""

    limit: int = Field(50, ge=1, le=200, description="How many at most.")
    cursor: str | None = Field(None, max_length=50, description="`next_cursor` of the page before.")


def json_response(
    content: dict[str, Any] | str, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return plain data as it stands: it was checked before it was stored."""
    text = content if isinstance(content, str) else dumps(content)
    return Response(text, status, headers, "application/json")


def page_response(request: Request, content: dict[str, Any], following: str | None) -> Response:
    """Return a page, with the cursor of the following one, if there is one."""
    headers = {}
    if following is not None:
        url = request.url.include_query_params(cursor=following)
        headers["Link"] = f'<{url.path}?{url.query}>; rel="next"'
    return json_response(content | {"next_cursor": following}, headers=headers)


def cursor_of(item_id: str) -> str:
    """Return a cursor for what comes after an id."""
    return urlsafe_b64encode(UUID(item_id).bytes).rstrip(b"=").decode()


def id_of(cursor: str) -> str:
    """Return the id that a cursor stands for, or raise the `Refusal` of one that is none."""
    try:
        item_id = str(UUID(bytes=urlsafe_b64decode(f"{cursor}==")))
    except ValueError:
        raise _no_cursor() from None
    if cursor_of(item_id) != cursor:
        raise _no_cursor()
    return item_id


def number_of(cursor: str) -> int:
    """Return the number that a cursor is, or raise the `Refusal` of one that is none."""
    if not (cursor.isascii() and cursor.isdecimal()):
        raise _no_cursor()
    return int(cursor)


def _no_cursor() -> Refusal:
    detail = "cursor: it should be the next_cursor of another page"
    return Refusal(INVALID_REQUEST, detail, "cursor", members={"in": "query"})
