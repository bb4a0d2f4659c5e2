"""Functions of one feature for an additive model: natural cubic splines and steps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import linalg
from scipy.interpolate import CubicSpline

from rocband._types import AnyArray, FloatArray

__all__ = ["FeatureFunctions", "Splines", "Steps", "column", "functions_of"]

Column = AnyArray
# Knots nearer to each other than this share of the feature's range are dropped: bends between them would be huge.
_NEAREST = 1e-4


def column(X: Any, feature: int) -> Column:
    """Return one feature of a dense or sparse matrix as a vector."""
    values: Column = X[:, feature] if isinstance(X, np.ndarray) else X[:, [feature]].toarray().ravel()
    return values


class FeatureFunctions(Protocol):
    """A linear space of functions of one feature.

    Attributes
    ----------
    size : int
        Number of coefficients.
    roughness : array of shape (size, size)
        ``c @ roughness @ c`` is the integral of the squared second derivative of the function with coefficients c.
    """

    size: int
    roughness: FloatArray

    def evaluate(self, column: Column, coefficients: FloatArray) -> FloatArray:
        """Evaluate a function."""

    def fit(self, column: Column, slope: FloatArray, bend: FloatArray, pull: FloatArray) -> tuple[FloatArray, float]:
        """Maximise sum_i (slope_i f(x_i) - |slope_i| f(x_i)^2 / 2) - pull.c - c'bend c/2; return c and the maximum."""


class Splines:
    """Natural cubic splines, by their values at the knots; beyond the outer knots they go on straight."""

    def __init__(self, knots: FloatArray) -> None:
        self.size = len(knots)
        self._low = float(knots[0])
        self._scale = float(knots[-1] - knots[0])
        self._knots = (knots - self._low) / self._scale
        self._unit = CubicSpline(self._knots, np.eye(self.size), bc_type="natural")
        bends = self._unit(self._knots, 2)
        # The second derivative is a straight line between two knots; the integral of the product of two lines follows.
        left = bends[:-1]
        right = bends[1:]
        lengths = np.diff(self._knots)[:, None]
        cross = (lengths * left).T @ right
        ends = (lengths * left).T @ left + (lengths * right).T @ right
        self.roughness = ends / 3 + (cross + cross.T) / 6

    def evaluate(self, column: Column, coefficients: FloatArray) -> FloatArray:
        """Evaluate the spline with these values at the knots."""
        spline = CubicSpline(self._knots, coefficients, bc_type="natural")
        return self._straight(spline, column)

    def fit(self, column: Column, slope: FloatArray, bend: FloatArray, pull: FloatArray) -> tuple[FloatArray, float]:
        """Solve the penalised least-squares problem."""
        basis = self._straight(self._unit, column)
        right = slope @ basis - pull
        system = (basis * np.abs(slope)[:, None]).T @ basis + bend
        # Of unit diagonal, and by least squares: a knot may have no row in play.
        scale = 1.0 / np.sqrt(np.maximum(np.diag(system), np.finfo(float).tiny))
        scaled_system = scale[:, None] * system * scale
        solution = linalg.lstsq(scaled_system, scale * right)[0]
        coefficients: FloatArray = scale * solution
        # At the solution c of a system S c = b the maximum of b.c - c'Sc/2 is b.c/2.
        return coefficients, float(right @ coefficients) / 2

    def _straight(self, spline: CubicSpline, column: Column) -> FloatArray:
        x = (column.astype(np.float64) - self._low) / self._scale
        values: FloatArray = spline(np.clip(x, 0.0, 1.0))
        for end, outside in ((0.0, x < 0), (1.0, x > 1)):
            if outside.any():
                distance = x[outside] - end
                values[outside] += np.multiply.outer(distance, spline(end, 1))
        return values


class Steps:
    """Step functions with jumps between the levels of a discrete feature; one jump is fitted at a time."""

    def __init__(self, levels: FloatArray) -> None:
        self._edges = (levels[:-1] + levels[1:]) / 2
        self.size = len(self._edges)
        self.roughness = np.zeros((self.size, self.size))

    def evaluate(self, column: Column, coefficients: FloatArray) -> FloatArray:
        """Evaluate the function with these jumps."""
        heights = np.concatenate([[0.0], np.cumsum(coefficients)])
        return heights[np.searchsorted(self._edges, column)]

    def fit(self, column: Column, slope: FloatArray, bend: FloatArray, pull: FloatArray) -> tuple[FloatArray, float]:
        """Find the best single jump, with a constant of its own on either side."""
        level = np.searchsorted(self._edges, column)
        sums = np.bincount(level, slope, minlength=self.size + 1)
        weights = np.bincount(level, np.abs(slope), minlength=self.size + 1)
        below = np.cumsum(sums)[:-1]
        weight_below = np.cumsum(weights)[:-1]
        above = sums.sum() - below
        weight_above = weights.sum() - weight_below
        # On either side the best constant is the weighted mean; where nothing has weight it is 0.
        tiny = np.finfo(float).tiny
        low = below / np.maximum(weight_below, tiny)
        high = above / np.maximum(weight_above, tiny)
        gains = (below * low + above * high) / 2
        best = int(np.argmax(gains))
        coefficients = np.zeros(self.size)
        coefficients[best] = high[best] - low[best]
        return coefficients, float(gains[best])


def functions_of(column: Column, n_knots: int) -> FeatureFunctions | None:
    """Choose the functions for a feature: splines, steps where it has fewer levels than knots, none if constant.

    The knots lie at equally spaced ranks among the distinct values, the smallest and the greatest included; those too
    near to another are dropped.
    """
    levels = np.unique(column).astype(np.float64)
    if len(levels) < 2:
        return None
    if len(levels) < n_knots:
        return Steps(levels)
    apart = _NEAREST * (levels[-1] - levels[0])
    knots = [levels[0]]
    ranks = np.linspace(0, len(levels) - 1, n_knots).round().astype(np.intp)
    for level in levels[ranks]:
        clear_of_last = level - knots[-1] > apart
        clear_of_end = levels[-1] - level > apart or level == levels[-1]
        if clear_of_last and clear_of_end:
            knots.append(level)
    return Splines(np.array(knots))
