"""`kibitz match`: two players meet, once or many times, in this process and without a service."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from enum import StrEnum
from secrets import randbelow
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from app.cli import amounts
from app.cli.completion.values import complete_opening, complete_player, complete_variant
from app.cli.files.pgn_file import open_pgn
from app.cli.files.standard_output import is_standard_output
from app.cli.processes.interruption import Interruption
from app.cli.processes.stopping import stoppable
from app.cli.series.openings import ALL, BALANCED, NONE, read_openings
from app.errors import AppError
from engine import VARIANTS, Position
from engine.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.catalogue import Catalogue
    from agents.models.budget import Budget
    from app.cli.files.pgn_file import GameSink
    from app.cli.series.show import Show
    from app.evaluations.games import SprtSettings
    from app.matches.settings import Adjudication, AnalysisSettings, PlayerSettings
    from app.series.plan import SeriesPlan
    from app.series.results import SeriesResult
    from app.series.starts import Starts

EXAMPLES = (
    "Examples: [bold]kibitz match stockfish:3 classical[/bold] | "
    "[bold]kibitz match team:default stockfish:2 --pgn game.pgn --usd 0.50[/bold] | "
    "[bold]kibitz match classical@nodes=4000 classical@nodes=1000 --games 100 --concurrency 2 "
    "--pgn games.pgn[/bold] | "
    "[bold]kibitz match stockfish:4 uci:toga2 --tc 1+1 --games 20 --openings C,B90[/bold] | "
    "[bold]kibitz match stockfish:5 stockfish:4 --openings balanced --sprt 0,50 --json[/bold]"
)

#: More than anybody has the patience for, as in evaluations; so many at most until a test decides.
MOST_GAMES = 20_000
_STANDARD = "standard"
_COUNT = re.compile(r"[0-9]{1,6}", re.ASCII)

#: Makes the starts of games, once there is a catalogue.
Choice: TypeAlias = "Callable[[Catalogue], Starts]"


class Order(StrEnum):
    """In which order openings are played."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"


class Then(StrEnum):
    """What happens when a player's attempts have run out."""

    FORFEIT = "forfeit"
    CANDIDATE = "candidate"
    RANDOM = "random"


class CannotMatch(AppError):
    """Games that cannot be played as they were asked for."""


def match(
    white: Annotated[
        str,
        typer.Argument(
            metavar="WHITE",
            help="Who begins with White: NAME, or NAME@nodes=2000, @depth=8, @time_ms=100.",
            autocompletion=complete_player,
        ),
    ],
    black: Annotated[
        str,
        typer.Argument(metavar="BLACK", help="The opponent.", autocompletion=complete_player),
    ],
    games: Annotated[
        int | None, typer.Option("--games", "-n", min=1, max=MOST_GAMES, help="How many games.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Games at a time.")] = 1,
    openings: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPENING",
            help="A name, ECO codes or their beginnings (C,B90), moves, a file of PGN, EPD or FEN, "
            "all, balanced or none; several if given more than once. By default all for several "
            "games of standard chess, else none.",
            autocompletion=complete_opening,
        ),
    ] = None,
    opening_plies: Annotated[
        int | None,
        typer.Option(min=1, max=200, help="At most so many plies of each; 8 if balanced."),
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(help="Of openings; by default random for all of ours, else as you name them."),
    ] = None,
    no_swap: Annotated[
        bool, typer.Option("--no-swap", help="The first player always has White.")
    ] = False,
    fen: Annotated[str | None, typer.Option(help="Where every game starts.")] = None,
    variant: Annotated[
        str,
        typer.Option(help=f"One of: {', '.join(VARIANTS)}.", autocompletion=complete_variant),
    ] = _STANDARD,
    tc: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Clocks: minutes, and seconds a move, as in 10+5 or 0.5+1; or as 40/5400+30.",
        ),
    ] = None,
    max_plies: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="A longer game is a draw.")
    ] = None,
    resign: Annotated[
        str | None,
        typer.Option(
            metavar="CENTIPAWNS[,MOVES]",
            help="A side loses that stands so badly for so many moves, as in 900,4.",
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="CENTIPAWNS[,MOVES[,AFTER]]",
            help="A draw, if the score stays so near to 0, as in 10,8,40.",
        ),
    ] = None,
    analysis: Annotated[
        int | None,
        typer.Option(
            metavar="NODES",
            min=0,
            max=5_000_000,
            help="How far Stockfish looks at each ply, for PGN, --resign and --draw; 50000 with "
            "these two, and 0 goes by what the players say.",
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, max=20, help="How often a player may try again, each turn.")
    ] = 3,
    then: Annotated[
        Then, typer.Option(help="After the last illegal try: lose, or play what.")
    ] = Then.FORFEIT,
    usd: Annotated[float | None, amounts.dollars("The budget of all, in dollars.")] = None,
    tokens: Annotated[int | None, amounts.tokens("The budget in tokens.")] = None,
    calls: Annotated[int | None, amounts.calls("The budget in calls.")] = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="Stop as soon as a sequential test decides between these differences in Elo.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**53 - 1,
            help="Openings and dice depend on it; drawn and told, if not given.",
            show_default=False,
        ),
    ] = None,
    pgn: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Append each game as it ends; - prints it. All else goes to stderr.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Let two players play each other, and tell who is stronger.

    No service is needed. In several games colours are swapped after every game, and each opening is
    played by both sides. A single game, or one at a time, is drawn as it is played; several at a
    time get a bar; where there is no terminal, each game is a line.

    A fault is nobody's loss: such a game is void and played again, a few times. Ctrl-C breaks off
    the games under way and keeps what is finished; a second one leaves at once. The exit code is 0
    if all was played or the test has decided, 1 if something kept games from being played or kept,
    130 after Ctrl-C and 143 after SIGTERM.
    """
    from app.cli.series.show import show_of
    from app.cli.series.texts import print_result
    from app.matches.settings import MAX_SEED, IllegalMoves, LastResort, MatchSettings
    from app.play.clocks import read_control
    from app.series.plan import SeriesPlan, told_apart

    is_piped = pgn is not None and is_standard_output(pgn)
    if as_json and is_piped:
        raise typer.BadParameter("--json and --pgn - both print on standard output: name a file")
    if fen is not None:
        Position.from_fen(fen, variant)  # which says what is wrong with it
    players = told_apart(_player(white), _player(black))
    rules = MatchSettings(
        *players,
        variant=variant,
        initial_fen=fen,
        time_control=None if tc is None else read_control(tc),
        illegal_moves=IllegalMoves(retries, then=LastResort(then)),
        budget=_budget(usd, tokens, calls),
        adjudication=_adjudication(resign, draw),
        max_plies=max_plies,
        analysis=_analysis(analysis, is_needed=bool(resign or draw)),
        seed=randbelow(MAX_SEED) if seed is None else seed,
    )
    plan = SeriesPlan(
        rules,
        games=games or (1 if sprt is None else MOST_GAMES),
        swaps=not no_swap,
        concurrency=concurrency,
        test=None if sprt is None else _test(sprt),
    )
    if sprt is not None and (no_swap or plan.games % 2):
        raise typer.BadParameter(
            "--sprt counts pairs: an even number of games, with colours swapped"
        )
    choice = _choose(plan, openings or [], opening_plies, order)
    is_on_terminal = sys.stdout is not None and sys.stdout.isatty()
    with open_pgn(pgn) as sink:
        show = show_of(plan, quiet=quiet, lines_to_err=as_json or is_piped)
        result, interruption = _run(plan, choice, show, sink)
    is_gone = is_on_terminal and interruption.first is signal.SIGHUP
    if result is not None and not is_gone:
        if as_json:
            typer.echo(json.dumps(result.to_json(), allow_nan=False))
        else:
            print_result(result, err=is_piped)
    _exit(result, interruption)


# --- what was asked for ---


def _player(text: str) -> PlayerSettings:
    """Return the player that `NAME` or `NAME@nodes=2000` stands for."""
    from app.cli.evaluations.plans import agent_of
    from app.matches.settings import HUMAN, PlayerSettings

    player = PlayerSettings(**agent_of(text))
    if player.name == HUMAN:
        raise CannotMatch("nobody moves for a human here: write `kibitz play`")
    return player


def _budget(usd: float | None, tokens: int | None, calls: int | None) -> Budget:
    from app.matches.schemas import BudgetBody

    return BudgetBody.model_validate({"usd": usd, "tokens": tokens, "calls": calls}).settings()


def _adjudication(resign: str | None, draw: str | None) -> Adjudication:
    from app.matches.settings import Adjudication, DrawScore, ResignScore

    return Adjudication(
        None if resign is None else ResignScore(*_counts("--resign", resign, 1, 2)),
        None if draw is None else DrawScore(*_counts("--draw", draw, 0, 3)),
    )


def _counts(option: str, text: str, least: int, most: int) -> list[int]:
    """Return the centipawns of an option, of which there are so few at least, and its moves."""
    words = text.split(",")
    if len(words) > most or not all(_COUNT.fullmatch(word) for word in words):
        raise typer.BadParameter(f"{option} takes whole numbers, not {shown(text)}")
    numbers = [int(word) for word in words]
    if numbers[0] < least or (len(numbers) > 1 and not numbers[1]):
        raise typer.BadParameter(f"{option} takes numbers from 1 on, not {shown(text)}")
    return numbers


def _analysis(nodes: int | None, *, is_needed: bool) -> AnalysisSettings | None:
    from app.matches.schemas import ANALYSIS_NODES
    from app.matches.settings import AnalysisSettings

    if nodes is None and is_needed:
        nodes = ANALYSIS_NODES
    return AnalysisSettings(nodes=nodes) if nodes else None


def _test(text: str) -> SprtSettings:
    from app.evaluations.games import SprtSettings
    from app.evaluations.sprt import sprt

    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise typer.BadParameter("--sprt takes two numbers, as in 0,50") from None
    test = SprtSettings((low, high))
    sprt([1, 1, 1, 1, 1], test.bounds)  # which says what is wrong with them
    return test


# --- where games start ---


def _choose(plan: SeriesPlan, wanted: list[str], plies: int | None, order: Order | None) -> Choice:
    """Return what makes the starts, once there is a catalogue."""
    from app.evaluations.balanced import PLIES
    from app.evaluations.starts import Start
    from app.series.starts import BalancedStarts, ListedStarts, OwnStarts

    rules = plan.rules
    variant, seed = rules.variant, rules.seed
    if rules.initial_fen is not None:
        if wanted:
            raise typer.BadParameter("--fen and --openings exclude each other")
        return lambda _: ListedStarts([Start(fen=rules.initial_fen)])
    is_default = not wanted
    if is_default:
        wanted = [ALL if plan.games > 1 and variant == _STANDARD else NONE]
        if rules.max_plies is not None:  # nobody has asked for those that are longer
            plies = min(plies or rules.max_plies, rules.max_plies - 1)
    if {BALANCED, NONE} & set(wanted) and len(wanted) > 1:
        raise typer.BadParameter(f"{BALANCED} and {NONE} stand alone")
    if wanted == [NONE]:
        return lambda _: OwnStarts(variant, seed)
    if wanted == [BALANCED]:
        if not VARIANTS[variant].has_uci_engines:
            raise CannotMatch(f"no UCI engine knows {VARIANTS[variant].title}, to balance openings")
        most = PLIES if plies is None else plies
        return lambda catalogue: BalancedStarts(catalogue.analyser(), variant, seed, most)
    if order is None:
        order = Order.RANDOM if wanted == [ALL] else Order.SEQUENTIAL
    listed = ListedStarts(
        read_openings(wanted, variant, plies), seed if order is Order.RANDOM else None
    )
    return lambda _: listed


# --- playing ---


def _run(
    plan: SeriesPlan, choice: Choice, show: Show, sink: GameSink
) -> tuple[SeriesResult | None, Interruption]:
    """Play, and return what came of it, or None if it was left at once."""
    from app.logs import configure

    configure("critical")  # what goes wrong is said in a sentence of its own
    interruption = Interruption()
    return asyncio.run(_play(plan, choice, show, sink, interruption)), interruption


async def _play(
    plan: SeriesPlan, choice: Choice, show: Show, sink: GameSink, interruption: Interruption
) -> SeriesResult | None:
    from app.catalogue import open_catalogue
    from app.matches.seating import check_settings
    from app.series.series import Series
    from app.series.starts import check_starts
    from app.settings import load_settings

    # Two processes for each game, so that each seat keeps the memory of its own.
    processes = {"engine_processes": 2 * plan.concurrency}
    settings = load_settings().model_copy(update=processes)
    interruption.hush(show)
    with interruption.listening():
        try:
            async with open_catalogue(settings) as catalogue:
                check_settings(plan.rules, catalogue)
                starts = choice(catalogue)
                await check_starts(plan, starts)
                series = Series(plan, starts, catalogue, show, sink.append)
                interruption.ask(series.stop)
                with show, stoppable(show, has_clocks=True):
                    return await series.run()
        except asyncio.CancelledError:
            if not interruption.received:
                raise
            return None


def _exit(result: SeriesResult | None, interruption: Interruption) -> None:
    """End with the exit code that tells how it went, and say what went wrong."""
    from app.series.results import Status

    if interruption.first is not None and (result is None or result.status is not Status.FINISHED):
        raise typer.Exit(128 + interruption.first)
    if result is not None and result.status is not Status.FINISHED:
        typer.echo(f"kibitz: {result.detail}", err=True)
        raise typer.Exit(1)
