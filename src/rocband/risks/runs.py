"""Smoothed hinge sums of every positive over the sorted negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import FloatArray, IndexArray
from rocband.risks.graphs import Bipartite, Clique
from rocband.risks.ranking import Ranking
from rocband.risks.shares import top_sums

__all__ = ["Run", "edge_graph", "felt_from"]


@dataclass(frozen=True, slots=True)
class Run:
    """Hinge sums over negatives with given shares, whose pairs count with clip((margin - s_i + z_j) / width, 0, 1).

    Attributes
    ----------
    margin, width : float
    share : array of shape (k,)
        Shares of the negatives, ascending by score.
    first, full : arrays of shape (m,)
        The first negative whose pair with this positive has any weight, and the first whose pair has weight 1.
    weights : array of shape (m,)
        For each positive the sum of its pairs' weights.
    values : array of shape (m,)
        For each positive sum_j share_j (margin - s_i + z_j)_+, with sharp pairs.
    """

    margin: float
    width: float
    share: FloatArray
    first: IndexArray
    full: IndexArray
    weights: FloatArray
    values: FloatArray

    @classmethod
    def over(cls, ranking: Ranking, share: FloatArray, margin: float, width: float) -> Run:
        """Sum over all negatives of the ranking: O(m + k) beside the binary searches."""
        reach = margin - ranking.positives
        first = ranking.first(margin)
        full = np.searchsorted(ranking.negatives, width - reach)
        np.maximum(first, full, out=full)  # below by rounding alone, where scores are far apart
        # Sums of shares, and of shares times scores, from the top down to each negative.
        if share.min(initial=1.0) == 1.0:
            mass = np.arange(len(share), -1.0, -1.0)
            moment = ranking.sums
        else:
            mass = top_sums(share)
            moment = top_sums(share * ranking.negatives)
        partly = reach * (mass[first] - mass[full]) + moment[first] - moment[full]
        weights = mass[full] + partly / width
        values = reach * mass[first] + moment[first]
        return cls(margin, width, share, first, full, weights, values)

    def counts(self, ranking: Ranking, row_weight: FloatArray) -> FloatArray:
        """Sum the pair weights over the positives, for each negative."""
        moment = row_weight * ranking.positives
        whole = self._starting(self.full, row_weight)
        # Positives whose pair with a negative is in the smoothed part: their number, and the sum of their scores.
        number = np.cumsum(self._starting(self.first, row_weight) - whole)
        scores = np.cumsum(self._starting(self.first, moment) - self._starting(self.full, moment))
        partly = (self.margin + ranking.negatives) * number
        partly -= scores
        return self.share * (np.cumsum(whole) + partly / self.width)

    def _starting(self, at: IndexArray, weight: FloatArray) -> FloatArray:
        """Sum the weights of the positives whose run starts at each negative."""
        k = len(self.share)
        return np.bincount(at, weight, minlength=k + 1)[:k].astype(np.float64, copy=False)

    def graph(self, ranking: Ranking, row_weight: FloatArray) -> Bipartite:
        """Join each positive with the negatives whose pair with it has a weight between 0 and 1."""
        return Bipartite(
            ranking.order,
            len(ranking.positives) + ranking.index,
            row_weight,
            self.share / self.width,
            self.first,
            self.full,
        )


def felt_from(at: IndexArray, size: int, row_weight: FloatArray | None = None) -> FloatArray:
    """For each of ``size`` negatives, how many positives (or how much of their weight) feel a change of its share.

    ``at`` says from which negative on each positive does.
    """
    starting = np.bincount(at, row_weight, minlength=size + 1)[:size]
    return np.cumsum(starting, dtype=np.float64)


def edge_graph(ranking: Ranking, share: FloatArray, pull: FloatArray) -> Clique:
    """Join the negatives with a fractional share: they scatter about their mean as the shares are passed on."""
    edge = np.flatnonzero((share > 0) & (share < 1) & (pull > 0))
    return Clique(len(ranking.positives) + ranking.index[edge], pull[edge])
