"""Progress: hands the state of evaluations, as it changes, to whoever watches them.

An evaluation has no log, but a state with a revision, which is the id of its events. So nobody is
told everything, but everybody the newest: whoever is slow, or comes back, misses what is no longer
so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from app.evaluations.service import state_of
from app.matches.events import dumps
from app.persistence.database import Database
from app.persistence.errors import StorageError
from app.persistence.evaluations import OPEN, EvaluationRecord, revisions_of
from app.streaming.errors import InvalidEventId
from app.streaming.feed import Feed
from app.streaming.frame import Frame
from app.streaming.log import Page

PROGRESS = "progress"
ENDED = "evaluation.ended"
#: How often to look at evaluations that another process conducts, where nothing tells of it.
LOOK_EVERY = timedelta(seconds=1)

_PREFIX = "evaluation:"

_log = structlog.get_logger(__name__)

#: Returns an evaluation by its id; raises `EvaluationNotFound`.
Find = Callable[[str], Awaitable[EvaluationRecord]]


class ProgressLog:
    """The states of an evaluation, of which there is only ever the last."""

    def __init__(self, find: Find, evaluation_id: str) -> None:
        self._find = find
        self._evaluation_id = evaluation_id

    @property
    def subject(self) -> str:
        """The evaluation, as the feed knows it."""
        return f"{_PREFIX}{self._evaluation_id}"

    async def first(self) -> Frame:
        """Return the state as it is now, or raise `EvaluationNotFound`."""
        return frame_of(await self._find(self._evaluation_id))

    async def page(self, after: int) -> Page:
        """Return the state, if it is newer than a revision.

        Raises `EvaluationNotFound` or `InvalidEventId`.
        """
        frame = await self.first()
        if after > frame.id:
            raise InvalidEventId(str(after), frame.id)
        new = [frame] if after < frame.id else []
        return Page(new, frame.id, is_full=False, is_end=frame.is_last)


class Progress:
    """Looks at the evaluations that somebody watches. A task of the service has to `run` it."""

    def __init__(
        self, database: Database, feed: Feed, find: Find, change: Callable[[], Awaitable[None]]
    ) -> None:
        """`change` waits until something may have changed in some evaluation of this process."""
        self._database = database
        self._feed = feed
        self._find = find
        self._change = change
        self._woken = asyncio.Event()
        #: Which revision was shown last, of those that are watched.
        self._shown: dict[str, int] = {}

    def of(self, evaluation_id: str) -> ProgressLog:
        """Return the states of an evaluation; whether there is one is seen when they are read."""
        return ProgressLog(self._find, evaluation_id)

    async def run(self) -> None:
        """Show what changes, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while True:
                self._woken.clear()
                try:
                    await self._look()
                except StorageError as error:  # next time, then
                    _log.warning("progress.storage_error", error=str(error))
                try:
                    async with asyncio.timeout(LOOK_EVERY.total_seconds()):
                        await self._woken.wait()
                except TimeoutError:
                    pass

    async def _listen(self) -> None:
        while True:
            await self._change()
            self._woken.set()

    async def _look(self) -> None:
        """Show the evaluations that have changed since they were last shown."""
        subjects = [each for each in self._feed.subjects if each and each.startswith(_PREFIX)]
        watched = {each.removeprefix(_PREFIX) for each in subjects}
        self._shown = {each: seen for each, seen in self._shown.items() if each in watched}
        if not watched:
            return
        found = await self._database.read(lambda connection: revisions_of(connection, watched))
        for evaluation_id, revision in found.items():
            if revision != self._shown.get(evaluation_id):
                frame = frame_of(await self._find(evaluation_id))
                self._feed.show(f"{_PREFIX}{evaluation_id}", frame)
                self._shown[evaluation_id] = frame.id


def frame_of(record: EvaluationRecord) -> Frame:
    """Return an evaluation as its watchers get it; that it is over, as a second event."""
    state, number = state_of(record), record.revision
    is_over = record.status not in OPEN
    text = dumps(state)
    types = (PROGRESS, ENDED) if is_over else (PROGRESS,)
    sse = "".join(f"id: {number}\nevent: {each}\ndata: {text}\n\n" for each in types)
    # A line has no name beside its data.
    lines = "".join(f"{dumps({'type': each} | state)}\n" for each in types)
    return Frame(number, sse.encode(), text, lines.encode(), is_last=is_over)
