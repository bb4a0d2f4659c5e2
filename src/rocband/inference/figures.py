"""The ROC curve as steps, and its figures for many resampled curves at once.

Sorted by falling score, a sample is a row of steps: a run of positives (the curve rises), a run of negatives (it goes
right), or scores that tie across the classes (a diagonal). Resampling only changes how many of each class a step holds,
so a resampled curve is two cumulative sums over the same steps, with nothing left to sort.

The influence of one sample on a figure is the derivative of the figure by the sample's weight. Let the rectangle be
[a, b] x [l, h], R the curve, and [a', b'] the part of [a, b] where l < R < h. The area inside is the integral over
[a, b] of min(max(R, l), h) - l, and only what moves R inside [a', b'] changes it. Weight on a positive whose score has
the FPR u lifts R right of u: its influence is b' - clip(u, a', b'), up to a constant. Weight on a negative there moves
what is right of u further right: its influence is R(clip(u, a', b')), up to a constant. With a = 0 and b = 1 these are
DeLong's placement values; for other bands they are the terms of Dodd and Pepe's and He and Escobar's variances. No
density has to be estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rocband._types import AnyArray, BoolArray, FloatArray, IndexArray
from rocband.metrics.curve import mean_cut
from rocband.ranks import NOISE, past, position

__all__ = ["Figure", "Height", "Heights", "Influence", "Rectangle", "SmoothFigure", "Steps", "run_starts"]

_Range = tuple[float, float]
_Counts = tuple[AnyArray, AnyArray]
_Bounds = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of one scorer's curve, by falling score.

    Attributes
    ----------
    positive, negative : arrays of shape (m,) and (n,)
        The step each positive and each negative belongs to.
    ties : array
        The steps that hold both classes.
    count : int
        Number of steps.
    """

    positive: IndexArray
    negative: IndexArray
    ties: IndexArray
    count: int

    @classmethod
    def of(cls, positives: AnyArray, negatives: AnyArray, reach: float = math.inf) -> Steps:
        """Sort the scores into steps; those after the first ``reach`` negatives become one last step."""
        distinct, level = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
        level = len(distinct) - 1 - level
        m = len(positives)
        n_positives = np.bincount(level[:m], minlength=len(distinct))
        n_negatives = np.bincount(level[m:], minlength=len(distinct))
        starts = run_starts(n_positives > 0, n_negatives > 0)
        negatives_before = np.cumsum(n_negatives) - n_negatives
        starts[negatives_before > reach] = False
        step = np.cumsum(starts) - 1
        positive = step[level[:m]]
        negative = step[level[m:]]
        ties = np.intersect1d(positive, negative)
        return cls(positive, negative, ties, int(step[-1]) + 1)

    def own_counts(self) -> tuple[IndexArray, IndexArray]:
        """Return how many positives and negatives of the sample itself each step holds, as one row each."""
        positives = np.bincount(self.positive, minlength=self.count)
        negatives = np.bincount(self.negative, minlength=self.count)
        return positives[np.newaxis], negatives[np.newaxis]


def run_starts(has_positives: BoolArray, has_negatives: BoolArray) -> BoolArray:
    """Say which levels start a step: all but those that prolong a run of one class."""
    starts = has_positives & has_negatives
    starts[0] = True
    starts[1:] |= (has_positives[1:] != has_positives[:-1]) | starts[:-1]
    return starts


@dataclass(frozen=True, slots=True)
class Influence:
    """What each sample adds to the error of a figure: mean zero in each class, divided by the class's size."""

    positive: FloatArray
    negative: FloatArray


class Figure(Protocol):
    """A figure of the curve that can be told for many resampled curves at once."""

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""

    def values(self, steps: Steps, positives: AnyArray, negatives: AnyArray) -> FloatArray:
        """Return one value for each row of counts."""

    def polyline_values(self, x: FloatArray, y: FloatArray, totals: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return one value for each row of points, which rise from (0, 0) on; the totals stand for the rates 1.

        The points are overwritten.
        """


class SmoothFigure(Figure, Protocol):
    """A figure that also has an influence function."""

    def reached(self, n_negatives: int) -> float:
        """Return the number of top negatives that the sample's own curve needs."""

    def influence(self, steps: Steps) -> Influence:
        """Return the influence of every sample."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Share of the rectangle ``fpr`` x ``tpr`` that lies under the curve."""

    fpr: _Range
    tpr: _Range

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""
        return _reach(self.fpr[1], n_negatives)

    def reached(self, n_negatives: int) -> float:
        """Return the number of top negatives that the sample's own curve needs."""
        return position(self.fpr[1], n_negatives)

    def values(self, steps: Steps, positives: AnyArray, negatives: AnyArray) -> FloatArray:
        """Return one value for each row of counts."""
        x = np.cumsum(negatives, axis=1, dtype=np.float64)
        y = np.cumsum(positives, axis=1, dtype=np.float64)
        left, right = _scaled(self.fpr, x)
        low, high = _scaled(self.tpr, y)
        tied = steps.ties
        ends = (x[:, tied], y[:, tied])
        counts = (negatives[:, tied], positives[:, tied])
        area = _tied_area(ends, counts, (left, right), (low, high))
        # A run of negatives is a rectangle of the height before it; runs of positives have no width.
        y -= positives
        np.clip(y, low, high, out=y)
        np.subtract(y, low, out=y)
        y[:, tied] = 0
        np.clip(x, left, right, out=x)
        area += x[:, 0] * y[:, 0] - left[:, 0] * y[:, 0]
        # The sum of (x[k] - x[k - 1]) y[k], without an array of the differences.
        area += _row_products(x[:, 1:], y[:, 1:]) - _row_products(x[:, :-1], y[:, 1:])
        whole = ((right - left) * (high - low))[:, 0]
        return np.minimum(area / whole, 1.0)

    def polyline_values(self, x: FloatArray, y: FloatArray, totals: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return one value for each row of points, which rise from (0, 0) on; the totals stand for the rates 1."""
        a = self.fpr[0] * totals[0]
        b = self.fpr[1] * totals[0]
        low = self.tpr[0] * totals[1]
        high = self.tpr[1] * totals[1]
        left = a
        right = b
        if self.tpr != (0.0, 1.0):
            left = np.clip(_interpolated(y, x, low), a, b)
            right = np.clip(_interpolated(y, x, high), a, b)
        bottom = np.clip(_interpolated(x, y, left), low, high)
        top = np.clip(_interpolated(x, y, right), low, high)
        # Points outside move to where the curve enters or leaves, so that only what is inside has an area.
        np.clip(x, left[:, np.newaxis], right[:, np.newaxis], out=x)
        np.clip(y, bottom[:, np.newaxis], top[:, np.newaxis], out=y)
        # The trapezoidal rule, summed by parts: twice the area is x y at the ends plus the sum of cross products.
        ends = x[:, -1] * y[:, -1] - x[:, 0] * y[:, 0]
        inner = _row_products(x[:, 1:], y[:, :-1]) - _row_products(x[:, :-1], y[:, 1:])
        # Right of where the curve leaves through the upper side, the whole height lies under it.
        area = (ends + inner) / 2 - low * (right - left) + (b - right) * (high - low)
        whole = (b - a) * (high - low)
        return np.clip(area / whole, 0.0, 1.0)

    def influence(self, steps: Steps) -> Influence:
        """Return the influence of every sample."""
        x, y = _corners(steps)
        gained, moved = self.effects(x[np.newaxis], y[np.newaxis])
        positive = _centred(gained[0, steps.positive])
        negative = _centred(moved[0, steps.negative])
        return Influence(positive, negative)

    def effects(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what one more positive, and one more negative, on each piece of each curve adds to its figure.

        Parameters
        ----------
        x, y : arrays of shape (n_curves, n_pieces + 1)
            FPR and TPR of the pieces' ends, from 0 to 1.

        Returns
        -------
        tuple of two arrays of shape (n_curves, n_pieces)
            Up to a constant for each curve and class, and for a class of one member.
        """
        left, low = self._entry(x, y)
        right, high = self._exit(x, y)
        right = np.maximum(left, right)
        high = np.maximum(low, high)
        gained = -mean_cut(x[:, :-1], x[:, 1:], left[:, np.newaxis], right[:, np.newaxis])
        moved = mean_cut(y[:, :-1], y[:, 1:], low[:, np.newaxis], high[:, np.newaxis])
        area = (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])
        return gained / area, moved / area

    def _entry(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a' and the height there, for each curve."""
        crossing = _crossings(x, y, self.tpr[0])
        from_below = crossing >= self.fpr[0]
        height = np.where(from_below, self.tpr[0], _middle_heights(x, y, self.fpr[0]))
        return np.maximum(crossing, self.fpr[0]), height

    def _exit(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return b' and the height there, for each curve."""
        crossing = _crossings(x, y, self.tpr[1])
        through_top = crossing <= self.fpr[1]
        height = np.where(through_top, self.tpr[1], _middle_heights(x, y, self.fpr[1]))
        return np.minimum(crossing, self.fpr[1]), height


@dataclass(frozen=True, slots=True)
class Height:
    """The curve's height at one false-positive rate: the upper end where it is vertical."""

    fpr: float

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""
        return _reach(self.fpr, n_negatives)

    def reached(self, n_negatives: int) -> float:
        """Return the number of top negatives that the sample's own curve needs."""
        return position(self.fpr, n_negatives)

    def values(self, steps: Steps, positives: AnyArray, negatives: AnyArray) -> FloatArray:
        """Return one value for each row of counts."""
        x = np.cumsum(negatives, axis=1, dtype=np.float64)
        y = np.cumsum(positives, axis=1, dtype=np.float64)
        target = self.fpr * x[:, -1]
        passed = np.count_nonzero(x <= past(self.fpr) * x[:, -1:], axis=1)
        rows = np.arange(len(x))
        step = np.minimum(passed, steps.count - 1)
        rise = positives[rows, step]
        run = negatives[rows, step]
        before = x[rows, step] - run
        share = np.clip((target - before) / np.maximum(run, 1), 0.0, 1.0)
        height: FloatArray = (y[rows, step] - rise + share * rise) / y[:, -1]
        return np.where(passed < steps.count, height, 1.0)

    def polyline_values(self, x: FloatArray, y: FloatArray, totals: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return one value for each row of points, which rise from (0, 0) on; the totals stand for the rates 1."""
        if self.fpr == 1.0:  # every curve ends there, whatever rounding says
            return np.ones(len(x))
        height: FloatArray = np.minimum(_interpolated(x, y, self.fpr * totals[0]) / totals[1], 1.0)
        return height

    def influence(self, steps: Steps) -> Influence:
        """Return the influence of every sample.

        That of the negatives needs the slope of the curve; it is taken over one standard error of the FPR either side,
        which is how far resampling moves the threshold.
        """
        x, y = _corners(steps)
        n = len(steps.negative)
        spread = math.sqrt(max(self.fpr * (1 - self.fpr), 1 / n) / n)
        left = max(self.fpr - spread, 0.0)
        right = min(self.fpr + spread, 1.0)
        heights = [_middle_heights(x[np.newaxis], y[np.newaxis], rate)[0] for rate in (left, right)]
        slope = (heights[1] - heights[0]) / (right - left)
        before = mean_cut(x[:-1], x[1:], 0.0, 1.0) < self.fpr
        gained = before.astype(np.float64)
        moved = -slope * before
        return Influence(_centred(gained[steps.positive]), _centred(moved[steps.negative]))


@dataclass(frozen=True, slots=True)
class Heights:
    """The curve's heights at several false-positive rates, one column each."""

    fpr: tuple[float, ...]

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""
        return _reach(max(self.fpr), n_negatives)

    def values(self, steps: Steps, positives: AnyArray, negatives: AnyArray) -> FloatArray:
        """Return one row of values for each row of counts."""
        return np.column_stack([Height(rate).values(steps, positives, negatives) for rate in self.fpr])

    def polyline_values(self, x: FloatArray, y: FloatArray, totals: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return one row of values for each row of points."""
        rates = np.array(self.fpr)
        rows = zip(x / totals[0][:, np.newaxis], y / totals[1][:, np.newaxis], strict=True)
        return np.array([np.interp(rates, fpr, tpr) for fpr, tpr in rows])


def _reach(rate: float, n_negatives: int) -> float:
    # By Chernoff's bound, a resample takes fewer than rate * n of its n negatives from this many top ones with a
    # probability under 2e-14.
    expected = rate * n_negatives
    return expected + 8 * math.sqrt(expected) + 64


def _scaled(rates: _Range, cumulated: FloatArray) -> tuple[FloatArray, FloatArray]:
    totals = cumulated[:, -1:]
    return rates[0] * totals, rates[1] * totals


def _tied_area(ends: _Counts, counts: _Counts, across: _Bounds, levels: _Bounds) -> FloatArray:
    """Area under the diagonals; of ends and counts, the FPR's comes first."""
    x1, y1 = ends
    run, rise = counts
    x0 = x1 - run
    y0 = y1 - rise
    left = np.clip(x0, *across)
    right = np.clip(x1, *across)
    slope = rise / np.maximum(run, 1)
    height_left = y0 + slope * (left - x0)
    height_right = y1 - slope * (x1 - right)
    heights = mean_cut(height_left, height_right, *levels)
    return _row_products(right - left, heights)


def _row_products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the inner product of each row of one with the same row of the other."""
    products: FloatArray = np.einsum("dk,dk->d", first, second)
    return products


def _interpolated(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Return, for each row, the height of the polyline at one place: the upper end where it is vertical."""
    rows = np.arange(len(x))
    passed = np.count_nonzero(x <= at[:, np.newaxis], axis=1)
    last = np.clip(passed, 1, x.shape[1] - 1)
    x0 = x[rows, last - 1]
    x1 = x[rows, last]
    y0 = y[rows, last - 1]
    y1 = y[rows, last]
    share = np.divide(at - x0, x1 - x0, out=np.zeros_like(at), where=x1 > x0)
    share = np.clip(share, 0.0, 1.0)
    height: FloatArray = y0 + share * (y1 - y0)
    return height


def _corners(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """FPR and TPR of the sample's own curve at the ends of the steps."""
    positives, negatives = steps.own_counts()
    x = np.concatenate(([0], np.cumsum(negatives)))
    y = np.concatenate(([0], np.cumsum(positives)))
    return x / x[-1], y / y[-1]


def _crossings(x: FloatArray, y: FloatArray, level: float) -> FloatArray:
    """Return the FPR at which each curve first exceeds the level: 1 for the level 1, which none exceeds."""
    if level == 1.0:
        return np.ones(len(x))
    return _interpolated(y, x, np.full(len(x), level))


def _middle_heights(x: FloatArray, y: FloatArray, rate: float) -> FloatArray:
    """Return each curve's height at one FPR.

    Where it is vertical that is the middle, since the area's two one-sided derivatives differ.
    """
    first = np.count_nonzero(x < rate * (1 - NOISE), axis=1)
    last = np.count_nonzero(x <= past(rate), axis=1) - 1
    rows = np.arange(len(x))
    middle: FloatArray = (y[rows, np.minimum(first, last)] + y[rows, last]) / 2
    # No corner is there.
    between = first > last
    middle[between] = _interpolated(x[between], y[between], np.full(np.count_nonzero(between), rate))
    return middle


def _centred(values: AnyArray) -> FloatArray:
    centred: FloatArray = (values - values.mean()) / len(values)
    return centred
