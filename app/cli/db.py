"""`kibitz db`: the tables of the database."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.cli.group import Group

EXAMPLES = (
    "Examples: [bold]kibitz db upgrade[/bold] | [bold]kibitz db current[/bold] | "
    "[bold]kibitz db current --check --json[/bold]"
)

db = Group(
    name="db",
    help="See to the tables of the database.",
    epilog=EXAMPLES,
)

Url = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME instead of that of the "
        "settings. Others on this machine can read it, so put a password into the variable "
        "KIBITZ_DATABASE.",
        show_default=False,
    ),
]


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@db.command(epilog=EXAMPLES)
def upgrade(as_json: AsJson = False, database: Url = None) -> None:
    """Make the tables, or bring them to what this Kibitz needs.

    Nothing is lost. `kibitz serve` does it by itself for SQLite, but not for Postgres, on which
    others may be at work.
    """
    from app.persistence import schema

    url = database or _database_of_settings()
    before = schema.current(url)
    after = schema.upgrade(url)
    if as_json:
        typer.echo(json.dumps({"revision": after, "before": before}))
        return
    change = "was there already" if before == after else f"was {before or 'empty'}"
    typer.echo(f"The database is at revision {after} ({change}).")


@db.command(epilog=EXAMPLES)
def current(
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 unless it is the newest.")
    ] = False,
    as_json: AsJson = False,
    database: Url = None,
) -> None:
    """Print the revision of the tables, and whether it is the newest.

    Nothing is changed.
    """
    from app.persistence import schema

    revision = schema.current(database or _database_of_settings())
    is_newest = revision == schema.HEAD
    if as_json:
        told = {"revision": revision, "newest": schema.HEAD, "is_newest": is_newest}
        typer.echo(json.dumps(told))
    elif revision is None:
        typer.echo("empty")
    else:
        typer.echo(f"{revision} (newest)" if is_newest else revision)
    if check and not is_newest:
        raise typer.Exit(1)


def _database_of_settings() -> str:
    from app.settings import load_settings

    return load_settings().database_url
