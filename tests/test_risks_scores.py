"""Scores: the top negatives are those of a sort, those with a share enter, and scores are linear in the model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rocband.risks import Plane, Scores
from rocband.risks import scores as scores_module
from rocband.risks.scores import HeldNegatives, ascending
from rocband.risks.shares import share_threshold, shares
from samples import seeds
from test_risks_shares import share_rounding

THOROUGH = settings(max_examples=300)

# The highest


def assert_highest(values, k):
    negatives = HeldNegatives(values)
    found, index = negatives.highest(k)
    expected = np.sort(values)[len(values) - k :]
    assert index.shape == (k,)
    assert len(np.unique(index)) == k
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(values[index], expected)
    np.testing.assert_array_equal(negatives.highest_values(k), expected)


def passing(values, k):
    """How many values pass the threshold guessed from a sample."""
    return np.count_nonzero(values >= scores_module._guess_threshold(values, k))


SIZES = [32767, 32768, 50_000, 65_536, 150_001]


@THOROUGH
@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32]),
        st.integers(1, 60),
        elements=st.one_of(
            st.integers(-2, 2).map(float), st.floats(-1e6, 1e6, width=32), st.sampled_from([-np.inf, np.inf, -0.0])
        ),
    ),
    st.data(),
)
def test_the_highest_are_those_of_a_sort(values, data):
    assert_highest(values, data.draw(st.integers(1, len(values)), label="k"))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [1e-9, 0.001, 0.05, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("decimals", [1, 17])
def test_the_highest_of_many(n, share, decimals):
    values = np.round(np.random.default_rng(n).normal(size=n), decimals)
    assert_highest(values, max(int(share * n), 1))


@pytest.mark.parametrize("n", [*SIZES, *range(200_000, 200_010)])
def test_sampled_threshold_leaves_few_but_enough(n):
    values = np.random.default_rng(n).normal(size=n)
    k = n // 20
    assert k <= passing(values, k) <= 1.3 * k
    assert_highest(values, k)


@pytest.mark.parametrize("k", [1, 5000, 150_001])
@pytest.mark.parametrize("value", [0.0, -3.0, np.inf])
def test_the_highest_of_equal_values(k, value):
    assert_highest(np.full(150_001, value), k)


@pytest.mark.parametrize("n", [150_000, 150_001])
@pytest.mark.parametrize("k", [3, 5000, 149_000])
def test_the_highest_of_sorted_values(n, k):
    assert_highest(np.arange(n, dtype=np.float64), k)
    assert_highest(-np.arange(n, dtype=np.float64), k)


def test_sample_that_sees_only_the_top():
    values = np.random.default_rng(0).normal(size=150_000)
    values[:: 150_000 // 32768] += 100
    k = 60_000
    assert passing(values, k) < k
    assert_highest(values, k)


def test_sample_that_sees_only_the_bottom():
    values = np.random.default_rng(0).normal(size=150_000)
    values[:: 150_000 // 32768] -= 100
    k = 5000
    assert passing(values, k) > 100_000
    assert_highest(values, k)


def test_values_stay_as_they_were():
    values = np.random.default_rng(0).normal(size=50_000)
    before = values.copy()
    assert_highest(values, 100)
    HeldNegatives(values).entering(100, 0.5)
    np.testing.assert_array_equal(values, before)


def test_strided_values():
    assert_highest(np.random.default_rng(0).normal(size=(40_000, 2))[:, 1], 2000)


# Their order


@given(
    values=hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_nan=False, allow_infinity=False)),
    times=st.integers(1, 80),
    noise=st.sampled_from([0.0, 1e-9, 1.0]),
)
def test_ascending_is_a_stable_argsort(values, times, noise):
    many = np.tile(values, times)
    many = many + noise * np.random.default_rng(0).normal(size=len(many))
    many = many[np.isfinite(many)]
    np.testing.assert_array_equal(ascending(many), np.argsort(many, kind="stable"))


def test_ascending_whatever_the_scale():
    random = np.random.default_rng(0)
    normal = random.normal(size=10_000)
    outlier = np.append(normal, 1e300)
    overflowing = np.append(normal, [1.7e308, -1.7e308])
    single = np.linspace(-3e38, 3e38, 4000).astype(np.float32)
    for values in (single, normal, outlier, overflowing, normal * 1e-310, np.zeros(5000), np.round(normal, 1)):
        np.testing.assert_array_equal(ascending(values), np.argsort(values, kind="stable"))


# Which negatives enter

SAMPLED = 16384 * 3 + 17


def draws(kind, n, random):
    """Scores of many negatives; "hidden" ones hide the top from a strided sample."""
    if kind == "normal":
        return random.normal(size=n)
    if kind == "tied":
        return random.integers(0, 5, n) / 1.0
    if kind == "equal":
        return np.zeros(n)
    if kind == "heavy":
        return random.standard_cauchy(n)
    if kind == "hidden":
        scores = random.normal(size=n)
        scores[1 :: max(n // 16384, 2)] += 10.0
        return scores
    return np.sort(random.normal(size=n))


@pytest.mark.parametrize("n", [40, SAMPLED])
@pytest.mark.parametrize("width", [1.0, 0.05, 1e-6])
@pytest.mark.parametrize("kind", ["normal", "tied", "equal", "heavy", "hidden", "sorted"])
def test_every_negative_with_a_share_enters(kind, width, n):
    random = np.random.default_rng(0)
    negatives = draws(kind, n, random)
    order = np.argsort(negatives, kind="stable")
    for k in sorted({1, 2, n // 30 + 1, n // 3, n - 1, n}):
        entered, index = HeldNegatives(negatives).entering(k, width)
        np.testing.assert_array_equal(entered, negatives[index])
        assert len(index) == len(np.unique(index)) >= k
        assert (np.diff(entered) >= 0).all()
        share = np.zeros(n)
        share[order] = shares(negatives[order], k, width)
        outside = np.setdiff1d(np.arange(n), index)
        slack = max(share_rounding(negatives, width), 1e-9)
        assert share[outside].max(initial=0) <= slack
        # The shares among those that enter are the shares among all.
        np.testing.assert_allclose(shares(entered, k, width), share[index], rtol=0, atol=slack)


def test_a_guess_that_misses_some_shares_is_mended():
    # The strided sample holds far more of the top than the rest: more than k pass the guess, but not all with a share.
    negatives = np.full(SAMPLED, -10.0)
    stride = SAMPLED // 16384
    negatives[: 328 * stride : stride] = 3.0
    negatives[1 : 164 * stride : stride] = 3.0
    negatives[2 : 1000 * stride : stride] = 2.2
    _, index = HeldNegatives(negatives).entering(480, 1.0)
    share = shares(np.sort(negatives), 480, 1.0)
    assert len(index) >= np.count_nonzero(share) == 1492


def test_few_others_enter():
    negatives = np.random.default_rng(0).normal(size=SAMPLED)
    k = SAMPLED // 100
    with_share = np.count_nonzero(negatives > share_threshold(np.sort(negatives), k, 0.01))
    entered, _ = HeldNegatives(negatives).entering(k, 0.01)
    assert len(entered) <= 1.5 * with_share


# Scores as a whole


@given(seeds, st.floats(-3, 3))
def test_scores_are_linear(seed, step):
    random = np.random.default_rng(seed)
    s = random.normal(size=4)
    z = random.normal(size=6)
    along_s = random.normal(size=4)
    along_z = random.normal(size=6)
    moved = Scores.of(s, z).moved(Scores.of(along_s, along_z), step)
    np.testing.assert_array_equal(moved.positives, s + step * along_s)
    np.testing.assert_array_equal(moved.negatives.at(np.arange(6)), z + step * along_z)
    scaled = Scores.of(s, z).scaled(step)
    np.testing.assert_array_equal(scaled.positives, step * s)
    np.testing.assert_array_equal(scaled.negatives.at(np.array([5, 0])), step * z[[5, 0]])
    assert len(moved.negatives) == len(scaled.negatives) == 6


def test_the_slope_is_the_change_of_the_plane():
    plane = Plane(1.0, 0.5, np.array([-1.0, -2.0]), np.array([3.0, 4.0]), np.array([2, 0]))
    direction = Scores.of(np.array([0.5, 0.25]), np.array([10.0, 100.0, 1000.0]))
    assert direction.slope(plane) == -0.5 - 0.5 + 3000.0 + 40.0
