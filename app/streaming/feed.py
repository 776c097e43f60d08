"""Feed: hands every event, as it is committed, to whoever watches.

The table is the truth. Positions have no gaps, so an event that was committed here is handed on at
once if it is the next one; otherwise what is new is read from the table. That there is something
new may be said twice, late or not at all: it costs time, and never an event. While nobody watches,
nothing is read or encoded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import structlog

from app.matches.events import EventType, is_imported
from app.persistence.database import Database
from app.persistence.errors import StorageError, StorageUnavailable
from app.persistence.events import events_after, last_position
from app.persistence.records import Change, EventRecord
from app.streaming import frame as frames
from app.streaming.errors import FeedClosed
from app.streaming.frame import Frame
from app.streaming.watcher import Limits, Watcher

#: How many events are read at a time.
PAGE = 500
#: How many frames are handed out before others get their turn.
_BATCH = 5000
#: In seconds: how long whoever connects waits for the database.
PATIENCE = 10.0
#: In seconds: how long a state is shared by those who connect, if nothing happens in between.
_FRESH = 1.0
_BACK_OFF = (0.1, 5.0)

#: What those who watch all matches get.
_OF_ALL = frozenset({EventType.STARTED, EventType.PLY, EventType.ENDED})

_log = structlog.get_logger(__name__)


def is_of_all(event: EventRecord) -> bool:
    """Tell whether those who watch all matches get an event.

    Games that are imported come by the thousand, all at once, and nobody plays them.
    """
    return event.type in _OF_ALL and not is_imported(event.data)


class Channel:
    """The watchers of one log, and the state that those who connect at the same time share."""

    __slots__ = ("_first", "_lock", "_stale_at", "mark", "watchers")

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()
        #: The last event that was handed to them.
        self.mark = 0
        self._first: Frame | None = None
        self._stale_at = 0.0
        self._lock = asyncio.Lock()

    def publish(self, frame: Frame) -> int:
        """Hand a frame to every watcher, and return how many there are."""
        self.mark = frame.id
        for watcher in self.watchers:
            watcher.offer(frame)
        return len(self.watchers)

    def replace(self, frame: Frame) -> int:
        """Hand a frame to every watcher in place of what waits, and return how many there are."""
        for watcher in self.watchers:
            watcher.forget()
        return self.publish(frame)

    async def first(self, take: Callable[[], Awaitable[Frame]], at_least: int) -> Frame:
        """Return the state, with every event up to `at_least` in it, as a frame.

        Whoever connects is handed all events after `at_least`, so a state that was taken for
        another one will do if it is no older.
        """
        async with self._lock:
            now = asyncio.get_running_loop().time
            if self._first is None or self._first.id < at_least or now() > self._stale_at:
                self._first = await take()
                self._stale_at = now() + _FRESH
            return self._first


class Feed:
    """Hands the events of this database to the watchers of this process.

    A task of the service has to `run` it.
    """

    def __init__(self, database: Database, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        #: How many events were handed to watchers, and how many watchers were too slow.
        self.delivered = 0
        self.dropped = 0
        self.watchers = 0
        self._database = database
        self._channels: dict[str | None, Channel] = {}
        self._position = 0
        self._woken = asyncio.Event()
        #: Set while every event after some position is going to be handed out.
        self._live = asyncio.Event()
        self._closed = False
        self._deserted = asyncio.Event()

    def wake(self) -> None:
        """Say that there may be new events: after a commit, here or elsewhere."""
        self._woken.set()

    def committed(self, changes: Sequence[Change]) -> None:
        """Hand on what was committed here: it is what a `Writer` calls."""
        if not self._live.is_set():
            return
        for change in changes:
            for event in change.events:
                if event.position != self._position + 1:
                    self._woken.set()  # others have committed, too
                    return
                self.delivered += self._hand_out(event)

    def say(self, match_id: str, data: dict[str, object]) -> None:
        """Pass on words of a specialist who is still speaking. They are not stored."""
        channel = self._channels.get(match_id)
        if channel is not None:
            frame = frames.of_delta(match_id, data)
            for watcher in channel.watchers:
                watcher.offer_delta(frame)

    @property
    def subjects(self) -> Collection[str | None]:
        """What somebody watches."""
        return self._channels.keys()

    def show(self, subject: str, frame: Frame) -> None:
        """Hand a state to those who watch what has no log: who is slow gets only the newest."""
        channel = self._channels.get(subject)
        if channel is not None:
            self.delivered += channel.replace(frame)

    @contextmanager
    def watch(
        self, subject: str | None, cut: Callable[[], None]
    ) -> Iterator[tuple[Watcher, Channel]]:
        """Count a watcher of a match, or of all (None), among those who are handed events.

        What has no log is a subject of another name, whose states somebody has to `show`. `cut` is
        called when it has to end at once. Raises `FeedClosed`.
        """
        if self._closed:
            raise FeedClosed
        watcher = Watcher(self.limits, cut)
        channel = self._channels.setdefault(subject, Channel())
        channel.watchers.add(watcher)
        self.watchers += 1
        if not self._live.is_set():
            self._woken.set()
        try:
            yield watcher, channel
        finally:
            watcher.close()
            self.dropped += watcher.was_dropped
            self.watchers -= 1
            channel.watchers.discard(watcher)
            if not channel.watchers:
                del self._channels[subject]
            if not self.watchers:
                self._live.clear()
                self._deserted.set()

    async def live(self) -> None:
        """Wait until every event that is committed from now on is going to be handed out.

        Raises `StorageUnavailable` if the database does not answer.
        """
        if self._live.is_set():
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await self._live.wait()
        except TimeoutError:
            raise StorageUnavailable("the database does not answer") from None

    async def run(self) -> None:
        """Hand out events until the feed is closed."""
        shortest, longest = _BACK_OFF
        delay = shortest
        while not self._closed:
            await self._wait()
            if not self.watchers:
                continue
            try:
                await self._catch_up()
                delay = shortest
            except StorageError as error:
                _log.warning("feed.storage_error", error=str(error), retry_in=delay)
                self._woken.set()
                await asyncio.sleep(delay)
                delay = min(2 * delay, longest)

    async def aclose(self) -> None:
        """End all streams, and refuse new ones. Those who do not read are cut off."""
        self._closed = True
        self._woken.set()
        for watcher in self._everyone():
            watcher.end()
        if self.watchers:
            self._deserted.clear()
            try:
                async with asyncio.timeout(self.limits.farewell.total_seconds()):
                    await self._deserted.wait()
            except TimeoutError:
                for watcher in self._everyone():
                    watcher.cut()

    def _everyone(self) -> list[Watcher]:
        return [each for channel in self._channels.values() for each in channel.watchers]

    async def _wait(self) -> None:
        poll = self.limits.poll.total_seconds() if self.watchers else None
        try:
            async with asyncio.timeout(poll):
                await self._woken.wait()
        except TimeoutError:
            pass  # perhaps a notification was lost
        self._woken.clear()

    async def _catch_up(self) -> None:
        if not self._live.is_set():
            self._position = await self._database.read(last_position)
            if self.watchers:
                self._live.set()
        # It is cleared when the last watcher leaves. Whoever came since waits for it to be set.
        while self._live.is_set():
            read = partial(events_after, position=self._position, limit=PAGE)
            page = await self._database.read(read)
            if self._live.is_set():
                await self._hand_out_all(page)
            if len(page) < PAGE:
                return

    async def _hand_out_all(self, page: Sequence[EventRecord]) -> None:
        handed = 0
        for event in page:
            if event.position <= self._position:
                continue  # it was handed out while we read
            handed += self._hand_out(event)
            if handed >= _BATCH:
                self.delivered += handed
                handed = 0
                await asyncio.sleep(0)
        self.delivered += handed

    def _hand_out(self, event: EventRecord) -> int:
        """Hand an event to its watchers, and return how many there are."""
        handed = 0
        if channel := self._channels.get(event.match_id):
            handed += channel.publish(frames.of_match(event))
        if (channel := self._channels.get(None)) and is_of_all(event):
            handed += channel.publish(frames.of_all(event))
        self._position = event.position
        return handed
