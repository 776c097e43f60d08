"""Library: the teams that can be seated, those that are shipped and the operator's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from agents.team.definition import TeamDefinition, read_definition
from agents.team.errors import InvalidTeam, TeamsUnreadable
from agents.team.prompts import Prompt, load_prompt, make_prompt

_SHIPPED = files("agents.team") / "teams"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}")
SUFFIX = ".toml"


@dataclass(frozen=True)
class Team:
    """A team with the texts of its prompts, by file name."""

    name: str
    definition: TeamDefinition
    texts: Mapping[str, str]

    def prompt(self, file: str, variant: str) -> Prompt:
        """Return a prompt for games of a variant."""
        return make_prompt(self.texts[file], variant)

    def control(self) -> Team:
        """Return the equal-token control of the team: one model, one call."""
        return Team(self.name, self.definition.control(), self.texts)


def load_teams(folder: Path | None = None) -> dict[str, Team]:
    """Return all teams by name: those that are shipped, and those of a folder.

    Raises `InvalidTeam` or `TeamsUnreadable`.
    """
    teams = dict(_shipped())
    if folder is None:
        return teams
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX)
    except OSError as error:
        raise TeamsUnreadable(str(folder), error.strerror or type(error).__name__) from None
    for path in paths:
        name = path.stem
        if not _NAME.fullmatch(name):
            raise InvalidTeam(name, "a name has up to 50 letters, digits or any of ._-")
        if name in teams:
            raise InvalidTeam(name, "a shipped team has that name")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise InvalidTeam(name, f"{path} cannot be read as text") from None
        teams[name] = _team(name, text, folder)
    return teams


@cache
def _shipped() -> Mapping[str, Team]:
    found = sorted(_SHIPPED.iterdir(), key=lambda each: (each.name != "default.toml", each.name))
    names = {each.name.removesuffix(SUFFIX): each for each in found if each.name.endswith(SUFFIX)}
    return {name: _team(name, each.read_text("utf-8"), None) for name, each in names.items()}


def _team(name: str, text: str, folder: Path | None) -> Team:
    definition = read_definition(name, text)
    names = {definition.solo_prompt, *(member.prompt for member in definition.members)}
    return Team(name, definition, {file: load_prompt(name, file, folder) for file in sorted(names)})
