"""`kibitz suite`: positions with one best move, mined from games, and what is in a suite."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.completion.values import complete_suite
from app.cli.files.game_files import read_file
from app.cli.files.output_file import OutputFile
from app.cli.files.standard_output import is_standard_output
from app.cli.group import Group
from app.cli.processes.interruption import handling
from app.cli.progress import progress_bar
from app.cli.suite_run import run

if TYPE_CHECKING:
    from rich.table import Table

    from agents.catalogue import Catalogue
    from app.evaluations.suites.mining import MinedSoFar, MiningRules
    from app.evaluations.suites.suite import Suite, SuitePosition
    from app.settings import Settings
    from engine import Game

EXAMPLES = (
    "Examples: [bold]kibitz suite mine games.pgn --output mine.epd[/bold] | "
    "[bold]kibitz suite mine --matches --count 100 --spread --output mine.epd[/bold] | "
    "[bold]kibitz suite show mine.epd[/bold] | "
    "[bold]kibitz suite run mine.epd classical stockfish:5[/bold]"
)

#: Where there is no terminal, nothing is gained by breaking lines at 80 columns.
_WIDTH = 150
_NAME_WITHOUT_FILE = "mined"

suite = Group(
    name="suite",
    help="Find positions with one best move, and see who finds it.",
    epilog=EXAMPLES,
)


suite.command(epilog=EXAMPLES)(run)


@dataclass
class _Mining:
    """What is to be mined, and what was."""

    rules: MiningRules
    count: int | None
    #: Stop at the count; else all games are looked through.
    stops_at_count: bool
    with_difficulty: bool
    seed: int
    found: list[SuitePosition] = field(default_factory=list)
    so_far: MinedSoFar | None = None
    was_stopped: bool = False


@suite.command(epilog=EXAMPLES)
def mine(
    games: Annotated[
        list[str] | None,
        typer.Argument(metavar="GAMES.pgn", help="PGN files, or - for standard input."),
    ] = None,
    matches: Annotated[
        bool, typer.Option("--matches", help="Also, or only, finished matches of the service.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="The EPD file to write; by default standard output.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="At most so many positions.")
    ] = None,
    spread: Annotated[
        bool,
        typer.Option(
            "--spread",
            help="Look through all games, and keep the --count positions whose difficulties are "
            "spread most evenly.",
        ),
    ] = False,
    nodes: Annotated[
        int, typer.Option(help="How far Stockfish looks to verify; to screen, a twentieth.")
    ] = 200_000,
    gap: Annotated[
        float, typer.Option(help="How far the best move is ahead, in points of Win%.")
    ] = 20.0,
    no_difficulty: Annotated[
        bool, typer.Option("--no-difficulty", help="Do not measure how hard positions are.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The players' dice depend on it.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was found as one JSON object.")
    ] = False,
) -> None:
    """Find positions in games where one move is far the best.

    How hard each is, is told by players of known rating: Stockfish's levels and random, who are
    asked what they would play. Ctrl-C ends it early and keeps what was found. The exit code is 1 if
    nothing was found, or if some game could not be read.
    """
    from app.evaluations.suites.mining import MiningRules
    from app.evaluations.suites.suite import Suite

    if not games and not matches:
        raise typer.BadParameter("name PGN files, or say --matches")
    if spread and (count is None or no_difficulty):
        raise typer.BadParameter("--spread needs a --count, and difficulties")
    mining = _Mining(MiningRules(gap, nodes), count, not spread, not no_difficulty, seed)
    if output is not None and is_standard_output(output):
        output = None
    with nullcontext() if output is None else OutputFile(output, force=True) as file:
        given, left_out = _read(games or [])
        asyncio.run(_mine(mining, given, matches))
        found = Suite(_NAME_WITHOUT_FILE, tuple(mining.found))
        if count is not None:
            found = found.spread(count) if spread else Suite(found.name, found.positions[:count])
        if found.positions and file is not None:
            file.write(found.text())
    if as_json:
        typer.echo(json.dumps(_to_json(found), allow_nan=False))
    elif found.positions and output is None:
        typer.echo(found.text(), nl=False)
    _summarise(mining, found, output, to_stderr=as_json or output is None)
    if left_out or not found.positions:
        raise typer.Exit(1)


@suite.command(epilog=EXAMPLES)
def show(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="SUITE",
            help="An EPD file, or a suite that comes with Kibitz; without it, these are named.",
            autocompletion=complete_suite,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell which positions are in a suite, and how hard they are."""
    from app.evaluations.suites.suite import find_suite, shipped_suites

    if name is None:
        shipped = shipped_suites()
        typer.echo(json.dumps({"suites": shipped}) if as_json else "\n".join(shipped))
        return
    found = find_suite(name)
    if as_json:
        typer.echo(json.dumps(_to_json(found), allow_nan=False))
        return
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else _WIDTH).print(_table(found))
    typer.echo(f"{_described(found)} Digest {found.digest[:16]}.")


def _read(names: Iterable[str]) -> tuple[list[Game], int]:
    """Return the games of files, and how many cannot be read. Raises `CannotReadGames`."""
    games: list[Game] = []
    total = 0
    for name in names:
        found, count = read_file(name)
        games += found.values()
        total += count
    return games, total - len(games)


async def _mine(mining: _Mining, given: list[Game], matches: bool) -> None:
    """Mine games until there are no more, there is enough, or a signal says so."""
    from app.catalogue import make_catalogue
    from app.settings import load_settings

    settings = load_settings()
    async with make_catalogue(settings) as catalogue:
        task = asyncio.create_task(_look_through(mining, catalogue, settings, given, matches))

        def stop(_number: signal.Signals) -> None:
            mining.was_stopped = True
            task.cancel()

        with handling(stop):
            try:
                await task
            except asyncio.CancelledError:
                if not mining.was_stopped:
                    raise


async def _look_through(
    mining: _Mining, catalogue: Catalogue, settings: Settings, given: list[Game], matches: bool
) -> None:
    from app.evaluations.suites.difficulty import rate_position, respondents
    from app.evaluations.suites.mining import Miner

    asked = respondents(catalogue) if mining.with_difficulty else ()
    analyser = catalogue.analyser()
    with progress_bar() as bar:
        total = mining.count if mining.stops_at_count else None
        task = bar.add_task("0 games", total=total)

        def watch(so_far: MinedSoFar) -> None:
            told = f"{so_far.games} games, {so_far.screened} positions, {len(mining.found)} found"
            bar.update(task, completed=len(mining.found), description=told)

        async def rate(position: SuitePosition) -> SuitePosition:
            if not mining.with_difficulty:
                return position
            return await rate_position(position, asked, mining.seed, analyser.concurrency)

        miner = Miner(analyser, mining.rules, watch)
        mining.so_far = miner.so_far
        async with aclosing(_games(settings, given, matches)) as games:
            async for game in games:
                for each in await miner.mine(game):
                    mining.found.append(await rate(each))
                    if mining.stops_at_count and len(mining.found) == mining.count:
                        return


async def _games(
    settings: Settings, given: list[Game], matches: bool
) -> AsyncGenerator[Game, None]:
    for game in given:
        yield game
    if matches:
        from app.matches.finished import finished_games
        from app.persistence.database import Database

        # A service may be running on it: nothing is written but what brings it up to date.
        async with await Database.open(settings.database_url, exclusive=False) as database:
            async for game in finished_games(database):
                yield game


def _summarise(mining: _Mining, found: Suite, output: Path | None, *, to_stderr: bool) -> None:
    """Say what came of it; on standard error where the positions themselves are printed."""
    so_far = mining.so_far

    def tell(sentence: str) -> None:
        typer.echo(sentence, err=to_stderr)

    if mining.was_stopped:
        tell("Stopped early.")
    if so_far is not None:
        tell(
            f"Looked at {so_far.screened} positions of {so_far.games} games, "
            f"and verified {so_far.verified}."
        )
        if so_far.passed_over:
            tell(f"{so_far.passed_over} games of other variants were passed over.")
    if not found.positions:
        typer.echo("kibitz: no such position was found", err=True)
        return
    tell(_described(found))
    if output is not None:
        tell(f"Written to {output}.")


def _described(found: Suite) -> str:
    """Return how many positions there are, and how hard, in a sentence."""
    elos = sorted(each.difficulty for each in found.positions if each.difficulty is not None)
    positions = "1 position" if len(found.positions) == 1 else f"{len(found.positions)} positions"
    if not elos:
        return f"{positions}, whose difficulty is not known."
    middle = elos[len(elos) // 2]
    unknown = len(found.positions) - len(elos)
    others = f", {unknown} of unknown difficulty" if unknown else ""
    return (
        f"{positions} of difficulty {elos[0]:.0f} to {elos[-1]:.0f}, the middle one {middle:.0f}"
        f"{others}."
    )


def _table(found: Suite) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table("id", "best", "difficulty", "gap", "position")
    for place in (2, 3):
        table.columns[place].justify = "right"
    for each in found.positions:
        difficulty = ""
        if each.difficulty is not None:
            difficulty = f"{each.difficulty:z.0f} ± {1.96 * (each.difficulty_se or 0.0):.0f}"
        gap = "" if each.gap is None else f"{each.gap:.0f}"
        table.add_row(escape(each.id), escape(" ".join(each.san)), difficulty, gap, each.fen)
    return table


def _to_json(found: Suite) -> dict[str, object]:
    return {
        "name": found.name,
        "digest": found.digest,
        "positions": [
            {
                "id": each.id,
                "fen": each.fen,
                "uci": list(each.uci),
                "san": list(each.san),
                "difficulty": each.difficulty,
                "difficulty_se": each.difficulty_se,
                "gap": each.gap,
                "source": each.source,
            }
            for each in found.positions
        ],
    }
