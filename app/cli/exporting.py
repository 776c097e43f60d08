"""`kibitz export`: matches of the service as PGN, JSON or CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.complaints import complain
from app.cli.completion.values import (
    complete_evaluation,
    complete_match_id,
    complete_seat,
    complete_variant,
)
from app.cli.db import Url
from app.cli.files.output_file import Sink, open_output
from app.cli.files.standard_output import STANDARD_OUTPUT
from app.cli.processes.running import run
from engine.errors import shown
from engine.variant import find_variant

if TYPE_CHECKING:
    from app.matches.exporting import Details
    from app.persistence.database import Database
    from app.persistence.selection import Selection

EXAMPLES = (
    "Examples: [bold]kibitz export --output games.pgn[/bold] | "
    "[bold]kibitz export --player team:default --since 2026-01-01 | kibitz accuracy -[/bold] | "
    "[bold]kibitz export 01a1e53b --format json --events --ledger[/bold] | "
    "[bold]kibitz export --format csv --output matches.csv --force[/bold]"
)
_LAST = datetime.max.replace(tzinfo=UTC)
_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
_IS_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(-?\d)?")


class Format(StrEnum):
    """What matches can be written as."""

    PGN = "pgn"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"


class Status(StrEnum):
    """Where a match may stand."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    ABORTED = "aborted"


class Result(StrEnum):
    """How a match may have ended; or it has no result."""

    WHITE = "1-0"
    BLACK = "0-1"
    DRAW = "1/2-1/2"
    NONE = "*"


_FINISHED = (Status.ENDED, Status.ABORTED)


def export(
    matches: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MATCH...",
            help="Ids of matches, or their beginnings; all that are finished, if not given.",
            autocompletion=complete_match_id,
            show_default=False,
        ),
    ] = None,
    player: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only those in which NAME played; one who was imported is found without pgn:. "
            "Twice, and both have played.",
            autocompletion=complete_seat,
        ),
    ] = None,
    status: Annotated[
        list[Status] | None, typer.Option(help="Only those that stand so; may be repeated.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Only those.", autocompletion=complete_variant)
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only those with this tag; may be repeated.")
    ] = None,
    evaluation: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Only those of this evaluation.",
            autocompletion=complete_evaluation,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only those from then on: 2026-01-31, or with a time."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only those until then, that day included.")
    ] = None,
    result: Annotated[Result | None, typer.Option(help="Only those that ended so.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the newest so many.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.PGN,
    events: Annotated[
        bool, typer.Option("--events", help="With JSON: tell the whole log of each match, too.")
    ] = False,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="With JSON: tell every model call, too.")
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where to write; standard output, if not given.",
            allow_dash=True,
            show_default=False,
        ),
    ] = Path(STANDARD_OUTPUT),
    force: Annotated[
        bool, typer.Option("--force", help="Write over the file, if it is there already.")
    ] = False,
    database: Url = None,
) -> None:
    """Write matches as PGN, JSON or CSV.

    Those are all that are finished, or the chosen ones, in the order in which they came. pgn has
    the games; json and ndjson have settings, plies, outcome and cost, as one array or one match a
    line; csv has one line a match. Dates are in UTC, and those of imported matches the day they
    were played.

    The exit code is 1 if no match was found, as that of grep. The file is written beside its name,
    and takes the place only when it is complete.
    """
    from app.cli.evaluations.archive import settings_with
    from app.logs import configure
    from app.matches.exporting import Details
    from app.persistence.selection import Selection

    if (events or ledger) and format_ not in (Format.JSON, Format.NDJSON):
        raise typer.BadParameter("--events and --ledger go with --format json or ndjson")
    statuses = status or ([] if matches else _FINISHED)
    selection = Selection(
        statuses=statuses,
        players=[_meant(name) for name in player or ()],
        tags=tag or (),
        variant=None if variant is None else find_variant(variant).name,
        result=result,
        since=None if since is None else _time(since, "--since"),
        until=None if until is None else _time(until, "--until", is_end=True),
        newest=limit,
    )
    url = settings_with(database).database_url
    configure("error")
    if not _is_there(url):
        complain("there is no database yet, and so no match")
        raise typer.Exit(1)
    wanted = _Wanted(selection, matches or (), evaluation, format_, Details(events, ledger))
    try:
        with open_output(output, force=force) as sink:
            run(_export(url, wanted, sink))
    except _NothingFound:
        complain("no match was found")
        raise typer.Exit(1) from None


class _NothingFound(Exception):
    """No match is as it is wanted, so that nothing is to be written."""


@dataclass(frozen=True)
class _Wanted:
    """What is to be written, with ids of which only the beginnings are known."""

    selection: Selection
    matches: Sequence[str]
    evaluation: str | None
    format: Format
    details: Details


async def _export(url: str, wanted: _Wanted, sink: Sink) -> None:
    """Write what is wanted; raises `_NothingFound`, or what `export` and `find_matches` raise."""
    from app.matches import exporting
    from app.persistence.database import Database

    async with await Database.open(url, exclusive=False) as database:
        selection = await _completed(database, wanted)
        form = exporting.Format(wanted.format)
        is_empty = True
        async with aclosing(exporting.export(database, selection, form, wanted.details)) as pieces:
            async for piece in pieces:
                sink.write(piece)
                is_empty = False
    if is_empty:
        raise _NothingFound


async def _completed(database: Database, wanted: _Wanted) -> Selection:
    from app.matches.exporting import find_evaluation, find_matches

    selection = replace(wanted.selection, ids=await find_matches(database, wanted.matches))
    if wanted.evaluation is None:
        return selection
    return replace(selection, evaluation=await find_evaluation(database, wanted.evaluation))


# --- what is given ---


def _meant(name: str) -> tuple[str, str]:
    """Return the names that may be meant by one: the same, or that of somebody in a PGN."""
    from app.matches.imported import name_of

    return name, name_of(name)


def _time(text: str, option: str, *, is_end: bool = False) -> datetime:
    """Return a time, that of UTC if no zone is told; the end of a day or a second, if asked for."""
    try:
        time = datetime.fromisoformat(text.strip())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"{option} {shown(text)} is no date: write 2026-01-31, or 2026-01-31T18:30"
        raise typer.BadParameter(message) from None
    if not is_end:
        return time
    length = _DAY if _IS_DAY.fullmatch(text.strip()) else _SECOND
    return min(time, _LAST - length) + length  # there is no time after the year 9999


def _is_there(url: str) -> bool:
    """Tell whether there is a database; to open that of an SQLite would make it."""
    from app.persistence.address import Address

    address = Address.parse(url)
    return address.dialect != "sqlite" or address.path.exists()
