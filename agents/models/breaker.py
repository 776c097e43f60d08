"""CircuitBreaker: a provider that fails again and again is left alone for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from agents.models.errors import CircuitOpen, ProviderFault, RateLimited, RequestRefused

_THRESHOLD = 5
_COOL_DOWN = timedelta(seconds=30)

#: When to come back while somebody else finds out whether the provider is there again.
PROBING = timedelta(seconds=1)


class CircuitBreaker:
    """Opens after so many faults in a row. After a while one call may try; success closes it.

    A 429 is no such fault, and no success either: the provider is there, says itself when to come
    back, and each call waits for that. If it opened the circuit, a provider that is merely busy
    would be lost to everybody. A call that was cancelled, or that we had too little time for, says
    nothing about the provider.
    """

    def __init__(
        self,
        provider: str,
        threshold: int = _THRESHOLD,
        cool_down: timedelta = _COOL_DOWN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if threshold < 1:
            raise ValueError("a circuit opens after one fault at the soonest")
        self.provider = provider
        self._threshold = threshold
        self._cool_down = cool_down.total_seconds()
        self._clock = clock
        self._faults = 0
        self._last = ""  # the last fault, in words
        self._opened_at: float | None = None
        self._probe: asyncio.Event | None = None  # set when it is over

    @property
    def is_open(self) -> bool:
        """Whether the provider is left alone, but for one call that may try."""
        return self._opened_at is not None

    @property
    def is_probed(self) -> bool:
        """Whether somebody is finding out if the provider is back."""
        return self._probe is not None

    async def probe_over(self) -> None:
        """Wait until nobody is finding out any more."""
        while self._probe is not None:
            await self._probe.wait()

    def check(self) -> None:
        """Raise `CircuitOpen` if no call may be made now."""
        if self._opened_at is None:
            return
        if self.is_probed:
            # How long the probe takes nobody knows; its end may be the end of this, too.
            raise CircuitOpen(self.provider, PROBING, self._last)
        left = self._opened_at + self._cool_down - self._clock()
        if left > 0:
            raise CircuitOpen(self.provider, timedelta(seconds=left), self._last)

    @contextmanager
    def trial(self, *, counts: bool = True) -> Iterator[Callable[[], None]]:
        """Make one call inside; how it ends decides what becomes of the next. May be `CircuitOpen`.

        While the circuit is open, one at a time may try. What is yielded is to be called when the
        provider speaks: others need not wait for the end of what it says. A call that does not
        count opens no circuit.
        """
        self.check()
        is_probe = self._opened_at is not None
        probe = asyncio.Event()
        if is_probe:
            self._probe = probe

        def speaks() -> None:
            if self._probe is probe:
                self._close()

        try:
            yield speaks
        except RateLimited:
            raise
        except ProviderFault as fault:
            if is_probe or (counts and not fault.is_hurried):
                self._last = str(fault)
                self._count_fault(is_probe=is_probe)
            raise
        except RequestRefused:
            self._close()  # it answers, after all
            raise
        else:
            self._close()
        finally:
            if self._probe is probe:
                self._end_probe()

    def _count_fault(self, *, is_probe: bool) -> None:
        if is_probe:  # also if it had spoken: who breaks off every reply is not back
            self._opened_at = self._clock()
        elif self._opened_at is None:  # what began before the circuit opened tells nothing new
            self._faults += 1
            if self._faults >= self._threshold:
                self._opened_at = self._clock()

    def _close(self) -> None:
        self._faults = 0
        self._opened_at = None
        self._end_probe()

    def _end_probe(self) -> None:
        if self._probe is not None:
            self._probe.set()
            self._probe = None


class CircuitBreakers:
    """One breaker for each provider, shared by all who call it."""

    def __init__(
        self,
        threshold: int = _THRESHOLD,
        cool_down: timedelta = _COOL_DOWN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold = threshold
        self._cool_down = cool_down
        self._clock = clock
        self._breakers: dict[str, CircuitBreaker] = {}

    def of(self, provider: str) -> CircuitBreaker:
        """Return the breaker of a provider."""
        if provider not in self._breakers:
            self._breakers[provider] = CircuitBreaker(
                provider, self._threshold, self._cool_down, self._clock
            )
        return self._breakers[provider]
