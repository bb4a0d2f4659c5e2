"""The four surrogates of the partial-AUC risk: scores in, value and row weights out.

With m positives s_i, negatives z_(1) >= z_(2) >= ..., the band's ranks a < j <= b and N = m * (b - a):

- ``hinge``: (1/N) sum_i sum_{a<j<=b} (1 - s_i + z_(j))_+; convex only for a = 0.
- ``tight``: (1/N) sum_i max(A_i, B_i), the convex surrogate of SVM_pAUC, where
  A_i = sum_{j<=a} (z_(j) - s_i)_+ and B_i = sum_{j<=a} (z_(j) - s_i) + sum_{a<j<=b} (1 - s_i + z_(j))_+.
- ``naive``: as ``tight`` with sum_{j>b} (z_(j) - s_i)_+ added to B_i.
- ``ramp``: the mean over the band of min(1, (1 - s_i + z_(j))_+); bounded by 1, not convex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rocband.risks.band import Band, FloatArray, IndexArray, Ranking, top_indices, top_sums, top_values

__all__ = ["SURROGATES", "Linearization", "hinge", "naive", "ramp", "ramp_value", "tight", "top_hinge"]


@dataclass(frozen=True, slots=True)
class Linearization:
    """A risk at some scores and its slope there.

    The risk's tangent is ``offset + positives @ s + negatives @ z[index]``; for a convex risk that is a
    lower bound everywhere, and it equals ``value`` at the scores it was made from.

    Attributes
    ----------
    value : float
        The risk at the scores.
    offset : float
        The tangent's constant.
    positives : array of shape (m,)
        Weights of the positives (none is above 0 where the risk falls as positives rise).
    negatives, index : arrays of shape (k,)
        Weights of the negatives that have any, and which negatives these are.
    """

    value: float
    offset: float
    positives: FloatArray
    negatives: FloatArray
    index: IndexArray

    def scaled(self, factor: float) -> Linearization:
        """Return the linearisation of ``factor`` times the risk."""
        return replace(
            self,
            value=factor * self.value,
            offset=factor * self.offset,
            positives=factor * self.positives,
            negatives=factor * self.negatives,
        )

    def minus(self, other: Linearization) -> Linearization:
        """Return the linearisation of this risk less ``other``, made from the same scores."""
        return Linearization(
            self.value - other.value,
            self.offset - other.offset,
            self.positives - other.positives,
            np.concatenate([self.negatives, -other.negatives]),
            np.concatenate([self.index, other.index]),
        )


def _run(ranking: Ranking, start: int, stop: int, margin: float) -> Linearization:
    """Sum of (margin - s_i + z_(j))_+ over all positives and the ranks start < j <= stop."""
    k = len(ranking.negatives)
    rows = ranking.hinge_rows(start, stop, margin)
    return Linearization(
        value=float(rows.values.sum()),
        offset=margin * float(rows.counts.sum()),
        positives=ranking.as_given(-rows.counts),
        negatives=rows.beaten(stop - start),
        index=ranking.index[k - stop : k - start],
    )


def top_hinge(positives: FloatArray, negatives: FloatArray, k: int, margin: float) -> Linearization:
    """T_k(margin): the sum of (margin - s_i + z_(j))_+ over all positives and the top ``k`` negatives.

    Convex in the scores for every ``k`` and ``margin``; `hinge` and `ramp` are differences of such sums.

    Examples
    --------
    >>> import numpy as np
    >>> top_hinge(np.array([1.0, 0.0]), np.array([0.5, -2.0]), k=1, margin=1.0).value
    2.0
    """
    if k == 0:
        nothing = np.zeros(0)
        return Linearization(0.0, 0.0, np.zeros(len(positives)), nothing, nothing.astype(np.intp))
    return _run(Ranking(positives, negatives, top_indices(negatives, k)), 0, k, margin)


def hinge(positives: FloatArray, negatives: FloatArray, band: Band) -> Linearization:
    """Mean pairwise hinge loss over the band; convex only when the band starts at rank 0."""
    ranking = Ranking(positives, negatives, top_indices(negatives, band.stop))
    return _run(ranking, band.start, band.stop, 1.0).scaled(1 / (len(positives) * band.width))


def ramp(positives: FloatArray, negatives: FloatArray, band: Band) -> Linearization:
    """Mean pairwise ramp loss min(1, hinge) over the band; bounded by 1."""
    ranking = Ranking(positives, negatives, top_indices(negatives, band.stop))
    runs = [_run(ranking, band.start, band.stop, margin) for margin in (1.0, 0.0)]
    return Linearization(
        value=runs[0].value - runs[1].value,
        offset=runs[0].offset,
        positives=runs[0].positives - runs[1].positives,
        negatives=runs[0].negatives - runs[1].negatives,
        index=runs[0].index,
    ).scaled(1 / (len(positives) * band.width))


def ramp_value(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """Value of `ramp` alone, in less than half the time."""
    top = top_values(negatives, band.stop)
    own = np.sort(np.subtract(positives, top[-1], dtype=np.float64))
    top = np.subtract(top, top[-1], dtype=np.float64)
    sums, high = top_sums(top), band.width
    beyond, below = (np.minimum(np.searchsorted(top, own - margin, side="right"), high) for margin in (0.0, 1.0))
    partly = (1.0 - own) * (beyond - below) + sums[below] - sums[beyond]
    return float((high - beyond).sum() + partly.sum()) / (len(positives) * band.width)


def tight(positives: FloatArray, negatives: FloatArray, band: Band) -> Linearization:
    """Tight convex surrogate of SVM_pAUC; equals `hinge` when the band starts at rank 0."""
    if band.start == 0:
        return hinge(positives, negatives, band)
    return _structural(positives, negatives, band, tail=0)


def naive(positives: FloatArray, negatives: FloatArray, band: Band) -> Linearization:
    """Plain structural surrogate, in which a positive may also lose to negatives beyond the band."""
    return _structural(positives, negatives, band, tail=band.n_negatives - band.stop)


def _structural(positives: FloatArray, negatives: FloatArray, band: Band, tail: int) -> Linearization:
    a, b, m = band.start, band.stop, len(positives)
    ranking = Ranking(positives, negatives, top_indices(negatives, b + tail))
    above = ranking.hinge_rows(0, a, 0.0)
    inside = ranking.hinge_rows(a, b, 1.0)
    beyond = ranking.hinge_rows(b, b + tail, 0.0)
    whole = ranking.run_sum(0, a) - a * ranking.positives + inside.values + beyond.values
    deep = whole >= above.values  # B_i >= A_i: the row of this positive runs on through the band
    share = deep.astype(np.float64)
    weights = [
        beyond.beaten(tail, share),
        inside.beaten(b - a, share),
        above.beaten(a, 1.0 - share) + share.sum(),
    ]
    return Linearization(
        value=float(np.where(deep, whole, above.values).sum()),
        offset=float(inside.counts[deep].sum()),
        positives=ranking.as_given(-np.where(deep, a + inside.counts + beyond.counts, above.counts)),
        negatives=np.concatenate(weights),
        index=ranking.index,
    ).scaled(1 / (m * band.width))


SURROGATES: dict[str, Callable[[FloatArray, FloatArray, Band], Linearization]] = {
    "tight": tight,
    "hinge": hinge,
    "ramp": ramp,
    "naive": naive,
}
