"""Event stream: reading server-sent events from the service, and going on where they broke off."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from agents.timekeeping import now
from app.errors import AppError
from engine.errors import shown

if TYPE_CHECKING:
    import httpx

#: In seconds. The service says something at least every 15.
SILENCE = 45.0
_CONNECT = 10.0
#: In seconds: how long to wait before connecting again, twice as long each time, but never longer.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
#: However long a service asks us to wait.
_LONGEST_WAIT = 3600.0
#: How often a demonstration connects again, if nothing comes.
TRIES = 6
#: The most that one event may hold.
MAX_EVENT_BYTES = 4 * 1024 * 1024

#: In seconds: what stood for so long was no failure, though nothing happened in the match.
_STEADY = 20.0

LAST = "match.ended"
_MEDIA_TYPE = "text/event-stream"
_NOTHING_MORE, _TOO_MANY = 204, 429
#: Of a number in a log.
_MOST_DIGITS = 18


class StreamBroken(AppError):
    """The stream broke off, and cannot be resumed."""


class NonsenseSent(StreamBroken):
    """What was sent is no stream of the events of a match."""


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event as it was sent."""

    id: str
    type: str
    data: Any
    #: The data before it was decoded.
    text: str = field(default="", compare=False)
    #: Whether it came with an id: what is in no log has none of its own, but the last one's.
    is_logged: bool = field(default=True, compare=False)


class SseParser:
    """Takes in bytes as they come, and gives out whole events.

    Lines end as the standard has it, and not with all that Python takes for an end of line. What
    is no event, or too large to be one, raises `NonsenseSent`.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._is_logged = False
        self._type = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[SentEvent]:
        """Return the events that are complete now."""
        text = self._rest + piece
        held = b"\r" if text.endswith(b"\r") else b""  # perhaps half of an end of line
        lines = text.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        events = [each for line in lines if (each := self._take(line.decode("utf-8", "replace")))]
        if self._size + len(self._rest) > MAX_EVENT_BYTES:
            raise NonsenseSent(f"an event is larger than {MAX_EVENT_BYTES // 1024**2} MiB")
        return events

    def _take(self, line: str) -> SentEvent | None:
        if not line:
            return self._finish()
        name, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(line)
        elif name == "event":
            self._type = value
        elif name == "id":
            self._id, self._is_logged = value, True
        return None  # others, and comments, which have no name, say nothing to us

    def _finish(self) -> SentEvent | None:
        kind, data, is_logged = self._type, self._data, self._is_logged
        self._type, self._data, self._size, self._is_logged = "", [], 0, False
        if not data:
            return None
        text = "\n".join(data)
        try:
            return SentEvent(self._id, kind, json.loads(text), text, is_logged)
        except (ValueError, RecursionError) as error:
            why = f"an event of the stream is no JSON: {type(error).__name__}"
            raise NonsenseSent(why) from None


async def _refuse(response: httpx.Response) -> AppError:
    return StreamBroken(f"the service does not let us watch: {response.status_code}")


@dataclass(frozen=True)
class Manners:
    """How a stream is followed: how patiently, and who hears of its faults."""

    #: How often in a row to connect again; None: as often as it takes.
    tries: int | None = TRIES
    #: How long to go on connecting again; None: as long as it takes.
    give_up: timedelta | None = None
    #: Hears that the connection is lost, and an empty text once it is back.
    tell: Callable[[str], None] = lambda _: None
    #: Hears what time it is where the match is played, to the second.
    tell_time: Callable[[datetime], None] = lambda _: None
    #: Gives the error for a response that refuses for good.
    refuse: Callable[[httpx.Response], Awaitable[AppError]] = _refuse


@dataclass(eq=False)
class _Later(Exception):
    """It does not work now, but it may later."""

    why: str
    #: In seconds: how long the service asks us to wait.
    wait: float = 0.0


async def watch(
    client: httpx.AsyncClient, path: str, manners: Manners | None = None
) -> AsyncGenerator[SentEvent, None]:
    """Give every event of a match from its first to `match.ended`, none twice and none left out.

    Words of those who still speak come in between. A stream that breaks off is resumed. Raises
    `StreamBroken`, or what `Manners.refuse` gives.
    """
    import httpx

    from app.cli.remote.connection_faults import why

    manners = manners or Manners()
    last, trouble = 0, _Trouble(manners)
    while True:
        connected = time.monotonic()
        try:
            async with aclosing(_connect(client, path, str(last), manners)) as events:
                async for event in events:
                    if event.is_logged:
                        number = _number(event)
                        if number <= last:
                            continue
                        if number > last + 1:
                            raise NonsenseSent(f"what comes after event {last} is left out")
                        last = number
                    trouble.is_over()
                    yield event
                    if event.type == LAST:
                        return
            later = _Later("it ended too early")
        except httpx.RequestError as error:
            later = _Later(why(error))
        except _Later as error:
            later = error
        if time.monotonic() - connected > _STEADY:
            trouble.is_over()
        await trouble.pause(later)


class _Trouble:
    """A connection that is lost: since when, and how often we tried to have it back."""

    def __init__(self, manners: Manners) -> None:
        self._manners = manners
        self._tries = 0
        self._since: float | None = None

    def is_over(self) -> None:
        """Begin anew when it is lost the next time."""
        self._tries, self._since = 0, None

    async def pause(self, later: _Later) -> None:
        """Wait before the next try, or raise `StreamBroken` if there is to be none."""
        why, moment = later.why, time.monotonic()
        since = self._since = moment if self._since is None else self._since
        self._tries += 1
        wait = max(
            min(FIRST_PAUSE * 2 ** min(self._tries - 1, 20), LONGEST_PAUSE)
            # Those who lost it at the same time should not all come back at the same time.
            * random.uniform(0.5, 1.0),  # noqa: S311 - it is no secret
            later.wait,
        )
        manners = self._manners
        left = None if manners.give_up is None else since + manners.give_up.total_seconds() - moment
        if self._tries > (manners.tries or math.inf) or (left is not None and wait > left):
            raise StreamBroken(f"the stream of the match broke off: {why}")
        manners.tell(f"The connection is lost, trying again in {math.ceil(wait)} s: {why}")
        await asyncio.sleep(wait)


async def _connect(
    client: httpx.AsyncClient, path: str, last: str, manners: Manners
) -> AsyncGenerator[SentEvent, None]:
    """Give the events after one, until the connection ends."""
    import httpx

    headers = {
        "Accept": _MEDIA_TYPE,
        "Accept-Encoding": "identity",  # else words would wait until a packet is full
        "Last-Event-ID": last,
    }
    parser, timeout = SseParser(), httpx.Timeout(SILENCE, connect=_CONNECT)
    async with client.stream("GET", path, headers=headers, timeout=timeout) as response:
        if response.is_server_error or response.status_code == _TOO_MANY:
            answer = f"the service answers {response.status_code}"
            raise _Later(answer, retry_after(response.headers.get("Retry-After", "")))
        if not response.is_success:
            raise await manners.refuse(response)
        if response.status_code == _NOTHING_MORE:
            raise NonsenseSent(f"the service says that nothing follows event {last}")
        if response.headers.get("Content-Type", "").partition(";")[0] != _MEDIA_TYPE:
            raise NonsenseSent("what the service answers is no stream of events")
        manners.tell("")
        manners.tell_time(sent_at(response))
        async for piece in response.aiter_bytes():
            for event in parser.feed(piece):
                yield event


def _number(event: SentEvent) -> int:
    if not (event.id.isascii() and event.id.isdecimal() and len(event.id) <= _MOST_DIGITS):
        raise NonsenseSent(f"the id of an event is no number: {shown(event.id)}")
    return int(event.id)


def retry_after(text: str) -> float:
    """Return in how many seconds a service wants to be asked again; 0 if it does not say so."""
    try:
        wait = float(text) if text.isascii() and text.isdecimal() else _until(text)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(wait, 0.0), _LONGEST_WAIT)


def _until(text: str) -> float:
    return (parsedate_to_datetime(text) - now()).total_seconds()


def sent_at(response: httpx.Response) -> datetime:
    """Return when the service says that it sent a response, or else what time it is here."""
    try:
        return parsedate_to_datetime(response.headers["Date"]).astimezone(UTC)
    except (KeyError, ValueError, TypeError, OverflowError):
        return now()
