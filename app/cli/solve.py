"""`kibitz solve`: what a position of King's Cooking is worth, move by move."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from engine import Game, RatedMove, Solver, Value, Verdict, seen_twice
from engine.variants import KINGS_COOKING

EXAMPLES = (
    "Examples: [bold]kibitz solve[/bold] | "
    '[bold]kibitz solve --moves "Nxc3 Rxa1"[/bold] | '
    '[bold]kibitz solve "R1b/3/1Nn w - - B r 2" --json[/bold]'
)


def solve(
    fen: Annotated[
        str, typer.Argument(help="Where to start, as one line; the starting position if not given.")
    ] = KINGS_COOKING.start_fen(0),
    moves: Annotated[
        str, typer.Option(help="Moves played from there, in any notation, with spaces between.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell what a position of King's Cooking and its moves are worth.

    Both sides play perfectly. With --moves, repetitions among them are counted.
    """
    game = Game(fen, variant=KINGS_COOKING.name)
    for move in moves.split():
        if not move.rstrip(".").isdecimal():  # a move number of its own
            game.play(move)
    verdict, rated = (None, []) if game.is_over else _solve(game)
    if as_json:
        typer.echo(json.dumps(_to_json(game, verdict, rated)))
        return
    typer.echo(f"{game.position.text()}\n")
    if verdict is None:
        typer.echo(f"The game is over: {game.describe()}.")
        return
    typer.echo(_sentence(game.turn.value.capitalize(), verdict))
    typer.echo("Best first; of draws, the hardest to hold for the other side:")
    for each in rated:
        slips = f", {each.slips:.0%} of the replies go wrong" if each.slips else ""
        typer.echo(f"  {game.position.san(each.move):5} {each.verdict}{slips}")


def _solve(game: Game) -> tuple[Verdict, list[RatedMove]]:
    solver, twice = Solver(), seen_twice(game.line.positions)
    return solver.verdict(game.position, twice), solver.moves(game.position, twice)


def _sentence(mover: str, verdict: Verdict) -> str:
    plies = "1 ply" if verdict.plies == 1 else f"{verdict.plies} plies"
    if verdict.plies is None:
        end = "only a repetition ends the game"
    elif verdict.value is Value.DRAW:
        end = f"{mover} can end the game, not losing, within {plies}"
    else:
        end = f"the game ends in {plies}"
    return f"{mover} to move: a {verdict.value.name.lower()}; {end}."


def _to_json(game: Game, verdict: Verdict | None, rated: list[RatedMove]) -> dict[str, object]:
    outcome = game.outcome
    return {
        "fen": game.position.fen(),
        "player_to_move": game.turn.value,
        "result": game.result,
        "termination": outcome.termination.value if outcome else None,
        "verdict": _verdict(verdict) if verdict else None,
        "moves": [
            {"move": each.move.uci(), "notation": game.position.san(each.move)}
            | _verdict(each.verdict)
            | {"slips": each.slips}
            for each in rated
        ],
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {"value": verdict.value.name.lower(), "plies": verdict.plies}
