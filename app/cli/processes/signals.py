"""Signals: Ctrl-C and its kind end what may be ended at once, and wait for what may not."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

#: A terminal sends the first and, when it is closed, the last; a service manager the second.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """Somebody wants an end of it."""


class Signals:
    """Takes note of signals that end a program, for a program without an event loop.

    Only where they are `allowed` they interrupt; elsewhere one looks whether there was one. A
    second one ends the program as it always does.
    """

    def __init__(self) -> None:
        self._received: int | None = None
        self._is_allowed = False
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """The exit code that the signal asks for; None if there was none."""
        return None if self._received is None else 128 + self._received

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let a signal raise `Interrupted` at once, also one that came before."""
        self._is_allowed = True
        try:
            if self._received is not None:
                raise Interrupted
            yield
        finally:
            self._is_allowed = False

    def __enter__(self) -> Self:
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` wishes
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._received = number
        self._restore()
        if self._is_allowed:
            raise Interrupted

    def _restore(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())
