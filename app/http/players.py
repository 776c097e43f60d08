"""Players: who can be seated, and how strong they are."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from agents.catalogue import UCI, Catalogue
from agents.classical.player import ClassicalPlayer
from agents.errors import CannotPlayVariant
from agents.random_player import RandomPlayer
from agents.solver_player import SolverPlayer
from agents.uci.errors import UciError
from agents.uci.levels import LEVELS, STOCKFISH
from agents.uci.ratings import RatedPlayer
from app.http.dependencies import ReadScope, ServicesOf
from app.http.errors import problems
from app.http.schemas import Answer
from engine import VARIANTS

HUMAN = "human"

_LEVELS = {level.name: level for level in LEVELS}
_TITLES = {
    RandomPlayer.name: ("Random", "plays any legal move"),
    SolverPlayer.name: ("Solver", "plays King's Cooking perfectly"),
    ClassicalPlayer.name: ("Classical team", "search and evaluation on our own engine, offline"),
    HUMAN: ("Human", "moves by `POST /api/matches/{id}/moves` with the token of the seat"),
}

router = APIRouter(prefix="/api/players", tags=["players"], responses=problems(401, 503))


class RatingAnswer(Answer):
    """An Elo with its 95 % interval. Where all games were won or lost, only a bound is known."""

    elo: float | None
    low: float | None
    high: float | None
    games: int


class PlayerAnswer(Answer):
    """Somebody who can be seated."""

    name: str = Field(description="What to write for `white` or `black`.", examples=["stockfish:5"])
    kind: str = Field(examples=["stockfish"])
    title: str = Field(examples=["Stockfish, level 5"])
    description: str = Field(examples=["10% at random, else skill 0, depth 1"])
    variants: list[str] = Field(examples=[["standard", "chess960"]])
    rating: RatingAnswer | None = Field(description="Null if it was never measured.")
    models: list[str] = Field(
        description="The models that it asks, as `provider/model`.", examples=[[]]
    )
    unavailable: str | None = Field(
        description="What the operator has to set up before it can be seated; else null."
    )


class PlayersAnswer(Answer):
    """Everybody who can be seated."""

    players: list[PlayerAnswer]
    ratings_engine: str = Field(
        description="With what the levels were measured.", examples=["Stockfish 15.1"]
    )
    ratings_measured_at: datetime
    ratings_anchors: Annotated[
        dict[str, float], Field(description="The players whose Elo was set.")
    ]


@router.get("", summary="List who can be seated")
async def list_players(services: ServicesOf, _: ReadScope) -> PlayersAnswer:
    """Return every name that `white` and `black` can be, what it plays, and how strong it is."""
    catalogue = services.catalogue
    ratings = catalogue.ratings
    players = []
    for name in (HUMAN, *catalogue.names):
        has_all = name == HUMAN or catalogue.team(name) is not None
        variants = list(VARIANTS) if has_all else _variants(catalogue, name)
        if variants:
            players.append(_player(catalogue, name, variants, ratings.players.get(name)))
    return PlayersAnswer(
        players=players,
        ratings_engine=ratings.engine,
        ratings_measured_at=ratings.measured_at,
        ratings_anchors=dict(ratings.anchors),
    )


def _variants(catalogue: Catalogue, name: str) -> list[str]:
    """Return what a player plays, by seating it: nothing, if its program is not there."""
    found = []
    for variant in VARIANTS:
        try:
            catalogue.seat(name, variant)
        except (CannotPlayVariant, UciError):
            continue
        found.append(variant)
    return found


def _player(
    catalogue: Catalogue, name: str, variants: list[str], rated: RatedPlayer | None
) -> PlayerAnswer:
    kind = name.partition(":")[0]
    if name in _LEVELS:
        level = _LEVELS[name]
        title, description = f"{STOCKFISH.capitalize()}, level {level.number}", level.how
    elif (team := catalogue.team(name)) is not None:
        title, description = team.definition.title, team.definition.description
    elif kind == UCI:
        title, description = catalogue.pool(name).program.title, "a UCI engine"
    else:
        title, description = _TITLES.get(name, (name, ""))
    rating = None
    if rated is not None:
        rating = RatingAnswer(elo=rated.elo, low=rated.low, high=rated.high, games=rated.games)
    return PlayerAnswer(
        name=name,
        kind=kind,
        title=title,
        description=description,
        variants=variants,
        rating=rating,
        models=list(catalogue.models_of(name)),
        unavailable=catalogue.lack_of(name),
    )
