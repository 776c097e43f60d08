"""Running what starts processes, so that none is left behind, whichever way the program ends."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

import typer

T = TypeVar("T")

#: A service manager sends the first, a terminal that is closed the second.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, and return what it returns.

    SIGTERM and SIGHUP cancel it, and once it has cleaned up raise `Exit` with 128 and the number of
    the signal.
    """
    received: list[signal.Signals] = []
    try:
        result = asyncio.run(_cancellable(main, received))
    except (Exception, asyncio.CancelledError):
        _exit_if(received)
        raise
    _exit_if(received)
    return result


async def _cancellable(main: Coroutine[Any, Any, T], received: list[signal.Signals]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(main)

    def end(number: signal.Signals) -> None:
        if not received:  # a second one would interrupt the cleaning up
            task.cancel()
        received.append(number)

    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` wishes
            loop.add_signal_handler(number, end, number)
    return await task


def _exit_if(received: list[signal.Signals]) -> None:
    if received:
        raise typer.Exit(128 + received[0]) from None
