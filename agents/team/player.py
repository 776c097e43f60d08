"""The players `team:NAME` and `solo:NAME`: models that are asked for advice and for a decision."""

from __future__ import annotations

from agents.player import Decision, Turn
from agents.team.consultation import Caller, Consultation, model_of
from agents.team.library import Team

TEAM, SOLO = "team", "solo"


class TeamPlayer:
    """A team in a seat. It keeps nothing between turns: all it knows is in the turn."""

    def __init__(
        self, name: str, team: Team, caller: Caller, *, default_model: str, seed: int | None = None
    ) -> None:
        self.name = name
        self._team = team
        self._caller = caller
        self._default_model = default_model
        self._seed = seed

    @property
    def models(self) -> tuple[str, ...]:
        """The models that may be asked, each once."""
        return models_of(self._team, self._default_model)

    async def decide(self, turn: Turn) -> Decision:
        """Return what the team decides; raises `ModelError` if whoever decides cannot be asked."""
        consultation = Consultation(
            self._team, turn, self._caller, default_model=self._default_model, seed=self._seed
        )
        return await consultation.decide()


def models_of(team: Team, default_model: str) -> tuple[str, ...]:
    """Return the models that a team may ask, each once."""
    members = team.definition.members
    return tuple(dict.fromkeys(model_of(member, default_model) for member in members))
