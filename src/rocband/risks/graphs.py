"""The curvature of a smoothed risk as plain data: which rows are joined with which, and how strongly.

Second derivatives of a smoothed risk are sums over pairs of rows, of weight_ij (x_i - x_j)(x_i - x_j)'. There are far
too many pairs to write down, but they form three kinds of graph, each described by a few numbers for each row:
positives against runs of the sorted negatives, rows that compete for the same places, and rows that move against the
mean of others. What such a graph means for features is up to the solver, see ``rocband.solvers.newton``.

Rows are numbered with the m positives first, 0 to m - 1, then the negatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import FloatArray, IndexArray

__all__ = ["Bipartite", "Clique", "Graph", "Star"]


@dataclass(frozen=True, slots=True)
class Bipartite:
    """Rows on the left, each joined with a run of the rows on the right.

    The pair i, j has the weight ``left_weight[i] * right_weight[j]`` if ``first[i] <= j < last[i]``, and none else.
    """

    left: IndexArray
    right: IndexArray
    left_weight: FloatArray
    right_weight: FloatArray
    first: IndexArray
    last: IndexArray

    @property
    def rows(self) -> IndexArray:
        """Numbers of the rows in play."""
        return np.concatenate([self.left, self.right])

    def degrees(self) -> tuple[FloatArray, FloatArray]:
        """Sum the weights of the pairs of each row on the left, and of each on the right."""
        mass = np.concatenate([[0.0], np.cumsum(self.right_weight)])
        of_left = self.left_weight * (mass[self.last] - mass[self.first])
        return of_left, self.right_weight * self._reached()

    def _reached(self) -> FloatArray:
        """For each row on the right, the weight of those on the left whose run it lies in."""
        size = len(self.right)
        starts = np.bincount(self.first, self.left_weight, minlength=size + 1)
        ends = np.bincount(self.last, self.left_weight, minlength=size + 1)
        reached = np.cumsum(starts - ends)[:size]
        # Counted in whole numbers too: where no run is open any more, only rounding is left of the sums.
        opened = np.bincount(self.first, minlength=size + 1)
        closed = np.bincount(self.last, minlength=size + 1)
        joined = np.cumsum(opened - closed)[:size]
        reached[joined == 0] = 0.0
        return np.maximum(reached, 0.0)


@dataclass(frozen=True, slots=True)
class Clique:
    """Rows all joined with each other: the pair i, j has the weight ``weight[i] * weight[j] / sum(weight)``.

    Their scatter is that of the weighted rows about their weighted mean.
    """

    rows: IndexArray
    weight: FloatArray


@dataclass(frozen=True, slots=True)
class Star:
    """Rows that each move against the weighted mean of others.

    The scatter is sum_i weight[i] (x_i - mean)(x_i - mean)', with the mean of ``others`` weighted by ``others_weight``.
    """

    members: IndexArray
    weight: FloatArray
    others: IndexArray
    others_weight: FloatArray

    @property
    def rows(self) -> IndexArray:
        """Numbers of the rows in play."""
        return np.concatenate([self.members, self.others])


Graph = Bipartite | Clique | Star
