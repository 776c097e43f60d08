"""Stopping: Ctrl-Z leaves the shell its terminal, and costs nobody time on a clock."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Protocol

from agents.timekeeping import standing_still


class Leaving(Protocol):
    """What is on a terminal, and can leave it for a while."""

    def leave(self) -> None:
        """Give the terminal back as it was."""

    def come_back(self) -> None:
        """Take the terminal again."""


@contextmanager
def stoppable(show: Leaving, *, has_clocks: bool) -> Iterator[None]:
    """See to it that after Ctrl-Z the shell has the terminal as it knows it.

    If clocks of matches run in this process, they stand still until it goes on.
    """
    if not _can_be_stopped():
        yield
        return
    loop = asyncio.get_running_loop()

    def stop() -> None:
        show.leave()
        loop.remove_signal_handler(signal.SIGTSTP)  # now it means what it always means
        with standing_still() if has_clocks else nullcontext():
            signal.raise_signal(signal.SIGTSTP)
        # Here we go on when somebody wants to see it again.
        loop.add_signal_handler(signal.SIGTSTP, stop)
        show.come_back()

    loop.add_signal_handler(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)


def _can_be_stopped() -> bool:
    """Return whether Ctrl-Z is for us: a thread hears no signals, and some want none."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
