"""Which of the negatives' scores is the threshold for a false-positive rate, and how many negatives a promise needs."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from rocband._errors import ParameterError
from rocband._types import FloatArray
from rocband.ranks import past, ranks_reached

__all__ = [
    "check_enough",
    "cut",
    "halfway_threshold",
    "kth_largest",
    "negatives_needed",
    "plain_rank",
    "safe_rank",
]

# Where no score lies on the other side the threshold is put so far from the last one, which no rounding crosses.
_CLEAR = 1.0


def check_enough(n: int, target: float, confidence: float | None) -> None:
    """Say how many negatives are needed when ``n`` are too few."""
    if n == 0:
        raise ValueError("There are no negatives to set the threshold with; the rows to calibrate on must hold some.")
    if confidence is not None and safe_rank(n, target, confidence) == 0:
        needed = negatives_needed(target, confidence)
        problem = (
            f"{confidence:g} at target_fpr={target:g} needs at least {needed:,} negatives to calibrate on, got {n:,}."
        )
        raise ParameterError("confidence", problem)


def cut(negatives: FloatArray, target: float, confidence: float | None) -> tuple[float, float]:
    """Return the threshold and the false-positive rate to expect from it."""
    n = len(negatives)
    if confidence is None:
        threshold = kth_largest(negatives, plain_rank(n, target))
        return threshold, float(np.mean(negatives > threshold))
    rank = safe_rank(n, target, confidence)
    # The true rate above the k-th largest of n is Beta(k, n - k + 1), whose mean is k / (n + 1).
    return kth_largest(negatives, rank), rank / (n + 1)


def kth_largest(scores: FloatArray, k: int) -> float:
    """Return the k-th largest score."""
    index = len(scores) - k
    return float(np.partition(scores, index)[index])


def halfway_threshold(positives: FloatArray, negatives: FloatArray, target: float) -> float:
    """Return the threshold of training rows: half-way from a negative's score to the next score above it.

    At most the share ``target`` of the negatives lies above. A model's scores are computed again when it predicts, and
    rounding may move them a little: half-way between two scores it moves no row across.

    Examples
    --------
    >>> import numpy as np
    >>> halfway_threshold(np.array([3.0]), np.array([1.0, 2.0, 5.0, 6.0]), 0.5)
    2.5
    """
    n = len(negatives)
    n_passing = ranks_reached(target, n)
    if n_passing >= n:
        return float(negatives.min()) - _CLEAR
    below = kth_largest(negatives, n_passing + 1)
    lowest_positive = np.min(positives, where=positives > below, initial=np.inf)
    lowest_negative = np.min(negatives, where=negatives > below, initial=np.inf)
    above = float(min(lowest_positive, lowest_negative))
    if math.isinf(above):
        above = below + _CLEAR
    return below + (above - below) / 2


def plain_rank(n: int, target: float) -> int:
    """Return the largest k of which at most the share ``target``, k - 1 of n, lies above the k-th largest."""
    n_passing = min(ranks_reached(target, n), n - 1)
    return n_passing + 1


def safe_rank(n: int, target: float, confidence: float) -> int:
    """Return the largest k with P[Binomial(n, target) <= k - 1] <= 1 - confidence, or 0."""
    risk = min(past(1 - confidence), 1.0)
    # The quantile is the smallest k with P[... <= k] >= risk. It should say >, but just past the risk none is equal.
    return int(stats.binom.ppf(risk, n, target))


def negatives_needed(target: float, confidence: float) -> int:
    """Return the smallest n whose largest score is a safe threshold."""
    # All n pass below the target with probability (1 - target)^n, which is to be at most the risk.
    log_risk = math.log(past(1 - confidence))
    n = math.ceil(log_risk / math.log1p(-target))
    return max(n, 1)
