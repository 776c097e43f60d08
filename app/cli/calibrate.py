"""`kibitz calibrate`: how strong the levels are, found by letting them play."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.completion.values import complete_other
from app.cli.durations import duration
from app.cli.files.output_file import open_output
from app.cli.processes.interruption import handling
from engine.errors import shown

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from app.evaluations.calibration import Calibration, PlayedSoFar
    from app.settings import Settings

#: Where there is no terminal, nothing is gained by breaking lines at 80 columns.
_WIDTH = 120

# What takes long to import (NumPy, Pydantic, Rich's bars) is imported where it is used: every other
# command, and every completion in a shell, would wait for it too.

EXAMPLES = (
    "Examples: [bold]kibitz calibrate[/bold] | "
    "[bold]kibitz calibrate --minutes 2 --no-others[/bold] | "
    "[bold]kibitz calibrate --other uci:toga2 --json --output ratings.json[/bold]"
)


def calibrate(
    minutes: Annotated[float, typer.Option(help="How long to play.")] = 10,
    games: Annotated[int | None, typer.Option(min=1, help="At most so many games.")] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            help="A UCI engine that plays along, as uci:NAME; all there are by default.",
            autocompletion=complete_other,
        ),
    ] = None,
    no_others: Annotated[
        bool, typer.Option("--no-others", help="Let no other UCI engine play along.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Openings and random moves depend on it.")] = 1,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=256, help="Games at a time; by default one a core.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; by default where the levels read it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what the file says.")] = False,
) -> None:
    """Let the levels of Stockfish play each other, and rate them.

    Ratings are by Bradley-Terry, with 95 % intervals, on a scale where level 6 is 1320. Ctrl-C ends
    it early: games under way are finished, or broken off at a second Ctrl-C, and what was played
    counts. The exit code is 1 if the levels did not come out in order; then only a file that was
    asked for is written.
    """
    from app.settings import load_settings

    if other and no_others:
        raise typer.BadParameter("--other and --no-others exclude each other")
    settings = load_settings()
    path = output or settings.ratings_file
    others = () if no_others else tuple(dict.fromkeys(other)) if other else None
    at_a_time = concurrency or os.cpu_count() or 2
    budget = duration(minutes, timedelta(minutes=1))
    with open_output(path, force=True, makes_folder=True) as file:
        run = _run(settings, others, budget, games, seed, at_a_time)
        result = asyncio.run(run)
        ratings = result.to_ratings().to_json()
        is_written = result.is_ordered or output is not None
        if is_written:
            file.write(ratings)
    if as_json:
        typer.echo(ratings, nl=False)
    else:
        _print(result)
    if not result.has_all_levels:
        typer.echo("kibitz: not all levels were rated; play longer", err=True)
    elif not result.is_ordered:
        typer.echo("kibitz: the levels did not come out in order; play longer", err=True)
    if is_written and not as_json:
        typer.echo(f"Written to {path}.")
    if not result.is_ordered:
        raise typer.Exit(1)


async def _run(
    settings: Settings,
    others: tuple[str, ...] | None,
    budget: timedelta,
    games: int | None,
    seed: int,
    concurrency: int,
) -> Calibration:
    from app.catalogue import make_catalogue
    from app.evaluations.calibration import Calibrator, contestants, other_engines

    # Two processes for each game, so that each seat keeps the memory of its own.
    processes = settings.model_copy(update={"engine_processes": 2 * concurrency})
    async with make_catalogue(processes) as catalogue:
        known = other_engines(catalogue)
        for name in others or ():
            if name not in known:
                names = ", ".join(known) or "none"
                reason = f"{shown(name)} is not one (known: {names})"
                raise typer.BadParameter(f"--other takes a UCI engine, as uci:NAME; {reason}")
        ladder = contestants(catalogue, known if others is None else others)
        calibrator = Calibrator(catalogue, ladder, seed=seed, concurrency=concurrency)
        bar = _progress_bar()

        def end(number: signal.Signals) -> None:
            # The terminal is gone then, and to draw on it would be an error.
            bar.console.quiet |= number is signal.SIGHUP
            calibrator.stop()

        with handling(end), bar:
            task = bar.add_task("0 games", total=budget.total_seconds())

            def show(played: PlayedSoFar) -> None:
                seconds = played.elapsed.total_seconds()
                bar.update(task, completed=seconds, description=f"{played.games} games")

            return await calibrator.run(budget, games, show)


def _progress_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _print(result: Calibration) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else _WIDTH).print(_table(result))
    left_out = result.played.left_out
    for name, reason in left_out.items():
        typer.echo(f"{name} was left out: {reason}.")
    for name in (each.name for each in result.contestants if each.name not in left_out):
        if name not in result.results:
            typer.echo(f"{name} did not get to play; play longer.")
        elif name not in result.ratings:
            typer.echo(f"{name} is not linked to level 6 by games; play longer.")
    minutes = result.played.elapsed / timedelta(minutes=1)
    typer.echo(f"{result.engine}, {result.played.games} games in {minutes:.1f} minutes.")


def _table(result: Calibration) -> Table:
    from rich.table import Table

    table = Table("player", "Elo", "won", "drawn", "lost", "how it plays")
    for column in table.columns[1:5]:
        column.justify = "right"
    for contestant in result.contestants:
        rating, counts = result.ratings.get(contestant.name), result.results.get(contestant.name)
        if rating is not None and counts is not None:
            numbers = (str(counts[key]) for key in ("wins", "draws", "losses"))
            table.add_row(contestant.name, str(rating), *numbers, contestant.how)
    return table
