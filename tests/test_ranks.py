"""From a rate to a rank: against rational arithmetic, and the same rank wherever a rank is needed."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocband._errors import ParameterError
from rocband.metrics import empirical_partial_auc, tpr_at_fpr_score
from rocband.ranks import check_range, past, position, ranks_reached, ranks_touched
from rocband.risks.band import Band
from rocband.threshold import operating_points
from rocband.threshold.cutoff import plain_rank

THOROUGH = settings(max_examples=300)
# Whole thousands, since a rate of up to six decimals times another count is seldom a whole number.
COUNTS = st.one_of(st.integers(1, 300), st.integers(1, 10**9), st.integers(1, 10**6).map(lambda k: 1000 * k))


@st.composite
def decimals(draw):
    """Rates as people write them: k / 10^d."""
    scale = 10 ** draw(st.integers(1, 6))
    return Fraction(draw(st.integers(1, scale - 1)), scale)


def moved(rate, ulps):
    """The rate, a few floating-point numbers further on."""
    value = float(rate)
    for _ in range(abs(ulps)):
        value = math.nextafter(value, math.copysign(math.inf, ulps))
    return value


@THOROUGH
@given(decimals(), COUNTS, st.integers(-4, 4))
def test_noise_moves_no_rank(rate, n, ulps):
    noisy = moved(rate, ulps)
    assert ranks_reached(noisy, n) == math.floor(rate * n)
    assert ranks_touched(noisy, n) == math.ceil(rate * n)


@THOROUGH
@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_a_real_difference_moves_a_rank(rank, factor):
    n = rank * factor
    rate = rank / n
    assert ranks_reached(rate * (1 - 1e-9), n) == rank - 1
    assert ranks_touched(rate * (1 + 1e-9), n) == rank + 1


@given(decimals(), COUNTS)
def test_a_position_is_exact_or_whole(rate, n):
    exact = rate * n
    found = position(float(rate), n)
    assert found == pytest.approx(float(exact), rel=1e-12)
    assert found.is_integer() == (exact.denominator == 1)


def test_ends_of_the_range():
    for n in (1, 7, 10**9):
        assert (ranks_reached(0.0, n), ranks_touched(0.0, n)) == (0, 0)
        assert (ranks_reached(1.0, n), ranks_touched(1.0, n)) == (n, n)


@pytest.mark.parametrize("terms", [1, 1000, 10**6])
def test_a_sum_is_not_past_what_it_is_the_sum_of(terms):
    total = float(np.cumsum(np.full(terms, 0.1))[-1])
    amount = float(Fraction(0.1) * terms)
    assert total <= past(amount, terms)
    assert past(amount, terms) < amount * (1 + 1e-9)
    assert past(amount) > amount


def ranked_sample(n):
    """Negatives n - 1, ..., 0, and a positive just above each of them and one below all."""
    negatives = np.arange(n, dtype=float)
    positives = np.arange(-1, n) + 0.5
    labels = np.repeat([0, 1], [n, n + 1])
    return labels, np.concatenate([negatives, positives])


@THOROUGH
@given(decimals(), st.integers(1, 150), st.integers(-3, 3))
def test_metric_threshold_and_risk_agree(rate, n, ulps):
    noisy = moved(rate, ulps)
    band = Band.from_range((0.0, noisy), n)
    assert band.stop == math.ceil(rate * n)
    reached = math.floor(rate * n)
    assert plain_rank(n, noisy) == reached + 1
    labels, scores = ranked_sample(n)
    assert operating_points(labels, scores, noisy)["threshold"].item() == n - 1 - reached
    # With k negatives let through, the k + 1 positives above the next one are found.
    assert tpr_at_fpr_score(labels, scores, fpr=noisy) == (reached + 1) / (n + 1)
    weights = np.full(len(labels), 0.1)
    assert tpr_at_fpr_score(labels, scores, fpr=noisy, sample_weight=weights) == pytest.approx((reached + 1) / (n + 1))


@THOROUGH
@given(decimals(), decimals(), st.integers(1, 150))
def test_the_metric_counts_the_ranks_of_the_risk(first, second, n):
    low, high = sorted((first, second))
    assume(low < high)
    start = math.floor(low * n)
    stop = math.ceil(high * n)
    band = Band.from_range((float(low), float(high)), n)
    assert (band.start, band.stop) == (start, stop)
    labels, scores = ranked_sample(n)
    # The negative of rank j is beaten by the j positives above it.
    expected = Fraction(sum(range(start + 1, stop + 1)), (n + 1) * (stop - start))
    assert empirical_partial_auc(labels, scores, fpr_range=(float(low), float(high))) == float(expected)


def test_the_weighted_metric_misses_no_corner_of_many_rows():
    # A running sum of a million weights of 0.1 is off by 1e-11, more than a product of two numbers ever is.
    n = 10**6
    scores = np.append(-np.arange(n, dtype=float), -(n - 1) + 0.5)
    labels = np.repeat([0, 1], [n, 1])
    assert tpr_at_fpr_score(labels, scores, fpr=(n - 1) / n, sample_weight=np.full(n + 1, 0.1)) == 1.0
    assert tpr_at_fpr_score(labels, scores, fpr=(n - 2) / n, sample_weight=np.full(n + 1, 0.1)) == 0.0


# The range itself


def test_a_range_becomes_floats():
    low, high = check_range([0, np.float32(0.5)])
    assert (low, high) == (0.0, 0.5)
    assert type(low) is type(high) is float


@pytest.mark.parametrize("bounds", [0.5, None, (), (0.1,), (0.1, 0.2, 0.3), "0.1"])
def test_no_pair(bounds):
    with pytest.raises(ParameterError, match=r"^fpr_range must be a pair \(low, high\) of rates, got "):
        check_range(bounds)


@pytest.mark.parametrize(
    "bounds", ["01", ("0", "1"), (None, 1), (0.0, None), (False, True), (0, 1j), (Decimal(0), Decimal(1))]
)
def test_no_numbers(bounds):
    with pytest.raises(ParameterError, match=r"^fpr_range must be a pair of numbers, got "):
        check_range(bounds)


@pytest.mark.parametrize(
    "bounds",
    [(0.3, 0.1), (0.2, 0.2), (-0.1, 0.5), (0.5, 1.1), (1, 1), (math.nan, 0.5), (0.5, math.nan), (0, math.inf)],
)
def test_no_range(bounds):
    with pytest.raises(ParameterError, match=r"^fpr_range must satisfy 0 <= low < high <= 1, got "):
        check_range(bounds)


def test_an_error_says_whose_range_it_is():
    with pytest.raises(ParameterError, match=r"^tpr_range must ") as error:
        check_range((0.3, 0.1), "tpr_range")
    assert error.value.parameter == "tpr_range"


@pytest.mark.parametrize(
    ("bounds", "name", "meant"),
    [
        (0.05, "fpr_range", "got 0.05. Did you mean (0, 0.05)?"),
        (np.float32(0.25), "fpr_range", ". Did you mean (0, 0.25)?"),
        (0.8, "tpr_range", "got 0.8. Did you mean (0.8, 1)?"),
        (1, "fpr_range", "got 1."),
        (0.0, "fpr_range", "got 0.0."),
        (5, "fpr_range", "got 5."),
        (None, "fpr_range", "got None."),
    ],
)
def test_a_single_rate_is_asked_what_it_means(bounds, name, meant):
    with pytest.raises(ValueError, match="must be a pair") as caught:
        check_range(bounds, name)
    assert str(caught.value).startswith(f"{name} must be a pair (low, high) of rates, ")
    assert str(caught.value).endswith(meant)
