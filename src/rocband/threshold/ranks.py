"""Which of the negatives' scores is the threshold for a false-positive rate, and how many negatives a promise needs."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = ["check_enough", "check_open", "cut", "kth_largest", "negatives_needed", "plain_rank", "safe_rank"]

_Floats = npt.NDArray[np.float64]

# 0.29 * 100 falls short of 29, and 1 - 0.9 of 0.1, by rounding alone: so near, a rank or a probability is reached.
_NOISE = 1e-12


def check_open(value: object, name: str) -> float:
    """Return a rate strictly between 0 and 1, or say what is wrong with it."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, both excluded, got {value!r}.")
    return float(value)


def check_enough(n: int, target: float, confidence: float | None) -> None:
    """Say how many negatives are needed when ``n`` are too few."""
    if n == 0:
        raise ValueError("There are no negatives to set the threshold with; the rows to calibrate on must hold some.")
    if confidence is not None and safe_rank(n, target, confidence) == 0:
        raise ValueError(
            f"A confidence of {confidence:g} at target_fpr={target:g} needs at least "
            f"{negatives_needed(target, confidence):,} negatives to calibrate on, got {n:,}."
        )


def cut(negatives: _Floats, target: float, confidence: float | None) -> tuple[float, float]:
    """Return the threshold and the false-positive rate to expect from it."""
    n = len(negatives)
    if confidence is None:
        threshold = kth_largest(negatives, plain_rank(n, target))
        return threshold, float(np.mean(negatives > threshold))
    rank = safe_rank(n, target, confidence)
    return kth_largest(negatives, rank), rank / (n + 1)


def kth_largest(scores: _Floats, k: int) -> float:
    """Return the k-th largest score."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def plain_rank(n: int, target: float) -> int:
    """Return the largest k of which at most the share ``target``, k - 1 of n, lies above the k-th largest."""
    return min(math.floor(n * target * (1 + _NOISE)), n - 1) + 1


def safe_rank(n: int, target: float, confidence: float) -> int:
    """Return the largest k with P[Binomial(n, target) <= k - 1] <= 1 - confidence, or 0."""
    # The smallest k with P[... <= k] > risk; scipy says >=, but the noise leaves no equality.
    return int(stats.binom.ppf(min((1 - confidence) * (1 + _NOISE), 1.0), n, target))


def negatives_needed(target: float, confidence: float) -> int:
    """Return the smallest n whose largest score is a safe threshold."""
    return max(math.ceil((math.log1p(-confidence) + _NOISE) / math.log1p(-target)), 1)
