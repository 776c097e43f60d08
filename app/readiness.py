"""Readiness: what must work before the service says that it is ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must work for the service to be ready: `run` raises if it does not."""

    name: str
    run: Callable[[], Awaitable[object]]
    timeout: timedelta = timedelta(seconds=2)
