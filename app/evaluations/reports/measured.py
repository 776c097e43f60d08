"""What an evaluation adds to the leaderboard: sums, small enough to be kept for each evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from app.errors import AppError
from app.evaluations.adaptive import Anchor
from app.evaluations.analysis.quality import summarise
from app.evaluations.bradley_terry import Tally
from app.evaluations.games import EvaluationData, SideRecord
from app.evaluations.pool_ratings import tallies_of
from app.evaluations.ratings import AnchorResult
from app.evaluations.reports.conduct import record_of
from app.evaluations.strengths import answer_results

_ALL_THE_SAME: Mapping[str, str] = MappingProxyType({})


@dataclass(eq=False)
class InvalidResults(AppError):
    """Data of which no results of an evaluation can be made."""

    reason: str

    def __str__(self) -> str:
        return f"these are no results of an evaluation: {self.reason}"


@dataclass(frozen=True, slots=True)
class MeasuredAgent:
    """What one agent did in an evaluation."""

    label: str
    #: What tells agents of one label apart, such as a digest of prompts and models.
    identity: str
    forfeits: int
    record: SideRecord
    accuracy: float | None
    analysed_games: int
    #: Positions, as games against them.
    answers: tuple[AnchorResult, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationResults:
    """What one evaluation adds to the leaderboard."""

    id: str
    #: As they were rated in this evaluation. Whoever is an agent in it, too, is none.
    anchors: tuple[Anchor, ...]
    agents: tuple[MeasuredAgent, ...]
    #: By labels; both players are among the agents or anchors.
    tallies: tuple[Tally, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, from which `from_json` makes it again."""
        data = asdict(self)
        for agent in data["agents"]:
            cost = agent["record"]["cost_usd"]
            agent["record"]["cost_usd"] = None if cost is None else format(cost, "f")
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EvaluationResults:
        """Return what `to_json` gave, or raise `InvalidResults`."""
        try:
            found = cls(
                data["id"],
                tuple(Anchor(**each) for each in data["anchors"]),
                tuple(_agent_from(each) for each in data["agents"]),
                tuple(Tally(**each) for each in data["tallies"]),
            )
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise InvalidResults(f"{type(error).__name__} {error}") from error
        known = {each.label for each in found.anchors} | {each.label for each in found.agents}
        if any({tally.first, tally.second} - known for tally in found.tallies):
            raise InvalidResults("somebody played who is neither agent nor anchor")
        return found


def results_of(
    data: EvaluationData, identities: Mapping[str, str] = _ALL_THE_SAME
) -> EvaluationResults:
    """Return what an evaluation adds to the leaderboard.

    `identities` tell agents of the same label apart, by label; not given, label for label is the
    same agent in all evaluations.
    """
    known = {*data.agents, *(anchor.label for anchor in data.anchors)}
    return EvaluationResults(
        data.id,
        tuple(anchor for anchor in data.anchors if anchor.label not in data.agents),
        tuple(_agent(data, label, identities.get(label, "")) for label in data.agents),
        tuple(
            tallies_of(
                (game.white, game.black, game.score_of(game.white))
                for game in data.games
                if {game.white, game.black} <= known and game.white != game.black
            )
        ),
    )


def _agent(data: EvaluationData, label: str, identity: str) -> MeasuredAgent:
    own = [game for game in data.games if label in (game.white, game.black)]
    quality = summarise(
        (data.analyses[game.match_id], game.color_of(label))
        for game in own
        if game.match_id in data.analyses
    ).overall
    return MeasuredAgent(
        label,
        identity,
        forfeits=sum(game.is_forfeit and game.score_of(label) == 0 for game in own),
        record=record_of(data, label),
        accuracy=quality.accuracy,
        analysed_games=quality.games,
        answers=tuple(answer_results(label, data.answers)),
    )


def _agent_from(data: Mapping[str, Any]) -> MeasuredAgent:
    record = dict(data["record"])
    cost = record["cost_usd"]
    record["cost_usd"] = None if cost is None else Decimal(cost)
    answers = tuple(AnchorResult(**{**each, "color": None}) for each in data["answers"])
    return MeasuredAgent(**{**data, "record": SideRecord(**record), "answers": answers})
