"""The curvature of a smoothed risk, as weighted graphs over the rows.

Second derivatives of a smoothed risk are sums over pairs of rows, of weight_ij (x_i - x_j)(x_i - x_j)'. There are far
too many pairs to write down, but they form two kinds of graph, each described by a few numbers for each row: positives
against runs of the sorted negatives, and rows that compete for the same places. The sums over all pairs then follow
from sums over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rocband.risks.band import FloatArray, IndexArray

__all__ = ["Bipartite", "Clique", "Graph", "Norms", "Star", "Take", "laplacian"]

# Some rows by their numbers, as a matrix; and their squared lengths.
Take = Callable[[IndexArray], Any]
Norms = Callable[[IndexArray], FloatArray]


class Graph(Protocol):
    """A weighted graph over rows; the m positives have the numbers 0 to m - 1, the negatives those that follow."""

    @property
    def rows(self) -> IndexArray:
        """Numbers of the rows in play."""

    def thinned(self, limit: int, norms: Norms, random: np.random.Generator) -> Graph:
        """Return a random part with about ``limit`` rows of a side, whose scatter is about right on average."""

    def scatter(self, take: Take) -> FloatArray:
        """Return sum_ij weight_ij (x_i - x_j)(x_i - x_j)' over all pairs."""

    def add_laplacian(self, total: FloatArray, place: Callable[[IndexArray], IndexArray]) -> None:
        """Add the graph's Laplacian to ``total``, in which a row has the given place."""


@dataclass(frozen=True, slots=True)
class Bipartite:
    """Rows on the left, each joined with a run of the rows on the right.

    The pair i, j has the weight ``left_weight[i] * right_weight[j]`` if ``first[i] <= j < last[i]``, and none else.

    Notes
    -----
    The scatter takes O((l + r) d^2) time and O((l + r) d) memory for l and r rows of d features.
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
        size = len(self.right)
        mass = np.concatenate([[0.0], np.cumsum(self.right_weight)])
        starts, ends = (np.bincount(at, self.left_weight, minlength=size + 1) for at in (self.first, self.last))
        reached = np.cumsum(starts - ends)[:size]
        joined = np.cumsum(np.bincount(self.first, minlength=size + 1) - np.bincount(self.last, minlength=size + 1))
        reached[joined[:size] == 0] = 0.0  # where only rounding is left of the sums
        return self.left_weight * (mass[self.last] - mass[self.first]), self.right_weight * np.maximum(reached, 0.0)

    def thinned(self, limit: int, norms: Norms, random: np.random.Generator) -> Bipartite:
        """Keep about ``limit`` rows of each side, those that matter more with a higher chance."""
        of_left, of_right = self.degrees()
        left, left_times = sample(of_left, self.left, limit, norms, random)
        right, right_times = sample(of_right, self.right, limit, norms, random)
        return Bipartite(
            self.left[left],
            self.right[right],
            self.left_weight[left] * left_times,
            self.right_weight[right] * right_times,
            np.searchsorted(right, self.first[left]),
            np.searchsorted(right, self.last[left]),
        )

    def scatter(self, take: Take) -> FloatArray:
        """Return sum_ij weight_ij (x_i - x_j)(x_i - x_j)' over all pairs."""
        left, right = dense(take(self.left)), dense(take(self.right))
        if len(right):
            centre = right.mean(axis=0)  # differences are all that counts: columns far from 0 cost no digits
            left -= centre
            right -= centre
        of_left, of_right = self.degrees()
        sums = np.zeros((len(right) + 1, right.shape[1]))
        np.cumsum(self.right_weight[:, None] * right, axis=0, out=sums[1:])
        across = self.left_weight[:, None] * (sums[self.last] - sums[self.first])
        half: FloatArray = left.T @ ((0.5 * of_left)[:, None] * left - across)
        half += right.T @ ((0.5 * of_right)[:, None] * right)
        return half + half.T

    def add_laplacian(self, total: FloatArray, place: Callable[[IndexArray], IndexArray]) -> None:
        """Add the graph's Laplacian to ``total``, in which a row has the given place."""
        rank = np.arange(len(self.right))
        joined = (self.first[:, None] <= rank) & (rank < self.last[:, None])
        weight = np.where(joined, self.left_weight[:, None] * self.right_weight, 0.0)
        left, right = place(self.left), place(self.right)
        total[np.ix_(left, right)] -= weight
        total[np.ix_(right, left)] -= weight.T
        total[left, left] += weight.sum(axis=1)
        total[right, right] += weight.sum(axis=0)


@dataclass(frozen=True, slots=True)
class Clique:
    """Rows all joined with each other: the pair i, j has the weight ``weight[i] * weight[j] / sum(weight)``.

    Their scatter is that of the weighted rows about their weighted mean.
    """

    rows: IndexArray
    weight: FloatArray

    def thinned(self, limit: int, norms: Norms, random: np.random.Generator) -> Clique:
        """Keep about ``limit`` rows, those that matter more with a higher chance."""
        kept, times = sample(self.weight, self.rows, limit, norms, random)
        return Clique(self.rows[kept], self.weight[kept] * times)

    def scatter(self, take: Take) -> FloatArray:
        """Return sum_ij weight_ij (x_i - x_j)(x_i - x_j)' over all pairs."""
        rows = dense(take(self.rows))
        if len(rows):
            rows -= rows.mean(axis=0)  # before the weighted mean, which is then small: no digits are lost
            rows -= self.weight @ rows / self.weight.sum()
        return (self.weight[:, None] * rows).T @ rows

    def add_laplacian(self, total: FloatArray, place: Callable[[IndexArray], IndexArray]) -> None:
        """Add the graph's Laplacian to ``total``, in which a row has the given place."""
        if len(self.rows):
            at = place(self.rows)
            total[np.ix_(at, at)] -= np.outer(self.weight, self.weight / self.weight.sum())
            total[at, at] += self.weight


@dataclass(frozen=True, slots=True)
class Star:
    """Rows that each move against the weighted mean of others.

    The scatter is sum_i weight[i] (x_i - mean)(x_i - mean)', with the mean of ``others`` by ``share``.
    """

    members: IndexArray
    weight: FloatArray
    others: IndexArray
    share: FloatArray

    @property
    def rows(self) -> IndexArray:
        """Numbers of the rows in play."""
        return np.concatenate([self.members, self.others])

    def thinned(self, limit: int, norms: Norms, random: np.random.Generator) -> Star:
        """Keep about ``limit`` rows and as many of the others."""
        kept, times = sample(self.weight, self.members, limit, norms, random)
        if not len(kept):
            return Star(self.members[kept], times, self.others[:0], self.share[:0])
        others, stand_for = sample(self.share, self.others, limit, norms, random)
        return Star(self.members[kept], self.weight[kept] * times, self.others[others], self.share[others] * stand_for)

    def scatter(self, take: Take) -> FloatArray:
        """Return sum_i weight_i (x_i - mean)(x_i - mean)'."""
        rows = dense(take(self.members))
        if len(rows):
            others = dense(take(self.others))
            centre = others.mean(axis=0)
            rows -= centre + self.share @ (others - centre) / self.share.sum()
        return (self.weight[:, None] * rows).T @ rows

    def add_laplacian(self, total: FloatArray, place: Callable[[IndexArray], IndexArray]) -> None:
        """Add the matrix L of which the scatter is X' L X to ``total``, in which a row has the given place."""
        if len(self.members):
            members, others, share = place(self.members), place(self.others), self.share / self.share.sum()
            total[members, members] += self.weight
            across = np.outer(self.weight, share)
            total[np.ix_(members, others)] -= across
            total[np.ix_(others, members)] -= across.T
            total[np.ix_(others, others)] += self.weight.sum() * np.outer(share, share)


def sample(
    weight: FloatArray, rows: IndexArray, limit: int, norms: Norms, random: np.random.Generator
) -> tuple[IndexArray, FloatArray]:
    """Draw about ``limit`` of the rows with a weight, ascending; also how many rows each of them stands for.

    The chance of a row is in proportion to its weight and, for one half, to its squared length: few rows far out, such
    as those with a rare category, can be most of the curvature in some direction.
    """
    active = np.flatnonzero(weight > 0)
    if len(active) <= limit:
        return active, np.ones(len(active))
    length = np.minimum(norms(rows[active]), 1e200)
    chance = weight[active] * (length + length.mean() if length.any() else 1.0)
    chance = np.minimum(chance * (limit / chance.sum()), 1.0)
    kept = random.random(len(active)) < chance
    return active[kept], 1.0 / chance[kept]


def laplacian(graphs: Sequence[Graph]) -> tuple[IndexArray, FloatArray]:
    """Return the rows in play and the Laplacian of all graphs together; memory O(r^2) for r rows."""
    used = np.unique(np.concatenate([graph.rows for graph in graphs]))
    total = np.zeros((len(used), len(used)))
    for graph in graphs:
        graph.add_laplacian(total, lambda rows: np.searchsorted(used, rows))
    return used, total


def dense(rows: Any) -> FloatArray:
    """Return rows, which may be sparse, as an array."""
    array: FloatArray = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return array
