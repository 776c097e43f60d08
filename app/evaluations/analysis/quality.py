"""Quality: how well a side played over one game or many, in all and by phase, and who advised well.

Moves of the opening that a match began with are nobody's doing and count nowhere. A move that mates
is one of the moves, but counts in no accuracy and no loss (see `GameAnalysis.counted`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.evaluations.accuracy import Judgement, mean_accuracy, move_accuracy
from app.evaluations.analysis.analysed_ply import AnalysedPly
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.analysis.phases import Phase
from engine import Color

#: A regret of more points of Win% than this is worth a look: as much as an inaccuracy costs.
GREAT_REGRET = 5.0
#: Standard errors in the margin of a 95 % interval.
_NORMAL_95 = 1.959964

#: A game, and the plies of one side in it that are looked at.
_Game: TypeAlias = tuple[GameAnalysis, tuple[AnalysedPly, ...]]


@dataclass(frozen=True, slots=True)
class MoveQuality:
    """How good some moves are, of one game or many."""

    #: In how many games there were any that count, and how many there were.
    games: int
    moves: int
    #: The mean of the games' accuracies, and the margin of its 95 % interval, of two games or more.
    accuracy: float | None
    accuracy_margin: float | None
    #: What a move cost on average, in centipawns.
    acpl: float | None
    inaccuracies: int
    mistakes: int
    blunders: int

    def rate(self, judgement: Judgement) -> float | None:
        """Return how many of 100 moves were judged so; None if there are no moves."""
        return 100 * self._count(judgement) / self.moves if self.moves else None

    def _count(self, judgement: Judgement) -> int:
        match judgement:
            case Judgement.INACCURACY:
                return self.inaccuracies
            case Judgement.MISTAKE:
                return self.mistakes
            case Judgement.BLUNDER:
                return self.blunders

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "games": self.games,
            "moves": self.moves,
            "accuracy": self.accuracy,
            "accuracy_margin": self.accuracy_margin,
            "acpl": self.acpl,
            "inaccuracies": self.inaccuracies,
            "mistakes": self.mistakes,
            "blunders": self.blunders,
            "per_100_moves": {each.value: self.rate(each) for each in Judgement},
        }


@dataclass(frozen=True, slots=True)
class Regret:
    """What passing over better candidates cost, in points of Win%."""

    #: How many plies there are in which somebody but the decider named a move.
    plies: int
    mean: float | None
    #: The margin of the 95 % interval of the mean; None for fewer than two plies.
    margin: float | None
    #: The share of plies with a regret of more than 5 points, from 0 to 1.
    great_share: float | None
    #: Of the moves that were played in these plies, to compare with each specialist's: the mean
    #: accuracy of a move, and the mean fall of Win%.
    played_accuracy: float | None
    played_loss: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "plies": self.plies,
            "mean": self.mean,
            "margin": self.margin,
            "great_share": self.great_share,
            "played_accuracy": self.played_accuracy,
            "played_loss": self.played_loss,
        }


@dataclass(frozen=True, slots=True)
class SpecialistQuality:
    """How well somebody advised, by the move that was named first."""

    name: str
    #: In how many plies it was asked, and in how many of them it named no move.
    asked: int
    abstained: int
    #: The mean accuracy of its first candidates, and the mean fall of Win% if they were played.
    accuracy: float | None
    mean_loss: float | None
    #: Of the plies in which it named a move, those in which its first candidate was played, and
    #: those in which any of its candidates was; from 0 to 1.
    chosen_share: float | None
    followed_share: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.name,
            "asked": self.asked,
            "abstained": self.abstained,
            "accuracy": self.accuracy,
            "mean_loss": self.mean_loss,
            "chosen_share": self.chosen_share,
            "followed_share": self.followed_share,
        }


@dataclass(frozen=True, slots=True)
class QualitySummary:
    """How well a side played."""

    overall: MoveQuality
    #: Every phase is there, also one without moves.
    phases: Mapping[Phase, MoveQuality]
    regret: Regret
    #: In the order of their names.
    specialists: tuple[SpecialistQuality, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, all of it finite."""
        return {
            **self.overall.to_json(),
            "phases": {phase.value: each.to_json() for phase, each in self.phases.items()},
            "regret": self.regret.to_json(),
            "specialists": [each.to_json() for each in self.specialists],
        }


def summarise(games: Iterable[tuple[GameAnalysis, Color]]) -> QualitySummary:
    """Return how well a player played, given its games and which side it had in each."""
    own = [
        (analysis, tuple(each for each in analysis.played if each.color is color))
        for analysis, color in games
    ]
    advised = [[each for each in plies if each.regret is not None] for _, plies in own]
    all_plies = [each for _, plies in own for each in plies]
    return QualitySummary(
        _move_quality(own),
        {phase: _move_quality(_only(own, phase)) for phase in Phase},
        _regret(advised),
        _specialists(all_plies),
    )


def _only(games: Sequence[_Game], phase: Phase) -> list[_Game]:
    return [
        (analysis, tuple(each for each in plies if each.phase is phase))
        for analysis, plies in games
    ]


def _move_quality(games: Sequence[_Game]) -> MoveQuality:
    accuracies, losses = [], []
    for analysis, own in games:
        weighed = analysis.weighed
        counted = [each for each in own if each.number in weighed]
        losses += [each.centipawn_loss for each in counted]
        accuracy = mean_accuracy(weighed[each.number] for each in counted)
        if accuracy is not None:
            accuracies.append(accuracy)
    plies = [each for _, own in games for each in own]
    judged = Counter(each.judgement for each in plies)
    return MoveQuality(
        games=len(accuracies),
        moves=len(plies),
        accuracy=_mean(accuracies),
        accuracy_margin=_margin([[each] for each in accuracies]),
        acpl=_mean(losses),
        inaccuracies=judged[Judgement.INACCURACY],
        mistakes=judged[Judgement.MISTAKE],
        blunders=judged[Judgement.BLUNDER],
    )


def _regret(games: Sequence[Sequence[AnalysedPly]]) -> Regret:
    regrets = [[each.regret or 0.0 for each in plies] for plies in games]
    every = [each for some in regrets for each in some]
    plies = [each for plies in games for each in plies]
    return Regret(
        plies=len(every),
        mean=_mean(every),
        margin=_margin(regrets),
        great_share=_mean([float(each > GREAT_REGRET) for each in every]),
        played_accuracy=_mean([each.accuracy for each in plies]),
        played_loss=_mean([each.fall for each in plies]),
    )


def _specialists(plies: Sequence[AnalysedPly]) -> tuple[SpecialistQuality, ...]:
    asked: dict[str, list[AnalysedPly]] = {}
    for ply in plies:
        for name in ply.specialists:
            asked.setdefault(name, []).append(ply)
    return tuple(_specialist(name, asked[name]) for name in sorted(asked))


def _specialist(name: str, plies: Sequence[AnalysedPly]) -> SpecialistQuality:
    favourites = [(ply, ply.favourite_of(name)) for ply in plies]
    named = [(ply, favourite) for ply, favourite in favourites if favourite is not None]
    falls = [max(0.0, ply.win_before - favourite.win) for ply, favourite in named]
    followed = (
        any(each.uci == ply.uci and each.rank_by(name) for each in ply.candidates)
        for ply, _ in named
    )
    return SpecialistQuality(
        name,
        asked=len(plies),
        abstained=len(plies) - len(named),
        accuracy=_mean([move_accuracy(ply.win_before, each.win) for ply, each in named]),
        mean_loss=_mean(falls),
        chosen_share=_mean([float(ply.uci == favourite.uci) for ply, favourite in named]),
        followed_share=_mean([float(each) for each in followed]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _margin(games: Sequence[Sequence[float]]) -> float | None:
    """Return the margin of a 95 % interval of the mean of all values, which come by games.

    Moves of one game have much in common, so that they tell less than as many of different games:
    the error is that of whole games, or of single moves where it is larger.
    """
    values = [each for game in games for each in game]
    mean = _mean(values)
    if mean is None or len(values) < 2:
        return None
    count = len(values)
    of_moves = math.fsum((each - mean) ** 2 for each in values) / (count - 1) / count
    sums = [math.fsum(each - mean for each in game) for game in games if game]
    of_games = 0.0
    if len(sums) > 1:
        correction = len(sums) / (len(sums) - 1)
        of_games = correction * math.fsum(each**2 for each in sums) / count**2
    return _NORMAL_95 * math.sqrt(max(of_moves, of_games))
