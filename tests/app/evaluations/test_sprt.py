"""Sequential tests: values of the public fishtest code, other methods, and what always holds."""

import json
import math
import pickle
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluations.sprt import (
    InvalidBounds,
    InvalidCounts,
    InvalidRates,
    _fit_to_deviations,
    llr,
    sprt,
    statistics_of,
)

# --- values of the public fishtest code ---

FISHTEST = [
    ((10, 20, 30), (0, 50), 3.443008, 2.912876, 120.4120, 75.2599, 0.999734, 155.3779),
    ((89, 123, 76), (0, 10), -0.860358, -0.613477, -15.6935, 30.4580, 0.155326, -20.7565),
    ((2, 8, 20, 14, 6), (0, 50), 1.870332, 1.733470, 48.9626, 49.5052, 0.976054, 68.7338),
    ((34, 54, 63, 64, 75), (0, 10), 2.551067, 2.483695, 55.5798, 27.6534, 0.999970, 57.9356),
]


@pytest.mark.parametrize(
    ("counts", "bounds", "logistic", "normalized", "elo", "margin", "los", "nelo"), FISHTEST
)
def test_the_values_of_fishtest(counts, bounds, logistic, normalized, elo, margin, los, nelo):
    assert llr(counts, bounds, "logistic") == pytest.approx(logistic, abs=1e-6)
    assert llr(counts, bounds, "normalized") == pytest.approx(normalized, abs=1e-6)
    found = statistics_of(counts)
    assert found.elo == pytest.approx(elo, abs=1e-4)
    assert found.elo_margin == pytest.approx(margin, abs=1e-4)
    assert found.los == pytest.approx(los, abs=1e-6)
    assert found.nelo == pytest.approx(nelo, abs=1e-4)


def test_the_bounds_of_a_test_at_5_percent():
    verdict = sprt((10, 20, 30), (0, 50))
    assert (verdict.lower, verdict.upper) == pytest.approx((-2.944439, 2.944439), abs=1e-6)
    assert verdict.decision == "H1"


# --- other methods, written differently ---


def shares(counts):
    seen = [count or 1e-3 for count in counts]
    return [count / sum(seen) for count in seen], sum(seen)


def moments(fit):
    scores = [number / (len(fit) - 1) for number in range(len(fit))]
    mean = sum(share * score for share, score in zip(fit, scores, strict=True))
    return mean, sum(share * (score - mean) ** 2 for share, score in zip(fit, scores, strict=True))


def likeliest_of_three(observed, is_met):
    """Try draw shares finely; `is_met` gives the winning share that the hypothesis asks for."""
    best, fit = -math.inf, None
    low, high = 0.0, 1.0
    for _ in range(12):
        step = (high - low) / 200
        for number in range(1, 200):
            drawn = low + number * step
            won = is_met(drawn)
            lost = 1 - won - drawn
            if won <= 0 or lost <= 0:
                continue
            value = sum(
                share * math.log(each)
                for share, each in zip(observed, (lost, drawn, won), strict=True)
            )
            if value > best:
                best, fit = value, drawn
        low, high = max(0.0, fit - 2 * step), min(1.0, fit + 2 * step)
    return best


@pytest.mark.parametrize("counts", [(10, 20, 30), (89, 123, 76), (5, 0, 9), (0, 7, 3)])
def test_the_logistic_ratio_is_that_of_the_likeliest_distributions(counts):
    observed, total = shares(counts)

    def value(elo):
        score = 1 / (1 + 10 ** (-elo / 400))
        return likeliest_of_three(observed, lambda drawn: score - drawn / 2)

    expected = total * (value(40) - value(-10))
    assert llr(counts, (-10, 40)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("counts", [(10, 20, 30), (89, 123, 76), (5, 1, 9)])
def test_the_normalized_ratio_is_that_of_the_likeliest_distributions(counts):
    observed, total = shares(counts)

    def value(nelo):
        wanted = nelo * math.log(10) / 800

        def won(drawn):
            # mean 1/2 + gap/2 with gap = won - lost; variance (1 - drawn - gap²)/4
            gap = wanted * math.sqrt((1 - drawn) / (1 + wanted**2))
            return (1 - drawn + gap) / 2

        return likeliest_of_three(observed, won)

    expected = total * (value(60) - value(-20))
    assert llr(counts, (-20, 60), "normalized") == pytest.approx(expected, abs=1e-5)


ALIKE = [
    (0, 0, 1), (1, 0, 0), (0, 1, 0), (3, 1, 0), (0, 0, 0, 0, 40), (0, 0, 100, 0, 0),
    (0, 0, 0, 1, 1), (1, 0, 0, 0, 1), (0, 0, 17, 1, 0), (1, 1, 26, 1, 0),
]  # fmt: skip


@pytest.mark.parametrize("counts", ALIKE)
@pytest.mark.parametrize("nelo", [-500, 5, 400, 900])
def test_fits_are_stationary_where_the_iteration_does_not_settle(counts, nelo):
    observed, _ = shares(counts)
    wanted = nelo * math.log(10) / 800 * math.sqrt((len(counts) - 1) / 2)
    fit = _fit_to_deviations(observed, wanted)
    mean, variance = moments(fit)
    assert sum(fit) == pytest.approx(1)
    assert (mean - 0.5) / math.sqrt(variance) == pytest.approx(wanted, abs=1e-5)
    # Lagrange: share/fit is linear in the slope of (mean - 1/2)/deviation
    scores = np.arange(len(fit)) / (len(fit) - 1)
    slopes = scores / variance**0.5 - (mean - 0.5) / (2 * variance**1.5) * (
        scores**2 - 2 * mean * scores
    )
    weights = np.array(fit)  # where nearly nothing is, nothing can be told
    terms = np.stack([np.ones(len(fit)), slopes], axis=1) * weights[:, np.newaxis]
    multipliers = np.linalg.lstsq(terms, np.array(observed), rcond=None)[0]
    assert terms @ multipliers == pytest.approx(np.array(observed), abs=1e-6)


def test_an_iteration_that_ends_far_off_is_not_believed():
    observed, _ = shares((1, 0, 11, 1, 0))
    wanted = 200 * math.log(10) / 800 * math.sqrt(2)
    mean, variance = moments(_fit_to_deviations(observed, wanted))
    assert (mean - 0.5) / math.sqrt(variance) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("counts", [(0, 0, 1), (0, 1, 0), (3, 1, 0), (0, 0, 50)])
def test_they_are_the_likeliest_ones(counts):
    observed, total = shares(counts)

    def value(nelo):
        wanted = nelo * math.log(10) / 800

        def won(drawn):
            gap = wanted * math.sqrt((1 - drawn) / (1 + wanted**2))
            return (1 - drawn + gap) / 2

        return likeliest_of_three(observed, won)

    expected = total * (value(500) - value(300))
    assert llr(counts, (300, 500), "normalized") == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_pairs_of_independent_games_tell_as_much_as_the_games():
    # 60 % wins, 20 % draws: pairs as they come if the two games have nothing to do with each other
    lost, drawn, won = 0.2, 0.2, 0.6
    games = [10_000 * share for share in (lost, drawn, won)]
    pairs = [
        5_000 * share
        for share in (
            lost**2, 2 * lost * drawn, drawn**2 + 2 * lost * won, 2 * drawn * won, won**2,
        )
    ]  # fmt: skip
    one, two = statistics_of(games), statistics_of(pairs)
    for name in ("games", "score", "elo", "elo_margin", "los", "nelo", "nelo_margin"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)), name
    assert one.draw_ratio == pytest.approx(0.2)
    assert two.draw_ratio is None


def test_margins_are_those_of_the_mean_score():
    found = statistics_of((100, 300, 200))
    mean = 350 / 600
    variance = (100 * mean**2 + 300 * (0.5 - mean) ** 2 + 200 * (1 - mean) ** 2) / 600
    error = math.sqrt(variance / 600)
    assert found.los == pytest.approx(NormalDist().cdf((mean - 0.5) / error))
    assert found.nelo_margin == pytest.approx(1.959964 * 800 / math.log(10) / math.sqrt(600))
    assert found.score == pytest.approx(mean)


# --- what holds whatever the results ---

COUNT = st.sampled_from([0, 0, 1, 2, 9, 60, 1000, 0.5])
COUNTS = st.one_of(
    st.tuples(COUNT, COUNT, COUNT), st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT)
).filter(any)
BOUNDS = st.sampled_from([(0, 2), (-3, 1), (0, 50), (-100, 300), (200, 500), (-900, 900)])
MODEL = st.sampled_from(["logistic", "normalized"])


@settings(max_examples=80, deadline=None)
@given(COUNTS, BOUNDS, MODEL)
def test_turning_the_results_round_turns_the_ratio_round(counts, bounds, model):
    mine = llr(counts, bounds, model)
    other = llr(tuple(reversed(counts)), (-bounds[1], -bounds[0]), model)
    assert mine == pytest.approx(-other, rel=1e-6, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(COUNTS, BOUNDS, MODEL)
def test_everything_is_finite(counts, bounds, model):
    data = sprt(counts, bounds, model).to_json() | statistics_of(counts).to_json()
    json.dumps(data, allow_nan=False)
    assert 0 <= data["los"] <= 1
    assert data["elo_margin"] >= 0


EXTREMES = [(10**12, 0, 0), (0, 10**12, 0), (10**12, 10**12, 0, 1, 10**6), (0.001, 0.001, 0.001)]


@pytest.mark.parametrize("counts", EXTREMES)
@pytest.mark.parametrize("model", ["logistic", "normalized"])
def test_extremes_are_finite(counts, model):
    for bounds in ((0, 10), (-2000, 2000), (-0.01, 0.01)):
        assert math.isfinite(llr(counts, bounds, model))
    json.dumps(statistics_of(counts).to_json(), allow_nan=False)


def test_a_test_that_is_decided_says_for_whom():
    assert sprt((300, 200, 100), (0, 50)).decision == "H0"
    assert sprt((100, 200, 300), (0, 50)).decision == "H1"
    assert sprt((10, 20, 12), (0, 50)).decision is None
    assert sprt((10, 20, 30), (0, 50), alpha=0.001, beta=0.001).decision is None
    assert sprt((10, 20, 30), (0, 50), alpha=0.01).lower == math.log(0.05 / 0.99)


# --- mistakes ---

MISTAKES = [
    (lambda: llr((1, 2), (0, 50)), InvalidCounts,
     "the counts of results cannot be: there must be 3 (games) or 5 (pairs), not 2"),
    (lambda: statistics_of((0, 0, 0)), InvalidCounts,
     "the counts of results cannot be: nothing was played"),
    (lambda: statistics_of((1, -1, 0)), InvalidCounts,
     "the counts of results cannot be: one is negative"),
    (lambda: statistics_of((1, math.inf, 0)), InvalidCounts,
     "the counts of results cannot be: one is no number"),
    (lambda: statistics_of((1, 1e13, 0)), InvalidCounts,
     "the counts of results cannot be: one is more than 1e+12"),
    (lambda: statistics_of((1, 1e-5, 0)), InvalidCounts,
     "the counts of results cannot be: one is less than 0.001, which counts as none"),
    (lambda: sprt((1, 2, 3), (50, 0)), InvalidBounds,
     "the bounds 50 and 0 cannot be: the first must be the lower one"),
    (lambda: sprt((1, 2, 3), (0, math.nan)), InvalidBounds,
     "the bounds 0 and nan cannot be: they must be numbers within ±2000"),
    (lambda: sprt((1, 2, 3), (0, 50), alpha=0.0), InvalidRates,
     "alpha and beta must be between 0 and 1 and together less than 1, not 0 and 0.05"),
    (lambda: sprt((1, 2, 3), (0, 50), alpha=0.6, beta=0.6), InvalidRates,
     "alpha and beta must be between 0 and 1 and together less than 1, not 0.6 and 0.6"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "kind", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence(act, kind, sentence):
    with pytest.raises(kind) as caught:
        act()
    assert str(caught.value) == sentence
    assert str(pickle.loads(pickle.dumps(caught.value))) == sentence
