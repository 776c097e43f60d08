"""Adjudication: a referee that ends a match when its scores leave no doubt, or when it is long."""

from __future__ import annotations

from app.matches.settings import Adjudication, DrawScore, MatchSettings, ResignScore
from engine import Color, Evaluation, Game, Outcome, Termination

#: What a mate counts, in centipawns.
_MATE = 100_000


def adjudicate(settings: MatchSettings, game: Game) -> Outcome | None:
    """Return how a referee ends a game that goes on, or None."""
    outcome = by_score(settings.adjudication, game)
    if outcome is None and settings.max_plies and len(game.line) >= settings.max_plies:
        return Outcome(None, Termination.MAX_PLIES)
    return outcome


def by_score(adjudication: Adjudication, game: Game) -> Outcome | None:
    """Return the outcome that the scores of the last plies leave no doubt of, or None."""
    if adjudication.resign is not None:
        winner = _winner(adjudication.resign, game)
        if winner is not None:
            return Outcome(winner, Termination.ADJUDICATION)
    if adjudication.draw is not None and _is_drawn(adjudication.draw, game):
        return Outcome(None, Termination.ADJUDICATION)
    return None


def _winner(rule: ResignScore, game: Game) -> Color | None:
    scores = _last_scores(game, 2 * rule.moves)
    if scores is None:
        return None
    if min(scores) >= rule.centipawns:
        return Color.WHITE
    if max(scores) <= -rule.centipawns:
        return Color.BLACK
    return None


def _is_drawn(rule: DrawScore, game: Game) -> bool:
    if game.position.fullmove_number <= rule.after_move:
        return False
    scores = _last_scores(game, 2 * rule.moves)
    return scores is not None and max(map(abs, scores)) <= rule.centipawns


def _last_scores(game: Game, plies: int) -> list[int] | None:
    """Return the scores of so many last plies, from White's side; None if one is not known."""
    last = len(game.line)
    if last < plies:
        return None
    scores = []
    for index in range(last - plies, last):
        note = game.line.notes.get(index)
        if note is None or note.evaluation is None:
            return None
        scores.append(_centipawns(note.evaluation))
    return scores


def _centipawns(evaluation: Evaluation) -> int:
    if evaluation.centipawns is not None:
        return evaluation.centipawns
    return _MATE if (evaluation.mate or 0) > 0 else -_MATE
