"""How accurate moves are: published values, an oracle of another make, and laws."""

import math
from itertools import accumulate
from statistics import harmonic_mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from app.evaluations.accuracy import (
    Judgement,
    acpl,
    centipawn_loss,
    centipawns,
    game_accuracy,
    judgement,
    mean_accuracy,
    move_accuracy,
    weighed_moves,
    win_percent,
)
from engine import Color, Evaluation

WHITE, BLACK = Color.WHITE, Color.BLACK
GAME = [20, 25, 10, 60, -80, -75, -150, -140, -300, -280]

scores = st.integers(-1500, 1500)
games = st.lists(scores, max_size=120)
colors = st.sampled_from(Color)
percents = st.floats(0, 100)


# --- values that are known ---


def test_the_published_example():
    assert game_accuracy(GAME) == {
        WHITE: pytest.approx(68.1181, abs=5e-5),
        BLACK: pytest.approx(91.8448, abs=5e-5),
    }


#: Centipawns and Win%, computed with forty digits.
WIN_PERCENTS = [(0, 50.0), (15, 51.3804), (100, 59.1026), (-100, 40.8974), (300, 75.1126),
                (1000, 97.5447), (-1000, 2.4553), (5000, 97.5447), (-10**9, 2.4553)]  # fmt: skip


@pytest.mark.parametrize(("score", "percent"), WIN_PERCENTS)
def test_win_percent(score, percent):
    assert win_percent(score) == pytest.approx(percent, abs=5e-5)


#: Falls of Win%, and how accurate the move still is. The very smallest falls cost nothing.
ACCURACIES = [(0, 100.0), (-5, 100.0), (-100, 100.0), (0.02, 100.0), (1, 96.6040), (5, 80.8153),
              (10, 64.5798), (20, 41.0168), (50, 9.5278), (88.5, 0.0204), (88.9, 0.0), (95, 0.0),
              (100, 0.0)]  # fmt: skip


@pytest.mark.parametrize(("fall", "accuracy"), ACCURACIES)
def test_move_accuracy(fall, accuracy):
    before = 100 if fall > 0 else 0
    assert move_accuracy(before, before - fall) == pytest.approx(accuracy, abs=5e-5)


JUDGEMENTS = [
    (-3, None), (0, None), (4.999, None), (5, Judgement.INACCURACY), (9.999, Judgement.INACCURACY),
    (10, Judgement.MISTAKE), (14.999, Judgement.MISTAKE), (15, Judgement.BLUNDER),
    (100, Judgement.BLUNDER),
]  # fmt: skip


@pytest.mark.parametrize(("fall", "judged"), JUDGEMENTS)
def test_judgements(fall, judged):
    assert judgement(fall) is judged


EVALUATIONS = [
    (Evaluation(centipawns=0), WHITE, 0),
    (Evaluation(centipawns=-37), WHITE, -37),
    (Evaluation(centipawns=4000), BLACK, 1000),
    (Evaluation(centipawns=-1001), WHITE, -1000),
    (Evaluation(mate=7), BLACK, 1000),
    (Evaluation(mate=-1), WHITE, -1000),
    (Evaluation(mate=0), WHITE, 1000),
    (Evaluation(mate=0), BLACK, -1000),
]


@pytest.mark.parametrize(("evaluation", "mover", "expected"), EVALUATIONS)
def test_evaluations_in_centipawns(evaluation, mover, expected):
    assert centipawns(evaluation, mover) == expected


LOSSES = [
    (0, -50, WHITE, 50), (0, -50, BLACK, 0), (0, 50, BLACK, 50), (0, 50, WHITE, 0),
    # Both are clamped before they are compared: who is winning so clearly has lost nothing.
    (3000, 1200, WHITE, 0), (3000, 900, WHITE, 100), (-3000, -1500, BLACK, 0),
    (500, -5000, WHITE, 1500),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "mover", "loss"), LOSSES)
def test_centipawn_loss(before, after, mover, loss):
    assert centipawn_loss(before, after, mover) == loss


def test_the_average_loss():
    assert acpl(GAME) == {WHITE: 78.0, BLACK: 18.0}
    assert acpl(GAME, BLACK) == {WHITE: 0.0, BLACK: 1.0}
    assert acpl([-2000, -1200]) == {WHITE: 1015.0, BLACK: 0.0}


def test_games_of_few_moves():
    assert game_accuracy([]) == acpl([]) == {WHITE: None, BLACK: None}
    assert game_accuracy([15]) == {WHITE: 100.0, BLACK: None}
    assert game_accuracy([15], BLACK) == {WHITE: None, BLACK: 100.0}
    # Of one move both means are the move's.
    (alone,) = weighed_moves([-135])
    assert game_accuracy([-135])[WHITE] == pytest.approx(alone.accuracy)
    assert alone.accuracy == move_accuracy(win_percent(15), win_percent(-135))


def test_what_the_first_position_is_worth_matters():
    assert game_accuracy([-400], initial=-400)[WHITE] == 100.0
    assert game_accuracy([-400])[WHITE] < 40
    assert acpl([-400], initial=-300)[WHITE] == 100.0


@pytest.mark.parametrize("plies", [2, 3, 40, 200])
def test_who_only_blunders_has_no_accuracy_and_nothing_is_divided_by_zero(plies):
    # Accuracies of 0 count as 1 in the harmonic mean: so half a percent is left of nothing.
    swings = [-1000 if number % 2 == 0 else 1000 for number in range(plies)]
    accuracies = game_accuracy(swings, initial=1000)
    assert accuracies == {WHITE: pytest.approx(0.5), BLACK: pytest.approx(0.5)}


# --- windows ---

#: How many moves, and how many positions there are to a window.
WINDOWS = [(1, 2), (2, 2), (10, 2), (20, 2), (29, 2), (30, 3), (39, 3), (40, 4), (79, 7), (80, 8),
           (90, 8), (300, 8)]  # fmt: skip


@pytest.mark.parametrize(("plies", "size"), WINDOWS)
def test_a_swing_weighs_on_the_moves_around_it(plies, size):
    # All is quiet but for one move: its windows are those that hold both positions around it.
    for swing in {0, plies // 2, plies - 1}:
        cps = [15] * swing + [900] * (plies - swing)
        heavy = [move.weight > 0.5 for move in weighed_moves(cps)]
        assert len(heavy) == plies
        # The window of a move ends with it, but for the first moves, who share one.
        expected = [
            max(0, number - size + 2) <= swing <= max(number, size - 2) for number in range(plies)
        ]
        assert heavy == expected


def test_weights_are_bounded():
    assert {move.weight for move in weighed_moves([15] * 50)} == {0.5}
    assert {move.weight for move in weighed_moves([-900, 900] * 25)} == {12.0}


# --- an oracle ---


def oracle(cps, first, initial):
    """Return the same, computed in another way: whole games at once, each side picked at the end.

    Win% is a logistic curve, and so is the hyperbolic tangent.
    """
    clipped = np.clip(np.array([initial, *cps], dtype=float), -1000, 1000)
    wins = 50 + 50 * np.tanh(0.00368208 * clipped / 2)
    size = min(8, max(2, len(cps) // 10))
    deviations = sliding_window_view(wins, size).std(axis=1)
    weights = np.clip(np.concatenate([np.repeat(deviations[0], size - 2), deviations]), 0.5, 12)
    signs = np.where(np.arange(len(cps)) % 2 == 0, 1, -1) * (1 if first is WHITE else -1)
    falls = np.maximum(0, -np.diff(wins) * signs)
    raw = 103.1668100711649 * np.exp(-0.04354415386753951 * falls) - 3.166924740191411 + 1
    accuracies = np.where(falls > 0, np.clip(raw, 0, 100), 100)
    found = {}
    for color, sign in ((WHITE, 1), (BLACK, -1)):
        own = accuracies[signs == sign]
        if len(own):
            weighted = np.average(own, weights=weights[signs == sign])
            found[color] = (weighted + harmonic_mean(np.maximum(own, 1).tolist())) / 2
    return found


@given(st.lists(scores, min_size=1, max_size=120), colors, scores)
def test_another_computation_agrees(cps, first, initial):
    found = game_accuracy(cps, first, initial)
    expected = oracle(cps, first, initial)
    assert {color for color, each in found.items() if each is not None} == set(expected)
    for color, accuracy in expected.items():
        assert found[color] == pytest.approx(accuracy, abs=1e-6)


# --- laws ---


@given(scores, scores)
def test_win_percent_rises_and_is_fair(one, other):
    assert win_percent(one) + win_percent(-one) == pytest.approx(100)
    assert 0 < win_percent(one) < 100
    if one < other:
        assert win_percent(one) <= win_percent(other)
    if -1000 <= one < other <= 1000:
        assert win_percent(one) < win_percent(other)


@given(percents, percents, percents)
def test_the_more_win_percent_falls_the_less_accurate_the_move(before, one, other):
    low, high = sorted((one, other))
    assert 0 <= move_accuracy(before, low) <= move_accuracy(before, high) <= 100
    if high >= before:
        assert move_accuracy(before, high) == 100


@given(games, colors, scores)
def test_accuracies_are_finite_percents(cps, first, initial):
    for moved, accuracy in zip(
        (len(cps) > 0, len(cps) > 1),
        (game_accuracy(cps, first, initial)[each] for each in (first, first.opponent)),
        strict=True,
    ):
        assert (accuracy is not None) == moved
        assert accuracy is None or 0 <= accuracy <= 100


@given(games, colors, scores)
def test_the_same_game_with_colours_swapped(cps, first, initial):
    mirrored = [-each for each in cps]
    for function in (game_accuracy, acpl):
        found = function(cps, first, initial)
        swapped = function(mirrored, first.opponent, -initial)
        for color in Color:
            assert swapped[color.opponent] == (
                None if found[color] is None else pytest.approx(found[color])
            )


@given(games, colors)
def test_beyond_a_thousand_centipawns_nothing_changes(cps, first):
    clamped = [max(-1000, min(1000, each)) for each in cps]
    assert game_accuracy(cps, first) == game_accuracy(clamped, first)
    assert acpl(cps, first) == acpl(clamped, first)


@given(st.lists(st.integers(0, 60), max_size=100), colors)
def test_who_never_loses_anything_is_perfect(gains, first):
    # One side gains with every move of its own, and the other gives as much away.
    cps = list(accumulate(gain if first is WHITE else -gain for gain in gains))
    if cps:
        assert game_accuracy(cps, first, 0)[first] == pytest.approx(100)
        assert acpl(cps, first, 0)[first] == 0


@given(st.lists(scores, min_size=1, max_size=60), colors)
def test_a_games_accuracy_lies_between_its_worst_and_its_best_move(cps, first):
    moves = [each for each in weighed_moves(cps, first) if each.color is first]
    accuracies = [each.accuracy for each in moves]
    together = mean_accuracy(moves)
    # Those under 1 count as 1 in one of the means.
    assert min(accuracies) - 1e-9 <= together <= max(*accuracies, 1.0) + 1e-9
    assert math.isfinite(together)
