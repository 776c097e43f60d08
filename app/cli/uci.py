"""`kibitz uci`: any player as a UCI engine, for chess programs that use such engines."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from app.cli.completion.values import complete_player
from app.cli.durations import duration
from app.cli.processes.running import run
from engine.errors import shown

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from agents.uci.limits import Limit
    from app.settings import Settings
    from app.uci.options import Preferences

EXAMPLES = (
    "Examples: [bold]kibitz uci[/bold] | "
    "[bold]kibitz uci --player stockfish:3[/bold] | "
    "[bold]kibitz uci --player solo:default --budget-usd 2 --ledger calls.jsonl[/bold] | "
    "[bold]kibitz uci --player classical --nodes 2000[/bold] | "
    "[bold]cutechess-cli -engine cmd=kibitz arg=uci -engine cmd=stockfish -each proto=uci "
    "tc=300+3[/bold]"
)

_MAX_NODES, _MAX_DEPTH = 10**15, 200
#: How long a GUI that does not read is waited for in the end.
_LAST_WORDS = timedelta(seconds=1)


def uci(
    player: Annotated[
        str,
        typer.Option(
            help="Who plays; `kibitz players` lists them. The option Player changes it.",
            autocompletion=complete_player,
        ),
    ] = "team:default",
    retries: Annotated[
        int, typer.Option(min=0, max=20, help="How often it may try again after a refused move.")
    ] = 3,
    budget_usd: Annotated[
        str, typer.Option(help="What its models may cost, in dollars, for all games together.")
    ] = "",
    budget_calls: Annotated[
        int, typer.Option(min=0, help="How many calls they may be asked; 0: no bound.")
    ] = 0,
    budget_tokens: Annotated[
        int, typer.Option(min=0, help="How many tokens they may take; 0: no bound.")
    ] = 0,
    overhead: Annotated[
        int, typer.Option(min=0, max=10_000, help="Milliseconds of its time that are kept back.")
    ] = 100,
    emergency: Annotated[
        bool,
        typer.Option(
            "--emergency/--no-emergency",
            help="Whether Kibitz moves offline where the player cannot; else it ends, with code 1.",
        ),
    ] = True,
    depth: Annotated[
        int | None,
        typer.Option(min=1, max=_MAX_DEPTH, help="UCI engines: think at most so many plies deep."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=_MAX_NODES, help="UCI engines, classical: look at most at so many positions."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="UCI engines, classical: think at most so long.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of dice, so that they fall the same every time.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="A file to which all that is said is added, both ways.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="A file to which every model call is added, as JSON.")
    ] = None,
) -> None:
    """Let a player be a UCI engine, for other chess programs.

    They may be cutechess, fastchess, lichess-bot, Arena, python-chess, or any that speaks UCI. It
    reads commands from standard input and answers on standard output, where it says nothing else.
    What specialists advise is told as `info string`. Whatever a model does, there is a legal move
    when one is due.

    The arguments are what the options of UCI are at first. Keys of models are taken from the
    environment, such as OPENAI_API_KEY. The exit code is 1 if there was no move, and nobody else
    might move in the player's place.
    """
    from agents.models.budget import Budget
    from app.dollars import NotDollars
    from app.uci.errors import NobodyMoves
    from app.uci.options import Preferences, dollars

    if not player.isprintable():  # a GUI would take what follows a line's end for another line
        raise typer.BadParameter(f"--player: {shown(player)} is no name")
    try:
        usd = dollars(budget_usd)
    except NotDollars as error:
        raise typer.BadParameter(f"--budget-usd: {error}") from None
    preferences = Preferences(
        player,
        retries=retries,
        budget=Budget(usd, budget_tokens or None, budget_calls or None),
        overhead=timedelta(milliseconds=overhead),
        emergency=emergency,
    )
    own = _limit(player, depth, nodes, seconds)
    with contextlib.ExitStack() as files:
        logged, called = (_adding(path, files) for path in (log, ledger))
        try:
            run(_converse(preferences, own, seed, logged, called))
        except NobodyMoves as error:
            typer.echo(f"kibitz: {error}", err=True)
            raise typer.Exit(1) from None


async def _converse(
    preferences: Preferences,
    own: Limit,
    seed: int | None,
    logged: Callable[[str], None] | None,
    called: Callable[[str], None] | None,
) -> None:
    from app.uci.conversation import Conversation
    from app.uci.ledger import UciLedger
    from app.uci.pipes import Input, Log, Output
    from app.uci.seats import Seats

    stdin: TextIO | None = sys.stdin
    stdout: TextIO | None = sys.stdout
    if stdin is None or stdout is None:
        raise typer.BadParameter("standard input or output is closed, where a GUI should be")
    if stdin.isatty():
        typer.echo("Kibitz is a UCI engine here: `uci`, `isready`, `go`, ..., `quit`.", err=True)
    log = Log(logged)
    lines = Input(stdin.buffer, log)
    output = Output(stdout.buffer, log, lines.end)
    # Whatever else is printed, by whomever, is not for the GUI.
    with contextlib.redirect_stdout(sys.stderr):
        conversation = Conversation(
            preferences,
            Seats(_open_catalogue, seed),
            UciLedger(preferences.budget, called),
            output.tell,
            own=own,
        )
        try:
            await conversation.run(output.paced(lines))
        finally:
            await output.finish(_LAST_WORDS)
    if output.error is not None:
        raise output.error


@contextlib.asynccontextmanager
async def _open_catalogue() -> AsyncIterator[Catalogue]:
    """Open the catalogue of the operator's settings; much is imported for it, off the loop."""
    settings = await asyncio.to_thread(_settings)
    from app.catalogue import open_catalogue

    async with open_catalogue(settings) as catalogue:
        yield catalogue


def _settings() -> Settings:
    # All that takes long to import, and would hold up the loop.
    import app.catalogue
    import app.uci.thinking  # noqa: F401
    from app.logs import configure
    from app.settings import load_settings

    configure("warning")  # to standard error, and never where the GUI reads
    return load_settings()


def _limit(player: str, depth: int | None, nodes: int | None, seconds: float | None) -> Limit:
    """Return how far a player may think, or raise `BadParameter`."""
    from agents.catalogue import takes_limit
    from agents.classical.allowance import LONGEST, MOST_NODES
    from agents.classical.player import ClassicalPlayer
    from agents.uci.limits import MAX_TIME, Limit

    if (depth, nodes, seconds) == (None, None, None):
        return Limit()
    if not takes_limit(player):
        raise typer.BadParameter(
            f"--depth, --nodes and --seconds are for UCI engines and classical, not for {player}"
        )
    is_classical = player == ClassicalPlayer.name
    if is_classical and depth is not None:
        raise typer.BadParameter("classical thinks by nodes or time, not to a --depth")
    if is_classical and nodes is not None and nodes > MOST_NODES:
        raise typer.BadParameter(f"classical looks at {MOST_NODES} --nodes at most")
    most = LONGEST if is_classical else MAX_TIME
    time = None if seconds is None else duration(seconds, timedelta(seconds=1), most)
    return Limit(depth=depth, nodes=nodes, time=time)


def _adding(path: Path | None, files: contextlib.ExitStack) -> Callable[[str], None] | None:
    """Return what adds a line to a file, if one is named; raises `BadParameter`."""
    from app.uci.pipes import LineFile

    if path is None:
        return None
    try:
        file = LineFile(path)
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from None
    files.callback(file.close)
    return file.add
