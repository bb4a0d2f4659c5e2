"""The mean pairwise hinge over the band."""

from __future__ import annotations

from functools import partial

import numpy as np

from rocband.risks.band import Band
from rocband.risks.base import BandRisk, Difference
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.ranking import Ranking
from rocband.risks.scores import Scores
from rocband.risks.smooth_band import SmoothBand
from rocband.risks.tight import TightRisk

__all__ = ["HingeRisk", "top_hinge"]


def top_hinge(scores: Scores, k: int, margin: float) -> Plane:
    """T_k(margin): the sum of (margin - s_i + z_(j))_+ over all positives and the top ``k`` negatives.

    Convex in the scores for every ``k`` and ``margin``; hinge and ramp are differences of such sums.

    Examples
    --------
    >>> import numpy as np
    >>> top_hinge(Scores.of(np.array([1.0, 0.0]), np.array([0.5, -2.0])), k=1, margin=1.0).value
    2.0
    """
    if k == 0:
        nothing = np.zeros(0)
        return Plane(0.0, 0.0, np.zeros(len(scores.positives)), nothing, nothing.astype(np.intp))
    return Ranking.of_top(scores, k).hinge_plane(0, k, margin)


class HingeRisk(BandRisk):
    """(1/N) sum_i sum_{a<j<=b} (1 - s_i + z_(j))_+; convex only when the band starts at rank 0."""

    @property
    def convex(self) -> bool:
        """Whether the band starts at the top: the hinge is then the tight surrogate."""
        return self.band.start == 0

    def sharp(self, scores: Scores) -> Plane:
        """Linearise the risk without smoothing."""
        ranking = Ranking.of_top(scores, self.band.stop)
        whole = ranking.hinge_plane(self.band.start, self.band.stop, 1.0)
        return whole.scaled(1 / (len(scores.positives) * self.band.width))

    def plane(self, scores: Scores, smoothing: Smoothing) -> SmoothedPlane:
        """Evaluate the hinge exactly and give the smoothed slope; from the top on, a plane below it."""
        if self.convex:
            return TightRisk(self.band).plane(scores, smoothing)
        return self._at(Ranking.of_entering(scores, self.band.stop, smoothing.rank), smoothing)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedPlane:
        return SmoothBand(ranking, self.band, smoothing, capped=False).plane(again=partial(self._at, ranking))

    @property
    def difference(self) -> Difference:
        """The hinge as (b / (b - a)) * hinge of [0, b] less T_a(1) / N, both convex."""
        a = self.band.start
        b = self.band.stop
        convex = HingeRisk(Band(0, b, self.band.n_negatives))

        def concave(scores: Scores) -> Plane:
            return top_hinge(scores, a, 1.0).scaled(1 / (len(scores.positives) * self.band.width))

        return Difference(convex, b / self.band.width, concave)
