"""Commanding all matches of an evaluation at once."""

from __future__ import annotations

import structlog

from app.matches.commands import Command, Pause
from app.matches.errors import MatchError
from app.matches.match import PauseCause
from app.matches.service import MatchService
from app.persistence.database import Database
from app.persistence.evaluations import unfinished_matches

#: What lets the clocks stand until the evaluation goes on.
PAUSE = Pause("the evaluation is paused", PauseCause.EVALUATION)

_log = structlog.get_logger(__name__)


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
