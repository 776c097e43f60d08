"""Facts: what our rules engine can say of a position, for specialists to read.

They come from the rules alone, never from a UCI engine: a team that reads them still has to choose.
"""

from __future__ import annotations

from typing import TypeAlias

from agents.errors import CannotPlayVariant
from agents.team.chess_facts import ChessFacts
from agents.team.chess_survey import survey
from agents.team.kings_cooking_facts import KingsCookingFacts, survey_kings_cooking
from engine import ChessPosition, KingsCookingPosition, Position

#: Of whichever variant; `text()` says them in words.
Facts: TypeAlias = ChessFacts | KingsCookingFacts

_WITH_FACTS = ("standard", "chess960", "kings-cooking")


def facts_of(position: Position) -> Facts:
    """Return the facts of a position, or raise `CannotPlayVariant` where we know of none."""
    if isinstance(position, ChessPosition):
        return survey(position)
    if isinstance(position, KingsCookingPosition):
        return survey_kings_cooking(position)
    raise CannotPlayVariant("a team with facts", position.variant, _WITH_FACTS)
