"""Commands: all that `kibitz` can be told to do, in the order in which its help names them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.main import get_command

from app.cli.accuracy import EXAMPLES as ACCURACY_EXAMPLES
from app.cli.accuracy import accuracy
from app.cli.analyse import EXAMPLES as ANALYSE_EXAMPLES
from app.cli.analyse import analyse
from app.cli.calibrate import EXAMPLES as CALIBRATE_EXAMPLES
from app.cli.calibrate import calibrate
from app.cli.completion import bash, zsh
from app.cli.completion.values import complete_command
from app.cli.db import db
from app.cli.demo import EXAMPLES as DEMO_EXAMPLES
from app.cli.demo import demo
from app.cli.doctor import EXAMPLES as DOCTOR_EXAMPLES
from app.cli.doctor import doctor
from app.cli.evaluate import evaluate
from app.cli.exporting import EXAMPLES as EXPORT_EXAMPLES
from app.cli.exporting import export
from app.cli.group import Group
from app.cli.importing import EXAMPLES as IMPORT_EXAMPLES
from app.cli.importing import import_games
from app.cli.match import EXAMPLES as MATCH_EXAMPLES
from app.cli.match import match
from app.cli.perft import EXAMPLES as PERFT_EXAMPLES
from app.cli.perft import perft
from app.cli.play import EXAMPLES as PLAY_EXAMPLES
from app.cli.play import play
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
from app.cli.uci import EXAMPLES as UCI_EXAMPLES
from app.cli.uci import uci
from app.cli.watch import EXAMPLES as WATCH_EXAMPLES
from app.cli.watch import watch
from engine.errors import shown

PROGRAM = "kibitz"
EXAMPLES = (
    "Examples: [bold]kibitz play --black stockfish:3[/bold] | "
    "[bold]kibitz match classical stockfish:5 --games 10[/bold] | "
    "[bold]kibitz analyse games.pgn[/bold] | "
    "[bold]kibitz eval ladder classical --dry-run[/bold] | "
    "[bold]kibitz help eval ladder[/bold]"
)
HELP_EXAMPLES = "Examples: [bold]kibitz help[/bold] | [bold]kibitz help eval run[/bold]"
#: The parts of the help, in which a stranger looks for a command.
PLAY, LOOK, MEASURE, KEEP = "Play and watch", "Look closer", "Measure strength", "Serve and keep"

bash.teach_typer()
zsh.teach_typer()
cli = Group(
    name=PROGRAM,
    help="Teams of LLM specialists play chess; every move refereed.",
    epilog=EXAMPLES,
)

cli.command(epilog=PLAY_EXAMPLES, rich_help_panel=PLAY)(play)
cli.command(epilog=MATCH_EXAMPLES, rich_help_panel=PLAY)(match)
cli.command(epilog=WATCH_EXAMPLES, rich_help_panel=PLAY)(watch)
cli.command(epilog=DEMO_EXAMPLES, rich_help_panel=PLAY)(demo)
cli.command(epilog=UCI_EXAMPLES, rich_help_panel=PLAY)(uci)
cli.command(epilog=PLAYERS_EXAMPLES, rich_help_panel=PLAY)(players)

cli.command(epilog=ANALYSE_EXAMPLES, rich_help_panel=LOOK)(analyse)
cli.command(epilog=ACCURACY_EXAMPLES, rich_help_panel=LOOK)(accuracy)
cli.command(epilog=SOLVE_EXAMPLES, rich_help_panel=LOOK)(solve)
cli.command(epilog=PERFT_EXAMPLES, rich_help_panel=LOOK)(perft)

cli.add_typer(evaluate, name="eval", rich_help_panel=MEASURE)
cli.add_typer(suite, name="suite", rich_help_panel=MEASURE)
cli.command(epilog=RATE_EXAMPLES, rich_help_panel=MEASURE)(rate)
cli.command(epilog=SPRT_EXAMPLES, rich_help_panel=MEASURE)(sprt)
cli.command(epilog=CALIBRATE_EXAMPLES, rich_help_panel=MEASURE)(calibrate)

cli.command(epilog=SERVE_EXAMPLES, rich_help_panel=KEEP)(serve)
cli.command(epilog=EXPORT_EXAMPLES, rich_help_panel=KEEP)(export)
cli.command("import", epilog=IMPORT_EXAMPLES, rich_help_panel=KEEP)(import_games)
cli.add_typer(db, name="db", rich_help_panel=KEEP)
cli.command(epilog=DOCTOR_EXAMPLES, rich_help_panel=KEEP)(doctor)


@cli.command(name="help", epilog=HELP_EXAMPLES, hidden=True)
def explain(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="The command, such as analyse, or eval run.", autocompletion=complete_command
        ),
    ] = None,
) -> None:
    """Tell how to use a command: the same as --help."""
    at: Any = _made()
    for number, word in enumerate(command or ()):
        known = getattr(at, "commands", None)
        if known is None:
            whole = " ".join((command or [])[:number])
            raise typer.BadParameter(f"'{whole}' has no commands of its own, such as {shown(word)}")
        if word not in known:
            break  # which is told as of any command
        at = known[word]
    _made()([*(command or ()), "--help"], prog_name=PROGRAM, standalone_mode=False)


def run() -> int:
    """Run the command that the arguments name, and return the exit code; raises what it raises."""
    code: int | None = _made()(prog_name=PROGRAM, standalone_mode=False)
    return code or 0


@cache
def _made() -> Callable[..., Any]:
    """Return all commands as they are run; making them takes 30 ms."""
    return get_command(cli)


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
