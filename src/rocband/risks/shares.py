"""Shares of the negatives in the top k, smoothed: who is in it, and how much.

The share of a negative with the score z is clip((z - theta) / width, 0, 1), with theta such that the shares sum to k.
It is the projection of the scores on the capped simplex {0 <= u_j <= 1, sum u_j = k}, so that any such shares are
feasible weights of a top-k sum. When scores tie, as at w = 0, those that tie share alike.
"""

from __future__ import annotations

import math

import numpy as np

from rocband._types import FloatArray

__all__ = [
    "guess_share_threshold",
    "holds_all_shares",
    "sample_step",
    "share_threshold",
    "shares",
    "top_shares",
    "top_sums",
]

# Of more negatives than this a sample guesses the threshold: sorting the sample costs nothing beside a pass.
_SAMPLED = 16384
# What lies within so many standard deviations of the expected count is not missed by a guess in practice.
_DEVIATIONS = 3
# Steps on a piecewise linear function; a handful is the rule, and bisection alone would need 52 for all digits.
_MOST_STEPS = 60
# The sum of n shares is k to this many times n: rounding in the sums of n scores.
_SUM_NOISE = 1e-12
# Brackets narrower than this, relatively, hold no other number.
_BRACKET_NOISE = 1e-15


def shares(scores: FloatArray, k: float, width: float) -> FloatArray:
    """Return the share of each negative in the top ``k``; scores ascending."""
    if k == 0:
        return np.zeros(len(scores))
    if k >= len(scores):
        return np.ones(len(scores))
    threshold = share_threshold(scores, k, width)
    share: FloatArray = np.clip((scores - threshold) / width, 0.0, 1.0)
    return _at_most(share, k)


def _at_most(share: FloatArray, k: float) -> FloatArray:
    """Shrink shares so that rounding cannot make their sum exceed ``k``; a whole share stays whole where it can."""
    total = float(share.sum())
    if total <= k:
        return share
    partial = share < 1.0
    whole = len(share) - np.count_nonzero(partial)
    if whole > k:
        return share * (k / total)
    return np.where(partial, share * ((k - whole) / (total - whole)), 1.0)


def share_threshold(scores: FloatArray, k: float, width: float) -> float:
    """Solve sum_j clip((z_j - theta) / width, 0, 1) = k for theta; scores ascending, 0 < k < len(scores).

    The sum falls from at least k to at most k as theta rises from z_(k) - width to z_(k); Newton steps on this
    piecewise linear function, kept inside the bracket, end after a few pieces.
    """
    n = len(scores)
    sums = top_sums(scores)
    high = float(scores[n - math.ceil(k)])
    low = high - width
    theta = high - width / 2
    for _ in range(_MOST_STEPS):
        # Scores above theta + width count whole, those between count in part: the sum less k, and its slope.
        first, full = np.searchsorted(scores, (theta, theta + width))
        partly = (sums[first] - sums[full] - (full - first) * theta) / width
        excess = n - full + partly - k
        if excess > 0:
            low = theta
        else:
            high = theta
        if abs(excess) <= _SUM_NOISE * n or high - low <= _BRACKET_NOISE * (abs(low) + abs(high)):
            break
        step = theta + excess * width / (full - first) if full > first else math.nan
        theta = step if low < step < high else (low + high) / 2
    # Without a sum of k, the lower end of the bracket gives at least k, which `shares` shrinks.
    return low if abs(excess) > _SUM_NOISE * n else theta


def top_shares(size: int, k: float) -> FloatArray:
    """Shares of ascending scores in their top ``k`` without smoothing; a fraction for the last that counts.

    Examples
    --------
    >>> top_shares(4, 1.5)
    array([0. , 0. , 0.5, 1. ])
    """
    above = np.arange(size)[::-1]
    share: FloatArray = np.clip(k - above, 0.0, 1.0)
    return share


def top_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the last len(values), ..., 1, 0 values, added from the last one down."""
    sums = np.zeros(len(values) + 1)
    np.cumsum(values[::-1], out=sums[-2::-1])
    return sums


def sample_step(n: int) -> int:
    """Every how many of n negatives one is sampled to guess a threshold."""
    return max(n // _SAMPLED, 1)


def guess_share_threshold(sample: FloatArray, n: int, k: int, width: float) -> float:
    """Guess from a sample of n negatives a score that few without a share, and all with one, exceed."""
    expected = k * len(sample) / n
    cautious = expected + _DEVIATIONS * math.sqrt(expected) + 1
    if cautious >= len(sample):
        return -math.inf
    return share_threshold(np.sort(sample), cautious, width)


def holds_all_shares(scores: FloatArray, n: int, k: int, width: float) -> bool:
    """Whether the highest of n scores, given in ascending order, are all that have a share in the top ``k``."""
    if len(scores) == n:
        return True
    return len(scores) > k and share_threshold(scores, k, width) >= scores[0]
