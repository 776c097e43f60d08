"""Openings: the lines that a match can start from by name."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from app.http.dependencies import ReadScope
from app.http.errors import problems
from app.http.schemas import Answer
from app.matches.openings import OPENINGS

_BIRD: dict[str, Any] = {"name": "Bird Opening", "eco": "A03", "moves": "f4 d5 Nf3 Nf6 e3 g6"}

router = APIRouter(prefix="/api/openings", tags=["matches"], responses=problems(401))


class OpeningAnswer(Answer):
    """A named line from the starting position."""

    name: str = Field(description="What to write for `opening`.", examples=[_BIRD["name"]])
    eco: str = Field(
        description="Its code in the Encyclopaedia of Chess Openings. Several may share one.",
        examples=[_BIRD["eco"]],
    )
    moves: str = Field(description="In short notation.", examples=[_BIRD["moves"]])


class OpeningsAnswer(Answer):
    """All openings that have a name here, by ECO code."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"openings": [_BIRD]}]})

    openings: list[OpeningAnswer]


@router.get("", summary="List the known openings")
async def list_openings(_: ReadScope) -> OpeningsAnswer:
    """Return every opening that a match of standard chess can be started from by name."""
    return OpeningsAnswer(
        openings=[
            OpeningAnswer(name=each.name, eco=each.eco, moves=" ".join(each.moves))
            for each in OPENINGS
        ]
    )
