"""`kibitz players`: who can be seated, and how strong they are."""

from __future__ import annotations

import json
from typing import Annotated

import typer

EXAMPLES = "Examples: [bold]kibitz players[/bold] | [bold]kibitz players --json[/bold]"


def players(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List who can play, with their Elo where it was measured.

    Ratings are those of the last `kibitz calibrate`, or else those that come with Kibitz.
    """
    from agents.uci.levels import LEVELS
    from app.catalogue import make_catalogue
    from app.settings import load_settings

    catalogue = make_catalogue(load_settings())
    ratings = catalogue.ratings
    how = {level.name: level.how for level in LEVELS}
    for name in catalogue.names:
        if lack := catalogue.lack_of(name):
            how[name] = f"cannot be seated: {lack}"
    if as_json:
        listed = {
            name: {"elo": rated.elo, "low": rated.low, "high": rated.high, "games": rated.games}
            if (rated := ratings.players.get(name))
            else None
            for name in catalogue.names
        }
        engine, measured_at = ratings.engine, ratings.measured_at.isoformat()
        data = {
            "engine": engine,
            "measured_at": measured_at,
            "anchors": dict(ratings.anchors),
            "players": listed,
        }
        typer.echo(json.dumps(data))
        return
    for name in catalogue.names:
        rated = ratings.players.get(name)
        elo = "" if rated is None else str(rated)
        typer.echo(f"{name:22} {elo:12} {how.get(name, '')}".rstrip())
    date = ratings.measured_at.date()
    anchors = "".join(f"; {name} is {elo:.0f}" for name, elo in ratings.anchors.items())
    typer.echo(f"\nElo measured with {ratings.engine} on {date}{anchors}.")
