"""The command line: `kibitz`."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from agents.errors import AgentError
from app.cli.accuracy import EXAMPLES as ACCURACY_EXAMPLES
from app.cli.accuracy import accuracy
from app.cli.analyse import EXAMPLES as ANALYSE_EXAMPLES
from app.cli.analyse import analyse
from app.cli.calibrate import EXAMPLES as CALIBRATE_EXAMPLES
from app.cli.calibrate import calibrate
from app.cli.db import db
from app.cli.demo import EXAMPLES as DEMO_EXAMPLES
from app.cli.demo import demo
from app.cli.evaluate import evaluate
from app.cli.perft import EXAMPLES as PERFT_EXAMPLES
from app.cli.perft import perft
from app.cli.players import EXAMPLES as PLAYERS_EXAMPLES
from app.cli.players import players
from app.cli.rate import EXAMPLES as RATE_EXAMPLES
from app.cli.rate import rate
from app.cli.serve import EXAMPLES as SERVE_EXAMPLES
from app.cli.serve import serve
from app.cli.solve import EXAMPLES as SOLVE_EXAMPLES
from app.cli.solve import solve
from app.cli.sprt import EXAMPLES as SPRT_EXAMPLES
from app.cli.sprt import sprt
from app.cli.suite import suite
from app.errors import AppError
from engine import RulesError

#: What a full or broken disk answers to those who write. (Typer sees to readers that go away.)
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

cli = typer.Typer(
    name="kibitz",
    help="Teams of LLM specialists play chess; every move refereed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
cli.command(epilog=SERVE_EXAMPLES)(serve)
cli.command(epilog=DEMO_EXAMPLES)(demo)
cli.add_typer(db, name="db")
cli.add_typer(evaluate, name="eval")
cli.command(epilog=PERFT_EXAMPLES)(perft)
cli.command(epilog=SOLVE_EXAMPLES)(solve)
cli.command(epilog=ANALYSE_EXAMPLES)(analyse)
cli.command(epilog=ACCURACY_EXAMPLES)(accuracy)
cli.command(epilog=CALIBRATE_EXAMPLES)(calibrate)
cli.command(epilog=PLAYERS_EXAMPLES)(players)
cli.command(epilog=RATE_EXAMPLES)(rate)
cli.command(epilog=SPRT_EXAMPLES)(sprt)
cli.add_typer(suite, name="suite")


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
    """Run `kibitz`: a user's mistake gets one sentence and exit code 2, never a traceback.

    Output that cannot be written gets one sentence, too, and exit code 1.
    """
    for stream in (sys.stdout, sys.stderr):
        # Where only ASCII can be written, a question mark is better than no answer.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    try:
        try:
            cli()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (RulesError, AgentError, AppError) as error:
        typer.echo(f"kibitz: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        if error.errno not in _OUTPUT_ERRORS:
            raise
        _forget_output()
        with contextlib.suppress(OSError):
            typer.echo(f"kibitz: the output cannot be written: {error.strerror}", err=True)
        sys.exit(1)


def _forget_output() -> None:
    """Send what is still to be written nowhere: Python would try again as it ends, and complain."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
