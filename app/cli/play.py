"""`kibitz play`: a game at the terminal, against a computer or somebody beside you."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.boards.board import Look
from app.cli.complaints import complain
from app.cli.completion.values import (
    complete_opening,
    complete_save,
    complete_seat,
    complete_variant,
)
from app.cli.db import Url
from app.cli.processes.running import run
from engine import VARIANTS, Color, Position

if TYPE_CHECKING:
    from rich.console import Console

    from app.cli.boards.play_screen import ConsoleScreen
    from app.cli.keyboard.line_editor import LineEditor
    from app.cli.keyboard.plain_lines import PlainLines
    from app.matches.settings import MatchSettings, PlayerSettings
    from app.play.session import Manners, Session
    from app.settings import Settings

EXAMPLES = (
    "Examples: [bold]kibitz play[/bold] | "
    "[bold]kibitz play --black stockfish:5 --tc 10+5[/bold] | "
    "[bold]kibitz play --white team:default --black human --budget-usd 0.50[/bold] | "
    "[bold]kibitz play --white human --black human --tc 5[/bold] | "
    "[bold]kibitz play --variant kings-cooking --black solver[/bold] | "
    "[bold]printf 'e4\\nfen\\n' | kibitz play --black random --seed 1[/bold]"
)

_HUMAN, _COMPUTER = "human", "stockfish:3"
_VARIANT = "standard"
#: King's Cooking has no UCI engines.
_COMPUTERS = {name: "classical" for name, each in VARIANTS.items() if not each.has_uci_engines}
_INTERRUPTED = 130


def play(
    white: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="Who has White: human, or a name of `kibitz players`.",
            autocompletion=complete_seat,
            show_default=_HUMAN,
        ),
    ] = None,
    black: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="Who has Black.",
            autocompletion=complete_seat,
            show_default=_COMPUTER,
        ),
    ] = None,
    tc: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Clocks: minutes, and seconds a move, as in 10+5 or 0.5+1; or as 40/5400+30.",
            show_default="no clocks",
        ),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            help=f"One of: {', '.join(VARIANTS)}.",
            autocompletion=complete_variant,
            show_default=_VARIANT,
        ),
    ] = None,
    fen: Annotated[str | None, typer.Option(help="The position to begin from.")] = None,
    opening: Annotated[
        str | None,
        typer.Option(
            help="The opening to begin with: a name, an ECO code, or moves.",
            autocompletion=complete_opening,
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Go on with a saved game.", autocompletion=complete_save),
    ] = None,
    as_ascii: Annotated[bool, typer.Option("--ascii", help="Letters instead of pieces.")] = False,
    flip: Annotated[
        bool, typer.Option("--flip", help="See the board from the other side.")
    ] = False,
    no_turn: Annotated[
        bool,
        typer.Option("--no-turn", help="When two people play, do not turn the board to the mover."),
    ] = False,
    usd: Annotated[
        str | None,
        typer.Option(
            "--budget-usd",
            "--usd",
            metavar="USD",
            help="What the model calls of a game may cost, in dollars.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**53 - 1, help="Dice, and starts of Chess960, depend on it."),
    ] = None,
    database: Url = None,
) -> None:
    """Play at the terminal, against a computer or somebody beside you.

    Write moves in any notation: e4, Nf3, e2e4, O-O. Tab completes, arrow keys bring back what was
    written, `help` tells what else there is: hints, taking back, draws, saving, clocks and more.

    If one side is named, the other one is you, or a computer if you named yourself. With two
    people the board turns to whoever is to move. Two computers are watched until Ctrl-C.

    A saved game is found by the service, too, which needs no terminal to go on. Where standard
    input is no terminal, each line is read when it is somebody's turn, and nothing is asked.
    """
    from agents.models.budget import Budget
    from app.dollars import read_dollars
    from app.logs import configure
    from app.matches.errors import UnplayableSettings
    from app.matches.settings import MatchSettings
    from app.play.clocks import read_control
    from app.play.session import Manners
    from app.settings import load_settings

    if load is not None:
        _refuse_beside_load(
            {
                "--white": white, "--black": black, "--tc": tc, "--variant": variant, "--fen": fen,
                "--opening": opening, "--budget-usd": usd,
            }
        )  # fmt: skip
    variant = _VARIANT if variant is None else variant
    if fen is not None:
        if opening is not None:
            raise typer.BadParameter("--fen and --opening both say where to begin: leave out one")
        Position.from_fen(fen, variant)  # which says what is wrong with it
    operator = load_settings(**({} if database is None else {"database": database}))
    configure("critical")  # what goes wrong is told in the game, and logs would break into it
    white_seat, black_seat = _seats(white, black, variant)
    try:
        settings = MatchSettings(
            white=_player(white_seat),
            black=_player(black_seat),
            variant=variant,
            initial_fen=fen,
            opening=opening,
            time_control=None if tc is None else read_control(tc),
            budget=Budget(None if usd is None else read_dollars(usd)),
        )
    except UnplayableSettings as error:  # it names the setting, and not the option
        option = "--fen" if error.field == "initial_fen" else f"--{error.field}"
        raise UnplayableSettings(option, error.why) from None
    if seed is not None:
        settings = replace(settings, seed=seed)
    if load is None and not settings.has_human:
        if stopped := run(_watch(operator, settings, as_ascii=as_ascii, flip=flip)):
            complain(stopped)
            raise typer.Exit(1)
        return
    asks = sys.stdin is not None and sys.stdin.isatty()
    manners = Manners(asks=asks, turns=not no_turn, flipped=flip, seed=seed)
    parting = Parting()
    try:
        run(_play(operator, settings, manners, parting, load=load, as_ascii=as_ascii))
    finally:
        if parting.words:  # the terminal may be gone
            with suppress(OSError):
                complain(parting.words)
    if parting.was_interrupted:
        raise typer.Exit(_INTERRUPTED)


@dataclass
class Parting:
    """How a session was left."""

    words: str = ""
    was_interrupted: bool = False


def _refuse_beside_load(others: Mapping[str, str | None]) -> None:
    """Refuse what a game that goes on has already."""
    given = [option for option, value in others.items() if value is not None]
    if given:
        raise typer.BadParameter(
            f"--load goes on with a game as it is; leave out {' and '.join(given)}"
        )


def _seats(white: str | None, black: str | None, variant: str) -> tuple[str, str]:
    """Return who sits where: a computer opposite a person, unless both are named."""
    opposite = {_HUMAN: _COMPUTERS.get(variant, _COMPUTER)}
    if white is None:
        white = _HUMAN if black is None else opposite.get(black, _HUMAN)
    return white, opposite.get(white, _HUMAN) if black is None else black


def _player(text: str) -> PlayerSettings:
    """Return the player that `NAME` or `NAME@nodes=2000` stands for."""
    from app.cli.evaluations.plans import agent_of
    from app.matches.settings import PlayerSettings

    return PlayerSettings(**agent_of(text))


async def _watch(operator: Settings, settings: MatchSettings, *, as_ascii: bool, flip: bool) -> str:
    from rich.console import Console

    from app.catalogue import open_catalogue
    from app.cli.boards.spectating import Spectating

    console = Console(highlight=False)
    look = Look.of(console, wants_ascii=as_ascii)
    async with open_catalogue(operator) as catalogue:
        side = Color.BLACK if flip else Color.WHITE
        return await Spectating(console, look, side).watch(settings, catalogue)


async def _play(
    operator: Settings,
    settings: MatchSettings,
    manners: Manners,
    parting: Parting,
    *,
    load: str | None,
    as_ascii: bool,
) -> None:
    from rich.console import Console

    from app.catalogue import open_catalogue
    from app.cli.boards.play_screen import ConsoleScreen
    from app.matches.saves import Saves
    from app.play.session import Session
    from app.play.shelf import Shelf

    console = Console(highlight=False)
    screen = ConsoleScreen(console, Look.of(console, wants_ascii=as_ascii))
    shelf = Shelf(Saves(operator.database_url), f"http://127.0.0.1:{operator.port}")
    async with open_catalogue(operator) as catalogue:
        session = Session(catalogue, screen, shelf, settings, manners)
        try:
            async with session:
                await (session.begin() if load is None else session.load(await shelf.find(load)))
                await _lines(session, screen, console).run()
        except asyncio.CancelledError:
            if not session.was_interrupted:
                raise
        finally:
            parting.words, parting.was_interrupted = session.farewell, session.was_interrupted


def _lines(session: Session, screen: ConsoleScreen, console: Console) -> LineEditor | PlainLines:
    """Return what takes lines: an editor where there is a terminal that can be drawn on."""
    can_edit = session.manners.asks and console.is_terminal and not console.is_dumb_terminal
    if can_edit:
        from app.cli.keyboard.line_editor import LineEditor

        return LineEditor(session, screen)
    from app.cli.keyboard.plain_lines import PlainLines

    return PlainLines(session, screen, sys.stdin)
