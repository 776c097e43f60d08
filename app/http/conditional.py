"""Conditional answers: whoever has the newest state already is told no more than that."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Response

from app.http.paging import json_response

#: For `responses=`.
TAGGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "ETag": {
                "description": "Changes whenever the state does.",
                "schema": {"type": "string"},
            }
        }
    },
    304: {"description": "It has not changed since the `ETag` in `If-None-Match`."},
}

IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="if-none-match", description="An `ETag` from before, to ask whether it has changed."
    ),
]

_REVALIDATE = "private, no-cache"


def tagged_response(content: dict[str, Any], version: str, if_none_match: str | None) -> Response:
    """Return plain data with an `ETag`; or only that, if the client has this version."""
    tag = f'"{version}"'
    headers = {"ETag": f"W/{tag}", "Cache-Control": _REVALIDATE}
    if if_none_match is not None and _names(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return json_response(content, headers=headers)


def _names(if_none_match: str, tag: str) -> bool:
    """Return whether an `If-None-Match` names a tag, weakly as RFC 9110 has it."""
    given = (each.strip().removeprefix("W/") for each in if_none_match.split(","))
    return any(each in ("*", tag) for each in given)
