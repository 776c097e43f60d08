"""`kibitz accuracy`: how well both sides of a game played, by Lichess' published formulas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.complaints import complain
from app.cli.completion.values import complete_engine
from app.cli.files.game_files import read_file
from app.cli.processes.running import run
from app.cli.progress import progress_bar
from app.errors import AppError
from engine import Color, Evaluation, Game, Move, Ply

if TYPE_CHECKING:
    from rich.progress import Progress

    from agents.uci.analyser import Analyser
    from app.evaluations.analysis.analysed_ply import AnalysedPly
    from app.evaluations.analysis.game_analysis import GameAnalysis
    from app.evaluations.analysis.quality import MoveQuality

EXAMPLES = (
    "Examples: [bold]kibitz accuracy game.pgn[/bold] | "
    "[bold]kibitz accuracy games.pgn --nodes 1000000 --moves[/bold] | "
    "[bold]kibitz accuracy - --json < games.pgn[/bold]"
)

_COLUMNS = {
    "moves": 6,
    "accuracy": 10,
    "ACPL": 7,
    "inaccuracies": 14,
    "mistakes": 10,
    "blunders": 10,
}
_TITLES = 12


class NoSuchAnalyst(AppError):
    """Somebody who does not analyse."""


def accuracy(
    file: Annotated[str, typer.Argument(help="A PGN file, or - for PGN from standard input.")],
    nodes: Annotated[int, typer.Option(help="Let it look at so many positions each.")] = 100_000,
    engine: Annotated[
        str,
        typer.Option(help="Who analyses: stockfish, or uci:NAME.", autocompletion=complete_engine),
    ] = "stockfish",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Analyse also games in which every move is evaluated.")
    ] = False,
    moves: Annotated[bool, typer.Option("--moves", help="Tell of every move, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
) -> None:
    """Tell how accurately both sides of games played.

    For each side, in all and by phase: the accuracy in percent, the average loss of a move in
    centipawns (ACPL), and how many moves were inaccuracies, mistakes and blunders, by Lichess'
    published formulas.

    Where every move of a game has an evaluation ([%eval] in its comment), these are used, which
    costs nothing; but who wrote them may be one of the players. Else, or with --fresh, an engine
    analyses the game.

    A game that cannot be read or analysed is left out, with a sentence on standard error; the exit
    code is then 1.
    """
    from agents.uci.limits import Limit

    Limit(nodes=nodes)  # which says what is wrong with it before anything is read
    if engine != "stockfish" and not engine.startswith("uci:"):
        raise NoSuchAnalyst(f"{engine!r} does not analyse: say stockfish or uci:NAME")
    games, count = read_file(file)
    done = run(_tell_of_games(games, _Analyst(engine, nodes, fresh), moves, as_json))
    if done < count:
        raise typer.Exit(1)


class _Analyst:
    """Analyses games; the engine is started when the first one needs it."""

    def __init__(self, engine: str, nodes: int, fresh: bool) -> None:
        self._engine = engine
        self._nodes = nodes
        self._fresh = fresh
        self._analyser: Analyser | None = None
        self._stack = AsyncExitStack()

    async def analyse(self, game: Game, bar: Progress, title: str) -> GameAnalysis:
        """Return the analysis of a game; raises what `analyse_game` does."""
        from app.evaluations.analysis.game_analysis import analyse_game, noted_analysis

        noted = None if self._fresh else noted_analysis(game)
        if noted is not None:
            return noted
        task = bar.add_task(title)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        try:
            analyser = await self._start()
            return await analyse_game(analyser, game, nodes=self._nodes, progress=show)
        finally:
            bar.remove_task(task)

    async def _start(self) -> Analyser:
        from app.catalogue import make_catalogue
        from app.settings import load_settings

        if self._analyser is None:
            catalogue = await self._stack.enter_async_context(make_catalogue(load_settings()))
            self._analyser = catalogue.analyser(self._engine)
        return self._analyser

    async def aclose(self) -> None:
        """End the engine, if it was started."""
        await self._stack.aclose()


async def _tell_of_games(
    games: Mapping[int, Game], analyst: _Analyst, moves: bool, as_json: bool
) -> int:
    """Print what is to be said of games, by their numbers; return how many could be analysed."""
    from app.evaluations.analysis.questions import CannotAnalyseVariant

    done = 0
    try:
        with progress_bar() as bar:
            for number, game in games.items():
                title = f"game {number} of {max(games)}"
                try:
                    analysis = await analyst.analyse(game, bar, title)
                except CannotAnalyseVariant as error:
                    complain(f"game {number}: {error}")
                    continue
                if as_json:
                    typer.echo(json.dumps(_to_json(number, game, analysis, moves), allow_nan=False))
                else:
                    typer.echo("\n".join(_lines(number, game, analysis, moves)) + "\n")
                done += 1
    finally:
        await analyst.aclose()
    return done


def _to_json(number: int, game: Game, analysis: GameAnalysis, moves: bool) -> dict[str, object]:
    from app.evaluations.analysis.quality import summarise

    told: dict[str, object] = {
        "game": number,
        "tags": game.tags,
        "engine": analysis.engine,
        "nodes_per_position": analysis.nodes_per_position,
    }
    for color in Color:
        quality = summarise([(analysis, color)])
        phases = {phase.value: each.to_json() for phase, each in quality.phases.items()}
        told[color.value] = {**quality.overall.to_json(), "phases": phases}
    if moves:
        told["moves"] = [each.to_json() for each in analysis.plies]
    return told


def _lines(number: int, game: Game, analysis: GameAnalysis, moves: bool) -> Iterator[str]:
    from app.evaluations.analysis.quality import summarise

    players = " - ".join(game.tags.get(each.value.capitalize(), "?") for each in Color)
    yield f"Game {number}: {players}, {game.result}"
    yield f"Evaluated by {_source(analysis)}."
    if moves:
        yield ""
        yield from map(_move_line, game.plies, analysis.plies)
    yield ""
    yield _row("", _COLUMNS)
    for color in Color:
        quality = summarise([(analysis, color)])
        yield _quality_row(color.value.capitalize(), quality.overall)
        for phase, each in quality.phases.items():
            if each.moves:
                yield _quality_row(f"  {phase.value}", each)


def _source(analysis: GameAnalysis) -> str:
    if analysis.engine is None:
        return "what is noted in the game, without an engine"
    return f"{analysis.engine}, {analysis.nodes_per_position:,} nodes for each position"


def _quality_row(title: str, quality: MoveQuality) -> str:
    return _row(
        title,
        (
            f"{quality.moves}",
            "-" if quality.accuracy is None else f"{quality.accuracy:.1f} %",
            "-" if quality.acpl is None else f"{quality.acpl:.0f}",
            f"{quality.inaccuracies}",
            f"{quality.mistakes}",
            f"{quality.blunders}",
        ),
    )


def _row(title: str, cells: Iterable[str]) -> str:
    aligned = (f"{each:>{width}}" for each, width in zip(cells, _COLUMNS.values(), strict=True))
    return f"{title:<{_TITLES}}{''.join(aligned)}"


def _move_line(played: Ply, analysed: AnalysedPly) -> str:
    number = f"{played.move_number}{'.' if played.color is Color.WHITE else '...'}"
    worth, accuracy = _worth(analysed.evaluation), f"{analysed.accuracy:.1f} %"
    line = f"{number:>7} {analysed.san:<8}{worth:>8}{accuracy:>10}"
    if analysed.judgement is None:
        return line
    instead = ""
    if analysed.best not in (None, analysed.uci):
        instead = f"; better was {played.before.san(Move.from_uci(analysed.best))}"
    return f"{line}  {analysed.judgement.value}{instead}"


def _worth(evaluation: Evaluation) -> str:
    if evaluation.centipawns is None:
        return "mate" if evaluation.mate == 0 else f"#{evaluation.mate}"
    return f"{evaluation.centipawns / 100:+.2f}"
