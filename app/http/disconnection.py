"""Disconnection: nobody works for a client that has gone away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request

from app.http.errors import Kind, Refusal

T = TypeVar("T")

_GONE = Kind(499, "client-gone", "The client has gone away")


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """Return what `work` returns; cancel it, and raise `Refusal`, if the client goes away.

    For requests whose body has been read.
    """
    try:
        async with asyncio.timeout(None) as leash:
            watcher = asyncio.create_task(_pull_when_gone(request, leash))
            try:
                return await work
            finally:
                watcher.cancel()
                await asyncio.wait([watcher])
    except TimeoutError:
        if not leash.expired():
            raise  # one of its own
        raise Refusal(_GONE, "the client did not wait for the answer") from None


async def _pull_when_gone(request: Request, leash: asyncio.Timeout) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    leash.reschedule(asyncio.get_running_loop().time())
