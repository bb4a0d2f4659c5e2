"""The ROC curve in a band, from the few scores that decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._errors import ParameterError
from rocband._input import check_lengths, check_scores, check_weights, positive_mask, vector
from rocband._types import AnyArray, BoolArray, FloatArray
from rocband.ranks import past, ranks_reached, ranks_touched

__all__ = ["ClassScores", "mean_cut", "share_under_curve", "split_classes"]

_Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Scores of one class, our own copy in no order, and their weights (None: each counts 1)."""

    scores: AnyArray
    weights: AnyArray | None
    total: float

    @classmethod
    def of(cls, scores: AnyArray, weights: AnyArray | None) -> ClassScores:
        """Count the total too."""
        if weights is None:
            return cls(scores, None, float(len(scores)))
        return cls(scores, weights, float(weights.sum(dtype=np.float64)))

    def amount(self, chosen: BoolArray) -> float:
        """Weight of the chosen samples."""
        if self.weights is None:
            return float(np.count_nonzero(chosen))
        return float(self.weights.sum(where=chosen, dtype=np.float64))

    def above(self, score: object) -> float:
        """Weight above a score."""
        return self.amount(self.scores > score)

    def at(self, score: object) -> float:
        """Weight at a score."""
        return self.amount(self.scores == score)

    def between(self, low: object, high: object) -> ClassScores:
        """Keep the scores from low to high."""
        chosen = (self.scores >= low) & (self.scores <= high)
        weights = None if self.weights is None else self.weights[chosen]
        return ClassScores.of(self.scores[chosen], weights)

    def span(self, low: float, high: float) -> tuple[Any, Any]:
        """Scores bottom and top: at most the share ``low`` lies above top, at least ``high`` from bottom on."""
        if self.weights is not None:
            # A higher top than needed is right too; it costs the sorting of a few more scores.
            return self._bottom_beyond(self.weights, high), self.scores.max()
        n = len(self.scores)
        # Ascending order holds rank j of the falling order at n - j.
        bottom = n - max(ranks_touched(high, n), 1)
        top = n - 1 - min(ranks_reached(low, n), n - 1)
        if bottom == 0 and top == n - 1:
            return self.scores.min(), self.scores.max()
        self.scores.partition((bottom, top))
        return self.scores[bottom], self.scores[top]

    def first_beyond(self, rate: float) -> Any:
        """Largest score from which on more than ``rate`` of the class lies."""
        if self.weights is not None:
            return self._first_beyond_weight(self.weights, rate)
        n = len(self.scores)
        index = n - 1 - min(ranks_reached(rate, n), n - 1)
        self.scores.partition(index)
        return self.scores[index]

    def _first_beyond_weight(self, weights: AnyArray, rate: float) -> Any:
        bottom = self._bottom_beyond(weights, rate)
        ranked = RankedScores.of(self.between(bottom, self.scores.max()))
        n_reached = np.searchsorted(ranked.sums, self._limit(rate), side="right")
        # Rounding may leave all sums below the limit; the bottom is then the score that was looked for.
        rank = min(int(n_reached), len(ranked.scores))
        return ranked.scores[-rank]

    def _bottom_beyond(self, weights: AnyArray, rate: float) -> Any:
        """Find a score, not much too low, from which on more than ``rate`` of the weight lies; the lowest if none."""
        # There is no weighted partition: guess the rank from the count and double it until enough weight lies above.
        n = len(self.scores)
        limit = self._limit(rate)
        rank = ranks_touched(rate, n) + 1
        while rank < n:
            bottom = np.partition(self.scores, n - rank)[n - rank]
            if weights.sum(where=self.scores >= bottom, dtype=np.float64) > limit:
                return bottom
            rank *= 2
        return self.scores.min()

    def _limit(self, rate: float) -> float:
        """Weight above which a sum of weights is more than the share ``rate`` of all."""
        return past(rate * self.total, terms=len(self.scores))


@dataclass(frozen=True, slots=True)
class RankedScores:
    """Sorted scores of one class, and the weight of the k largest for each k."""

    scores: AnyArray
    sums: AnyArray

    @classmethod
    def of(cls, sample: ClassScores) -> RankedScores:
        """Sort the scores, and sum the weights from the largest score down."""
        if sample.weights is None:
            counts = np.arange(len(sample.scores) + 1)
            return cls(np.sort(sample.scores), counts)
        order = np.argsort(sample.scores)
        falling = sample.weights[order[::-1]]
        sums = np.concatenate(([0.0], np.cumsum(falling, dtype=np.float64)))
        return cls(sample.scores[order], sums)

    def above_and_from(self, values: AnyArray) -> AnyArray:
        """For each value the weight above it, then the weight from it on: a, f, a, f, ..."""
        n = len(self.scores)
        ranks = np.empty(2 * len(values), dtype=np.intp)
        ranks[0::2] = n - np.searchsorted(self.scores, values, side="right")
        ranks[1::2] = n - np.searchsorted(self.scores, values, side="left")
        return self.sums[ranks]


def share_under_curve(positives: ClassScores, negatives: ClassScores, fpr: _Range, tpr: _Range) -> float:
    """Share of the rectangle fpr x tpr that lies under the curve."""
    x, y = _polyline(positives, negatives, fpr, tpr)
    across = _scaled(fpr, negatives.total)
    levels = _scaled(tpr, positives.total)
    share = _mean_height(x, y, across, levels) / (levels[1] - levels[0])
    return min(share, 1.0)


def _scaled(bounds: _Range, total: float) -> _Range:
    """Turn a range of rates into weights, low < high even where rounding would join them."""
    # The area changes little with its bounds, so these are no ranks and rounding does no harm.
    high = bounds[1] * total
    low = min(bounds[0] * total, math.nextafter(high, 0.0))
    return low, high


def _polyline(
    positives: ClassScores, negatives: ClassScores, fpr: _Range, tpr: _Range
) -> tuple[FloatArray, FloatArray]:
    """Points of the curve, as weights of negatives and positives, that decide the area in the rectangle.

    Before the curve has reached the low ends of both ranges nothing of it counts, and once it has passed either high
    end its shape no longer matters; so both parts are replaced by straight lines from (0, 0) and to the last corner.
    Between two scores of positives the curve is flat, so the positives' scores give all corners.
    """
    bottom, top = _deciding_scores(positives, negatives, fpr, tpr)
    inner_positives = positives.between(bottom, top)
    inner_negatives = negatives.between(bottom, top)
    ranked_positives = RankedScores.of(inner_positives)
    ranked_negatives = RankedScores.of(inner_negatives)
    corners = np.unique(ranked_positives.scores)[::-1]
    x = _path(negatives, inner_negatives, top, ranked_negatives.above_and_from(corners))
    y = _path(positives, inner_positives, top, ranked_positives.above_and_from(corners))
    return x, y


def _deciding_scores(positives: ClassScores, negatives: ClassScores, fpr: _Range, tpr: _Range) -> tuple[Any, Any]:
    """Scores bottom <= top between which the curve runs inside the rectangle."""
    bottom_by_fpr, top_by_fpr = negatives.span(*fpr)
    bottom_by_tpr, top_by_tpr = positives.span(*tpr)
    # The curve leaves the rectangle at the first high end that it passes, and enters it at the last low end.
    bottom = max(bottom_by_fpr, bottom_by_tpr)
    top = min(top_by_fpr, top_by_tpr)
    return bottom, max(top, bottom)


def _path(side: ClassScores, inner: ClassScores, top: object, corners: AnyArray) -> FloatArray:
    """One coordinate of the points: the origin, where the band starts, its corners, where it ends, the far corner."""
    start = side.above(top)
    stop = start + inner.total
    return np.concatenate(([0.0, start], corners + start, [stop, side.total]))


def _mean_height(x: FloatArray, y: FloatArray, across: _Range, levels: _Range) -> float:
    """Mean over ``across`` of the polyline's height, cut to ``levels`` and counted from the lower one."""
    left = np.maximum(x[:-1], across[0])
    right = np.minimum(x[1:], across[1])
    chosen = np.flatnonzero(right > left)
    left = left[chosen]
    right = right[chosen]
    x0 = x[chosen]
    x1 = x[chosen + 1]
    y0 = y[chosen]
    y1 = y[chosen + 1]
    slope = (y1 - y0) / (x1 - x0)
    # Each height is counted from the nearer corner, where it is exact.
    start = y0 + slope * (left - x0)
    stop = y1 - slope * (x1 - right)
    heights = mean_cut(start, stop, *levels)
    widths = right - left
    # The sum of the widths carries the same rounding as the pieces; high - low would not, in a very narrow band.
    return float((widths * heights).sum() / widths.sum())


def mean_cut(start: FloatArray, stop: FloatArray, low: float | FloatArray, high: float | FloatArray) -> FloatArray:
    """Mean of min(max(h, low), high) - low along lines that rise from ``start`` to ``stop``, or are flat."""
    first = np.clip(start, low, high)
    last = np.clip(stop, low, high)
    mean: FloatArray = (first - low + (last - low)) / 2
    # Of the rise, the part inside has this mean, the part above counts high - low and the part below 0.
    inside = last - first
    above = np.maximum(stop - np.maximum(start, high), 0)
    np.divide(inside * mean + above * (high - low), stop - start, out=mean, where=stop > start)
    return mean


def split_classes(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, sample_weight: npt.ArrayLike | None, pos_label: object
) -> tuple[ClassScores, ClassScores]:
    """Check the input and part it into positives and negatives."""
    labels = vector(y_true, "y_true")
    scores = vector(y_score, "y_score")
    check_lengths(labels, scores, "y_score")
    check_scores(scores)
    weights = None if sample_weight is None else check_weights(sample_weight, labels)
    positive = positive_mask(labels, pos_label)
    positives = _one_class(positive, scores, weights, "positives")
    negatives = _one_class(~positive, scores, weights, "negatives")
    return positives, negatives


def _one_class(chosen: BoolArray, scores: AnyArray, weights: AnyArray | None, name: str) -> ClassScores:
    side = ClassScores.of(scores[chosen], None if weights is None else weights[chosen])
    if side.total == 0:
        problem = f"of the {name} sums to zero; give at least one of them a positive weight."
        raise ParameterError("sample_weight", problem)
    return side
