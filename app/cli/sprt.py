"""`kibitz sprt`: whether one agent is stronger than another, by a sequential test."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Annotated

import typer

from engine.errors import shown

EXAMPLES = (
    "Examples: [bold]kibitz sprt --results 10,20,30 --bounds 0,50[/bold] | "
    "[bold]kibitz sprt --results 2,8,20,14,6 --bounds 0,10 --model normalized --json[/bold]"
)


class Model(StrEnum):
    """What Elo the bounds are in."""

    LOGISTIC = "logistic"
    NORMALIZED = "normalized"


def sprt(
    results: Annotated[
        str,
        typer.Option(
            help="Games lost,drawn,won; or pairs of games by their points: 0,½,1,1½,2.",
            metavar="L,D,W | LL,LD,DD+WL,WD,WW",
        ),
    ],
    bounds: Annotated[
        str, typer.Option(help="The Elo of the two hypotheses.", metavar="ELO0,ELO1")
    ] = "0,50",
    model: Annotated[Model, typer.Option(help="What Elo the bounds are in.")] = Model.LOGISTIC,
    alpha: Annotated[float, typer.Option(help="The risk to accept H1 if H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="The risk to accept H0 if H1 is true.")] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Test whether one agent is stronger than another.

    The hypotheses are that its Elo over the other is ELO0 (H0) or ELO1 (H1). Results are the first
    one's. Pairs are two games from one opening with colours swapped; they tell more than the same
    games one by one. The exit code is 0 whatever the decision.
    """
    from app.evaluations.sprt import are_alike, statistics_of
    from app.evaluations.sprt import sprt as test

    counts = _numbers("--results", results)
    limits = _numbers("--bounds", bounds)
    if len(limits) != 2:
        raise typer.BadParameter(f"--bounds takes two numbers, as 0,50, not {shown(bounds)}")
    verdict = test(counts, (limits[0], limits[1]), model.value, alpha, beta)
    fared = statistics_of(counts)
    if as_json:
        settings = {"model": model.value, "bounds": limits, "alpha": alpha, "beta": beta}
        data = verdict.to_json() | fared.to_json() | settings | {"results": counts}
        typer.echo(json.dumps(data, allow_nan=False))
        return
    decision = {
        "H0": f"H0 is accepted: {limits[0]:g} Elo",
        "H1": f"H1 is accepted: {limits[1]:g} Elo",
    }
    typer.echo(f"LLR {verdict.llr:.3f} ({verdict.lower:.3f} to {verdict.upper:.3f})")
    typer.echo(decision[verdict.decision] if verdict.decision else "Not decided yet: play on.")
    if are_alike(counts):
        typer.echo(f"{fared.games:g} games, all results the same: they tell no Elo, but a bound.")
        return
    typer.echo(
        f"Elo {fared.elo:.1f} ± {fared.elo_margin:.1f}, nElo {fared.nelo:.1f} ± "
        f"{fared.nelo_margin:.1f}, LOS {fared.los:.1%}, {fared.games:g} games"
    )


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(math.isfinite(number) for number in numbers):
        raise typer.BadParameter(f"{option} takes numbers with commas between, not {shown(text)}")
    return [int(number) if number == int(number) else number for number in numbers]
