"""From a rate to a rank: the one place that decides which of n ranked members a rate reaches.

A rate times a count misses whole numbers by rounding: 100 * 0.07 is a little above 7, and 0.29 * 100 a little below 29.
Risks, metrics, thresholds, intervals and the workers of a cluster must agree on such ranks, so all of them ask here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from numbers import Real

from rocband._errors import ParameterError

__all__ = ["NOISE", "check_range", "past", "position", "ranks_reached", "ranks_touched"]

# So near to a whole number, relatively, a position is that number. A product of a rate with a count is off by some
# 1e-16; 1e-12 leaves room for rates that are themselves results (1 - 0.9), and moves no rank of fewer than 1e12
# members.
NOISE = 1e-12


def position(rate: float, total: float) -> float:
    """Return ``rate * total``, as the whole number that it misses by rounding alone, if there is one.

    Examples
    --------
    >>> 100 * 0.07, position(0.07, 100)
    (7.000000000000001, 7.0)
    """
    exact = rate * total
    whole = float(round(exact))
    tolerance = NOISE * max(exact, 1.0)
    return whole if abs(exact - whole) <= tolerance else exact


def ranks_reached(rate: float, n: int) -> int:
    """Return how many of ``n`` ranked members make up at most the share ``rate``: floor(n * rate).

    Examples
    --------
    >>> ranks_reached(0.29, 100)
    29
    """
    return math.floor(position(rate, n))


def ranks_touched(rate: float, n: int) -> int:
    """Return how many of ``n`` ranked members it takes to make up the share ``rate``: ceil(n * rate).

    Examples
    --------
    >>> ranks_touched(0.07, 100)
    7
    """
    return math.ceil(position(rate, n))


def past(amount: float, terms: int = 1) -> float:
    """Return the highest number that is still taken for ``amount``: what is not above it has reached ``amount``.

    Parameters
    ----------
    amount : float
        A rate, or a sum of weights.
    terms : int, default 1
        How many numbers are added up before they are compared with it; each may be off by a rounding.

    Examples
    --------
    >>> 1 - 0.9 < 0.1 < past(1 - 0.9)
    True
    """
    rounding = terms * sys.float_info.epsilon
    return amount * (1.0 + NOISE + rounding)


def check_range(bounds: object, name: str = "fpr_range") -> tuple[float, float]:
    """Return ``bounds`` as two floats with 0 <= low < high <= 1, or say what is wrong with them.

    Examples
    --------
    >>> check_range([0, 0.1])
    (0.0, 0.1)
    """
    if not isinstance(bounds, Iterable):
        raise ParameterError(name, f"must be a pair (low, high) of rates, got {bounds!r}.{_meant(bounds, name)}")
    ends = list(bounds)
    if len(ends) != 2:
        raise ParameterError(name, f"must be a pair (low, high) of rates, got {bounds!r}.")
    low, high = ends
    for end in ends:
        # True is a number for Python, but nobody means it as a rate.
        if not isinstance(end, Real) or isinstance(end, bool):
            raise ParameterError(name, f"must be a pair of numbers, got {bounds!r}.")
    if not 0 <= low < high <= 1:
        raise ParameterError(name, f"must satisfy 0 <= low < high <= 1, got ({low}, {high}).")
    return float(low), float(high)


def _meant(bound: object, name: str) -> str:
    """Return what a single rate most likely stands for: a band of FPR that starts at 0, or of TPR that ends at 1."""
    if not isinstance(bound, Real) or not 0 < float(bound) < 1:
        return ""
    meant = f"({bound:g}, 1)" if name == "tpr_range" else f"(0, {bound:g})"
    return f" Did you mean {meant}?"
