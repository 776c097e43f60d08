"""Reading commands of `kibitz eval`: what evaluations there are, and what they found.

They read beside whoever serves the database, and change nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from app.cli.completion.values import complete_evaluation, complete_status
from app.cli.db import Url
from app.cli.evaluations.texts import print_rows, print_summary, progress_line, rating_text
from app.cli.files.report_folder import (
    Format,
    file_name,
    require_folder,
    write,
    write_all,
    written_as,
)
from app.cli.files.standard_output import is_standard_output
from engine.errors import shown

if TYPE_CHECKING:
    from app.evaluations.service import EvaluationService
    from app.settings import Settings

T = TypeVar("T")

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The evaluation's id, or its beginning.",
        show_default=False,
        autocompletion=complete_evaluation,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_NONE_YET = "There are no evaluations yet."


def settings_with(database: str | None) -> Settings:
    """Return the settings, perhaps with another database; raises `InvalidSettings`."""
    from app.settings import load_settings

    return load_settings() if database is None else load_settings(database=database)


def folder_of(settings: Settings, evaluation_id: str) -> Path:
    """Return where the report of an evaluation is written, unless somebody says otherwise."""
    return settings.data_folder / "evaluations" / evaluation_id


def ask(settings: Settings, question: Callable[[EvaluationService], Awaitable[T]]) -> T | None:
    """Return the answer of the archive; None if there is no database, and make none."""
    from app.logs import configure
    from app.persistence.address import Address

    configure("error")
    address = Address.parse(settings.database_url)
    if address.dialect == "sqlite" and not address.path.exists():
        return None
    return asyncio.run(_ask(settings, question))


async def _ask(settings: Settings, question: Callable[[EvaluationService], Awaitable[T]]) -> T:
    from app.services import open_archive

    async with open_archive(settings) as evaluations:
        return await question(evaluations)


def list_evaluations(
    status: Annotated[
        str | None,
        typer.Option(
            help="Only those that are created, running, paused, finished or cancelled.",
            autocompletion=complete_status,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    as_json: AsJson = False,
    database: Url = None,
) -> None:
    """List evaluations, the newest first."""
    from app.evaluations.service import state_of
    from app.persistence.evaluations import STATUSES

    if status is not None and status not in STATUSES:
        known = ", ".join(map(repr, STATUSES))
        raise typer.BadParameter(f"--status: {shown(status)} is not one of {known}")
    records = ask(settings_with(database), lambda each: each.list(status, None, limit)) or ()
    states = [state_of(record) for record in records]
    if as_json:
        typer.echo(json.dumps({"evaluations": states}, allow_nan=False))
        return
    if not states:
        typer.echo(_NONE_YET if status is None else f"No evaluation is {status}.")
        return
    names = ("id", "started", "kind", "status", "games", "name")
    print_rows(names, [_row(state) for state in states], numbers=("games",))


def _row(state: dict[str, Any]) -> tuple[str, ...]:
    progress = state["progress"]
    games = str(progress["games"]["scored"]) if progress else "0"
    started = state["created_at"][:16].replace("T", " ")
    return state["id"], started, state["kind"], state["status"], games, state["name"]


def show(evaluation_id: Id, as_json: AsJson = False, database: Url = None) -> None:
    """Tell how an evaluation stands, and what it has found so far."""
    from app.evaluations.errors import EvaluationNotFound
    from app.evaluations.service import state_of

    async def read(evaluations: EvaluationService) -> tuple[dict[str, Any], dict[str, Any]]:
        record = await evaluations.find(await evaluations.id_of(evaluation_id))
        state = state_of(record) | {"plan": json.loads(record.plan)}
        return state, await evaluations.report(record.id)

    answer = ask(settings_with(database), read)
    if answer is None:
        raise EvaluationNotFound(evaluation_id)
    state, report = answer
    if as_json:
        typer.echo(json.dumps(state, allow_nan=False))
        return
    typer.echo(f"{state['name']}: {state['kind']} {state['id']}, begun {state['created_at']}")
    if state["progress"] and state["status"] in ("created", "running", "paused"):
        typer.echo(progress_line(state["progress"] | {"eta_ms": None}))
    print_summary(report)


def report(
    evaluation_id: Id,
    format_: Annotated[
        Format | None, typer.Option("--format", help="One file only; all of them, if not given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Where to write; one file goes to standard output, if not given, and all of them "
            "to a folder named after the evaluation in your data folder.",
            show_default=False,
        ),
    ] = None,
    database: Url = None,
) -> None:
    """Write the report of an evaluation, also of one that goes on.

    The files are report.html, report.json, games.csv, games.pgn and manifest.json; of a suite,
    answers.csv and answers.pgn.
    """
    from app.evaluations.errors import EvaluationNotFound

    settings = settings_with(database)
    if format_ is None:
        folder = output or folder_of(settings, "")
        require_folder(folder)

    async def make(evaluations: EvaluationService) -> str:
        record = await evaluations.find(await evaluations.id_of(evaluation_id))
        if format_ is None:
            folder = output or folder_of(settings, record.id)
            await write_all(evaluations, record.id, record.kind, folder)
            return f"Written to {folder}.\n"
        text = await written_as(evaluations, record.id, format_)
        if output is None or is_standard_output(output):
            return text
        path = output / file_name(format_, record.kind) if output.is_dir() else output
        write(path, text)
        return f"Written to {path}.\n"

    told = ask(settings, make)
    if told is None:
        raise EvaluationNotFound(evaluation_id)
    typer.echo(told, nl=False)


def ratings(as_json: AsJson = False, database: Url = None) -> None:
    """Show the leaderboard of everybody who was ever measured.

    All scored games of all evaluations count at once.
    """
    board = ask(settings_with(database), lambda evaluations: evaluations.leaderboard())
    told: dict[str, Any] = board.to_json() if board else {"rows": [], "anchors": [], "notes": []}
    if as_json:
        typer.echo(json.dumps(told, allow_nan=False))
        return
    if not told["rows"]:
        typer.echo(_NONE_YET)
        return
    names = ("agent", "rating", "W-D-L", "accuracy", "solved", "forfeits", "$ a move")
    print_rows(names, [_place(each) for each in told["rows"]], numbers=names[1:])
    typer.echo(
        "± is half the 95 % interval by the likelihood ratio, which is wider than that of a"
        " ladder's report where games were drawn."
    )
    for note in told["notes"]:
        typer.echo(f"Note: {note}")


def _place(agent: dict[str, Any]) -> tuple[str, ...]:
    score = f"{agent['wins']}-{agent['draws']}-{agent['losses']}"
    positions, cost = agent["positions"], agent["per_move"]["cost_usd"]
    solved = f"{positions['right']} of {positions['answers']}" if positions["answers"] else ""
    accuracy = "" if agent["accuracy"] is None else f"{agent['accuracy']:.1f}"
    forfeits = str(agent["forfeits"])
    rating = rating_text(agent["rating"])
    return agent["label"], rating, score, accuracy, solved, forfeits, "?" if cost is None else cost
