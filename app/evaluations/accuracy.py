"""Accuracy: how good moves are, by what an engine thinks of the positions before and after them.

The formulas are those that Lichess publishes. Centipawns become chances to win (Win%, from 0 to
100), a fall of which is what a move cost. A game's accuracy is the mean of two means over a side's
moves: one weighted by how much the chances swing around a move, and the harmonic one, to which bad
moves matter more. Centipawns are White's everywhere, and clamped to ±1000 before anything else.

Three things are left open by the formulas' text, and done here as Lichess does them: accuracies
under 1 count as 1 in the harmonic mean, which would be 0 or nothing otherwise; a judgement is due
as soon as the fall reaches its bound; and a game that ends by mate is given without its last move
(see `GameAnalysis.counted`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from engine import Color, Evaluation

#: What White is taken to be ahead by before the first move.
INITIAL = 15
#: Centipawns beyond which a side is winning, and mate.
CEILING = 1000

_SMALLEST_WINDOW, _LARGEST_WINDOW = 2, 8
_LIGHTEST, _HEAVIEST = 0.5, 12.0
_LEAST_HARMONIC = 1.0


class Judgement(StrEnum):
    """What is to be said of a bad move."""

    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


#: The falls of Win% from which on they are due, worst first.
_BOUNDS = ((15.0, Judgement.BLUNDER), (10.0, Judgement.MISTAKE), (5.0, Judgement.INACCURACY))


@dataclass(frozen=True, slots=True)
class WeighedMove:
    """A move's accuracy, and how much it matters in its game."""

    color: Color
    accuracy: float
    weight: float


def centipawns(evaluation: Evaluation, mover: Color) -> int:
    """Return an evaluation in centipawns from White's side, clamped; a mate is the most there is.

    `mover` is who made the move that led to the position: a mate in 0 is theirs.
    """
    if evaluation.mate == 0:
        return CEILING if mover is Color.WHITE else -CEILING
    if evaluation.mate is not None:
        return CEILING if evaluation.mate > 0 else -CEILING
    return max(-CEILING, min(CEILING, evaluation.centipawns or 0))


def win_percent(centipawns: float) -> float:
    """Return the chance to win, from 0 to 100, of whoever is ahead by so much."""
    clamped = max(-CEILING, min(CEILING, centipawns))
    return 50 + 50 * (2 / (1 + math.exp(-0.00368208 * clamped)) - 1)


def move_accuracy(before: float, after: float) -> float:
    """Return how accurate a move is, from 0 to 100, by the mover's Win% before and after it."""
    if after >= before:
        return 100.0
    raw = 103.1668100711649 * math.exp(-0.04354415386753951 * (before - after)) - 3.166924740191411
    return max(0.0, min(100.0, raw + 1))


def judgement(fall: float) -> Judgement | None:
    """Return what is to be said of a move by which the mover's Win% fell so much, if anything."""
    return next((each for bound, each in _BOUNDS if fall >= bound), None)


def centipawn_loss(before: int, after: int, mover: Color) -> int:
    """Return what a move cost in centipawns, both evaluations clamped first; never under 0."""
    before, after = (max(-CEILING, min(CEILING, each)) for each in (before, after))
    return max(0, before - after if mover is Color.WHITE else after - before)


def weighed_moves(
    cps: Sequence[int], first: Color = Color.WHITE, initial: int = INITIAL
) -> list[WeighedMove]:
    """Return every move of a game with its accuracy and its weight.

    `cps` are the evaluations after each move, `first` is who made the first one, and `initial` what
    the position before it was worth.
    """
    wins = [win_percent(each) for each in (initial, *cps)]
    size = max(_SMALLEST_WINDOW, min(_LARGEST_WINDOW, len(cps) // 10))
    windows = [wins[at : at + size] for at in range(len(wins) - size + 1)]
    # So that there is one for each move: the first moves share a window.
    windows = windows[:1] * (size - _SMALLEST_WINDOW) + windows
    moves = []
    mover = first
    for (before, after), window in zip(pairwise(wins), windows, strict=True):
        # What White gains is what Black loses, and so the other way round.
        accuracy = move_accuracy(*((before, after) if mover is Color.WHITE else (after, before)))
        moves.append(WeighedMove(mover, accuracy, _weight(window)))
        mover = mover.opponent
    return moves


def mean_accuracy(moves: Iterable[WeighedMove]) -> float | None:
    """Return the accuracy of some moves together; None if there are none."""
    chosen = tuple(moves)
    if not chosen:
        return None
    weighted = math.fsum(each.accuracy * each.weight for each in chosen)
    weighted /= math.fsum(each.weight for each in chosen)
    harmonic = len(chosen) / math.fsum(1 / max(_LEAST_HARMONIC, each.accuracy) for each in chosen)
    return (weighted + harmonic) / 2


def game_accuracy(
    cps: Sequence[int], first: Color = Color.WHITE, initial: int = INITIAL
) -> dict[Color, float | None]:
    """Return the accuracy of both sides in a game, as `weighed_moves` is given it.

    It is None for a side that made no move.
    """
    moves = weighed_moves(cps, first, initial)
    return {color: mean_accuracy(each for each in moves if each.color is color) for color in Color}


def acpl(
    cps: Sequence[int], first: Color = Color.WHITE, initial: int = INITIAL
) -> dict[Color, float | None]:
    """Return what both sides' moves cost on average, in centipawns; None if there was no move."""
    losses: dict[Color, list[int]] = {color: [] for color in Color}
    mover = first
    for before, after in pairwise((initial, *cps)):
        losses[mover].append(centipawn_loss(before, after, mover))
        mover = mover.opponent
    return {color: sum(each) / len(each) if each else None for color, each in losses.items()}


def _weight(wins: Sequence[float]) -> float:
    """Return the standard deviation of all these chances, within bounds."""
    mean = math.fsum(wins) / len(wins)
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in wins) / len(wins))
    return max(_LIGHTEST, min(_HEAVIEST, deviation))
