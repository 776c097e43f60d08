"""Pace: how often it is worth waking up for the next words of a reply.

Servers send a packet per token. Each one that wakes us costs 0.2 ms of CPU, four times what the
words in it cost, and nobody reads faster than twenty times a second. So packets are let gather
between two reads: hardly at first, so that a short reply is not held up, and longer later.
"""

from __future__ import annotations

import asyncio

_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05
#: So much between two pauses says that packets gather by themselves.
_PLENTY = 16 * 1024


class Pace:
    """Holds up whoever reads a reply after each packet, but not after what came along with it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pause = _FIRST_PAUSE
        self._size = 0
        # Pieces of the same packet come without a turn of the event loop in between.
        self._has_waited = False
        self._watch()

    async def keep(self, size: int) -> None:
        """Take note of a piece of some size; if it had to be waited for, pause."""
        self._size += size
        if not self._has_waited:
            return
        if self._size < _PLENTY:
            await asyncio.sleep(self._pause)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        self._size = 0
        self._watch()

    def _watch(self) -> None:
        self._has_waited = False
        self._loop.call_soon(self._note_turn)

    def _note_turn(self) -> None:
        self._has_waited = True
