"""The part of a report about a duel: single games, pairs, and the test that it was played for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.evaluations.games import EvaluationData, PlayedGame, SprtSettings
from app.evaluations.ratings import Estimate
from app.evaluations.reports import numerals
from app.evaluations.scores import Score
from app.evaluations.sprt import SprtVerdict, are_alike, sprt, statistics_of
from app.evaluations.strengths import Strengths

#: How many points the course of a test has at most, and how often the test is looked at for it.
_MOST_POINTS, _MOST_VERDICTS = 200, 2000
#: Fewer pairs than this are few, and so are fewer results unlike the most frequent one: what takes
#: scores for normally distributed tells nothing by them.
FEW_PAIRS, _FEW_OTHERS = 15, 5


def duelists(data: EvaluationData) -> tuple[str, str] | None:
    """Return who meets whom in a duel, the one whose strength is in question first."""
    labels = tuple(dict.fromkeys((*data.agents, *(anchor.label for anchor in data.anchors))))
    return (labels[0], labels[1]) if len(labels) > 1 else None


def duel(data: EvaluationData, strengths: Strengths) -> dict[str, Any] | None:
    """Return how a duel stands, as the first agent sees it; None if it has no two players.

    `strengths` tells how much better it is where statistics of pairs do not. Raises `InvalidTest`
    if its settings allow no test.
    """
    players = duelists(data)
    if players is None:
        return None
    first, second = players
    games = [game for game in data.games if {game.white, game.black} == set(players)]
    score = Score.of(first, games)
    counts = [score.losses, score.draws, score.wins]
    points = _points_of_pairs(games, first)
    pairs = _count(points)
    course = [] if data.sprt is None else _course(points, data.sprt)
    trinomial, pentanomial = _statistics(counts), _statistics(pairs)
    own = strengths.estimates.get(first)
    return {
        "first": first,
        "second": second,
        **score.to_json(),
        "trinomial": trinomial,
        "pentanomial": pentanomial,
        "unpaired_games": score.games - 2 * len(points),
        "sprt": None if data.sprt is None else _test(pairs, data.sprt, course),
        "course": _thinned(course),
        "text": _headline(f"{first} against {second}", pentanomial or trinomial, own),
    }


def are_few(counts: Sequence[int]) -> bool:
    """Return whether there are too few pairs or games, or too few that differ, for statistics."""
    games_each = (len(counts) - 1) // 2
    enough = 2 * FEW_PAIRS // games_each
    return sum(counts) < enough or sum(counts) - max(counts) < _FEW_OTHERS


def _points_of_pairs(games: Sequence[PlayedGame], first: str) -> list[float]:
    """Return what the first agent scored in each complete pair, in the order of their ends."""
    together: dict[int, list[PlayedGame]] = {}
    for game in games:
        if game.pair is not None:
            together.setdefault(game.pair, []).append(game)
    complete = [
        pair
        for pair in together.values()
        if len(pair) == 2 and pair[0].color_of(first) is not pair[1].color_of(first)
    ]
    complete.sort(key=lambda pair: max((game.ended_at, game.number) for game in pair))
    return [sum(game.score_of(first) for game in pair) for pair in complete]


def _count(points: Sequence[float]) -> list[int]:
    """Return how many pairs gave 0, ½, 1, 1½ and 2 points."""
    return [sum(each == half / 2 for each in points) for half in range(5)]


def _statistics(counts: Sequence[int]) -> dict[str, Any] | None:
    if not any(counts):
        return None
    return {"counts": list(counts), **statistics_of(counts).to_json()}


def _headline(who: str, found: Mapping[str, Any] | None, own: Estimate | None) -> str:
    """Return who is better, and by how much, in a sentence."""
    if found is None or own is None:
        return f"{who}: nothing is known yet."
    if are_alike(found["counts"]):
        told = numerals.rating(own.to_json(), sign=True)
        return f"{who}: {told} Elo; all results are the same, so no likelihood can be told."
    return (
        f"{who}: {found['elo']:+z.0f} ± {found['elo_margin']:.0f} Elo; it is the stronger one with "
        f"a likelihood of {numerals.likelihood(found['los'])}."
    )


def _test(
    pairs: Sequence[int], settings: SprtSettings, course: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    verdict = _verdict(pairs, settings)
    first = next((each for each in course if each["decision"] is not None), None)
    return {
        "bounds": list(settings.bounds),
        "model": settings.model,
        "alpha": settings.alpha,
        "beta": settings.beta,
        "pairs": sum(pairs),
        **verdict.to_json(),
        # Games that were under way by then are played to their end, and count.
        "first_decided": None if first is None else dict(first),
        "text": _sentence(verdict, settings),
    }


def _verdict(pairs: Sequence[int], settings: SprtSettings) -> SprtVerdict:
    if any(pairs):
        return sprt(pairs, settings.bounds, settings.model, settings.alpha, settings.beta)
    lower = math.log(settings.beta / (1 - settings.alpha))
    return SprtVerdict(0.0, lower, math.log((1 - settings.beta) / settings.alpha), None)


def _sentence(verdict: SprtVerdict, settings: SprtSettings) -> str:
    low, high = (f"{bound:g}" for bound in settings.bounds)
    unit = "Elo" if settings.model == "logistic" else "normalized Elo"
    ends = f"of {verdict.lower:.2f} to {verdict.upper:.2f}"
    ratio = f"the log-likelihood ratio is {verdict.llr:.2f} {ends}"
    if verdict.decision is None:
        return f"The test of {low} against {high} {unit} is open: {ratio}."
    told, other = (low, high) if verdict.decision == "H0" else (high, low)
    return f"The test accepts {told} {unit} ({verdict.decision}) rather than {other}: {ratio}."


def _course(points: Sequence[float], settings: SprtSettings) -> list[dict[str, Any]]:
    """Return where the test stood after each pair; in steps, if there are very many."""
    step = -(-len(points) // _MOST_VERDICTS) or 1
    course = []
    for size in sorted({*range(step, len(points) + 1, step), len(points)} - {0}):
        verdict = _verdict(_count(points[:size]), settings)
        course.append({"pairs": size, "llr": verdict.llr, "decision": verdict.decision})
    return course


def _thinned(course: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every so many of them, and the last one."""
    step = -(-len(course) // _MOST_POINTS) or 1
    return [each for place, each in enumerate(reversed(course)) if not place % step][::-1]
