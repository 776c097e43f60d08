"""Examination: all checks side by side, each with an end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from agents.errors import AgentError
from app.doctor.findings import Finding, failure
from app.errors import AppError
from engine import RulesError

T = TypeVar("T")

Looks = Callable[[], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True)
class Check:
    """What is looked at, and what to do where looking at it fails or never ends."""

    subject: str
    look: Looks
    advice: str
    timeout: timedelta


async def examine(checks: Sequence[Check], done: Callable[[Check], None]) -> list[Finding]:
    """Return what all checks have found, in their order; `done` is told of each that has ended."""

    async def made(check: Check) -> Sequence[Finding]:
        found = await _found(check)
        done(check)
        return found

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(made(check)) for check in checks]
    return [finding for task in tasks for finding in task.result()]


async def _found(check: Check) -> Sequence[Finding]:
    seconds = check.timeout.total_seconds()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await check.look()
    except TimeoutError as error:
        expired = f"there is no answer after {seconds:g} s"
        case = expired if limit.expired() else error.strerror or "it took too long"
    except (AppError, AgentError, RulesError) as error:
        case = str(error)
    except OSError as error:
        case = error.strerror or type(error).__name__
    except Exception as error:  # the others still have something to say
        # Not its message: nobody knows what is in it.
        case = f"the check itself is broken: {type(error).__name__}"
        return [failure(check.subject, case, "report it, with what `kibitz doctor --json` prints")]
    return [failure(check.subject, case, check.advice)]


async def in_thread(work: Callable[[], T]) -> T:
    """Return what a function returns, from a thread that nobody waits for in the end.

    A disk or a server that hangs would keep the program from ending if it were one of a pool.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return  # nobody has waited for it
        if error is None:
            outcome.set_result(result)  # type: ignore[arg-type]
        else:
            outcome.set_exception(error)

    def run() -> None:
        result, fault = None, None
        try:
            result = work()
        except Exception as error:
            fault = error
        with suppress(RuntimeError):  # the loop is closed: all is said and done
            loop.call_soon_threadsafe(settle, result, fault)

    threading.Thread(target=run, daemon=True, name="doctor").start()
    return await outcome
