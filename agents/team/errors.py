"""What is wrong with a team, as a type."""

from __future__ import annotations

from dataclasses import dataclass

from agents.errors import AgentError
from engine.errors import shown


@dataclass(eq=False)
class TeamsUnreadable(AgentError):
    """A folder of teams that cannot be looked into."""

    folder: str
    reason: str

    is_lasting = True

    def __str__(self) -> str:
        return f"the folder of teams {shown(self.folder)} cannot be read: {self.reason}"


@dataclass(eq=False)
class InvalidTeam(AgentError):
    """A team that cannot be used as it is written."""

    team: str
    reason: str

    is_lasting = True

    def __str__(self) -> str:
        return f"the team {shown(self.team)} is wrong: {self.reason}"
