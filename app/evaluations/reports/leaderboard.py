"""Leaderboard: everybody who was ever measured, rated by all scored games at once.

The games of all evaluations go into one pool, which is rated by Bradley and Terry's model with the
anchors fixed. So nobody drifts, the order of evaluations does not matter, and two agents that never
met are comparable through those whom both met.

- An anchor counts with the rating that its evaluation gave it. If that was another one elsewhere,
  since somebody calibrated anew, the two are different opponents: no game is moved to a scale that
  it was not played on. A note tells of it, since ratings are then means over both scales.
- An agent counts by its label and its identity. Where a team has changed its prompts or models, it
  is another agent, and has a row of its own.
- Positions are no games: what is solved stands beside the rating, and does not go into it.
- White's advantage is left out, since all play both colours equally often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from app.evaluations.adaptive import Anchor
from app.evaluations.bradley_terry import Tally
from app.evaluations.games import SideRecord
from app.evaluations.pool_ratings import rate_pool
from app.evaluations.ratings import AnchorResult, Estimate
from app.evaluations.reports.conduct import per_move
from app.evaluations.reports.measured import EvaluationResults, MeasuredAgent
from app.evaluations.scores import Score
from app.evaluations.suites.screening import rate_answers

#: An agent by its label and identity.
Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """What is known of one agent by all evaluations."""

    label: str
    identity: str
    #: None if no chain of games leads to an anchor, or the games leave it open on both sides.
    rating: Estimate | None
    score: Score
    forfeits: int
    #: The ids of the evaluations, in the order in which they were given.
    evaluations: tuple[str, ...]
    record: SideRecord
    #: The mean of the analysed games' accuracies, and how many they are.
    accuracy: float | None
    analysed_games: int
    #: Positions answered and solved, and the rating by their difficulties.
    answers: int
    right: int
    positions_rating: Estimate | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, all of it finite."""
        return {
            "label": self.label,
            "identity": self.identity,
            "rating": _told(self.rating),
            **self.score.to_json(),
            "forfeits": self.forfeits,
            "evaluations": list(self.evaluations),
            "per_move": per_move(self.record),
            "accuracy": self.accuracy,
            "analysed_games": self.analysed_games,
            "positions": {
                "answers": self.answers,
                "right": self.right,
                "rating": _told(self.positions_rating),
            },
        }


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All agents, the strongest first; those who cannot be rated last."""

    rows: tuple[LeaderboardRow, ...]
    #: Each as often as it was rated differently.
    anchors: tuple[Anchor, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, all of it finite."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "anchors": [
                {"label": each.label, "elo": each.elo, "se": each.se} for each in self.anchors
            ],
            "notes": list(self.notes),
        }


def leaderboard(evaluations: Iterable[EvaluationResults]) -> Leaderboard:
    """Return everybody's rating by all games of all evaluations.

    Raises `UnratablePool` if results or anchors cannot be.
    """
    everything = list(evaluations)
    anchors = sorted(
        {anchor for each in everything for anchor in each.anchors},
        key=lambda anchor: (anchor.label, anchor.elo, anchor.se),
    )
    ratings = _ratings(everything, anchors)
    entries: dict[Key, _Entry] = {}
    for evaluation in everything:
        for agent in evaluation.agents:
            entry = entries.setdefault((agent.label, agent.identity), _Entry())
            entry.add(evaluation, agent)
    rows = [entry.row(key, ratings.get(_name(key))) for key, entry in entries.items()]
    rows.sort(key=_order)
    return Leaderboard(tuple(rows), tuple(anchors), tuple(_notes(rows, anchors)))


@dataclass(slots=True)
class _Entry:
    """What is gathered of one agent."""

    evaluations: list[str] = field(default_factory=list)
    agents: list[MeasuredAgent] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)

    def add(self, evaluation: EvaluationResults, agent: MeasuredAgent) -> None:
        self.evaluations.append(evaluation.id)
        self.agents.append(agent)
        self.scores += [_own(tally, agent.label) for tally in evaluation.tallies]

    def row(self, key: Key, rating: Estimate | None) -> LeaderboardRow:
        analysed = sum(each.analysed_games for each in self.agents)
        summed = sum((each.accuracy or 0.0) * each.analysed_games for each in self.agents)
        answered = [answer for each in self.agents for answer in each.answers]
        return LeaderboardRow(
            *key,
            rating=rating,
            score=Score(
                sum(each.wins for each in self.scores),
                sum(each.draws for each in self.scores),
                sum(each.losses for each in self.scores),
            ),
            forfeits=sum(each.forfeits for each in self.agents),
            evaluations=tuple(dict.fromkeys(self.evaluations)),
            record=SideRecord.total(each.record for each in self.agents),
            accuracy=summed / analysed if analysed else None,
            analysed_games=analysed,
            answers=sum(each.asked for each in self.agents),
            right=sum(each.solved for each in self.agents),
            positions_rating=_by_positions(answered),
        )


def _ratings(
    evaluations: Sequence[EvaluationResults], anchors: Sequence[Anchor]
) -> Mapping[str, Estimate | None]:
    """Return everybody's rating by the names of `_name`, which keep anchors and agents apart."""
    if not anchors:
        return {}
    tallies = []
    for evaluation in evaluations:
        names = {anchor.label: _anchor_name(anchor) for anchor in evaluation.anchors}
        names |= {each.label: _name((each.label, each.identity)) for each in evaluation.agents}
        tallies += [
            replace(tally, first=names[tally.first], second=names[tally.second])
            for tally in evaluation.tallies
        ]
    fixed = [Anchor(_anchor_name(each), each.elo, each.se) for each in anchors]
    return rate_pool(tallies, fixed).estimates


def _by_positions(answered: Sequence[AnchorResult]) -> Estimate | None:
    return rate_answers(answered) if any(each.games for each in answered) else None


def _own(tally: Tally, label: str) -> Score:
    if tally.first == label:
        return Score(tally.wins, tally.draws, tally.losses)
    if tally.second == label:
        return Score(tally.losses, tally.draws, tally.wins)
    return Score()


def _name(key: Key) -> str:
    return f"agent\0{key[0]}\0{key[1]}"


def _anchor_name(anchor: Anchor) -> str:
    return f"anchor\0{anchor.label}\0{anchor.elo!r}\0{anchor.se!r}"


def _order(row: LeaderboardRow) -> tuple[bool, float, str, str]:
    elo = None if row.rating is None else row.rating.elo
    return elo is None, -(elo or 0.0), row.label, row.identity


def _told(rating: Estimate | None) -> dict[str, Any] | None:
    return None if rating is None else {**rating.to_json(), "text": str(rating)}


def _notes(rows: Sequence[LeaderboardRow], anchors: Sequence[Anchor]) -> Iterable[str]:
    rated: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        rated.setdefault(anchor.label, []).append(anchor)
    for label, ratings in rated.items():
        elos = dict.fromkeys(f"{each.elo:.0f}" for each in ratings)
        if len(elos) > 1:
            yield (
                f"{label} was rated {', '.join(elos)} in different evaluations. Games count with "
                "the rating they were played by, so whoever met both is measured on a mean of both "
                "scales."
            )
    labels = [row.label for row in rows]
    yield from (
        f"{label} has several rows: its prompts, models or settings have changed."
        for label in dict.fromkeys(labels)
        if labels.count(label) > 1
    )
    unrated = [row.label for row in rows if row.rating is None and row.score.games]
    if unrated:
        yield (
            "Games do not tell the rating of these: no chain of games leads to an anchor, or it is "
            f"open on both sides: {', '.join(unrated)}."
        )
