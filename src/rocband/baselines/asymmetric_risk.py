"""The risk of the asymmetric support vector machine: means of the lowest positives and of the highest negatives."""

from __future__ import annotations

import math

import numpy as np

from rocband.risks.band import FloatArray, Ranking, top_indices
from rocband.risks.curvature import Clique, Graph
from rocband.risks.smoothed import (
    SmoothedLinearization,
    SmoothedRisk,
    Smoothing,
    entering_band,
    shares,
)
from rocband.risks.surrogates import Linearization

__all__ = ["AsymmetricRisk"]


class AsymmetricRisk(SmoothedRisk):
    """``ratio`` * (mean of the ``highest`` top negatives) - (mean of the ``lowest`` bottom positives).

    Both counts may be fractional: the last score then counts in part. Convex and homogeneous in the scores; it can be
    below 0, and it does change when all scores are shifted, unless ``ratio`` is 1.

    Notes
    -----
    One evaluation takes O(n + m log m + k log k) time for k negatives with a share, and O(m + n) memory.
    """

    def __init__(self, lowest: float, highest: float, ratio: float) -> None:
        self.lowest, self.highest, self.ratio = lowest, highest, ratio

    def linearize(self, positives: FloatArray, negatives: FloatArray, smoothing: Smoothing) -> SmoothedLinearization:
        """Evaluate the risk exactly and give the plane of the smoothed choice."""
        index = entering_band(negatives, math.ceil(self.highest), smoothing.rank)
        return self._at(Ranking(positives, negatives, index), smoothing)

    def sharp(self, positives: FloatArray, negatives: FloatArray) -> Linearization:
        """Linearise the risk without smoothing: a plane that touches it."""
        low = top_indices(-positives, math.ceil(self.lowest))
        high = top_indices(negatives, math.ceil(self.highest))
        weights = np.zeros(len(positives))
        weights[low] = -top_shares(len(low), self.lowest) / self.lowest
        counts = top_shares(len(high), self.highest) * (self.ratio / self.highest)
        return Linearization(float(weights @ positives + counts @ negatives[high]), 0.0, weights, counts, high)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedLinearization:
        choice = _Choice(self, ranking, smoothing)
        weights, counts = choice.low * (-1 / self.lowest), choice.high * (self.ratio / self.highest)
        low = top_shares(len(weights), self.lowest)[::-1] / self.lowest
        high = top_shares(len(counts), self.highest) * (self.ratio / self.highest)
        shift = (self.ratio - 1.0) * ranking.centre
        value = float(high @ ranking.negatives - low @ ranking.positives) + shift
        return SmoothedLinearization(
            value=value,
            offset=0.0,
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=0.0,
            rank_error=value - shift - float(counts @ ranking.negatives + weights @ ranking.positives),
            ranking=ranking,
            choice=choice,
        )


class _Choice:
    """The smoothed shares at one set of scores, both in ascending order of the scores."""

    def __init__(self, risk: AsymmetricRisk, ranking: Ranking, smoothing: Smoothing) -> None:
        self.risk, self.ranking, self.width = risk, ranking, smoothing.rank
        self.low = shares(-ranking.positives[::-1], risk.lowest, self.width)[::-1]
        self.high = shares(ranking.negatives, risk.highest, self.width)

    def graphs(self) -> list[Graph]:
        """Return the curvature: rows of one class with a fractional share pass it on to each other."""
        pulls = (1 / (self.width * self.risk.lowest), self.risk.ratio / (self.width * self.risk.highest))
        rows = (self.ranking.order, len(self.low) + self.ranking.index)
        graphs: list[Graph] = []
        for share, pull, row in zip((self.low, self.high), pulls, rows, strict=True):
            edge = np.flatnonzero((share > 0) & (share < 1))
            graphs.append(Clique(row[edge], np.full(len(edge), pull)))
        return graphs


def top_shares(size: int, k: float) -> FloatArray:
    """Shares of ascending scores in their top ``k``: 1 for the highest, a fraction for the last that counts.

    Examples
    --------
    >>> top_shares(4, 1.5)
    array([0. , 0. , 0.5, 1. ])
    """
    share: FloatArray = np.clip(k - np.arange(size)[::-1], 0.0, 1.0)
    return share
