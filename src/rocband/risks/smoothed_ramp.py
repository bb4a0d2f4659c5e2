"""The ramp surrogate smoothed, with the curvature of its convex part."""

from __future__ import annotations

import numpy as np

from rocband.risks.band import Band, FloatArray, Ranking
from rocband.risks.curvature import Graph
from rocband.risks.smoothed import (
    Run,
    SmoothedLinearization,
    Smoothing,
    edge_graph,
    entering_band,
    shares,
)

__all__ = ["SmoothedRamp"]


class SmoothedRamp:
    """Mean of min(1, hinge) over a band, with smoothed pairs and ranks.

    The smoothed weights are a gradient to follow, not a bound: the ramp is not convex. It is a difference of convex
    functions; the curvature is that of the convex one, so that a Newton step minimises a convex majorant.
    """

    def __init__(self, band: Band) -> None:
        self.band = band

    def linearize(self, positives: FloatArray, negatives: FloatArray, smoothing: Smoothing) -> SmoothedLinearization:
        """Evaluate the ramp exactly and give the smoothed slope."""
        a, b = self.band.start, self.band.stop
        ranking = Ranking(positives, negatives, entering_band(negatives, b, smoothing.rank))
        choice = _RampChoice(ranking, self.band, smoothing)
        sharp = ranking.hinge_rows(a, b, 1.0).values - ranking.hinge_rows(a, b, 0.0).values
        weights, counts = choice.slope()
        value = choice.scale * float(sharp.sum())
        return SmoothedLinearization(
            value=value,
            offset=value - float(counts @ ranking.negatives + weights @ ranking.positives),
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=0.0,
            rank_error=0.0,
            ranking=ranking,
            choice=choice,
        )


class _RampChoice:
    """Shares and runs at one set of scores."""

    def __init__(self, ranking: Ranking, band: Band, smoothing: Smoothing) -> None:
        self.ranking, self.band, self.smoothing = ranking, band, smoothing
        self.scale = 1 / (len(ranking.positives) * band.width)
        self.top = shares(ranking.negatives, band.stop, smoothing.rank)
        inside = np.maximum(self.top - shares(ranking.negatives, band.start, smoothing.rank), 0.0)
        self.rising = Run.over(ranking, inside, 1.0, smoothing.margin)
        self.capped = Run.over(ranking, inside, 0.0, smoothing.margin)

    def slope(self) -> tuple[FloatArray, FloatArray]:
        """Weights of the positives and of the negatives."""
        every = np.ones(len(self.ranking.positives))
        counts = self.rising.counts(self.ranking, every) - self.capped.counts(self.ranking, every)
        return self.scale * (self.capped.weights - self.rising.weights), self.scale * counts

    def graphs(self) -> list[Graph]:
        """Return the curvature of the rising margin and of the band's lower edge."""
        m, k = len(self.ranking.positives), len(self.top)
        felt = np.cumsum(np.bincount(self.rising.full, minlength=k + 1)[:k], dtype=np.float64)
        felt -= np.cumsum(np.bincount(self.capped.first, minlength=k + 1)[:k])
        return [
            self.rising.graph(self.ranking, np.full(m, self.scale)),
            edge_graph(self.ranking, self.top, felt * (self.scale / self.smoothing.rank)),
        ]
