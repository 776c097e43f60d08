"""`kibitz rate`: how strong somebody is, by results against opponents of known rating."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.complaints import complain
from app.cli.files.game_files import STANDARD_INPUT
from app.errors import AppError
from engine.errors import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.evaluations.glicko import GlickoRating
    from app.evaluations.ratings import AnchorResult, Estimate

EXAMPLES = (
    "Examples: [bold]kibitz rate results.csv[/bold] | "
    "[bold]kibitz rate results.csv --white-advantage 35 --json[/bold] | "
    "[bold]kibitz rate - --system glicko2 --rating 1500 --deviation 200 < results.csv[/bold]"
)


class System(StrEnum):
    """How results become a rating."""

    ELO = "elo"
    GLICKO2 = "glicko2"


class CannotReadResults(AppError):
    """A file of results that cannot be opened."""


def rate(
    file: Annotated[str, typer.Argument(help="A CSV file, or - for standard input.")],
    white_advantage: Annotated[
        float, typer.Option(help="What having White is worth, in Elo; colours must be given.")
    ] = 0.0,
    system: Annotated[System, typer.Option(help="How results become a rating.")] = System.ELO,
    rating: Annotated[float, typer.Option(help="Glicko-2: the rating so far.")] = 1500.0,
    deviation: Annotated[float, typer.Option(help="Glicko-2: its deviation (RD).")] = 350.0,
    volatility: Annotated[float, typer.Option(help="Glicko-2: the volatility so far.")] = 0.06,
    tau: Annotated[float, typer.Option(help="Glicko-2: how volatilities may change.")] = 0.5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rate somebody by results against opponents of known rating.

    The file's first line names its columns: opponent_elo, wins, draws and losses; and as you like
    opponent_elo_se (the standard error of the opponent's rating), colour (white or black, of whom
    is rated) and opponent (a name).

    The rating is that of maximum likelihood, with a 95 % interval. Who won or lost every game gets
    a bound on one side, by the likelihood ratio: somebody of just that strength would do the same
    one time in four. Glicko-2 takes the file for one rating period, and opponent_elo_se for
    opponents' deviations.
    """
    from app.evaluations.results_file import read_results

    if system is System.GLICKO2 and white_advantage:
        raise typer.BadParameter("Glicko-2 knows no --white-advantage")
    data, name = _read(file)
    read = read_results(data, name)
    for column in read.unknown_columns:
        complain(f"the column {shown(column)} of {name} is not used")
    if system is System.GLICKO2:
        from app.evaluations.glicko import GlickoRating

        _tell_glicko(read.results, GlickoRating(rating, deviation, volatility), tau, as_json)
        return
    from app.evaluations.ratings import estimate

    result = estimate(read.results, white_advantage=white_advantage)
    if white_advantage and any(each.color is None for each in read.results if each.games):
        complain("--white-advantage changes nothing where no colour is given")
    if as_json:
        typer.echo(json.dumps(_to_json(read.results, result, white_advantage), allow_nan=False))
    else:
        _print(read.results, result)


def _read(what: str) -> tuple[bytes, str]:
    """Return what a file holds, and what to call it."""
    if what == STANDARD_INPUT:
        if sys.stdin is None:
            raise CannotReadResults("standard input is closed")
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(what).read_bytes(), what
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        reason = getattr(error, "strerror", None) or "it has no proper name"
        raise CannotReadResults(f"{shown(what)} cannot be read: {reason}") from None


def _to_json(
    results: Sequence[AnchorResult], result: Estimate, white_advantage: float
) -> dict[str, object]:
    counts = {
        "wins": sum(each.wins for each in results),
        "draws": sum(each.draws for each in results),
        "losses": sum(each.losses for each in results),
    }
    return result.to_json() | counts | {"white_advantage": white_advantage}


def _print(results: Sequence[AnchorResult], result: Estimate) -> None:
    from app.evaluations.bradley_terry import ONE_SIDED

    typer.echo(f"{'opponent':24} {'Elo':>12} {'colour':>7} {'won':>6} {'drawn':>6} {'lost':>6}")
    for each in results:
        elo = f"{each.elo:g}" + (f" ± {each.elo_se:g}" if each.elo_se else "")
        color = each.color or ""
        counts = f"{each.wins:6} {each.draws:6} {each.losses:6}"
        name = each.anchor if each.anchor.isprintable() else shown(each.anchor)
        typer.echo(f"{name:24} {elo:>12} {color:>7} {counts}")
    typer.echo(f"\n{result} Elo, by {result.points:g} points of {result.games} games")
    if result.bound is not None:
        scored = "everything" if result.bound == "lower" else "nothing"
        bound = f"a {result.bound} bound by the likelihood ratio (2 ln L = -{ONE_SIDED})"
        typer.echo(f"  {bound}: {scored} was scored")
        return
    typer.echo(f"  95 % interval        {result.low:.1f} to {result.high:.1f}")
    low, high = result.draw_aware_low, result.draw_aware_high
    typer.echo(f"  draws accounted for  {low:.1f} to {high:.1f}")
    if result.standard_error is not None and result.sandwich_error is not None:
        typer.echo(f"  standard error       {result.standard_error:.1f}")
        typer.echo(f"  as scores varied     {result.sandwich_error:.1f} (the sandwich)")


def _tell_glicko(
    results: Sequence[AnchorResult], player: GlickoRating, tau: float, as_json: bool
) -> None:
    from app.evaluations.glicko import GlickoGame, GlickoRating, rate_period

    games = [
        GlickoGame(GlickoRating(each.elo, each.elo_se), each.points, each.games) for each in results
    ]
    after = rate_period(player, games, tau)
    count, points = sum(each.games for each in results), sum(each.points for each in results)
    if as_json:
        data = {
            "rating": after.rating,
            "deviation": after.deviation,
            "volatility": after.volatility,
            "games": count,
            "points": points,
        }
        typer.echo(json.dumps(data, allow_nan=False))
        return
    typer.echo(
        f"{after.rating:.1f} Glicko-2, deviation {after.deviation:.1f}, "
        f"volatility {after.volatility:.6f}, after {points:g} points of {count} games"
    )
