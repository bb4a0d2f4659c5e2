"""The bounded surrogate: a pair costs at most 1, however wrong it is."""

from __future__ import annotations

from functools import partial

import numpy as np

from rocband.risks.base import BandRisk
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.ranking import Ranking
from rocband.risks.scores import Scores
from rocband.risks.shares import top_sums
from rocband.risks.smooth_band import SmoothBand

__all__ = ["RampRisk"]


class RampRisk(BandRisk):
    """(1/N) sum_i sum_{a<j<=b} min(1, (1 - s_i + z_(j))_+); bounded by 1, not convex.

    The ramp is the hinge with margin 1 less the hinge with margin 0.
    """

    @property
    def convex(self) -> bool:
        """Never: the loss is flat where a pair is hopeless."""
        return False

    def value(self, scores: Scores) -> float:
        """Evaluate the risk exactly, in less than half the time of `sharp`: O(n + (m + b) log (m + b))."""
        top = scores.negatives.highest_values(self.band.stop)
        centre = top[-1]
        own = np.sort(np.subtract(scores.positives, centre, dtype=np.float64))
        top = np.subtract(top, centre, dtype=np.float64)
        sums = top_sums(top)
        high = self.band.width
        # From `below` on a negative costs a positive something, from `beyond` on it costs 1.
        beyond = np.minimum(np.searchsorted(top, own, side="right"), high)
        below = np.minimum(np.searchsorted(top, own - 1.0, side="right"), high)
        lost = (high - beyond).sum()
        partly = (1.0 - own) * (beyond - below) + sums[below] - sums[beyond]
        return float(lost + partly.sum()) / (len(own) * high)

    def sharp(self, scores: Scores) -> Plane:
        """Linearise the risk without smoothing."""
        ranking = Ranking.of_top(scores, self.band.stop)
        rising = ranking.hinge_plane(self.band.start, self.band.stop, 1.0)
        capped = ranking.hinge_plane(self.band.start, self.band.stop, 0.0)
        return Plane(
            value=rising.value - capped.value,
            offset=rising.offset,
            positives=rising.positives - capped.positives,
            negatives=rising.negatives - capped.negatives,
            index=rising.index,
        ).scaled(1 / (len(scores.positives) * self.band.width))

    def plane(self, scores: Scores, smoothing: Smoothing) -> SmoothedPlane:
        """Evaluate the ramp exactly and give the smoothed slope."""
        return self._at(Ranking.of_entering(scores, self.band.stop, smoothing.rank), smoothing)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedPlane:
        a = self.band.start
        b = self.band.stop
        choice = SmoothBand(ranking, self.band, smoothing, capped=True)
        weights, counts = choice.slope()
        sharp = ranking.hinge_rows(a, b, 1.0).values - ranking.hinge_rows(a, b, 0.0).values
        value = choice.scale * float(sharp.sum())
        return SmoothedPlane(
            value=value,
            offset=value - float(counts @ ranking.negatives + weights @ ranking.positives),
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=0.0,
            rank_error=0.0,
            curvature=choice.graphs,
            again=partial(self._at, ranking),
        )
