"""Positives and the top negatives, sorted once for all the sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.risks.plane import Plane
from rocband.risks.scores import Scores, ascending
from rocband.risks.shares import top_sums

__all__ = ["HingeRows", "Ranking"]


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
        The first negative, in ascending order and counted from the lowest of the run, that contributes: from there on
        all do.
    """

    values: FloatArray
    counts: FloatArray
    first: IndexArray

    def beaten(self, n_negatives: int, weights: FloatArray | None = None) -> FloatArray:
        """Count, for each negative of the run, the positives it contributes to (or sum their weights)."""
        starting = np.bincount(self.first, weights, minlength=n_negatives + 1)[:-1]
        return np.cumsum(starting).astype(np.float64, copy=False)


class Ranking:
    """Positives and the top negatives, both ascending by score.

    Parameters
    ----------
    positives : array of shape (m,)
        Scores of all positives, in any order.
    negatives, index : arrays of shape (k,)
        Scores of the top negatives, ascending, and which negatives these are.

    Notes
    -----
    Time O((m + k) log (m + k)), memory O(m + k). Positives are sorted too: their binary searches among the negatives
    then run several times faster than the sort costs. Every surrogate depends on differences of scores only, so the
    highest negative is subtracted and sums run from the top down: neither a large common offset nor a negative far
    below the others costs digits where the ranking is decided.
    """

    def __init__(self, positives: AnyArray, negatives: AnyArray, index: IndexArray) -> None:
        self.index = index
        self.centre = float(negatives[-1])
        self.order: IndexArray = ascending(positives)
        self.negatives: FloatArray = np.subtract(negatives, self.centre, dtype=np.float64)
        self.positives: FloatArray = np.subtract(positives[self.order], self.centre, dtype=np.float64)
        self.sums = top_sums(self.negatives)
        self._first: dict[float, IndexArray] = {}

    @classmethod
    def of_top(cls, scores: Scores, k: int) -> Ranking:
        """Rank all positives and the ``k`` highest negatives."""
        return cls(scores.positives, *scores.negatives.highest(k))

    @classmethod
    def of_entering(cls, scores: Scores, k: int, width: float) -> Ranking:
        """Rank all positives and the negatives with a share in the top ``k`` smoothed over ``width``."""
        return cls(scores.positives, *scores.negatives.entering(k, width))

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
        # Ascending, the negative of rank j stands at k - j: those of the run stand from low to just before high.
        k = len(self.negatives)
        low = k - stop
        high = k - start
        first = self.first(margin)
        if low > 0 or start > 0:
            first = np.clip(first, low, high)
        counts = (high - first).astype(np.float64)
        # sum_j (margin - s_i + z_j) is a multiple of margin - s_i plus a difference of two sums of scores.
        values = counts * (margin - self.positives) + (self.sums[first] - self.sums[high])
        return HingeRows(values, counts, first - low if low else first)

    def run_sum(self, start: int, stop: int) -> float:
        """Sum of z_(j) over the ranks start < j <= stop."""
        k = len(self.negatives)
        return float(self.sums[k - stop] - self.sums[k - start])

    def hinge_plane(self, start: int, stop: int, margin: float) -> Plane:
        """Sum (margin - s_i + z_(j))_+ over all positives and the ranks start < j <= stop, with its slope."""
        k = len(self.negatives)
        rows = self.hinge_rows(start, stop, margin)
        return Plane(
            value=float(rows.values.sum()),
            offset=margin * float(rows.counts.sum()),
            positives=self.as_given(-rows.counts),
            negatives=rows.beaten(stop - start),
            index=self.index[k - stop : k - start],
        )
