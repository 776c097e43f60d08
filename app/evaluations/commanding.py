"""Commanding all matches of an evaluation at once."""

from __future__ import annotations

import structlog

from agents.models.budget import Budget
from app.matches.commands import Command, Hold
from app.matches.errors import MatchError
from app.matches.service import MatchService
from app.persistence.database import Database
from app.persistence.evaluations import unfinished_matches

_PAUSED = "the evaluation is paused"
#: What lets matches stand until the evaluation goes on, and what has all go on that are paused.
HOLD, HOLD_ALL = Hold(_PAUSED), Hold(_PAUSED, also_paused=True)

_log = structlog.get_logger(__name__)


def hold_with(budget: Budget) -> Hold:
    """Return what lets a match stand, and gives it another budget."""
    return Hold(_PAUSED, budget=budget)


async def command(matches: MatchService, match_id: str, what: Command) -> None:
    """Command a match, if it makes sense there."""
    try:
        await matches.command(match_id, what, for_evaluation=True)
    except MatchError as error:  # it is over, or has not begun, or has gone on meanwhile
        _log.info("match needed no command", match_id=match_id, error=str(error))


async def command_all(
    database: Database, matches: MatchService, evaluation_id: str, what: Command
) -> None:
    """Command every match of an evaluation that is not over, if it makes sense there."""
    found = await database.read(lambda connection: unfinished_matches(connection, evaluation_id))
    for match_id in found:
        await command(matches, match_id, what)
