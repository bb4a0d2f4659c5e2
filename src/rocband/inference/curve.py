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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rocband.metrics.curve import mean_cut

__all__ = ["Figure", "Height", "Heights", "Influence", "Rectangle", "SmoothFigure", "Steps"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
_Range = tuple[float, float]
_Counts = tuple[npt.NDArray[Any], npt.NDArray[Any]]
_Bounds = tuple[FloatArray, FloatArray]
_NOISE = 1e-9


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
    def of(cls, positives: npt.NDArray[Any], negatives: npt.NDArray[Any], reach: float = math.inf) -> Steps:
        """Sort the scores into steps; those after the first ``reach`` negatives become one last step."""
        distinct, level = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
        level = len(distinct) - 1 - level
        m = len(positives)
        n_positives, n_negatives = (np.bincount(part, minlength=len(distinct)) for part in (level[:m], level[m:]))
        starts = _starts(n_positives > 0, n_negatives > 0)
        starts[np.cumsum(n_negatives) - n_negatives > reach] = False
        step = np.cumsum(starts) - 1
        positive, negative = step[level[:m]], step[level[m:]]
        return cls(positive, negative, np.intersect1d(positive, negative), int(step[-1]) + 1)

    def own_counts(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return how many positives and negatives of the sample itself each step holds, as one row each."""
        positives, negatives = (np.bincount(part, minlength=self.count) for part in (self.positive, self.negative))
        return positives[np.newaxis], negatives[np.newaxis]


def _starts(has_positives: npt.NDArray[np.bool_], has_negatives: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
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

    def values(self, steps: Steps, positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> FloatArray:
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
        return self.fpr[1] * n_negatives

    def values(self, steps: Steps, positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> FloatArray:
        """Return one value for each row of counts."""
        x, y = np.cumsum(negatives, axis=1, dtype=np.float64), np.cumsum(positives, axis=1, dtype=np.float64)
        (left, right), (low, high) = _scaled(self.fpr, x), _scaled(self.tpr, y)
        tied = steps.ties
        ends, counts = (x[:, tied], y[:, tied]), (negatives[:, tied], positives[:, tied])
        area = _tied_area(ends, counts, (left, right), (low, high))
        y -= positives
        np.subtract(np.clip(y, low, high, out=y), low, out=y)
        y[:, steps.ties] = 0
        np.clip(x, left, right, out=x)
        area += x[:, 0] * y[:, 0] - left[:, 0] * y[:, 0]
        area += np.einsum("dk,dk->d", x[:, 1:], y[:, 1:]) - np.einsum("dk,dk->d", x[:, :-1], y[:, 1:])
        share: FloatArray = np.minimum(area / ((right - left) * (high - low))[:, 0], 1.0)
        return share

    def polyline_values(self, x: FloatArray, y: FloatArray, totals: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return one value for each row of points, which rise from (0, 0) on; the totals stand for the rates 1."""
        (a, b), (low, high) = ([rate * total for rate in rates] for rates, total in zip(self, totals, strict=True))
        left, right = a, b
        if self.tpr != (0.0, 1.0):
            left, right = (np.clip(_interpolated(y, x, level), a, b) for level in (low, high))
        bottom, top = (np.clip(_interpolated(x, y, end), low, high) for end in (left, right))
        # Points outside move to where the curve enters or leaves, so that only what is inside has an area.
        np.clip(x, left[:, np.newaxis], right[:, np.newaxis], out=x)
        np.clip(y, bottom[:, np.newaxis], top[:, np.newaxis], out=y)
        ends = x[:, -1] * y[:, -1] - x[:, 0] * y[:, 0]
        inner = np.einsum("dk,dk->d", x[:, 1:], y[:, :-1]) - np.einsum("dk,dk->d", x[:, :-1], y[:, 1:])
        area = (ends + inner) / 2 - low * (right - left) + (b - right) * (high - low)
        share: FloatArray = np.clip(area / ((b - a) * (high - low)), 0.0, 1.0)
        return share

    def __iter__(self) -> Iterator[_Range]:
        yield from (self.fpr, self.tpr)

    def influence(self, steps: Steps) -> Influence:
        """Return the influence of every sample."""
        x, y = _corners(steps)
        (left, low), (right, high) = self._entry(x, y), self._exit(x, y)
        right, high = max(left, right), max(low, high)
        gained = -mean_cut(x[:-1], x[1:], left, right)
        moved = mean_cut(y[:-1], y[1:], low, high)
        area = (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])
        return Influence(_centred(gained[steps.positive] / area), _centred(moved[steps.negative] / area))

    def _entry(self, x: FloatArray, y: FloatArray) -> tuple[float, float]:
        """Return a' and the curve's height there."""
        crossing = _crossing(x, y, self.tpr[0])
        return (crossing, self.tpr[0]) if crossing >= self.fpr[0] else (self.fpr[0], _height(x, y, self.fpr[0]))

    def _exit(self, x: FloatArray, y: FloatArray) -> tuple[float, float]:
        """Return b' and the curve's height there."""
        crossing = _crossing(x, y, self.tpr[1])
        return (crossing, self.tpr[1]) if crossing <= self.fpr[1] else (self.fpr[1], _height(x, y, self.fpr[1]))


@dataclass(frozen=True, slots=True)
class Height:
    """The curve's height at one false-positive rate: the upper end where it is vertical."""

    fpr: float

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""
        return _reach(self.fpr, n_negatives)

    def reached(self, n_negatives: int) -> float:
        """Return the number of top negatives that the sample's own curve needs."""
        return self.fpr * n_negatives

    def values(self, steps: Steps, positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> FloatArray:
        """Return one value for each row of counts."""
        x, y = np.cumsum(negatives, axis=1, dtype=np.float64), np.cumsum(positives, axis=1, dtype=np.float64)
        target = self.fpr * x[:, -1]
        passed = np.count_nonzero(x <= (target * (1 + _NOISE))[:, np.newaxis], axis=1)
        rows, step = np.arange(len(x)), np.minimum(passed, steps.count - 1)
        rise, run = positives[rows, step], negatives[rows, step]
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
        spread = math.sqrt(max(self.fpr * (1 - self.fpr), 1 / len(steps.negative)) / len(steps.negative))
        left, right = max(self.fpr - spread, 0.0), min(self.fpr + spread, 1.0)
        slope = (_height(x, y, right) - _height(x, y, left)) / (right - left)
        before = mean_cut(x[:-1], x[1:], 0.0, 1.0) < self.fpr
        gained, moved = before.astype(np.float64), -slope * before
        return Influence(_centred(gained[steps.positive]), _centred(moved[steps.negative]))


@dataclass(frozen=True, slots=True)
class Heights:
    """The curve's heights at several false-positive rates, one column each."""

    fpr: tuple[float, ...]

    def reach(self, n_negatives: int) -> float:
        """Return the number of top negatives after which no resampled curve matters."""
        return _reach(max(self.fpr), n_negatives)

    def values(self, steps: Steps, positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> FloatArray:
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
    (x1, y1), (run, rise) = ends, counts
    x0, y0 = x1 - run, y1 - rise
    left, right = np.clip(x0, *across), np.clip(x1, *across)
    slope = rise / np.maximum(run, 1)
    heights = mean_cut(y0 + slope * (left - x0), y1 - slope * (x1 - right), *levels)
    area: FloatArray = np.einsum("dk,dk->d", right - left, heights)
    return area


def _interpolated(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Return, for each row, the height of the polyline at one place: the upper end where it is vertical."""
    rows = np.arange(len(x))
    passed = map(partial(np.searchsorted, side="right"), x, at)
    last = np.clip(np.fromiter(passed, np.intp, len(x)), 1, x.shape[1] - 1)
    x0, x1, y0, y1 = x[rows, last - 1], x[rows, last], y[rows, last - 1], y[rows, last]
    share = np.clip(np.divide(at - x0, x1 - x0, out=np.zeros_like(at), where=x1 > x0), 0.0, 1.0)
    height: FloatArray = y0 + share * (y1 - y0)
    return height


def _corners(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """FPR and TPR of the sample's own curve at the ends of the steps."""
    positives, negatives = steps.own_counts()
    x, y = (np.concatenate(([0], np.cumsum(counts))) for counts in (negatives, positives))
    return x / x[-1], y / y[-1]


def _crossing(x: FloatArray, y: FloatArray, level: float) -> float:
    """FPR at which the curve first exceeds the level."""
    index = int(np.searchsorted(y, level, side="right"))
    if index == len(y):
        return 1.0
    share = (level - y[index - 1]) / (y[index] - y[index - 1])
    return float(x[index - 1] + share * (x[index] - x[index - 1]))


def _height(x: FloatArray, y: FloatArray, rate: float) -> float:
    """Height at one FPR; the middle where the curve is vertical, since the area's two one-sided derivatives differ."""
    first, last = np.searchsorted(x, (rate - _NOISE, rate + _NOISE))
    if last > first:
        return float(y[first] + y[last - 1]) / 2
    return float(np.interp(rate, x[first - 1 : first + 1], y[first - 1 : first + 1]))


def _centred(values: npt.NDArray[Any]) -> FloatArray:
    centred: FloatArray = (values - values.mean()) / len(values)
    return centred
