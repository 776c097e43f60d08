"""Difficulty: how strong whoever solves a position half of the time is, on the scale of ratings.

It is the rating of an agent against anchors, seen in a mirror: the position plays players of known
rating, wins where they do not find the best move, and loses where they do.

Players who roll dice are asked many times; those who always give the same answer only once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents.catalogue import Catalogue
from agents.player import Player, Turn
from agents.uci.levels import LEVELS
from agents.uci.ratings import RatedPlayer
from app.errors import AppError
from app.evaluations.calibration import contestants
from app.evaluations.crew import share_out
from app.evaluations.ratings import WALD, AnchorResult, Estimate
from app.evaluations.suites.solving import rate_solving
from app.evaluations.suites.suite import SuitePosition
from engine import MoveError

ANSWERS = 20
#: The standard error of a difficulty that is only a bound, since nobody solved it or everybody did.
BOUND_ERROR = 1_000.0
#: Who is stronger differs by nothing from whoever said which move is best.
_STRONGEST = 3_000.0
_FULL = LEVELS[-1].name


@dataclass(eq=False)
class NoRespondents(AppError):
    """Nobody to ask, since nobody's rating is known."""

    def __str__(self) -> str:
        return "difficulties need players of known rating; run kibitz calibrate"


@dataclass(frozen=True)
class Respondent:
    """A player of known rating who is asked for the best move, and how often."""

    name: str
    elo: float
    elo_se: float
    seat: Callable[[int], Player]
    answers: int


def respondents(catalogue: Catalogue, answers: int = ANSWERS) -> tuple[Respondent, ...]:
    """Return who is asked: `random`, the levels, and the rungs between the last two.

    Raises `NoRespondents`, and what `Catalogue.ratings` raises.
    """
    known = catalogue.ratings.players
    found = tuple(
        Respondent(
            each.name,
            rating.elo,
            _error(rating),
            each.seat,
            1 if each.name.startswith(_FULL) else answers,  # which would say the same again
        )
        for each in contestants(catalogue, ())
        if (rating := known.get(each.name)) is not None
        and rating.elo is not None
        and rating.elo <= _STRONGEST
    )
    if not found:
        raise NoRespondents
    return found


async def rate_position(
    position: SuitePosition, asked: Sequence[Respondent], seed: int = 1, concurrency: int = 1
) -> SuitePosition:
    """Return the position with its difficulty, as the answers of these players tell it.

    The dice of Stockfish's limited skill are its own, so it is not quite the same again. Raises
    what `Player.decide` raises.
    """
    tasks = [(each, number) for each in asked for number in range(each.answers)]
    turn = Turn(position.position)

    async def solves(task: tuple[Respondent, int]) -> bool:
        respondent, number = task
        player = respondent.seat(_derived(seed, position.id, respondent.name, number))
        move = (await player.decide(turn)).move
        if isinstance(move, str):
            try:
                move = turn.position.parse(move)
            except MoveError:
                return False
        return position.is_right(move)

    answers = await share_out(tasks, solves, concurrency)
    solved = Counter(each.name for (each, _), right in zip(tasks, answers, strict=True) if right)
    results = [
        AnchorResult(
            each.elo,
            wins=each.answers - solved[each.name],
            draws=0,
            losses=solved[each.name],
            elo_se=each.elo_se,
            anchor=each.name,
        )
        for each in asked
    ]
    found = rate_solving(results)
    return replace(position, difficulty=found.elo, difficulty_se=_error_of(found))


def _error_of(found: Estimate) -> float:
    """Return the standard error, the largest of what can be said for it.

    The interval has the players' own uncertainty in it, and the sandwich how badly the curve fits:
    a move may be plain to the weak and hidden from the strong.
    """
    if found.margin is None:
        return BOUND_ERROR
    return max(found.margin / WALD, found.sandwich_error or 0.0)


def _error(rating: RatedPlayer) -> float:
    if rating.low is None or rating.high is None:
        return 0.0  # an anchor of the scale, whose rating is so by definition
    return (rating.high - rating.low) / (2 * WALD)


def _derived(*parts: object) -> int:
    """Return a seed that depends on all of the parts, and resembles that of no others."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:8])
