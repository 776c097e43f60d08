"""EventStream: the response that sends a log for as long as the client stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.persistence.errors import StorageError, StorageUnavailable
from app.streaming.feed import PATIENCE, Channel, Feed
from app.streaming.formats import Format
from app.streaming.frame import Frame
from app.streaming.log import Log, Page
from app.streaming.protocol import abort
from app.streaming.watcher import Watcher, first_piece

_log = structlog.get_logger(__name__)


class EventStream(Response):
    """A state and what comes after it, or exactly what comes after an event.

    Before the first byte it raises what `Log`, `Feed.watch` and `Feed.live` raise.
    """

    media_type = None

    def __init__(self, feed: Feed, log: Log, output: Format, after: int | None) -> None:
        super().__init__()
        self._feed = feed
        self._log = log
        self._output = output
        self._after = after
        del self.headers["content-length"]
        self.headers["content-type"] = output.value
        self.headers["cache-control"] = "no-store"
        self.headers["x-accel-buffering"] = "no"  # nginx would wait for more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything, until the log ends, the client leaves, or the service stops."""
        sending: asyncio.Task[bool] | None = None
        try:
            async with asyncio.timeout(None) as lifeline:
                with self._feed.watch(self._log.subject, lambda: lifeline.reschedule(0)) as place:
                    watcher, channel = place
                    page = await self._open(watcher, channel)
                    if page.is_end and not page.frames:
                        # To a browser it means: do not connect again.
                        await Response(status_code=204)(scope, receive, send)
                        return
                    async with asyncio.TaskGroup() as group:
                        # In a task of its own: it is woken for every event, and would else wake
                        # up through all of the middleware.
                        sending = group.create_task(self._send(page, watcher, send))
                        await _until_gone(receive)
                        sending.cancel()
        except TimeoutError:
            if not lifeline.expired():
                raise
        is_complete = sending is not None and not sending.cancelled() and sending.result()
        if not is_complete and abort(scope):
            await _until_gone(receive)

    async def _open(self, watcher: Watcher, channel: Channel) -> Page:
        """Return what is sent first."""
        at_least = channel.mark
        await self._feed.live()
        try:
            async with asyncio.timeout(PATIENCE):
                if self._after is not None:
                    return await self._read(watcher, self._after)
                first = await channel.first(self._log.first, at_least)
        except TimeoutError:
            if watcher.is_cut:
                raise
            raise StorageUnavailable("the database does not answer") from None
        watcher.has_up_to(first.id)
        return Page([first], first.id, is_full=False, is_end=first.is_last)

    async def _read(self, watcher: Watcher, after: int) -> Page:
        """Return the events after one, and see that the watcher is handed those after them."""
        # What waits was committed before, so it is read now.
        watcher.forget()
        page = await self._log.page(after)
        watcher.has_up_to(page.last)
        return page

    async def _send(self, page: Page, watcher: Watcher, send: Send) -> bool:
        """Send the first page, and all that comes after it; return whether that was all."""
        headers = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        watcher.begin_beating()
        try:
            await send(headers)
            await self._send_frames(page.frames, watcher, send, self._output.preamble)
            while page.is_full:
                page = await self._read(watcher, page.last)
                await self._send_frames(page.frames, watcher, send)
            if page.is_end:
                await send(_body(b"", more=False))
            else:
                await self._send_new(watcher, send)
        except StorageError as error:
            _log.warning("stream.storage_error", subject=self._log.subject, error=str(error))
        except OSError:
            pass  # so some servers say that the client has gone
        else:
            return True
        watcher.cut()
        return False

    async def _send_frames(
        self, frames: Sequence[Frame], watcher: Watcher, send: Send, preamble: bytes = b""
    ) -> None:
        rest = list(frames)
        self._feed.delivered += len(rest)
        while rest or preamble:
            piece = first_piece(rest)
            del rest[: len(piece)]
            watcher.is_sending = True
            await send(_body(preamble + self._output.encode(piece)))
            watcher.sent()
            preamble = b""

    async def _send_new(self, watcher: Watcher, send: Send) -> None:
        encode = self._output.encode
        while frames := await watcher.take():
            is_last = frames[-1].is_last
            watcher.is_sending = True
            await send(_body(encode(frames), more=not is_last))
            watcher.sent()
            if is_last:
                return
        await send(_body(b"", more=False))


def _body(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _until_gone(receive: Receive) -> None:
    """Wait until the client has gone, or has the whole answer."""
    while (await receive())["type"] != "http.disconnect":
        pass
