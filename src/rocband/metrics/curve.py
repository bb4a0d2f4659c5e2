"""The ROC curve in a band, from the few scores that decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._input import check_lengths, check_scores, check_weights, positive_mask, vector

__all__ = ["ClassScores", "mean_cut", "share_under_curve", "split_classes"]

_Array = npt.NDArray[Any]
_Range = tuple[float, float]
# 0.29 * 100 falls short of 29 by rounding alone: a position counts as reached when it is this near, relatively.
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Scores of one class, our own copy in no order, and their weights (None: each counts 1)."""

    scores: _Array
    weights: _Array | None
    total: float

    @classmethod
    def of(cls, scores: _Array, weights: _Array | None) -> ClassScores:
        """Count the total too."""
        return cls(scores, weights, float(len(scores) if weights is None else weights.sum(dtype=np.float64)))

    def amount(self, chosen: npt.NDArray[np.bool_]) -> float:
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
        return ClassScores.of(self.scores[chosen], None if self.weights is None else self.weights[chosen])

    def span(self, low: float, high: float) -> tuple[Any, Any]:
        """Scores bottom <= top: at most the share ``low`` lies above top, at least ``high`` from bottom on."""
        if self.weights is not None:
            return self._weighted_bottom(self.weights, high), self.scores.max()
        n = len(self.scores)
        bottom, top = n - min(math.ceil(high * n), n), n - 1 - min(math.floor(low * n), n - 1)
        if (bottom, top) == (0, n - 1):
            return self.scores.min(), self.scores.max()
        self.scores.partition((bottom, top))
        return self.scores[bottom], self.scores[top]

    def _weighted_bottom(self, weights: _Array, high: float) -> Any:
        # There is no weighted partition: guess the rank from the count and double it until enough weight lies above.
        n = len(self.scores)
        rank = max(math.ceil(high * n), 1)
        while rank < n:
            bottom = np.partition(self.scores, n - rank)[n - rank]
            if self.amount(self.scores >= bottom) >= high * self.total:
                return bottom
            rank *= 2
        return self.scores.min()

    def first_beyond(self, rate: float) -> Any:
        """Largest score from which on more than ``rate`` of the class lies."""
        n = len(self.scores)
        if self.weights is None:
            index = n - 1 - min(math.floor(past(rate * n)), n - 1)
            self.scores.partition(index)
            return self.scores[index]
        bottom = self._weighted_bottom(self.weights, min(past(past(rate)) + _NOISE, 1.0))
        ranked = RankedScores.of(self.between(bottom, self.scores.max()))
        rank = int(np.searchsorted(ranked.sums, past(rate * self.total), side="right"))
        return ranked.scores[-min(rank, len(ranked.scores))]


@dataclass(frozen=True, slots=True)
class RankedScores:
    """Sorted scores of one class, and the weight of the k largest for each k."""

    scores: _Array
    sums: _Array

    @classmethod
    def of(cls, sample: ClassScores) -> RankedScores:
        if sample.weights is None:
            return cls(np.sort(sample.scores), np.arange(len(sample.scores) + 1))
        order = np.argsort(sample.scores)
        falling = sample.weights[order[::-1]]
        return cls(sample.scores[order], np.concatenate(([0.0], np.cumsum(falling, dtype=np.float64))))

    def above_and_from(self, values: _Array) -> _Array:
        """For each value the weight above it, then the weight from it on: a, f, a, f, ..."""
        n = len(self.scores)
        ranks = np.empty(2 * len(values), dtype=np.intp)
        ranks[0::2] = n - np.searchsorted(self.scores, values, side="right")
        ranks[1::2] = n - np.searchsorted(self.scores, values, side="left")
        return self.sums[ranks]


def share_under_curve(positives: ClassScores, negatives: ClassScores, fpr: _Range, tpr: _Range) -> float:
    """Share of the rectangle fpr x tpr that lies under the curve."""
    x, y = _polyline(positives, negatives, fpr, tpr)
    across, levels = _scaled(fpr, negatives.total), _scaled(tpr, positives.total)
    return min(_mean_height(x, y, across, levels) / (levels[1] - levels[0]), 1.0)


def _scaled(bounds: _Range, total: float) -> _Range:
    """Turn a range of rates into weights, low < high even where rounding would join them."""
    high = bounds[1] * total
    return min(bounds[0] * total, math.nextafter(high, 0.0)), high


def _polyline(positives: ClassScores, negatives: ClassScores, fpr: _Range, tpr: _Range) -> tuple[_Array, _Array]:
    """Points of the curve, as weights of negatives and positives, that decide the area in the rectangle.

    Before the curve has reached the low ends of both ranges nothing of it counts, and once it has passed either high
    end its shape no longer matters; so both parts are replaced by straight lines from (0, 0) and to the last corner.
    Between two scores of positives the curve is flat, so the positives' scores give all corners.
    """
    negative_span, positive_span = negatives.span(*fpr), positives.span(*tpr)
    bottom = max(negative_span[0], positive_span[0])
    top = max(min(negative_span[1], positive_span[1]), bottom)
    inner_positives, inner_negatives = (side.between(bottom, top) for side in (positives, negatives))
    ranked = RankedScores.of(inner_positives)
    corners = np.unique(ranked.scores)[::-1]
    x = _path(negatives, inner_negatives, top, RankedScores.of(inner_negatives).above_and_from(corners))
    y = _path(positives, inner_positives, top, ranked.above_and_from(corners))
    return x, y


def _path(side: ClassScores, inner: ClassScores, top: object, corners: _Array) -> _Array:
    """One coordinate of the points: the origin, where the band starts, its corners, where it ends, the far corner."""
    base = side.above(top)
    return np.concatenate(([0.0, base], corners + base, [base + inner.total, side.total]))


def _mean_height(x: _Array, y: _Array, across: _Range, levels: _Range) -> float:
    """Mean over ``across`` of the polyline's height, cut to ``levels`` and counted from the lower one."""
    left, right = np.maximum(x[:-1], across[0]), np.minimum(x[1:], across[1])
    chosen = np.flatnonzero(right > left)
    left, right = left[chosen], right[chosen]
    x0, x1, y0, y1 = x[chosen], x[chosen + 1], y[chosen], y[chosen + 1]
    slope = (y1 - y0) / (x1 - x0)
    start, stop = y0 + slope * (left - x0), y1 - slope * (x1 - right)
    heights, widths = mean_cut(start, stop, *levels), right - left
    # The sum of the widths carries the same rounding as the pieces; high - low would not, in a very narrow band.
    return float((widths * heights).sum() / widths.sum())


def mean_cut(start: _Array, stop: _Array, low: float | _Array, high: float | _Array) -> _Array:
    """Mean of min(max(h, low), high) - low along lines that rise from ``start`` to ``stop``, or are flat."""
    first, last = np.clip(start, low, high), np.clip(stop, low, high)
    inside, above = last - first, np.maximum(stop - np.maximum(start, high), 0)
    mean: _Array = (first - low + (last - low)) / 2
    np.divide(inside * mean + above * (high - low), stop - start, out=mean, where=stop > start)
    return mean


def past(position: float) -> float:
    return position * (1 + _NOISE)


def split_classes(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, sample_weight: npt.ArrayLike | None, pos_label: object
) -> tuple[ClassScores, ClassScores]:
    """Check the input and part it into positives and negatives."""
    labels, scores = vector(y_true, "y_true"), vector(y_score, "y_score")
    check_lengths(labels, scores, "y_score")
    check_scores(scores)
    weights = None if sample_weight is None else check_weights(sample_weight, labels)
    positive = positive_mask(labels, pos_label)
    return _one_class(positive, scores, weights, "positives"), _one_class(~positive, scores, weights, "negatives")


def _one_class(chosen: npt.NDArray[np.bool_], scores: _Array, weights: _Array | None, name: str) -> ClassScores:
    side = ClassScores.of(scores[chosen], None if weights is None else weights[chosen])
    if side.total == 0:
        raise ValueError(f"The sample weights of the {name} sum to zero; give at least one of them a positive weight.")
    return side
