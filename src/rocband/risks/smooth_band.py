"""Smoothed runs over the negatives of a band: what `hinge` and `ramp` share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rocband._types import FloatArray
from rocband.risks.band import Band
from rocband.risks.graphs import Graph
from rocband.risks.plane import SmoothedPlane, Smoothing
from rocband.risks.ranking import Ranking
from rocband.risks.runs import Run, edge_graph, felt_from
from rocband.risks.shares import shares

__all__ = ["SmoothBand"]


class SmoothBand:
    """A hinge over the band's negatives, less the same hinge with margin 0 where the loss is capped at 1.

    The smoothed weights are a slope to follow, not a bound: the sum is not convex. It is a difference of convex
    functions; the curvature is that of the convex one, so that a Newton step minimises a convex majorant.
    """

    def __init__(self, ranking: Ranking, band: Band, smoothing: Smoothing, *, capped: bool) -> None:
        self.ranking = ranking
        self.band = band
        self.smoothing = smoothing
        self.scale = 1 / (len(ranking.positives) * band.width)
        self.top = shares(ranking.negatives, band.stop, smoothing.rank)
        upper = shares(ranking.negatives, band.start, smoothing.rank)
        inside = np.maximum(self.top - upper, 0.0)
        self.rising = Run.over(ranking, inside, 1.0, smoothing.margin)
        self.capped = Run.over(ranking, inside, 0.0, smoothing.margin) if capped else None

    def plane(self, again: Callable[[Smoothing], SmoothedPlane]) -> SmoothedPlane:
        """Put the smoothed slope through the exact value; it bounds nothing, so that there is no error to report."""
        value = self.value()
        weights, counts = self.slope()
        return SmoothedPlane(
            value=value,
            offset=value - float(counts @ self.ranking.negatives + weights @ self.ranking.positives),
            positives=self.ranking.as_given(weights),
            negatives=counts,
            index=self.ranking.index,
            margin_error=0.0,
            rank_error=0.0,
            curvature=self.graphs,
            again=again,
        )

    def value(self) -> float:
        """Evaluate the sum exactly: sharp pairs, sharp ranks."""
        rows = self.ranking.hinge_rows(self.band.start, self.band.stop, 1.0).values
        if self.capped is not None:
            rows = rows - self.ranking.hinge_rows(self.band.start, self.band.stop, 0.0).values
        return self.scale * float(rows.sum())

    def slope(self) -> tuple[FloatArray, FloatArray]:
        """Weights of the positives and of the negatives."""
        every = np.ones(len(self.ranking.positives))
        weights = -self.rising.weights
        counts = self.rising.counts(self.ranking, every)
        if self.capped is not None:
            weights = self.capped.weights - self.rising.weights
            counts = counts - self.capped.counts(self.ranking, every)
        return self.scale * weights, self.scale * counts

    def graphs(self) -> list[Graph]:
        """Return the curvature of the rising margin and of the band's lower edge."""
        size = len(self.top)
        every = np.full(len(self.ranking.positives), self.scale)
        # A pair feels a change of a negative's share while its loss is between 0 and the cap.
        felt = felt_from(self.rising.full, size)
        if self.capped is not None:
            felt -= felt_from(self.capped.first, size)
        edge = edge_graph(self.ranking, self.top, felt * (self.scale / self.smoothing.rank))
        return [self.rising.graph(self.ranking, every), edge]
