"""What an evaluation adds to the leaderboard: sums, small enough to be kept for each evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.evaluations.adaptive import Anchor
from app.evaluations.analysis.quality import summarise
from app.evaluations.bradley_terry import Tally
from app.evaluations.games import EvaluationData, SideRecord
from app.evaluations.pool_ratings import tallies_of
from app.evaluations.ratings import AnchorResult
from app.evaluations.reports.conduct import record_of
from app.evaluations.strengths import answer_results

_ALL_THE_SAME: Mapping[str, str] = MappingProxyType({})


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
    #: How many positions it was asked, and how many it solved.
    asked: int = 0
    solved: int = 0
    #: Those positions of which is known how hard they are, as games against them.
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
    answers = [each for each in data.answers if each.agent == label]
    return MeasuredAgent(
        label,
        identity,
        forfeits=sum(game.is_forfeit and game.score_of(label) == 0 for game in own),
        record=record_of(data, label),
        accuracy=quality.accuracy,
        analysed_games=quality.games,
        asked=len(answers),
        solved=sum(each.is_right for each in answers),
        answers=tuple(answer_results(label, answers)),
    )
