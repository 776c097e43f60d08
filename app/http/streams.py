"""Routes of event streams: of one match, and of all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from app.http.dependencies import GatesOf, ReadScope
from app.http.errors import AtFault, Kind, problem_response, problems
from app.http.match_dependencies import NO_MATCH, MatchId
from app.streaming.errors import FeedClosed, InvalidEventId, NoSuchFormat
from app.streaming.feed import Feed
from app.streaming.formats import Format, format_for
from app.streaming.log import Log
from app.streaming.stream import EventStream
from app.streaming.streams import Streams

#: For `install_handlers`.
STREAM_KINDS: dict[type[Exception], Kind] = {
    InvalidEventId: Kind(422, "invalid-event-id", "There is no event with this id"),
    NoSuchFormat: Kind(406, "no-such-format", "It does not come in this format"),
    FeedClosed: Kind(503, "stopping", "The service is about to stop", retry_after=1),
}

_HEADER, _QUERY = "Last-Event-ID", "last_event_id"
#: More than there will ever be, and not more than a database can compare with.
_MOST = 10**18

_EXAMPLE_DATA = (
    '{"sequence":4,"type":"ply.played","match_id":"01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10",'
    '"at":"2025-07-01T12:00:00.000Z","san":"e4","uci":"e2e4"}'
)
_STREAM: dict[str, Any] = {
    "description": "A `snapshot` and every event after it, or every event after `Last-Event-ID`.",
    "content": {
        Format.SSE.value: {
            "schema": {"type": "string"},
            "example": f"retry: 2000\n\nid: 4\nevent: ply.played\ndata: {_EXAMPLE_DATA}\n\n",
        },
        Format.NDJSON.value: {"schema": {"type": "string"}, "example": f"{_EXAMPLE_DATA}\n"},
    },
}
#: For `responses=` of a stream.
REFUSALS = problems(401, 422, 429, 503) | {
    406: problem_response("A stream comes in neither of the formats that `Accept` allows.")
}

router = APIRouter(prefix="/api", tags=["matches"])


async def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.services.streams
    return streams


StreamsOf = Annotated[Streams, Depends(_streams)]


class Place:
    """Where a client wants to read on: after which event, in which format, and who it is."""

    def __init__(
        self,
        request: Request,
        gates: GatesOf,
        client: ReadScope,
        header: Annotated[
            str | None,
            Header(
                alias=_HEADER,
                description="The id of the last event that the client has: exactly those after it "
                "follow. 0 means all of them.",
            ),
        ] = None,
        query: Annotated[
            str | None,
            Query(alias=_QUERY, description="The same, for those who cannot set headers."),
        ] = None,
    ) -> None:
        self.places = gates.streams
        self.client = client.name
        self.output = format_for(",".join(request.headers.getlist("accept")))
        # A browser that connects again repeats the address, but its header is up to date.
        self.field = _HEADER if header else _QUERY
        with _blaming(self.field):
            self.after = _number(header or query)

    def stream(self, feed: Feed, log: Log) -> Response:
        """Return the response that streams a log from there on."""
        return _PlacedStream(self, feed, log)


PlaceOf = Annotated[Place, Depends()]


class _PlacedStream(EventStream):
    """A stream that takes a place among those of its client while it is open."""

    def __init__(self, place: Place, feed: Feed, log: Log) -> None:
        super().__init__(feed, log, place.output, place.after)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream, or raise the `Refusal` of a client that has too many streams."""
        with self._place.places.taking(self._place.client), _blaming(self._place.field):
            await super().__call__(scope, receive, send)


@router.get(
    "/matches/{match_id}/events",
    summary="Watch a match",
    response_class=Response,
    responses={
        200: _STREAM,
        204: {"description": "The match is over, and the client has all of its events."},
        **REFUSALS,
        **problems(404, s404=NO_MATCH),
    },
)
async def watch_match(match_id: MatchId, streams: StreamsOf, place: PlaceOf) -> Response:
    """Stream the log of a match; the id of an event is its sequence number.

    It begins with a `snapshot`, the state at a sequence number, and goes on with every event after
    it. With `Last-Event-ID` it is exactly the events after that one. A comment (or an empty line)
    every 15 s shows that the connection is alive. After `match.ended` the stream ends. Whoever does
    not keep up is disconnected, and resumes by the id of the last event that it has. `advice.delta`
    events have no id and are not repeated.
    """
    return place.stream(streams.feed, streams.of_match(match_id))


@router.get(
    "/events",
    summary="Watch all matches",
    response_class=Response,
    responses={200: _STREAM, **REFUSALS},
)
async def watch_all(streams: StreamsOf, place: PlaceOf) -> Response:
    """Stream `match.started`, `ply.played` and `match.ended` of every match.

    The id of an event is its position among those of all matches. The stream begins with a
    `snapshot` of the unfinished matches; with `Last-Event-ID` it is exactly the events after that
    one.
    """
    return place.stream(streams.feed, streams.of_all())


@contextmanager
def _blaming(field: str) -> Iterator[None]:
    try:
        yield
    except InvalidEventId as error:
        raise AtFault(error, field, {"in": "header" if field == _HEADER else "query"}) from error


def _number(text: str | None) -> int | None:
    """Return the number of an event, if there is one, or raise `InvalidEventId`."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InvalidEventId(text)
    return int(text) if len(text) <= len(str(_MOST)) else _MOST
