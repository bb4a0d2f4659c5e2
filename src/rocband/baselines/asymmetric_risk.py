"""The risk of the asymmetric support vector machine: means of the lowest positives and of the highest negatives."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from rocband._types import FloatArray, IndexArray
from rocband.risks.base import Risk
from rocband.risks.graphs import Clique, Graph
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.ranking import Ranking
from rocband.risks.scores import HeldNegatives, Scores
from rocband.risks.shares import shares, top_shares

__all__ = ["AsymmetricRisk"]


class AsymmetricRisk(Risk):
    """``ratio`` * (mean of the ``highest`` top negatives) - (mean of the ``lowest`` bottom positives).

    Both counts may be fractional: the last score then counts in part. Convex and homogeneous in the scores; it can be
    below 0, and it does change when all scores are shifted, unless ``ratio`` is 1.

    Notes
    -----
    One evaluation takes O(n + m log m + k log k) time for k negatives with a share, and O(m + n) memory.
    """

    def __init__(self, lowest: float, highest: float, ratio: float) -> None:
        self.lowest = lowest
        self.highest = highest
        self.ratio = ratio

    @property
    def convex(self) -> bool:
        """Always: means of the highest are convex, those of the lowest concave."""
        return True

    def sharp(self, scores: Scores) -> Plane:
        """Linearise the risk without smoothing: a plane that touches it."""
        # The lowest positives are the highest of their negatives.
        _, low = HeldNegatives(-scores.positives).highest(math.ceil(self.lowest))
        top, high = scores.negatives.highest(math.ceil(self.highest))
        weights = np.zeros(len(scores.positives))
        weights[low] = -top_shares(len(low), self.lowest) / self.lowest
        counts = top_shares(len(high), self.highest) * (self.ratio / self.highest)
        value = float(weights @ scores.positives + counts @ top)
        return Plane(value, 0.0, weights, counts, high)

    def plane(self, scores: Scores, smoothing: Smoothing) -> SmoothedPlane:
        """Evaluate the risk exactly and give the plane of the smoothed choice."""
        return self._at(Ranking.of_entering(scores, math.ceil(self.highest), smoothing.rank), smoothing)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedPlane:
        # Exactly: the lowest positives and the highest negatives count whole, the last of each in part.
        low = top_shares(len(ranking.positives), self.lowest)[::-1] / self.lowest
        high = top_shares(len(ranking.negatives), self.highest) * (self.ratio / self.highest)
        shift = (self.ratio - 1.0) * ranking.centre
        value = float(high @ ranking.negatives - low @ ranking.positives) + shift
        # Smoothed: shares fall from 1 to 0 over the width; both are in ascending order of the scores.
        low_shares = shares(-ranking.positives[::-1], self.lowest, smoothing.rank)[::-1]
        high_shares = shares(ranking.negatives, self.highest, smoothing.rank)
        weights = low_shares * (-1 / self.lowest)
        counts = high_shares * (self.ratio / self.highest)
        reached = float(counts @ ranking.negatives + weights @ ranking.positives) + shift

        def curvature() -> list[Graph]:
            negatives = len(low_shares) + ranking.index
            return [
                _passing_on(low_shares, ranking.order, 1 / (smoothing.rank * self.lowest)),
                _passing_on(high_shares, negatives, self.ratio / (smoothing.rank * self.highest)),
            ]

        return SmoothedPlane(
            value=value,
            offset=0.0,
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=0.0,
            rank_error=value - reached,
            curvature=curvature,
            again=partial(self._at, ranking),
        )


def _passing_on(share: FloatArray, rows: IndexArray, pull: float) -> Clique:
    """Join the rows of one class with a fractional share: they pass it on to each other."""
    edge = np.flatnonzero((share > 0) & (share < 1))
    return Clique(rows[edge], np.full(len(edge), pull))
