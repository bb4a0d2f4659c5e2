"""The convex surrogates smoothed so that their weights stay dual feasible.

`tight` and `naive` are maxima of linear functions of the scores: over shares of the negatives in the ranks up to j_a
and up to j_b, over the pairs that count, and over how deep each positive's row runs. Any fractional choice of these
gives a linear function that stays below the surrogate everywhere, hence a plane and a lower bound. The choice made
here varies smoothly with the scores:

- a pair counts with clip((margin - s_i + z_j) / smoothing.margin, 0, 1);
- a negative is in the top k with the share clip((z_j - theta_k) / smoothing.rank, 0, 1), theta_k such that the shares
  sum to k; when scores tie, as at w = 0, they are shared alike by all that tie;
- a row runs through the band with the weight clip(1/2 + (B_i - A_i) / (smoothing.rank * width), 0, 1).

The shares are marginals of nested random sets of size j_a and j_b, in each of which the rows fall with rank, so that
the choice is a mixture of feasible ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rocband.risks.band import Band, FloatArray, IndexArray, Ranking, TopScores, ascending, top_sums
from rocband.risks.curvature import Bipartite, Clique, Graph, Star
from rocband.risks.surrogates import Linearization, naive, tight

__all__ = ["SmoothedLinearization", "SmoothedRisk", "Smoothing", "share_threshold"]


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Widths, on the scale of scores, over which a pair's weight and a negative's share rise from 0 to 1."""

    margin: float
    rank: float


class _Curved(Protocol):
    def graphs(self) -> list[Graph]: ...


@dataclass(frozen=True, slots=True)
class SmoothedLinearization(Linearization):
    """The exact ``value`` of a risk with the plane of a smoothed choice.

    Attributes
    ----------
    margin_error, rank_error : float
        How far the plane lies below ``value`` at the scores, for want of sharp pairs and of sharp ranks.
    """

    margin_error: float
    rank_error: float
    ranking: Ranking
    choice: _Curved

    def graphs(self) -> list[Graph]:
        """Return the curvature of the smoothed risk: the scatter of these graphs over the rows."""
        return self.choice.graphs()


class SmoothedRisk:
    """`tight` or `naive` for a band, smoothed.

    Parameters
    ----------
    band : Band
        The ranks.
    tail : bool
        Whether a positive may also lose to the negatives beyond the band, as in `naive`.

    Notes
    -----
    One evaluation takes O(n + (m + k) log k) time and O(n) memory, where k >= j_b is the number of negatives with a
    share in the band; for ``tail`` it is n.
    """

    def __init__(self, band: Band, *, tail: bool = False) -> None:
        self.band = band
        self.tail = tail and band.stop < band.n_negatives

    def linearize(self, positives: FloatArray, negatives: FloatArray, smoothing: Smoothing) -> SmoothedLinearization:
        """Evaluate the risk exactly and give the plane of the smoothed choice."""
        reach = self.band.n_negatives if self.tail else self.band.stop
        return self._at(Ranking(positives, negatives, entering_band(negatives, reach, smoothing.rank)), smoothing)

    def sharpened(self, plane: SmoothedLinearization, smoothing: Smoothing) -> SmoothedLinearization:
        """Linearise at the scores of ``plane`` with a sharper smoothing: nothing is sorted again."""
        return self._at(plane.ranking, smoothing)

    def _at(self, ranking: Ranking, smoothing: Smoothing) -> SmoothedLinearization:
        choice = _Choice(ranking, self.band, self.tail, smoothing)
        value, mixed = choice.scale * self._exact(ranking), choice.scale * float(choice.mixture_values().sum())
        offset, weights, counts = choice.plane()
        plane_value = offset + float(counts @ ranking.negatives + weights @ ranking.positives)
        return SmoothedLinearization(
            value=value,
            offset=offset,
            positives=ranking.as_given(weights),
            negatives=counts,
            index=ranking.index,
            margin_error=mixed - plane_value,
            rank_error=value - mixed,
            ranking=ranking,
            choice=choice,
        )

    def sharp(self, positives: FloatArray, negatives: FloatArray) -> Linearization:
        """Linearise the risk without smoothing: a plane that touches it."""
        return (naive if self.tail else tight)(positives, negatives, self.band)

    def _exact(self, ranking: Ranking) -> float:
        a, b, k = self.band.start, self.band.stop, len(ranking.negatives)
        whole = ranking.hinge_rows(a, b, 1.0).values
        if self.tail:
            whole = whole + ranking.hinge_rows(b, k, 0.0).values
        if a:
            above = ranking.hinge_rows(0, a, 0.0).values
            whole = np.maximum(above, whole + ranking.run_sum(0, a) - a * ranking.positives)
        return float(whole.sum())


def entering_band(negatives: FloatArray | TopScores, k: int, width: float) -> IndexArray:
    """Positions, ascending by score, of the negatives with a share in the smoothed top ``k`` and of a few others."""
    if not isinstance(negatives, np.ndarray):
        near, where = negatives.highest(k, width)
        return where[ascending(near)]
    n = len(negatives)
    if k == n:
        return ascending(negatives)
    passing = np.flatnonzero(negatives > guess_share_threshold(negatives[:: sample_step(n)], n, k, width))
    order = ascending(negatives[passing])
    if not holds_all_shares(negatives[passing[order]], n, k, width):
        passing = np.flatnonzero(negatives > np.partition(negatives, n - k)[n - k] - width)
        order = ascending(negatives[passing])
    return passing[order]


def shares(scores: FloatArray, k: float, width: float) -> FloatArray:
    """Share of each negative in the top ``k``; scores ascending. When scores tie, those that tie share alike."""
    if k == 0:
        return np.zeros(len(scores))
    if k >= len(scores):
        return np.ones(len(scores))
    share: FloatArray = np.clip((scores - share_threshold(scores, k, width)) / width, 0.0, 1.0)
    return _at_most(share, k)


def _at_most(share: FloatArray, k: float) -> FloatArray:
    """Shrink shares so that rounding cannot make their sum exceed ``k``; a whole share stays whole where it can."""
    total, partial = float(share.sum()), share < 1.0
    whole = len(share) - np.count_nonzero(partial)
    if total <= k:
        return share
    if whole > k:
        return share * (k / total)
    return np.where(partial, share * ((k - whole) / (total - whole)), 1.0)


def share_threshold(scores: FloatArray, k: float, width: float) -> float:
    """Solve sum_j clip((z_j - theta) / width, 0, 1) = k for theta; scores ascending, 0 < k < len(scores).

    The sum falls from at least k to at most k as theta rises from z_(k) - width to z_(k); Newton steps on this
    piecewise linear function, kept inside the bracket, end after a few pieces.
    """
    n, sums = len(scores), top_sums(scores)
    high = float(scores[n - math.ceil(k)])
    low = high - width
    theta = high - width / 2
    for _ in range(60):
        first, full = np.searchsorted(scores, (theta, theta + width))
        excess = n - full + (sums[first] - sums[full] - (full - first) * theta) / width - k
        low, high = (theta, high) if excess > 0 else (low, theta)
        if abs(excess) <= 1e-12 * n or high - low <= 1e-15 * (abs(low) + abs(high)):
            break
        step = theta + excess * width / (full - first) if full > first else math.nan
        theta = step if low < step < high else (low + high) / 2
    return low if abs(excess) > 1e-12 * n else theta


def sample_step(n: int) -> int:
    """Every how many of n negatives one is sampled to guess a threshold."""
    return max(n // 16384, 1)


def guess_share_threshold(sample: FloatArray, n: int, k: int, width: float) -> float:
    """Guess from a sample of n negatives a score that few without a share, and all with one, exceed."""
    expected = k * len(sample) / n
    cautious = expected + 3 * math.sqrt(expected) + 1
    if cautious >= len(sample):
        return -math.inf
    return share_threshold(np.sort(sample), cautious, width)


def holds_all_shares(scores: FloatArray, n: int, k: int, width: float) -> bool:
    """Whether the highest of n scores, given in ascending order, are all that have a share in the top ``k``."""
    return len(scores) == n or (len(scores) > k and share_threshold(scores, k, width) >= scores[0])


@dataclass(frozen=True, slots=True)
class Run:
    """Smoothed hinge sums of every positive over negatives with given shares."""

    margin: float
    width: float
    share: FloatArray
    first: IndexArray  # the first negative whose pair with this positive has any weight ...
    full: IndexArray  # ... and the first whose pair has weight 1
    weights: FloatArray
    values: FloatArray

    @classmethod
    def over(cls, ranking: Ranking, share: FloatArray, margin: float, width: float) -> Run:
        reach = margin - ranking.positives
        first = ranking.first(margin)
        full = np.searchsorted(ranking.negatives, width - reach)
        np.maximum(first, full, out=full)
        if share.min(initial=1.0) == 1.0:
            mass, moment = np.arange(len(share), -1.0, -1.0), ranking.sums
        else:
            mass, moment = top_sums(share), top_sums(share * ranking.negatives)
        partly = reach * (mass[first] - mass[full]) + moment[first] - moment[full]
        return cls(
            margin,
            width,
            share,
            first,
            full,
            weights=mass[full] + partly / width,
            values=reach * mass[first] + moment[first],
        )

    def counts(self, ranking: Ranking, row_weight: FloatArray) -> FloatArray:
        """Sum the pair weights over the positives, for each negative."""
        k = len(self.share)

        def starting(at: IndexArray, weight: FloatArray) -> FloatArray:
            return np.bincount(at, weight, minlength=k + 1)[:k].astype(np.float64, copy=False)

        moment, whole = row_weight * ranking.positives, starting(self.full, row_weight)
        partly = (self.margin + ranking.negatives) * np.cumsum(starting(self.first, row_weight) - whole)
        partly -= np.cumsum(starting(self.first, moment) - starting(self.full, moment))
        return self.share * (np.cumsum(whole) + partly / self.width)

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


class _Choice:
    """The smoothed choice at one set of scores: shares, runs and the mixture of the two kinds of row."""

    def __init__(self, ranking: Ranking, band: Band, tail: bool, smoothing: Smoothing) -> None:
        self.ranking, self.band, self.smoothing = ranking, band, smoothing
        self.scale = 1 / (len(ranking.positives) * band.width)
        self.top = shares(ranking.negatives, band.stop, smoothing.rank)
        self.upper = shares(ranking.negatives, band.start, smoothing.rank)
        h = smoothing.margin
        self.inside = Run.over(ranking, np.maximum(self.top - self.upper, 0.0), 1.0, h)
        self.above = Run.over(ranking, self.upper, 0.0, h) if band.start else None
        self.beyond = Run.over(ranking, 1.0 - self.top, 0.0, h) if tail else None
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
        ranking, mix = self.ranking, self.mix
        offset = float(mix @ self.inside.weights)
        weights = self.inside.weights
        counts = self.inside.counts(ranking, mix)
        if self.beyond is not None:
            weights = weights + self.beyond.weights
            counts += self.beyond.counts(ranking, mix)
        if self.above is not None:
            weights = mix * (weights + self.mass) + (1.0 - mix) * self.above.weights
            counts += self.above.counts(ranking, 1.0 - mix) + float(mix.sum()) * self.upper
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
        """For each edge of the band, the shares that end there and how many positives feel a change of them."""
        edges = []
        inside = self._felt(self.inside, self.mix)
        if self.band.stop < self.band.n_negatives:
            edges.append((self.top, inside - (self._felt(self.beyond, self.mix) if self.beyond else 0.0)))
        if self.above is not None:
            edges.append((self.upper, self._felt(self.above, 1.0 - self.mix) + float(self.mix.sum()) - inside))
        return edges

    def _felt(self, run: Run, row_weight: FloatArray) -> FloatArray:
        k = len(run.share)
        return np.cumsum(np.bincount(run.full, row_weight, minlength=k + 1)[:k])

    def _mixed(self, above: Run) -> Star:
        """Let each positive whose row is mixed move, as its row as a whole does, against the mean of the top."""
        moved = self.inside.weights + self.mass - above.weights
        if self.beyond is not None:
            moved = moved + self.beyond.weights
        moved = moved**2 * (self.scale / self._mix_width)
        weight = np.where((self.mix > 0) & (self.mix < 1), moved, 0.0)
        return Star(self.ranking.order, weight, len(weight) + self.ranking.index, self.top)


def edge_graph(ranking: Ranking, share: FloatArray, pull: FloatArray) -> Clique:
    """Join the negatives with a fractional share: they scatter about their mean as the shares are passed on."""
    edge = np.flatnonzero((share > 0) & (share < 1) & (pull > 0))
    return Clique(len(ranking.positives) + ranking.index[edge], pull[edge])
