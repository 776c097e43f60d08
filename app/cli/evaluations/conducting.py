"""Conducting an evaluation in the terminal: until it is over, it pauses, or somebody interrupts.

A first Ctrl-C (or SIGTERM, or SIGHUP) pauses it, a second leaves it as it stands; either way it can
be resumed. A third ends the process on the spot.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import typer

from agents.errors import AgentError
from app.cli.evaluations.progress import show_of
from app.cli.files.report_folder import write_all
from app.cli.processes.interruption import Interruption
from app.cli.processes.stopping import stoppable
from app.errors import AppError
from engine import RulesError

if TYPE_CHECKING:
    from app.evaluations.service import EvaluationService
    from app.persistence.evaluations import EvaluationRecord
    from app.services import Services
    from app.settings import Settings

T = TypeVar("T")

#: In seconds: how often to look where nothing tells of a change.
_LOOK_EVERY = 1.0
#: In seconds: how long a report may take to be stored that is made in the end.
_PATIENCE = 30.0
#: Those in which somebody plays on.
_GOING_ON = ("created", "running")

#: Starts the evaluation, or goes on with it.
Begin: TypeAlias = "Callable[[EvaluationService], Awaitable[EvaluationRecord]]"


@dataclass(eq=False)
class DatabaseIsServed(AppError):
    """Another process has the SQLite file open."""

    path: str

    def __str__(self) -> str:
        return (
            f"another process has {self.path} open, such as `kibitz serve`: ask it over HTTP"
            " (/api/evaluations), or name another --database"
        )


@dataclass(eq=False)
class NothingToResume(AppError):
    """An evaluation that is over."""

    evaluation_id: str
    status: str

    def __str__(self) -> str:
        return (
            f"evaluation {self.evaluation_id} is {self.status};"
            f" write its report with: kibitz eval report {self.evaluation_id}"
        )


@dataclass(frozen=True)
class Conducted:
    """How an evaluation stands when the terminal is done with it."""

    #: As everybody may see it; None if it was interrupted before it began.
    state: dict[str, Any] | None
    #: What it found; None if it was interrupted.
    report: dict[str, Any] | None = None
    #: What interrupted it.
    interrupted_by: signal.Signals | None = None


def conduct(settings: Settings, evaluation_id: str, begin: Begin, folder: Path) -> Conducted:
    """Conduct an evaluation until it stops, and write its report into a folder.

    Raises `DatabaseIsServed`, `CannotWriteFile`, what opening the database raises, and what
    `begin` does.
    """
    from app.logs import configure

    configure("error")
    return asyncio.run(_conduct(settings, evaluation_id, begin, folder))


async def _conduct(settings: Settings, evaluation_id: str, begin: Begin, folder: Path) -> Conducted:
    from app.evaluations.service import state_of

    interruption = Interruption()
    state: dict[str, Any] | None = None

    async def work(services: Services) -> Conducted:
        nonlocal state
        evaluations = services.evaluations
        if interruption.received:
            return Conducted(None, interrupted_by=interruption.first)
        record = await begin(evaluations)
        state = state_of(record)
        typer.echo(f"Evaluation {evaluation_id}", err=True)
        record = await _watch(evaluations, record, interruption)
        state = state_of(record)
        if interruption.received and record.status == "paused":
            return Conducted(state, interrupted_by=interruption.first)
        report = await evaluations.report(evaluation_id)
        await write_all(evaluations, evaluation_id, record.kind, folder)
        return Conducted(state, report)

    with interruption.listening():
        try:
            return await with_services(settings, (evaluation_id,), work)
        except asyncio.CancelledError:
            if not interruption.received:
                raise
            return Conducted(state, interrupted_by=interruption.first)


async def with_services(
    settings: Settings, among: Sequence[str], work: Callable[[Services], Awaitable[T]]
) -> T:
    """Do some work with the services, which go on with some evaluations meanwhile.

    Raises `DatabaseIsServed`, what opening the database raises, and what the work raises.
    """
    from app.persistence.errors import DatabaseInUse
    from app.services import open_services

    failure: Exception | None = None
    try:
        async with open_services(settings, among=among) as services:
            try:
                return await work(services)
            except (AppError, AgentError, RulesError, OSError) as error:
                failure = error  # raised in there, it would be one of a group
    except DatabaseInUse as error:
        raise DatabaseIsServed(error.path) from None
    raise failure


async def _watch(
    evaluations: EvaluationService, record: EvaluationRecord, interruption: Interruption
) -> EvaluationRecord:
    """Show how far an evaluation is until it stops, or pause it when a signal comes."""
    from app.evaluations.errors import CannotCommand, EvaluationIsOver
    from app.persistence.errors import StorageUnavailable

    interrupted = asyncio.ensure_future(interruption.wait())
    try:
        # Clocks go on: others may look at the same matches, and have the time of their own.
        with show_of(record.name) as show, stoppable(show, has_clocks=False):
            interruption.hush(show)
            while True:
                try:
                    record = await evaluations.find(record.id)
                    if interrupted.done() and record.status in _GOING_ON:
                        return await evaluations.pause(record.id)
                    if record.status not in _GOING_ON:
                        return await _with_report(evaluations, record)
                    if progress := json.loads(record.progress):
                        show.show(progress)
                except (CannotCommand, EvaluationIsOver):
                    continue  # it stopped by itself at the same time
                except StorageUnavailable as error:
                    typer.echo(f"kibitz: {error}", err=True)
                    await asyncio.sleep(_LOOK_EVERY)
                await _change(evaluations, interrupted)
    finally:
        interrupted.cancel()


async def _change(evaluations: EvaluationService, interrupted: asyncio.Future[None]) -> None:
    """Wait until something may have changed, or a signal comes, or a while has passed."""
    if interrupted.done():
        return
    changed = asyncio.ensure_future(evaluations.change())
    try:
        await asyncio.wait(
            (changed, interrupted), timeout=_LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        changed.cancel()


async def _with_report(
    evaluations: EvaluationService, record: EvaluationRecord
) -> EvaluationRecord:
    """Wait until the report of a finished evaluation is stored, which is done after its end."""
    try:
        async with asyncio.timeout(_PATIENCE):
            while record.status == "finished" and not record.has_report:
                await asyncio.sleep(_LOOK_EVERY / 20)
                record = await evaluations.find(record.id)
    except TimeoutError:
        pass  # then it is made whenever somebody asks for it
    return record
