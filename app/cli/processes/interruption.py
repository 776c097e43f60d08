"""Interruption: the signals that ask what lasts to end, in a program with an event loop.

A first one asks for it, a second one cancels whatever is still done, a third ends the process on
the spot.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

#: How many signals end the process on the spot.
_ENOUGH = 3


class Shown(Protocol):
    """What is shown on a terminal."""

    def hush(self) -> None:
        """Show nothing any more: the terminal is gone."""


class Interruption:
    """The signals that came, and what they ask for."""

    def __init__(self) -> None:
        self.received: list[signal.Signals] = []
        self._came = asyncio.Event()
        self._stop: Callable[[], None] | None = None
        self._show: Shown | None = None

    @property
    def first(self) -> signal.Signals | None:
        """The signal that came first."""
        return self.received[0] if self.received else None

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._came.wait()

    def ask(self, stop: Callable[[], None]) -> None:
        """Have the first signal stop something; at once, if it has come."""
        self._stop = stop
        if self.received:
            stop()

    def hush(self, show: Shown) -> None:
        """Have something hushed when the terminal goes away."""
        self._show = show

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen to signals instead of being ended by them; a second one cancels this task."""
        task = asyncio.current_task()

        def take(number: signal.Signals) -> None:
            self.received.append(number)
            self._came.set()
            if number is signal.SIGHUP and self._show is not None:
                self._show.hush()
            if len(self.received) >= _ENOUGH:
                os._exit(128 + number)
            if len(self.received) > 1 and task is not None:
                task.cancel()
            elif self._stop is not None:
                self._stop()

        with handling(take):
            yield


@contextmanager
def handling(take: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Have the signals that end a program do something else, while an event loop runs."""
    loop = asyncio.get_running_loop()
    handled = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under `nohup`
        handled.append(signal.SIGHUP)
    for each in handled:
        loop.add_signal_handler(each, take, each)
    try:
        yield
    finally:
        for each in handled:
            loop.remove_signal_handler(each)
