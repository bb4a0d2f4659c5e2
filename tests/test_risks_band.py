"""The ranks of a band, free of rounding noise, and bands that reach further."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocband._errors import ParameterError
from rocband.risks import Band
from samples import bands

THOROUGH = settings(max_examples=300)


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
def test_known(fpr_range, n, ranks):
    band = Band.from_range(fpr_range, n)
    assert (band.start, band.stop) == ranks
    assert band.n_negatives == n
    assert band.width == ranks[1] - ranks[0]


@pytest.mark.parametrize("n", [*range(1, 130), 997, 1000])
def test_each_rank_comes_back_from_its_rate(n):
    for k in range(n):
        for low, high in ((k / n, (k + 1) / n), (k * (1 / n), min((k + 1) * (1 / n), 1.0))):
            band = Band.from_range((low, high), n)
            assert (band.start, band.stop) == (k, k + 1)


@pytest.mark.parametrize("magnitude", range(3, 11))
def test_each_rank_comes_back_for_large_samples(magnitude):
    random = np.random.default_rng(magnitude)
    for n in random.integers(10 ** (magnitude - 1), 10**magnitude, 300, endpoint=True).tolist():
        k = int(random.integers(n))
        band = Band.from_range((k / n, (k + 1) / n), n)
        assert (band.start, band.stop) == (k, k + 1)


@THOROUGH
@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=2, unique=True),
    st.one_of(st.integers(1, 10**8), st.integers(1, 10**7).map(lambda thousands: 1000 * thousands)),
)
def test_decimals_are_meant_as_written(ends, n):
    low, high = sorted(ends)
    band = Band.from_range((low / 1000, high / 1000), n)
    assert band.start == math.floor(Fraction(low, 1000) * n)
    assert band.stop == math.ceil(Fraction(high, 1000) * n)


@pytest.mark.parametrize("beta", [5e-324, 1e-300, 1e-13, 1e-12, 1e-6])
@pytest.mark.parametrize("n", [1, 30, 10**5])
def test_tiny_band_holds_the_top_negative(beta, n):
    assert Band.from_range((0, beta), n) == Band(0, 1, n)


@pytest.mark.parametrize(
    ("fpr_range", "n", "smallest"),
    [
        ((0.1, math.nextafter(0.1, 1)), 30, r"\(0\.1, 0\.133333\)"),
        ((math.nextafter(1, 0), 1.0), 4, r"\(0\.75, 1\)"),
        ((0.5, math.nextafter(0.5, 1)), 2, r"\(0\.5, 1\)"),
    ],
)
def test_band_without_negatives(fpr_range, n, smallest):
    expected = rf"^fpr_range .* holds none of the {n} negatives; the smallest range .* is {smallest}"
    with pytest.raises(ParameterError, match=expected) as error:
        Band.from_range(fpr_range, n)
    assert error.value.parameter == "fpr_range"


def test_no_negatives_at_all():
    with pytest.raises(ValueError, match="needs at least one negative, got none"):
        Band.from_range((0.0, 0.5), 0)


# A band that reaches further


@pytest.mark.parametrize(
    ("band", "factor", "n", "expected"),
    [
        (Band(2, 5, 20), 2.0, None, Band(2, 10, 20)),
        (Band(2, 5, 20), 10.0, None, Band(2, 20, 20)),  # at most all negatives
        (Band(0, 3, 20), 1.5, None, Band(0, 5, 20)),  # 4.5 ranks: the fifth is touched
        (Band(2, 5, 20), 2.0, 40, Band(4, 20, 40)),
        (Band(3, 6, 100), 2.0, 10, Band(0, 2, 10)),  # 0.03 and 0.12 of ten
        (Band(7, 29, 100), 2.0, None, Band(7, 58, 100)),  # 2 * 29 / 100 is no exact number
    ],
)
def test_known_wider_bands(band, factor, n, expected):
    assert band.widened(factor, n) == expected


@THOROUGH
@given(st.data(), st.integers(1, 200), st.integers(1, 5))
def test_widening_by_whole_numbers_is_exact(data, n, factor):
    band = data.draw(bands(n))
    assert band.widened(1.0) == band
    assert band.widened(factor) == Band(band.start, min(factor * band.stop, n), n)
    among_more = Band(factor * band.start, factor * band.stop, factor * n)
    assert band.widened(1.0, factor * n) == among_more
