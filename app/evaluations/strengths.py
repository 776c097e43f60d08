"""Strengths: how strong the agents of an evaluation are by some of its games, and who is better.

Whoever played anchors only, or answered rated positions, is rated alone; in a pool everybody is
rated at once. Two agents that met each other only are rated by that: each as if the other were 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from app.evaluations.adaptive import Anchor
from app.evaluations.bradley_terry import Tally
from app.evaluations.games import EvaluationData, PlayedGame, PositionAnswer
from app.evaluations.pool_ratings import rate_difference, rate_pool, tallies_of
from app.evaluations.ratings import WALD, AnchorResult, Estimate, estimate
from app.evaluations.scores import Score, expected_score
from app.evaluations.suites.screening import rate_answers
from app.evaluations.suites.solving import solving_chance
from engine import Color

Scale: TypeAlias = Literal["anchors", "positions", "relative"]

#: How far out 5 % of a normal distribution begin on one side, in standard deviations.
_ONE_SIDED = 1.644854


@dataclass(frozen=True, slots=True)
class Strengths:
    """How strong everybody is by some games."""

    #: What ratings are told by: the anchors, the positions, or one of the agents.
    scale: Scale
    #: Who is 0 where ratings are relative; None if each one's opponent is.
    reference: str | None
    #: By agent; None if the games tell nothing.
    estimates: Mapping[str, Estimate | None]
    #: The ratings of whom they met, to expect scores by.
    opponents: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the first of two agents is better."""

    #: The difference; the 95 % bound where no more is known.
    elo: float
    low: float | None
    high: float | None
    bound: Literal["lower", "upper"] | None

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{self.elo:+z.0f} ± {(self.high - self.low) / 2:.0f}"
        return f"{'>' if self.bound == 'lower' else '<'} {self.elo:+z.0f}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "elo": self.elo,
            "low": self.low,
            "high": self.high,
            "bound": self.bound,
            "text": str(self),
        }


def strengths_of(
    data: EvaluationData,
    games: Sequence[PlayedGame],
    answers: Sequence[PositionAnswer],
) -> Strengths:
    """Return how strong the agents are by these games or answers of the evaluation."""
    match data.kind:
        case "pool":
            return _of_pool(data, games)
        case "duel":
            return _of_duel(data, games)
        case "ladder":
            results = {agent: anchor_results(data, agent, games) for agent in data.agents}
            elos = {anchor.label: anchor.elo for anchor in data.anchors}
            return Strengths("anchors", None, _alone(results, data.white_advantage), elos)
        case "positions":
            found = {agent: answer_results(agent, answers) for agent in data.agents}
            ratings = {agent: rate_answers(own) if own else None for agent, own in found.items()}
            return Strengths("positions", None, ratings, {})


def anchor_results(
    data: EvaluationData, agent: str, games: Iterable[PlayedGame]
) -> list[AnchorResult]:
    """Return what an agent scored against anchors, by anchor and colour."""
    met: dict[tuple[str, Color], list[PlayedGame]] = {}
    for game in games:
        if agent in (game.white, game.black):
            met.setdefault((game.opponent_of(agent), game.color_of(agent)), []).append(game)
    return [
        _result(
            Score.of(agent, met[anchor.label, color]), anchor.elo, anchor.se, color, anchor.label
        )
        for anchor in data.anchors
        for color in Color
        if anchor.label != agent and (anchor.label, color) in met
    ]


def answer_results(agent: str, answers: Iterable[PositionAnswer]) -> list[AnchorResult]:
    """Return an agent's answers as games against the positions: a right one is a win.

    Positions of which nobody knows how hard they are tell nothing.
    """
    return [
        AnchorResult(
            each.difficulty,
            int(each.is_right),
            0,
            int(not each.is_right),
            each.difficulty_se or 0.0,
            anchor=each.position_id,
        )
        for each in answers
        if each.agent == agent and each.difficulty is not None
    ]


def difference_of(data: EvaluationData, first: str, second: str) -> Difference | None:
    """Return by how much one agent is better than another by all games; None if they do not tell.

    The error of an anchor that both met cancels out as far as both lean on it.
    """
    if data.kind == "duel" or (data.kind == "pool" and not data.anchors):
        return _relative(data, first, second)
    if data.kind == "pool":
        found = rate_difference(_tallies(data.games), data.anchors, first, second)
        return None if found is None else _as_difference(found)
    certain = with_certain_anchors(data)
    sampled = strengths_of(certain, certain.games, certain.answers)
    alone = sampled.estimates.get(first), sampled.estimates.get(second)
    if alone[0] is None or alone[1] is None:
        return None
    return _difference(alone[0], alone[1], _shared_error(data, sampled, first, second))


def _result(score: Score, elo: float, se: float, color: Color | None, label: str) -> AnchorResult:
    return AnchorResult(elo, score.wins, score.draws, score.losses, se, color, label)


def _alone(
    results: Mapping[str, Sequence[AnchorResult]], white_advantage: float
) -> dict[str, Estimate | None]:
    return {
        agent: estimate(own, white_advantage=white_advantage) if own else None
        for agent, own in results.items()
    }


def _of_duel(data: EvaluationData, games: Sequence[PlayedGame]) -> Strengths:
    results = {agent: _against_each_other(agent, games) for agent in data.agents}
    players = {label for game in games for label in (game.white, game.black)}
    opponents = dict.fromkeys(sorted(players), 0.0)
    return Strengths("relative", None, _alone(results, data.white_advantage), opponents)


def _against_each_other(agent: str, games: Sequence[PlayedGame]) -> list[AnchorResult]:
    own = [game for game in games if agent in (game.white, game.black)]
    scores = {
        color: Score.of(agent, (game for game in own if game.color_of(agent) is color))
        for color in Color
    }
    return [_result(score, 0.0, 0.0, color, "") for color, score in scores.items() if score.games]


def _of_pool(data: EvaluationData, games: Sequence[PlayedGame]) -> Strengths:
    tallies = _tallies(games)
    if data.anchors:
        ratings = rate_pool(tallies, data.anchors)
        scale: Scale = "anchors"
        reference = None
    else:
        played = {label for each in tallies for label in (each.first, each.second)}
        reference = next((agent for agent in data.agents if agent in played), None)
        if reference is None:
            return Strengths("relative", None, dict.fromkeys(data.agents), {})
        ratings = rate_pool(tallies, (Anchor(reference, 0.0),))
        scale = "relative"
    opponents = {label: each.elo for label, each in ratings.estimates.items() if each is not None}
    estimates = {agent: ratings.estimates.get(agent) for agent in data.agents}
    return Strengths(scale, reference, estimates, opponents)


def _tallies(games: Iterable[PlayedGame]) -> list[Tally]:
    return tallies_of((game.white, game.black, game.score_of(game.white)) for game in games)


def _relative(data: EvaluationData, first: str, second: str) -> Difference | None:
    """Return the rating of the first one with the second as the reference."""
    others = (agent for agent in data.agents if agent != second)
    turned = replace(data, agents=(second, *others))
    strengths = strengths_of(turned, data.games, ())
    found = strengths.estimates.get(first)
    if found is None or (data.kind == "pool" and strengths.reference != second):
        return None
    return _as_difference(found)


def _as_difference(found: Estimate) -> Difference:
    return Difference(found.elo, found.low, found.high, found.bound)


def with_certain_anchors(data: EvaluationData) -> EvaluationData:
    """Return an evaluation as if the ratings of anchors, and of positions, were sure."""
    return replace(
        data,
        anchors=tuple(replace(anchor, se=0.0) for anchor in data.anchors),
        answers=tuple(replace(answer, difficulty_se=0.0) for answer in data.answers),
    )


def _shared_error(data: EvaluationData, strengths: Strengths, first: str, second: str) -> float:
    """Return the standard error that the anchors' own errors give to a difference."""
    errors: dict[str, float] = {}
    leanings = []
    for agent in (first, second):
        if data.kind == "positions":
            results = answer_results(agent, data.answers)
        else:
            results = anchor_results(data, agent, data.games)
        errors.update({each.anchor: each.elo_se for each in results})
        own = strengths.estimates[agent]
        leanings.append(_leaning(results, 0.0 if own is None else own.elo, data))
    return math.hypot(
        *(
            (leanings[0].get(label, 0.0) - leanings[1].get(label, 0.0)) * se
            for label, se in errors.items()
        )
    )


def _leaning(results: Iterable[AnchorResult], elo: float, data: EvaluationData) -> dict[str, float]:
    """Return by how much a rating rises with each anchor's: the share of its information."""
    weights: dict[str, float] = {}
    for each in results:
        if data.kind == "positions":
            chance = solving_chance(elo, each.elo)
        else:
            chance = expected_score(elo, each.elo, each.color, data.white_advantage)
        weight = each.games * chance * (1 - chance)
        weights[each.anchor] = weights.get(each.anchor, 0.0) + weight
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()} if total else {}


def _difference(first: Estimate, second: Estimate, shared: float) -> Difference | None:
    """Combine two intervals: of independent ratings the squares of half-widths add up."""
    (low, high), (other_low, other_high) = first.ends, second.ends
    if low is not None and high is not None and other_low is not None and other_high is not None:
        elo = first.elo - second.elo
        down = math.hypot(first.elo - low, other_high - second.elo, WALD * shared)
        up = math.hypot(high - first.elo, second.elo - other_low, WALD * shared)
        return Difference(elo, elo - down, elo + up, None)
    # One of them has a bound only: what is left is how far apart the bounds are.
    if low is not None and other_high is not None:
        bound = low - other_high - _ONE_SIDED * shared
        return Difference(bound, bound, None, "lower")
    if high is not None and other_low is not None:
        bound = high - other_low + _ONE_SIDED * shared
        return Difference(bound, None, bound, "upper")
    return None
