"""`kibitz analyse`: what Stockfish thinks of a position, or of every position of a game."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.durations import duration
from app.errors import AppError
from engine import VARIANTS, Color, Game, Position, read_games

if TYPE_CHECKING:
    from rich.progress import TaskID

    from agents.catalogue import Catalogue
    from agents.uci.analyser import Analysis, Variation
    from agents.uci.info import Score
    from agents.uci.limits import Limit

EXAMPLES = (
    "Examples: [bold]kibitz analyse[/bold] | "
    '[bold]kibitz analyse "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq -" '
    "--lines 3[/bold] | "
    "[bold]kibitz analyse games.pgn --nodes 50000[/bold]"
)


class CannotAnalyse(AppError):
    """A file that cannot be read, or has no game."""


def analyse(
    what: Annotated[
        str, typer.Argument(help="A FEN, or a PGN file; the starting position if not given.")
    ] = "",
    variant: Annotated[str, typer.Option(help=f"Of a FEN; one of: {', '.join(VARIANTS)}.")] = (
        "standard"
    ),
    lines: Annotated[int, typer.Option(min=1, max=500, help="How many variations.")] = 1,
    depth: Annotated[int | None, typer.Option(help="Think so many plies deep.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Look at so many positions.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Think so long about each.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
) -> None:
    """Tell what Stockfish thinks of a position, or of a game.

    A position gets its best variations. The games of a PGN file are printed with an evaluation
    after every move, for other programs to read. Without any limit it looks at 200,000 positions.
    """
    from agents.uci.limits import MAX_TIME, Limit

    time = None if seconds is None else duration(seconds, timedelta(seconds=1), MAX_TIME)
    limit = Limit(depth=depth, nodes=nodes, time=time)
    if _names_a_file(what):
        asyncio.run(_analyse_games(_read(Path(what)), limit, lines, as_json))
        return
    position = Position.from_fen(what, variant) if what else Position.start(variant)
    asyncio.run(_analyse_position(position, limit, lines, as_json))


async def _analyse_position(position: Position, limit: Limit, lines: int, as_json: bool) -> None:
    async with _catalogue() as catalogue:
        analysis = await catalogue.analyser().analyse(position, _or_none(limit), lines=lines)
    if as_json:
        typer.echo(json.dumps(_to_json(analysis)))
        return
    typer.echo(f"{position.text()}\n")
    if analysis.outcome is not None:
        typer.echo(f"The game is over: {analysis.outcome}.")
    for variation in analysis.variations:
        typer.echo(_line(position, variation))


async def _analyse_games(games: list[Game], limit: Limit, lines: int, as_json: bool) -> None:
    from rich.console import Console
    from rich.progress import Progress

    async with _catalogue() as catalogue:
        analyser = catalogue.analyser()
        with Progress(console=Console(stderr=True), transient=True) as bar:
            for number, game in enumerate(games, 1):
                task = bar.add_task(f"game {number} of {len(games)}")

                def show(done: int, total: int, task: TaskID = task) -> None:
                    bar.update(task, completed=done, total=total)

                analyses = await analyser.analyse_game(
                    game, _or_none(limit), lines=lines, progress=show
                )
                bar.remove_task(task)
                if as_json:
                    plies = [_to_json(each) for each in analyses]
                    typer.echo(json.dumps({"tags": game.tags, "positions": plies}))
                else:
                    _annotate(game, analyses)
                    typer.echo(game.pgn())


def _annotate(game: Game, analyses: list[Analysis]) -> None:
    """Note after every move what the position is worth, from White's side."""
    for index, analysis in enumerate(analyses[1:]):
        is_mate = analysis.outcome is not None and analysis.outcome.winner is not None
        if analysis.score is not None and not is_mate:  # mate is in the move itself
            evaluation = analysis.score.evaluation(analysis.position.turn)
            game.line.note(index).evaluation = evaluation


def _line(position: Position, variation: Variation) -> str:
    evaluation = variation.score.evaluation(position.turn)
    if evaluation.centipawns is not None:
        worth = f"{evaluation.centipawns / 100:+.2f}"
    else:
        worth = f"#{evaluation.mate}"
    chances = ""
    if variation.wdl is not None:
        wdl = variation.wdl
        won, lost = (wdl.win, wdl.loss) if position.turn is Color.WHITE else (wdl.loss, wdl.win)
        chances = f"  {won / 10:.0f}/{wdl.draw / 10:.0f}/{lost / 10:.0f} %"
    depth = "" if variation.depth is None else f"  depth {variation.depth}"
    return f"{variation.rank}. {worth:>6}{chances}{depth}  {_numbered(position, variation.san)}"


def _numbered(position: Position, san: Iterable[str]) -> str:
    """Return moves as a score sheet has them: `1. e4 e5 2. Nf3`."""
    number, is_white = position.fullmove_number, position.turn is Color.WHITE
    words = [] if is_white else [f"{number}..."]
    for move in san:
        if is_white:
            words.append(f"{number}.")
        words.append(move)
        number += not is_white
        is_white = not is_white
    return " ".join(words)


def _to_json(analysis: Analysis) -> dict[str, object]:
    turn = analysis.position.turn
    outcome = analysis.outcome
    return {
        "fen": analysis.position.fen(),
        "turn": turn.value,
        "termination": None if outcome is None else outcome.termination.value,
        "variations": [
            {
                "rank": each.rank,
                "score": _score(each.score, turn),
                "wdl": None if each.wdl is None else [each.wdl.win, each.wdl.draw, each.wdl.loss],
                "depth": each.depth,
                "nodes": each.nodes,
                "uci": [move.uci() for move in each.moves],
                "san": list(each.san),
            }
            for each in analysis.variations
        ],
    }


def _score(score: Score, turn: Color) -> dict[str, int | None]:
    """Return a score from White's side, as games note it."""
    evaluation = score.evaluation(turn)
    return {"centipawns": evaluation.centipawns, "mate": evaluation.mate}


def _catalogue() -> Catalogue:
    from app.services import make_catalogue
    from app.settings import load_settings

    return make_catalogue(load_settings())


def _or_none(limit: Limit) -> Limit | None:
    return limit if limit.is_set else None


def _names_a_file(what: str) -> bool:
    try:
        return what.lower().endswith(".pgn") or Path(what).is_file()
    except OSError:
        return False  # such as a FEN that is too long for a name


def _read(path: Path) -> list[Game]:
    try:
        games = list(read_games(path.read_text(encoding="utf-8-sig", errors="replace")))
    except OSError as error:
        raise CannotAnalyse(f"{path} cannot be read: {error.strerror}") from None
    if not games:
        raise CannotAnalyse(f"{path} has no game")
    return games
