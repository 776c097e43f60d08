"""Check of the teams: those that are shipped, and the operator's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agents.team.library import load_teams
from app.doctor.findings import Finding, fine

if TYPE_CHECKING:
    from app.settings import Settings

SUBJECT = "Teams"
ADVICE = (
    "mend what it names, or set teams_folder to another folder, or unset it; "
    "docs/reference/teams.md has all keys"
)


def look_at_teams(settings: Settings) -> Sequence[Finding]:
    """Say which teams there are; raises `InvalidTeam` or `TeamsUnreadable`."""
    shipped, teams = sorted(load_teams()), load_teams(settings.teams_folder)
    own = [name for name in teams if name not in shipped]
    case = f"{len(shipped)} are shipped: {', '.join(shipped)}"
    if settings.teams_folder is not None:
        named = f"{len(own)}: {', '.join(own)}" if own else "none"
        case += f"; in {settings.teams_folder} there are {named}"
    return [fine(SUBJECT, case, shipped=shipped, own=own)]
