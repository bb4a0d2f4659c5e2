"""Ranks of a band free of rounding noise, and the selection of the top negatives."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rocband.risks import band as band_module
from rocband.risks.band import Band, ascending, check_range, top_indices

THOROUGH = settings(max_examples=300, deadline=None)


class TestRanks:
    @pytest.mark.parametrize(
        ("fpr_range", "n", "ranks"),
        [
            ((0.1, 0.3), 30, (3, 9)),
            ((0.0, 0.1), 30, (0, 3)),
            ((0.0, 1.0), 7, (0, 7)),
            ((0.0, 1 / 3), 3, (0, 1)),
            ((1 / 3, 2 / 3), 3, (1, 2)),
            ((0.07, 0.29), 100, (7, 29)),  # 100 * 0.07 > 7, 100 * 0.29 < 29 in floats
            ((0.02, 0.05), 1000, (20, 50)),
            ((0.3 - 0.2, 0.1 + 0.2), 30, (3, 9)),
            ((1 - 0.9999, 1 - 0.9), 10**6, (100, 10**5)),  # the subtraction leaves an error of 1e-13 of the rate
            ((0.15, 0.25), 10, (1, 3)),
            ((0.0, 0.05), 3, (0, 1)),
            ((0.99, 1.0), 3, (2, 3)),
            ((0, 1), 1, (0, 1)),
            ([np.float32(0.25), np.float64(0.5)], 8, (2, 4)),
            ((Fraction(1, 4), Fraction(1, 2)), 8, (2, 4)),
        ],
    )
    def test_known(self, fpr_range, n, ranks):
        band = Band.from_range(fpr_range, n)
        assert (band.start, band.stop) == ranks
        assert band.n_negatives == n
        assert band.width == ranks[1] - ranks[0]

    @pytest.mark.parametrize("n", [*range(1, 130), 997, 1000])
    def test_each_rank_comes_back_from_its_rate(self, n):
        for k in range(n):
            for low, high in ((k / n, (k + 1) / n), (k * (1 / n), min((k + 1) * (1 / n), 1.0))):
                band = Band.from_range((low, high), n)
                assert (band.start, band.stop) == (k, k + 1)

    @pytest.mark.parametrize("magnitude", range(3, 11))
    def test_each_rank_comes_back_for_large_samples(self, magnitude):
        rng = np.random.default_rng(magnitude)
        for n in rng.integers(10 ** (magnitude - 1), 10**magnitude, 300, endpoint=True).tolist():
            k = int(rng.integers(n))
            band = Band.from_range((k / n, (k + 1) / n), n)
            assert (band.start, band.stop) == (k, k + 1)

    @THOROUGH
    @given(
        st.lists(st.integers(0, 1000), min_size=2, max_size=2, unique=True),
        st.one_of(st.integers(1, 10**8), st.integers(1, 10**7).map(lambda thousands: 1000 * thousands)),
    )
    def test_decimals_are_meant_as_written(self, ends, n):
        low, high = sorted(ends)
        band = Band.from_range((low / 1000, high / 1000), n)
        assert band.start == math.floor(Fraction(low, 1000) * n)
        assert band.stop == math.ceil(Fraction(high, 1000) * n)

    @pytest.mark.parametrize("beta", [5e-324, 1e-300, 1e-13, 1e-12, 1e-6])
    @pytest.mark.parametrize("n", [1, 30, 10**5])
    def test_tiny_band_holds_the_top_negative(self, beta, n):
        assert Band.from_range((0, beta), n) == Band(0, 1, n)

    @pytest.mark.parametrize(
        ("fpr_range", "n", "smallest"),
        [
            ((0.1, math.nextafter(0.1, 1)), 30, r"\(0\.1, 0\.133333\)"),
            ((math.nextafter(1, 0), 1.0), 4, r"\(0\.75, 1\)"),
            ((0.5, math.nextafter(0.5, 1)), 2, r"\(0\.5, 1\)"),
        ],
    )
    def test_band_without_negatives(self, fpr_range, n, smallest):
        with pytest.raises(ValueError, match=rf"holds none of the {n} negatives; the smallest range .* is {smallest}"):
            Band.from_range(fpr_range, n)

    def test_no_negatives_at_all(self):
        with pytest.raises(ValueError, match="needs at least one negative, got none"):
            Band.from_range((0.0, 0.5), 0)


class TestCheckRange:
    def test_gives_floats(self):
        low, high = check_range([0, np.float32(0.5)])
        assert (low, high) == (0.0, 0.5)
        assert type(low) is type(high) is float

    @pytest.mark.parametrize("bounds", [0.5, None, (), (0.1,), (0.1, 0.2, 0.3), "0.1"])
    def test_no_pair(self, bounds):
        with pytest.raises(ValueError, match=r"^fpr_range must be a pair \(low, high\) of rates, got "):
            check_range(bounds)

    @pytest.mark.parametrize(
        "bounds", ["01", ("0", "1"), (None, 1), (0.0, None), (False, True), (0, 1j), (Decimal(0), Decimal(1))]
    )
    def test_no_numbers(self, bounds):
        with pytest.raises(ValueError, match=r"^fpr_range must be a pair of numbers, got "):
            check_range(bounds)

    @pytest.mark.parametrize(
        "bounds",
        [(0.3, 0.1), (0.2, 0.2), (-0.1, 0.5), (0.5, 1.1), (1, 1), (math.nan, 0.5), (0.5, math.nan), (0, math.inf)],
    )
    def test_no_range(self, bounds):
        with pytest.raises(ValueError, match=r"^fpr_range must satisfy 0 <= low < high <= 1, got "):
            check_range(bounds)

    def test_says_whose_range_it_is(self):
        with pytest.raises(ValueError, match=r"^tpr_range must "):
            check_range((0.3, 0.1), "tpr_range")


def assert_top(values, k):
    index = top_indices(values, k)
    assert index.shape == (k,)
    assert len(np.unique(index)) == k
    np.testing.assert_array_equal(values[index], np.sort(values)[len(values) - k :])


def passing(values, k):
    """How many values pass the threshold guessed from a sample."""
    return np.count_nonzero(values >= band_module._guess_threshold(values, k))


SIZES = [32767, 32768, 50_000, 65_536, 150_001]


class TestTopIndices:
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
    def test_equals_a_sort(self, values, data):
        assert_top(values, data.draw(st.integers(1, len(values)), label="k"))

    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("share", [1e-9, 0.001, 0.05, 0.5, 0.999, 1.0])
    @pytest.mark.parametrize("decimals", [1, 17])
    def test_large(self, n, share, decimals):
        values = np.round(np.random.default_rng(n).normal(size=n), decimals)
        assert_top(values, max(int(share * n), 1))

    @pytest.mark.parametrize("n", [*SIZES, *range(200_000, 200_010)])
    def test_sampled_threshold_leaves_few_but_enough(self, n):
        values = np.random.default_rng(n).normal(size=n)
        k = n // 20
        assert k <= passing(values, k) <= 1.3 * k
        assert_top(values, k)

    @pytest.mark.parametrize("k", [1, 5000, 150_001])
    @pytest.mark.parametrize("value", [0.0, -3.0, np.inf])
    def test_constant(self, k, value):
        assert_top(np.full(150_001, value), k)

    @pytest.mark.parametrize("n", [150_000, 150_001])
    @pytest.mark.parametrize("k", [3, 5000, 149_000])
    def test_sorted(self, n, k):
        assert_top(np.arange(n, dtype=np.float64), k)
        assert_top(-np.arange(n, dtype=np.float64), k)

    def test_sample_that_sees_only_the_top(self):
        values = np.random.default_rng(0).normal(size=150_000)
        values[:: 150_000 // 32768] += 100
        k = 60_000
        assert passing(values, k) < k
        assert_top(values, k)

    def test_sample_that_sees_only_the_bottom(self):
        values = np.random.default_rng(0).normal(size=150_000)
        values[:: 150_000 // 32768] -= 100
        k = 5000
        assert passing(values, k) > 100_000
        assert_top(values, k)

    def test_values_stay_as_they_were(self):
        values = np.random.default_rng(0).normal(size=50_000)
        before = values.copy()
        top_indices(values, 100)
        np.testing.assert_array_equal(values, before)

    def test_strided_values(self):
        assert_top(np.random.default_rng(0).normal(size=(40_000, 2))[:, 1], 2000)


@given(
    values=hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_nan=False, allow_infinity=False)),
    times=st.integers(1, 80),
    noise=st.sampled_from([0.0, 1e-9, 1.0]),
)
@settings(deadline=None)
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
