"""`kibitz db`: the tables of the database."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = "Examples: [bold]kibitz db upgrade[/bold] | [bold]kibitz db current[/bold]"

db = typer.Typer(
    name="db",
    help="See to the tables of the database.",
    no_args_is_help=True,
    rich_markup_mode="rich",
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


@db.command()
def upgrade(database: Url = None) -> None:
    """Make the tables, or bring them to what this Kibitz needs. Nothing is lost."""
    from app.persistence import schema

    url = database or _database_of_settings()
    before = schema.current(url)
    after = schema.upgrade(url)
    change = "was there already" if before == after else f"was {before or 'empty'}"
    typer.echo(f"The database is at revision {after} ({change}).")


@db.command()
def current(database: Url = None) -> None:
    """Print the revision of the tables, and whether it is the newest."""
    from app.persistence import schema

    revision = schema.current(database or _database_of_settings())
    if revision is None:
        typer.echo("empty")
    else:
        typer.echo(f"{revision} (newest)" if revision == schema.HEAD else revision)


def _database_of_settings() -> str:
    from app.settings import load_settings

    return load_settings().database_url
