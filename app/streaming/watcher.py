"""Watcher: who reads a stream, and what still waits to be sent to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from app.streaming.frame import KEEP_ALIVE, Frame

#: How many bytes are handed to the server at a time: its own buffer takes no more either.
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may wait for a watcher, and how often something is sent or looked after."""

    events: int = 1000
    bytes: int = 1 << 20
    keep_alive: timedelta = timedelta(seconds=15)
    #: After so long the table is read even if nobody said that it has something new.
    poll: timedelta = timedelta(seconds=2)
    #: How long a stream has to end by itself when the service stops.
    farewell: timedelta = timedelta(seconds=1)


class Watcher:
    """A bounded buffer of frames. If it overflows, the watcher is cut off, and nobody waits."""

    __slots__ = (
        "_beat_at",
        "_cut",
        "_frames",
        "_limits",
        "_sends",
        "_size",
        "_timer",
        "_waiter",
        "after",
        "is_cut",
        "is_ended",
        "is_sending",
        "was_dropped",
    )

    def __init__(self, limits: Limits, cut: Callable[[], None]) -> None:
        self._limits = limits
        self._cut = cut
        self._frames: list[Frame] = []
        self._size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._sends = 0
        self._beat_at = -1
        #: It has every event up to this one.
        self.after = 0
        self.is_sending = False
        self.is_ended = False
        self.is_cut = False
        self.was_dropped = False

    def offer(self, frame: Frame) -> None:
        """Let a frame wait to be sent, unless the watcher has it."""
        if frame.id <= self.after or self.is_cut:
            return
        self._frames.append(frame)
        self._size += frame.size
        waiting, limits = len(self._frames), self._limits
        # One event that is too large by itself is not the watcher's fault.
        if (self._size > limits.bytes and waiting > 1) or waiting > limits.events:
            self.drop()
            return
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def offer_delta(self, frame: Frame) -> None:
        """Let words that are never stored wait to be sent, if there is plenty of room."""
        waiting, limits = len(self._frames), self._limits
        if 2 * self._size <= limits.bytes and 2 * waiting <= limits.events:
            self.offer(frame)

    async def take(self) -> list[Frame]:
        """Wait for frames, and return those that are to be sent at a time; none at the end."""
        while not self._frames:
            if self.is_ended:
                return []
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._size <= PIECE:
            taken, self._frames, self._size = self._frames, [], 0
            return taken
        taken = first_piece(self._frames)
        del self._frames[: len(taken)]
        self._size -= sum(each.size for each in taken)
        return taken

    def forget(self) -> None:
        """Forget what waits, since it is going to be read from the table."""
        self._frames.clear()
        self._size = 0

    def has_up_to(self, event_id: int) -> None:
        """Note that the watcher has every event up to this one."""
        self.after = event_id
        self._frames = [each for each in self._frames if each.id > event_id]
        self._size = sum(each.size for each in self._frames)

    def sent(self) -> None:
        """Note that the server has taken what it was given."""
        self._sends += 1
        self.is_sending = False

    def begin_beating(self) -> None:
        """Send a sign of life now and then, from now on."""
        interval = self._limits.keep_alive.total_seconds()
        self._timer = asyncio.get_running_loop().call_later(interval, self._beat)

    def _beat(self) -> None:
        # Whoever reads nothing while little happens would otherwise hold its place for ever.
        if self.is_sending and self._sends == self._beat_at:
            self.drop()
            return
        self._beat_at = self._sends
        self.offer(KEEP_ALIVE)
        self.begin_beating()

    def end(self) -> None:
        """Let the stream end when everything that waits is sent."""
        self.is_ended = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def drop(self) -> None:
        """Cut off a watcher that is too slow; it can resume by the id that it has."""
        if not self.is_cut:
            self.was_dropped = True
            self.cut()

    def cut(self) -> None:
        """End the stream at once, even while the server waits for the client to read."""
        if not self.is_cut:
            self.is_cut = True
            self.forget()
            self._cut()

    def close(self) -> None:
        """Free what the watcher holds."""
        self.is_cut = True
        self.forget()
        if self._timer is not None:
            self._timer.cancel()


def first_piece(frames: list[Frame]) -> list[Frame]:
    """Return the first frames, at least one, that are sent at a time."""
    size = 0
    for count, frame in enumerate(frames):
        size += frame.size
        if size > PIECE:
            return frames[: max(count, 1)]
    return frames[:]
