"""Adjudication: when a referee ends a match by its scores, or by its length."""

from __future__ import annotations

import pytest

from app.matches.adjudication import adjudicate, by_score
from app.matches.settings import Adjudication, DrawScore, ResignScore
from engine import Color, Evaluation, Game, Outcome, Termination
from tests.app.matches.telling import after, match_settings, running

WHITE_WINS = Outcome(Color.WHITE, Termination.ADJUDICATION)
BLACK_WINS = Outcome(Color.BLACK, Termination.ADJUDICATION)
DRAWN = Outcome(None, Termination.ADJUDICATION)
#: Moves that repeat nothing too often, and end nothing.
MOVES = ["a4", "a5", "b4", "b5", "c4", "c5", "d4", "d5", "e4", "e5", "f4", "f5"]


def _score(text: str) -> Evaluation | None:
    if text == "?":
        return None
    if text.startswith("#"):
        return Evaluation(mate=int(text[1:]))
    return Evaluation(centipawns=int(text))


def _game(scores: str) -> Game:
    game = Game()
    for move, score in zip(MOVES, scores.split(), strict=False):
        game.play(move, evaluation=_score(score))
    return game


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ("500 500 500 500", WHITE_WINS),
        ("499 500 500 500", None),
        ("500 500 500 499", None),
        ("0 0 500 500 500 500", WHITE_WINS),
        ("500 500 500", None),  # two moves of each side
        ("-500 -900 -501 -500", BLACK_WINS),
        ("-500 -900 501 -500", None),
        ("-499 -500 -500 -500", None),
        ("500 ? 500 500", None),
        ("500 500 500 ?", None),
        ("? 500 500 500 500", WHITE_WINS),
        ("#5 #4 900 #3", WHITE_WINS),
        ("#-5 #-4 -900 #-3", BLACK_WINS),
        ("#5 #-4 900 #3", None),
        ("", None),
    ],
)
def test_a_side_that_stands_badly_for_long_loses(scores: str, outcome: Outcome | None) -> None:
    rule = Adjudication(resign=ResignScore(500, 2))
    assert by_score(rule, _game(scores)) == outcome
    assert by_score(Adjudication(), _game(scores)) is None


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ("0 10 -10 3", None),  # after Black's second move it is the third
        ("0 10 -10 3 5", None),
        ("0 10 -10 3 5 9", DRAWN),
        ("900 900 -10 3 5 9", DRAWN),
        ("900 900 -11 3 5 9", None),
        ("900 900 -10 3 5 11", None),
        ("900 900 -10 ? 5 9", None),
        ("900 900 #1 1 1 1", None),
    ],
)
def test_an_even_score_for_long_is_a_draw(scores: str, outcome: Outcome | None) -> None:
    rule = Adjudication(draw=DrawScore(10, 2, after_move=3))
    assert by_score(rule, _game(scores)) == outcome


def test_winning_goes_before_a_draw() -> None:
    both = Adjudication(ResignScore(1, 1), DrawScore(5, 1, after_move=1))
    assert by_score(both, _game("3 3")) == WHITE_WINS
    assert by_score(both, _game("3 0")) == DRAWN


@pytest.mark.parametrize(("plies", "is_over"), [(3, False), (4, True), (5, True)])
def test_a_match_is_no_longer_than_it_may_be(plies: int, is_over: bool) -> None:
    chosen = match_settings(max_plies=4)
    game = _game("0 " * plies)
    expected = Outcome(None, Termination.MAX_PLIES) if is_over else None
    assert adjudicate(chosen, game) == expected
    assert adjudicate(match_settings(), game) is None


def test_scores_go_before_length() -> None:
    chosen = match_settings(max_plies=4, adjudication=Adjudication(resign=ResignScore(500, 1)))
    assert adjudicate(chosen, _game("0 0 600 600")) == WHITE_WINS


def test_the_referee_ends_a_match() -> None:
    match = running("a4", "a5", max_plies=4)
    match.play("b4", after(3), source="x")
    assert not match.is_over
    match.play("b5", after(4), source="x", offers_draw=True)
    assert match.outcome == Outcome(None, Termination.MAX_PLIES)
    assert [event.type.value for event in match.new_events][-2:] == ["ply.played", "match.ended"]
    scored = running(adjudication=Adjudication(resign=ResignScore(500, 1)))
    for number, move in enumerate(("a4", "a5"), 1):
        scored.play(move, after(number), source="x", evaluation=Evaluation(centipawns=-700))
    assert scored.outcome == BLACK_WINS


def test_the_rules_go_before_the_referee() -> None:
    match = running("f3", "e5", "g4", max_plies=4)
    match.play("Qh4#", after(4), source="x")
    assert match.outcome == Outcome(Color.BLACK, Termination.CHECKMATE)


def test_an_opening_has_no_scores_but_counts_as_plies() -> None:
    match = running(opening="a4 a5", max_plies=4, adjudication=Adjudication(ResignScore(1, 1)))
    match.play("b4", after(1), source="x", evaluation=Evaluation(centipawns=900))
    assert not match.is_over
    match.play("c5", after(1), source="x")
    assert match.outcome == Outcome(None, Termination.MAX_PLIES)
