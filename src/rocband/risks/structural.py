"""The structural surrogates of SVM_pAUC, exact and smoothed: what `tight` and `naive` share.

With m positives s_i, negatives z_(1) >= z_(2) >= ..., the band's ranks a < j <= b and N = m (b - a), the risk is
(1/N) sum_i max(A_i, B_i), where

- A_i = sum_{j<=a} (z_(j) - s_i)_+,
- B_i = sum_{j<=a} (z_(j) - s_i) + sum_{a<j<=b} (1 - s_i + z_(j))_+, and with a tail + sum_{j>b} (z_(j) - s_i)_+.

It is a maximum of linear functions of the scores: over shares of the negatives in the ranks up to a and up to b, over
the pairs that count, and over how deep each positive's row runs. Any fractional choice of these gives a linear function
that stays below the risk everywhere, hence a plane and a lower bound. The choice made here varies smoothly:

- a pair counts with clip((margin - s_i + z_j) / smoothing.margin, 0, 1);
- a negative is in the top k with its share of ``rocband.risks.shares``, of width smoothing.rank;
- a row runs through the band with the weight clip(1/2 + (B_i - A_i) / (smoothing.rank * width), 0, 1).

The shares are marginals of nested random sets of size a and b, in each of which the rows fall with rank, so that the
choice is a mixture of feasible ones.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from rocband._types import FloatArray
from rocband.risks.band import Band
from rocband.risks.base import BandRisk
from rocband.risks.graphs import Graph, Star
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.ranking import Ranking
from rocband.risks.runs import Run, edge_graph, felt_from
from rocband.risks.scores import Scores
from rocband.risks.shares import shares

__all__ = ["StructuralRisk"]


class StructuralRisk(BandRisk):
    """(1/N) sum_i max(A_i, B_i) over the positives.

    ``has_tail`` says whether a positive may also lose to the negatives beyond the band.

    Notes
    -----
    One evaluation takes O(n + (m + k) log k) time and O(n) memory, where k >= b is the number of negatives with a
    share in the band; with a tail it is n.
    """

    has_tail: ClassVar[bool] = False

    def __init__(self, band: Band) -> None:
        super().__init__(band)
        self._tail = band.n_negatives - band.stop if self.has_tail else 0

    @property
    def convex(self) -> bool:
        """Always: a maximum of linear functions."""
        return True

    def sharp(self, scores: Scores) -> Plane:
        """Linearise the risk without smoothing: a plane that touches it."""
        a = self.band.start
        b = self.band.stop
        m = len(scores.positives)
        ranking = Ranking.of_top(scores, b + self._tail)
        if not a and not self._tail:
            return ranking.hinge_plane(0, b, 1.0).scaled(1 / (m * b))
        above = ranking.hinge_rows(0, a, 0.0)
        inside = ranking.hinge_rows(a, b, 1.0)
        beyond = ranking.hinge_rows(b, b + self._tail, 0.0)
        whole = ranking.run_sum(0, a) - a * ranking.positives + inside.values + beyond.values
        deep = whole >= above.values  # B_i >= A_i: the row of this positive runs on through the band
        runs_on = deep.astype(np.float64)
        # How many positives each negative beats, from the lowest on; those above the band beat all that run on.
        negatives = [
            beyond.beaten(self._tail, runs_on),
            inside.beaten(b - a, runs_on),
            above.beaten(a, 1.0 - runs_on) + runs_on.sum(),
        ]
        counts = np.where(deep, a + inside.counts + beyond.counts, above.counts)
        return Plane(
            value=float(np.where(deep, whole, above.values).sum()),
            offset=float(inside.counts[deep].sum()),
            positives=ranking.as_given(-counts),
            negatives=np.concatenate(negatives),
            index=ranking.index,
        ).scaled(1 / (m * self.band.width))

    def plane(self, scores: Scores, smoothing: Smoothing) -> SmoothedPlane:
        """Evaluate the risk exactly and give the plane of the smoothed choice."""
        reach = self.band.stop + self._tail
        return self._at(Ranking.of_entering(scores, reach, smoothing.rank), smoothing)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedPlane:
        choice = _Choice(ranking, self.band, bool(self._tail), smoothing)
        value = choice.scale * self._exact(ranking)
        mixed = choice.scale * float(choice.mixture_values().sum())
        offset, weights, counts = choice.plane()
        plane_value = offset + float(counts @ ranking.negatives + weights @ ranking.positives)
        return SmoothedPlane(
            value=value,
            offset=offset,
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=mixed - plane_value,
            rank_error=value - mixed,
            curvature=choice.graphs,
            again=partial(self._at, ranking),
        )

    def _exact(self, ranking: Ranking) -> float:
        """Sum max(A_i, B_i) over the positives."""
        a = self.band.start
        b = self.band.stop
        whole = ranking.hinge_rows(a, b, 1.0).values
        if self._tail:
            whole = whole + ranking.hinge_rows(b, len(ranking.negatives), 0.0).values
        if a:
            above = ranking.hinge_rows(0, a, 0.0).values
            whole = np.maximum(above, whole + ranking.run_sum(0, a) - a * ranking.positives)
        return float(whole.sum())


class _Choice:
    """The smoothed choice at one set of scores: shares, runs and the mixture of the two kinds of row."""

    def __init__(self, ranking: Ranking, band: Band, tail: bool, smoothing: Smoothing) -> None:
        self.ranking = ranking
        self.band = band
        self.smoothing = smoothing
        self.scale = 1 / (len(ranking.positives) * band.width)
        # Shares in the top b and in the top a; what lies between them is the band.
        self.top = shares(ranking.negatives, band.stop, smoothing.rank)
        self.upper = shares(ranking.negatives, band.start, smoothing.rank)
        between = np.maximum(self.top - self.upper, 0.0)
        h = smoothing.margin
        self.inside = Run.over(ranking, between, 1.0, h)
        self.above = Run.over(ranking, self.upper, 0.0, h) if band.start else None
        self.beyond = Run.over(ranking, 1.0 - self.top, 0.0, h) if tail else None
        # B_i, with sharp pairs, and the weight with which a row runs as deep as B_i.
        self.whole = self.inside.values + (self.beyond.values if self.beyond else 0.0)
        self.mix = np.ones(len(ranking.positives))
        if self.above is not None:
            self.mass = float(self.upper.sum())
            self.whole = self.whole + float(self.upper @ ranking.negatives) - self.mass * ranking.positives
            self.mix = np.clip(0.5 + (self.whole - self.above.values) / self._mix_width, 0.0, 1.0)

    @property
    def _mix_width(self) -> float:
        return self.smoothing.rank * self.band.width

    def mixture_values(self) -> FloatArray:
        """For each positive the value of its row with sharp pairs, but smoothed ranks and depth."""
        if self.above is None:
            return self.whole
        return self.mix * self.whole + (1.0 - self.mix) * self.above.values

    def plane(self) -> tuple[float, FloatArray, FloatArray]:
        """Offset, weights of the positives, weights of the negatives."""
        mix = self.mix
        offset = float(mix @ self.inside.weights)
        weights = self.inside.weights
        counts = self.inside.counts(self.ranking, mix)
        if self.beyond is not None:
            weights = weights + self.beyond.weights
            counts += self.beyond.counts(self.ranking, mix)
        if self.above is not None:
            weights = mix * (weights + self.mass) + (1.0 - mix) * self.above.weights
            counts += self.above.counts(self.ranking, 1.0 - mix) + float(mix.sum()) * self.upper
        return self.scale * offset, -self.scale * weights, self.scale * counts

    def graphs(self) -> list[Graph]:
        """Return the curvature of the runs, of the two edges of the band and of the mixture."""
        runs = ((self.inside, self.mix), (self.beyond, self.mix), (self.above, 1.0 - self.mix))
        graphs: list[Graph] = [run.graph(self.ranking, self.scale * weight) for run, weight in runs if run is not None]
        for share, pull in self._edges():
            graphs.append(edge_graph(self.ranking, share, pull * (self.scale / self.smoothing.rank)))
        if self.above is not None:
            graphs.append(self._mixed(self.above))
        return graphs

    def _edges(self) -> list[tuple[FloatArray, FloatArray]]:
        """For each edge of the band, the shares that end there and how many positives feel a change of them.

        A share that a negative gains in the top b it gains inside the band and loses beyond; one that it gains in the
        top a it gains above the band and loses inside. Above the band a row that runs on counts each share whole.
        """
        edges = []
        size = len(self.top)
        inside = felt_from(self.inside.full, size, self.mix)
        if self.band.stop < self.band.n_negatives:
            beyond = felt_from(self.beyond.full, size, self.mix) if self.beyond else 0.0
            edges.append((self.top, inside - beyond))
        if self.above is not None:
            above = felt_from(self.above.full, size, 1.0 - self.mix)
            edges.append((self.upper, above + float(self.mix.sum()) - inside))
        return edges

    def _mixed(self, above: Run) -> Star:
        """Let each positive whose row is mixed move, as its row as a whole does, against the mean of the top."""
        # By how much the weight of a positive in its deep row exceeds that in its short one.
        moved = self.inside.weights + self.mass - above.weights
        if self.beyond is not None:
            moved = moved + self.beyond.weights
        mixed = (self.mix > 0) & (self.mix < 1)
        weight = np.where(mixed, moved**2 * (self.scale / self._mix_width), 0.0)
        return Star(self.ranking.order, weight, len(weight) + self.ranking.index, self.top)
