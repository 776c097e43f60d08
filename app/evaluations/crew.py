"""Crew: workers who share a list of tasks, so that all processes of a pool are busy and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from agents.errors import AgentError

T = TypeVar("T")
R = TypeVar("R")


async def share_out(
    tasks: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    workers: int,
    progress: Callable[[], None] | None = None,
) -> list[R]:
    """Return what came of each task, in the order of the tasks.

    At most `workers` are under way at a time, and they are begun in their order. `progress` is
    called after each. The first `AgentError` ends it, and is raised.
    """
    results: dict[int, R] = {}
    failures: list[AgentError] = []
    waiting = iter(enumerate(tasks))

    async def toil() -> None:
        for number, task in waiting:
            if failures:
                return
            try:
                results[number] = await work(task)
            except AgentError as error:
                failures.append(error)  # and not a group of it, as it would leave the tasks
                return
            if progress is not None:
                progress()

    async with asyncio.TaskGroup() as group:
        for _ in range(max(workers, 1)):
            group.create_task(toil())
    if failures:
        raise failures[0]
    return [results[number] for number in sorted(results)]
