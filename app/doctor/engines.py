"""Checks of UCI engines: each is started, told its options, and asked for a move."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from agents.catalogue import Catalogue
from agents.player import Turn
from agents.uci.errors import InvalidOption, UciError, UciNotFound
from agents.uci.limits import Limit
from agents.uci.options import Value
from agents.uci.process import UciProcess
from agents.uci.program import (
    INSTALL_STOCKFISH,
    STOCKFISH_VARIABLE,
    Patience,
    UciProgram,
    find_stockfish,
)
from app.doctor.findings import Finding, failure, fine, warning
from engine import Position
from engine.variants import STANDARD

STOCKFISH, RATINGS = "Stockfish", "Ratings"
#: A quarter of a second for most machines; the time bounds it for the slowest ones.
_TRIAL = Limit(nodes=150_000, time=timedelta(seconds=2))
#: The best of so many counts, since something else may have run beside the others.
_TRIALS = 3
_GLANCE = Limit(depth=1)
_END = timedelta(seconds=1)


async def look_at_stockfish(options: Mapping[str, Value], patience: timedelta) -> Sequence[Finding]:
    """Say which Stockfish is there, and how fast it is; raises `UciError` if it misbehaves."""
    try:
        found = find_stockfish()
    except UciNotFound as error:
        return [_missing(error)]
    program = replace(found, options={**found.options, **options})
    try:
        async with _started(program, patience) as process:
            await process.search(Turn(Position.start()), _GLANCE)
            speed = await _speed(process)
    except InvalidOption as error:
        return [failure(STOCKFISH, str(error), "mend stockfish_options in the settings")]
    path = found.command[0]
    case = f"{process.name}, {path}"
    if speed is not None:
        case += f", {speed:,} nodes/s on one thread"
    figures = {"name": process.name, "path": path, "nodes_per_second": speed}
    return [fine(STOCKFISH, case, **figures)]


async def look_at_engine(
    name: str, program: UciProgram, patience: timedelta, *, is_ours: bool
) -> Sequence[Finding]:
    """Say whether a UCI engine plays: one of the settings, or else one that is just installed."""
    subject = f"uci:{name}"
    try:
        async with _started(program, patience) as process:
            await process.search(Turn(Position.start()), _GLANCE)
    except UciError as error:
        if is_ours:
            return [failure(subject, str(error), _mend(name, error))]
        return [warning(subject, str(error), f"install {program.title} anew, or do without it")]
    case = f"{process.name}, {program.command[0]}, plays"
    return [fine(subject, case, name=process.name, path=program.command[0])]


def look_at_ratings(catalogue: Catalogue) -> Sequence[Finding]:
    """Say how the strength of the levels is known; raises `InvalidRatings`."""
    ratings = catalogue.ratings
    date = ratings.measured_at.date()
    return [fine(RATINGS, f"the levels were measured with {ratings.engine} on {date}")]


@asynccontextmanager
async def _started(program: UciProgram, patience: timedelta) -> AsyncIterator[UciProcess]:
    """Lend a process of a program that is ready for chess; it has ended when this is left."""
    limits = Patience(start=patience, ready=patience, search=patience, stop=min(patience, _END))
    process = await UciProcess.start(replace(program, patience=limits))
    try:
        await process.prepare({}, STANDARD.name)
        yield process
    finally:
        await process.aclose()


async def _speed(process: UciProcess) -> int | None:
    """Return how many nodes it looks at in a second on one thread, if it tells."""
    if process.options.accepts("Threads", 1):  # whatever the settings say
        await process.prepare({"Threads": 1}, STANDARD.name)
    speeds = []
    for _ in range(_TRIALS):
        began = time.monotonic()
        result = await process.search(Turn(Position.start()), _TRIAL, forget=True)
        took = time.monotonic() - began
        nodes = max((info.nodes or 0 for info in result.infos), default=0)
        speeds.append(nodes / took)
    best = max(speeds)
    # What is measured so briefly has no more than two digits that mean something.
    return int(float(f"{best:.2g}")) if best >= 1 else None


def _missing(error: UciNotFound) -> Finding:
    named = os.environ.get(STOCKFISH_VARIABLE)
    if named and not Path(named).is_file():
        case = f"{STOCKFISH_VARIABLE} names {named}, where there is none"
        return failure(STOCKFISH, case, f"let {STOCKFISH_VARIABLE} name its program, or unset it")
    return failure(STOCKFISH, f"it was not found in {error.program}", INSTALL_STOCKFISH)


def _mend(name: str, error: UciError) -> str:
    what = "options" if isinstance(error, InvalidOption) else "command"
    return f"mend `{what}` of [engines.{name}] in the settings, or take the engine away"
