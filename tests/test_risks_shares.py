"""Shares of the top k: they sum to k, fall with rank, tie where scores tie, and solve their equation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocband.risks.shares import share_threshold, shares, top_shares, top_sums
from samples import EQUAL, TIED, UNTIED, WIDE

THOROUGH = settings(max_examples=100)
widths = st.one_of(st.just(1.0), st.floats(1e-6, 1.0))


@st.composite
def ascending_scores(draw, min_size=2):
    kind = draw(st.sampled_from([TIED, UNTIED, EQUAL, WIDE]))
    return np.sort(np.array(draw(st.lists(kind, min_size=min_size, max_size=30))))


def share_rounding(scores, width):
    """Shares are what is left of prefix sums and of a score less the threshold, over the width."""
    return 2e-12 * len(scores) + 1e-10 + 30 * np.spacing(np.abs(scores).sum()) / width


@THOROUGH
@given(scores=ascending_scores(), data=st.data(), width=widths)
def test_the_threshold_solves_its_equation(scores, data, width):
    k = data.draw(st.one_of(st.integers(1, len(scores) - 1), st.floats(0.1, len(scores) - 0.1)))
    theta = share_threshold(scores, k, width)
    slack = share_rounding(scores, width)
    assert np.clip((scores - theta) / width, 0, 1).sum() == pytest.approx(k, rel=0, abs=slack)


@THOROUGH
@given(scores=ascending_scores(), data=st.data(), width=widths)
def test_shares(scores, data, width):
    n = len(scores)
    small = data.draw(st.integers(0, n))
    large = data.draw(st.integers(small, n))
    few = shares(scores, small, width)
    many = shares(scores, large, width)
    slack = share_rounding(scores, width)
    for share, k in ((few, small), (many, large)):
        assert share.min() >= 0
        assert share.max() <= 1
        assert share.sum() == pytest.approx(k, rel=0, abs=slack)
        assert share.sum() <= k * (1 + 1e-14)
        assert (np.diff(share) >= 0).all()
        assert not np.diff(share)[np.diff(scores) == 0].any()
        sure = scores[n - k] if k else np.inf
        assert share[scores > sure + width] == pytest.approx(1, abs=slack)
        assert not share[scores < sure - width].any()
    assert (few <= many + slack).all()


def test_shares_of_known_scores():
    np.testing.assert_allclose(shares(np.zeros(5), 2, 1.0), 0.4)
    np.testing.assert_allclose(shares(np.array([0.0, 0.0, 3.0]), 2, 1.0), [0.5, 0.5, 1.0])
    np.testing.assert_allclose(shares(np.array([0.0, 0.2, 1.0]), 1, 1.0), [0.0, 0.1, 0.9])
    assert share_threshold(np.array([0.0, 0.2, 1.0]), 1, 1.0) == pytest.approx(0.1)


@given(scores=ascending_scores(min_size=1), data=st.data())
def test_sharp_shares_are_the_limit_of_smoothed_ones(scores, data):
    scores = np.unique(scores)  # scores that tie, or are closer than the width, share alike when smoothed
    scores = scores[np.append(True, np.diff(scores) > 1e-6)]
    k = data.draw(st.floats(0.1, len(scores)))
    sharp = top_shares(len(scores), k)
    assert sharp.sum() == pytest.approx(k)
    np.testing.assert_allclose(shares(scores, k, 1e-7), sharp, rtol=0, atol=share_rounding(scores, 1e-7))


def test_sums_from_the_top_down():
    np.testing.assert_array_equal(top_sums(np.array([1.0, 2.0, 4.0])), [7.0, 6.0, 4.0, 0.0])
    np.testing.assert_array_equal(top_sums(np.zeros(0)), [0.0])
