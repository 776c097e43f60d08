"""`kibitz analyse`: what an engine thinks of a position, or of every position of a game."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from agents.errors import CannotPlayVariant
from app.cli.complaints import complain
from app.cli.completion.values import complete_engine, complete_variant
from app.cli.durations import duration
from app.cli.files.game_files import STANDARD_INPUT, names_file, read_file
from app.cli.processes.running import run
from app.cli.progress import progress_bar
from app.errors import AppError
from engine import VARIANTS, Color, Game, Position

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from agents.catalogue import Catalogue
    from agents.uci.analyser import Analyser, Analysis, Variation
    from agents.uci.info import Bound, Score, Wdl
    from agents.uci.limits import Limit

EXAMPLES = (
    "Examples: [bold]kibitz analyse[/bold] | "
    '[bold]kibitz analyse "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq -" '
    "--lines 3[/bold] | "
    "[bold]kibitz analyse games.pgn --nodes 50000[/bold] | "
    "[bold]kibitz analyse - --engine uci:toga2 --json < games.pgn[/bold]"
)

_SIGNS = {"lowerbound": "≥", "upperbound": "≤", None: ""}
_OPPOSITE: dict[str, str] = {"lowerbound": "upperbound", "upperbound": "lowerbound"}


class CannotAnalyse(AppError):
    """A way to analyse that there is not."""


def analyse(
    what: Annotated[
        str,
        typer.Argument(
            help="A FEN, a PGN file, or - for PGN from standard input; "
            "the starting position if not given."
        ),
    ] = "",
    engine: Annotated[
        str,
        typer.Option(help="Who analyses: stockfish, or uci:NAME.", autocompletion=complete_engine),
    ] = "stockfish",
    variant: Annotated[
        str,
        typer.Option(
            help=f"Of a FEN; one of: {', '.join(VARIANTS)}.", autocompletion=complete_variant
        ),
    ] = "standard",
    lines: Annotated[
        int, typer.Option(min=1, max=500, help="How many variations; of games, with --json only.")
    ] = 1,
    depth: Annotated[int | None, typer.Option(help="Think so many plies deep.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Look at so many positions.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Think so long about each.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
) -> None:
    """Tell what an engine thinks of a position, or of games.

    A position gets its best variations. The games of a PGN file are printed with an evaluation
    after every move, for other programs to read. Without any limit it looks at 200,000 positions.

    Scores, bounds and chances (won, drawn and lost; in JSON, as wdl, in thousandths) are all from
    White's side.

    A game that cannot be read or analysed is left out, with a sentence on standard error; the exit
    code is then 1.
    """
    from agents.uci.limits import MAX_TIME, Limit

    time = None if seconds is None else duration(seconds, timedelta(seconds=1), MAX_TIME)
    limit = Limit(depth=depth, nodes=nodes, time=time)
    if engine != "stockfish" and not engine.startswith("uci:"):
        raise CannotAnalyse(f"{engine!r} does not analyse: say stockfish or uci:NAME")
    if what == STANDARD_INPUT or names_file(what, ".pgn"):
        if lines > 1 and not as_json:
            raise CannotAnalyse("games are printed with one variation; more need --json")
        games, count = read_file(what)
        done = run(_analyse_games(games, engine, limit, lines, as_json)) if games else 0
        if done < count:
            raise typer.Exit(1)
        return
    position = Position.from_fen(what, variant) if what else Position.start(variant)
    run(_analyse_position(position, engine, limit, lines, as_json))


async def _analyse_position(
    position: Position, engine: str, limit: Limit, lines: int, as_json: bool
) -> None:
    async with _catalogue() as catalogue:
        analysis = await catalogue.analyser(engine).analyse(position, _or_none(limit), lines=lines)
    if as_json:
        typer.echo(json.dumps(_to_json(analysis)))
        return
    typer.echo(f"{position.text()}\n")
    if analysis.outcome is not None:
        typer.echo(f"The game is over: {analysis.outcome}.")
    for variation in analysis.variations:
        typer.echo(_line(position, variation))


async def _analyse_games(
    games: Mapping[int, Game], engine: str, limit: Limit, lines: int, as_json: bool
) -> int:
    """Print games, by their numbers, with what the engine thinks; return how many it could."""
    done = 0
    async with _catalogue() as catalogue:
        analyser = catalogue.analyser(engine)
        with progress_bar() as bar:
            for number, game in games.items():
                task = bar.add_task(f"game {number} of {max(games)}")
                try:
                    text = await _analyse_game(analyser, game, limit, lines, as_json, bar, task)
                except CannotPlayVariant as error:
                    complain(f"game {number}: {error}")
                else:
                    typer.echo(text)
                    done += 1
                bar.remove_task(task)
    return done


async def _analyse_game(
    analyser: Analyser,
    game: Game,
    limit: Limit,
    lines: int,
    as_json: bool,
    bar: Progress,
    task: TaskID,
) -> str:
    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    analyses = await analyser.analyse_game(game, _or_none(limit), lines=lines, progress=show)
    if as_json:
        return json.dumps({"tags": game.tags, "positions": [_to_json(each) for each in analyses]})
    _annotate(game, analyses)
    return game.pgn()


def _annotate(game: Game, analyses: list[Analysis]) -> None:
    """Note after every move what the position is worth, from White's side, where that is known."""
    for index, analysis in enumerate(analyses[1:]):
        is_mate = analysis.outcome is not None and analysis.outcome.winner is not None
        score = analysis.score
        # Mate is in the move itself, and PGN has no way to say that a score is only a bound.
        if score is not None and score.bound is None and not is_mate:
            game.line.note(index).evaluation = score.evaluation(analysis.position.turn)


def _line(position: Position, variation: Variation) -> str:
    evaluation = variation.score.evaluation(position.turn)
    if evaluation.centipawns is not None:
        worth = f"{evaluation.centipawns / 100:+.2f}"
    else:
        worth = f"#{evaluation.mate}"
    worth = _SIGNS[_bound(variation.score.bound, position.turn)] + worth
    chances = ""
    if variation.wdl is not None:
        percents = (f"{each / 10:.0f}" for each in _chances(variation.wdl, position.turn))
        chances = f"  {'/'.join(percents)} %"
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
                "bound": _bound(each.score.bound, turn),
                "wdl": None if each.wdl is None else _chances(each.wdl, turn),
                "depth": each.depth,
                "seldepth": each.selective_depth,
                "nodes": each.nodes,
                "time_ms": None if each.time is None else each.time // timedelta(milliseconds=1),
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


def _bound(bound: Bound | None, turn: Color) -> str | None:
    """Return what a bound is from White's side: Black's lower bound is White's upper one."""
    if bound is None:
        return None
    return bound.value if turn is Color.WHITE else _OPPOSITE[bound.value]


def _chances(wdl: Wdl, turn: Color) -> list[int]:
    """Return White's chances to win, draw and lose, in thousandths."""
    chances = [wdl.win, wdl.draw, wdl.loss]
    return chances if turn is Color.WHITE else chances[::-1]


def _catalogue() -> Catalogue:
    from app.catalogue import make_catalogue
    from app.settings import load_settings

    return make_catalogue(load_settings())


def _or_none(limit: Limit) -> Limit | None:
    return limit if limit.is_set else None
