"""Which format a client gets for its Accept header."""

from __future__ import annotations

import pytest

from app.streaming.errors import NoSuchFormat
from app.streaming.formats import Format, format_for

SSE, NDJSON = Format.SSE, Format.NDJSON


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, SSE),
        ("", SSE),
        (" ", SSE),
        ("*/*", SSE),
        ("text/event-stream", SSE),
        ("Text/Event-Stream; charset=utf-8", SSE),
        ("text/*", SSE),
        ("application/x-ndjson", NDJSON),
        ("application/*", NDJSON),
        ("application/json, application/x-ndjson", NDJSON),
        ("text/html, */*;q=0.1", SSE),
        ("application/x-ndjson, text/event-stream", SSE),
        ("application/x-ndjson, text/event-stream;q=0.9", NDJSON),
        ("application/x-ndjson, */*;q=0.9", NDJSON),
        ("text/event-stream;q=0, */*", NDJSON),
        ("text/event-stream; q = 0.2, application/x-ndjson; q=0.1", SSE),
        ("text/event-stream;q=nonsense, application/x-ndjson;q=0.1", NDJSON),
    ],
)
def test_the_format_that_is_liked_best(accept, expected):
    assert format_for(accept) is expected


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "text/event-stream;q=0",
        "*/*;q=0",
        "nonsense",
        ",",
        "text/event-stream;q=x",
    ],
)
def test_no_format_that_is_liked(accept):
    with pytest.raises(NoSuchFormat) as refusal:
        format_for(accept)
    assert str(refusal.value) == "a stream comes as text/event-stream or application/x-ndjson"
