"""The band of false-positive rates as ranks, and the top-k hinge sums every surrogate is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "Band",
    "FloatArray",
    "HingeRows",
    "IndexArray",
    "Ranking",
    "TopScores",
    "ascending",
    "check_range",
    "top_indices",
    "top_values",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

# n * alpha misses an integer by a few units in the last place (100 * 0.07 > 7): such a miss must not move a rank.
_NOISE = 1e-12
# From this many values on a radix sort pays.
_MANY = 2048


def check_range(bounds: Any, name: str = "fpr_range") -> tuple[float, float]:
    """Return ``bounds`` as two floats with 0 <= low < high <= 1, or say what is wrong with them."""
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (low, high) of rates, got {bounds!r}.") from None
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in (low, high)):
        raise ValueError(f"{name} must be a pair of numbers, got {bounds!r}.")
    if not 0 <= low < high <= 1:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got ({low}, {high}).")
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Band:
    """Ranks ``start < j <= stop`` of the negatives, by falling score, that a range of FPR covers.

    Attributes
    ----------
    start, stop : int
        floor(n * alpha) and ceil(n * beta), free of floating-point noise.
    n_negatives : int
        The number of negatives the ranks refer to.
    """

    start: int
    stop: int
    n_negatives: int

    @property
    def width(self) -> int:
        """Number of ranks in the band."""
        return self.stop - self.start

    @classmethod
    def from_range(cls, fpr_range: object, n_negatives: int) -> Band:
        """Turn a range of false-positive rates into ranks.

        Examples
        --------
        >>> Band.from_range((0.1, 0.3), 30)
        Band(start=3, stop=9, n_negatives=30)
        """
        alpha, beta = check_range(fpr_range)
        if n_negatives < 1:
            raise ValueError("A band of false-positive rates needs at least one negative, got none.")
        low, high = n_negatives * alpha, n_negatives * beta
        start = math.floor(low + _NOISE * max(low, 1.0))
        stop = max(math.ceil(high - _NOISE * max(high, 1.0)), 1)
        if stop <= start:
            first = min(start, n_negatives - 1)
            raise ValueError(
                f"fpr_range=({alpha}, {beta}) holds none of the {n_negatives} negatives; the smallest range "
                f"that works there is ({first / n_negatives:.6g}, {(first + 1) / n_negatives:.6g})."
            )
        return cls(start, stop, n_negatives)


class TopScores(Protocol):
    """Scores that are kept elsewhere, of which the highest can be had: all that a surrogate asks for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: IndexArray) -> FloatArray: ...

    def highest(self, k: int, width: float = 0.0) -> tuple[FloatArray, IndexArray]:
        """Return the scores with a share in the top ``k`` smoothed over ``width``, maybe others, and where they are.

        Without a width these are at least the ``k`` highest and all that tie with the last of them.
        """


def ascending(values: FloatArray) -> IndexArray:
    """Return the order of ``argsort``, up to three times as fast where values are many.

    A radix sort puts them in order up to 1 / 65,536 of their range, and a merge sort, which is fast on what is nearly
    sorted, does the rest.
    """
    if len(values) < _MANY:
        return np.argsort(values, kind="stable")
    low, high = float(values.min()), float(values.max())
    if not 1e-300 < high - low < math.inf:
        return np.argsort(values, kind="stable")
    coarse = (np.subtract(values, low, dtype=np.float64) * (65535 / (high - low))).astype(np.uint16)
    order = np.argsort(coarse, kind="stable")
    nearly = values[order]
    if (nearly[1:] < nearly[:-1]).any():
        order = order[np.argsort(nearly, kind="stable")]
    return order


def top_indices(values: FloatArray | TopScores, k: int) -> IndexArray:
    """Return the positions of the ``k`` largest values, ascending by value.

    When k is small, a strided sample guesses a threshold that k values and few others pass: one light
    pass over the values, and only those that pass are sorted.
    """
    if not isinstance(values, np.ndarray):
        near, where = values.highest(k)
        return where[top_indices(near, k)]
    n = len(values)
    passing = np.flatnonzero(values >= _guess_threshold(values, k))
    if len(passing) < k:
        passing = np.argpartition(values, n - k)[n - k :]
    return passing[ascending(values[passing])[len(passing) - k :]]


def top_values(values: FloatArray | TopScores, k: int) -> FloatArray:
    """Return the ``k`` largest values, ascending; much faster than to find where they are."""
    if not isinstance(values, np.ndarray):
        values = values.highest(k)[0]
    passing = values[values >= _guess_threshold(values, k)]
    if len(passing) < k:
        passing = np.partition(values, len(values) - k)[len(values) - k :]
    return np.sort(passing)[len(passing) - k :]


def _guess_threshold(values: FloatArray, k: int) -> float:
    sample = values[:: max(len(values) // 32768, 1)]
    expected = k * len(sample) / len(values)
    rank = len(sample) - 1 - int(expected + 3 * math.sqrt(expected))
    if rank < 0:
        return -math.inf
    return float(np.partition(sample, rank)[rank])


@dataclass(frozen=True, slots=True)
class HingeRows:
    """For every positive, its hinge sum over a run of negatives; see `Ranking.hinge_rows`.

    Attributes
    ----------
    values : array of shape (m,)
        sum_j (margin - s_i + z_j)_+ for each positive.
    counts : array of shape (m,)
        How many of the negatives contribute to it.
    first : array of shape (m,)
        The first negative, in ascending order, that contributes.
    """

    values: FloatArray
    counts: FloatArray
    first: IndexArray

    def beaten(self, n_negatives: int, weights: FloatArray | None = None) -> FloatArray:
        """Count, for each negative of the run, the positives it contributes to (or sum their weights)."""
        totals = np.cumsum(np.bincount(self.first, weights, minlength=n_negatives + 1)[:-1])
        return totals.astype(np.float64, copy=False)


class Ranking:
    """Positives and the top negatives, sorted once for all the sums over them.

    Parameters
    ----------
    positives, negatives : arrays of shape (m,) and (n,)
        Scores.
    index : array of shape (k,)
        Positions of the top negatives, ascending by score, as `top_indices` gives them.

    Notes
    -----
    Time O(n + (m + k) log (m + k)), memory O(n). Positives are sorted too: their binary searches among the negatives
    then run several times faster than the sort costs. Every surrogate depends on differences of scores only, so the
    highest negative is subtracted and sums run from the top down: neither a large common offset nor a negative far
    below the others costs digits where the ranking is decided.
    """

    def __init__(self, positives: FloatArray, negatives: FloatArray | TopScores, index: IndexArray) -> None:
        top = negatives[index]
        centre = float(top[-1])
        self.index, self.centre = index, centre
        self.order: IndexArray = ascending(positives)
        self.negatives: FloatArray = np.subtract(top, centre, dtype=np.float64)
        self.positives: FloatArray = np.subtract(positives[self.order], centre, dtype=np.float64)
        self.sums = top_sums(self.negatives)
        self._first: dict[float, IndexArray] = {}

    def as_given(self, values: FloatArray) -> FloatArray:
        """Put values of the sorted positives into the order in which the positives came."""
        given = np.empty_like(values)
        given[self.order] = values
        return given

    def first(self, margin: float) -> IndexArray:
        """Find, for each positive, the first negative in ascending order with margin - s_i + z_j > 0."""
        if margin not in self._first:
            self._first[margin] = np.searchsorted(self.negatives, self.positives - margin, side="right")
        return self._first[margin]

    def hinge_rows(self, start: int, stop: int, margin: float) -> HingeRows:
        """Sum (margin - s_i + z_(j))_+ over the negatives of ranks start < j <= stop, for each positive."""
        k = len(self.negatives)
        low, high = k - stop, k - start
        first = self.first(margin)
        if low > 0 or start > 0:
            first = np.clip(first, low, high)
        counts = (high - first).astype(np.float64)
        values = counts * (margin - self.positives) + (self.sums[first] - self.sums[high])
        return HingeRows(values, counts, first - low if low else first)

    def run_sum(self, start: int, stop: int) -> float:
        """Sum of z_(j) over the ranks start < j <= stop."""
        k = len(self.negatives)
        return float(self.sums[k - stop] - self.sums[k - start])


def top_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the last len(values), ..., 1, 0 values, added from the last one down."""
    sums = np.zeros(len(values) + 1)
    np.cumsum(values[::-1], out=sums[-2::-1])
    return sums
