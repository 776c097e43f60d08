"""The command line: `kibitz`."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from agents.errors import AgentError
from app.cli.analyse import EXAMPLES as ANALYSE_EXAMPLES
from app.cli.analyse import analyse
from app.cli.calibrate import EXAMPLES as CALIBRATE_EXAMPLES
from app.cli.calibrate import calibrate
from app.cli.perft import EXAMPLES as PERFT_EXAMPLES
from app.cli.perft import perft
from app.cli.players import EXAMPLES as PLAYERS_EXAMPLES
from app.cli.players import players
from app.cli.solve import EXAMPLES as SOLVE_EXAMPLES
from app.cli.solve import solve
from app.errors import AppError
from engine import RulesError

cli = typer.Typer(
    name="kibitz",
    help="Teams of LLM specialists play chess; every move refereed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
cli.command(epilog=PERFT_EXAMPLES)(perft)
cli.command(epilog=SOLVE_EXAMPLES)(solve)
cli.command(epilog=ANALYSE_EXAMPLES)(analyse)
cli.command(epilog=CALIBRATE_EXAMPLES)(calibrate)
cli.command(epilog=PLAYERS_EXAMPLES)(players)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kibitz {version('kibitz')}")
        raise typer.Exit


@cli.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Options before any command."""


def main() -> None:
    """Run `kibitz`: a user's mistake gets one sentence and exit code 2, never a traceback."""
    try:
        cli()
    except (RulesError, AgentError, AppError) as error:
        typer.echo(f"kibitz: {error}", err=True)
        sys.exit(2)
