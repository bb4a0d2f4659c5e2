"""What the graphs of a risk's curvature mean for rows: a sample of them, sums over their pairs, their Laplacian.

A graph stands for the scatter sum_ij weight_ij (x_i - x_j)(x_i - x_j)' = X' L X over the rows x, where L is its
Laplacian. There are far too many pairs to visit; the sums below run over rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rocband._types import FloatArray, IndexArray
from rocband.risks.graphs import Bipartite, Clique, Graph, Star
from rocband.rows import Matrix
from rocband.rows.base import dense

__all__ = ["Norms", "Take", "laplacian", "scatter", "thinned"]

# Some rows by their numbers, as a matrix; and their squared lengths.
Take = Callable[[IndexArray], Matrix]
Norms = Callable[[IndexArray], FloatArray]
# Squared lengths above this would overflow in sums of many.
_LONGEST = 1e200


def thinned(graph: Graph, limit: int, norms: Norms, random: np.random.Generator) -> Graph:
    """Return a random part with about ``limit`` rows of each side, whose scatter is about right on average."""
    match graph:
        case Bipartite():
            return _thinned_bipartite(graph, limit, norms, random)
        case Clique():
            kept, times = _sample(graph.weight, graph.rows, limit, norms, random)
            return Clique(graph.rows[kept], graph.weight[kept] * times)
        case Star():
            return _thinned_star(graph, limit, norms, random)


def _thinned_bipartite(graph: Bipartite, limit: int, norms: Norms, random: np.random.Generator) -> Bipartite:
    of_left, of_right = graph.degrees()
    left, left_times = _sample(of_left, graph.left, limit, norms, random)
    right, right_times = _sample(of_right, graph.right, limit, norms, random)
    return Bipartite(
        left=graph.left[left],
        right=graph.right[right],
        left_weight=graph.left_weight[left] * left_times,
        right_weight=graph.right_weight[right] * right_times,
        # A run of the right side is now the run of those kept of it.
        first=np.searchsorted(right, graph.first[left]),
        last=np.searchsorted(right, graph.last[left]),
    )


def _thinned_star(graph: Star, limit: int, norms: Norms, random: np.random.Generator) -> Star:
    kept, times = _sample(graph.weight, graph.members, limit, norms, random)
    if not len(kept):
        return Star(graph.members[kept], times, graph.others[:0], graph.others_weight[:0])
    others, others_times = _sample(graph.others_weight, graph.others, limit, norms, random)
    return Star(
        members=graph.members[kept],
        weight=graph.weight[kept] * times,
        others=graph.others[others],
        others_weight=graph.others_weight[others] * others_times,
    )


def _sample(
    weight: FloatArray, rows: IndexArray, limit: int, norms: Norms, random: np.random.Generator
) -> tuple[IndexArray, FloatArray]:
    """Draw about ``limit`` of the rows with a weight, ascending; also how many rows each of them stands for.

    The chance of a row is in proportion to its weight and, for one half, to its squared length: few rows far out, such
    as those with a rare category, can be most of the curvature in some direction.
    """
    active = np.flatnonzero(weight > 0)
    if len(active) <= limit:
        return active, np.ones(len(active))
    length = np.minimum(norms(rows[active]), _LONGEST)
    matters = length + length.mean() if length.any() else 1.0
    chance = weight[active] * matters
    chance = np.minimum(chance * (limit / chance.sum()), 1.0)
    kept = random.random(len(active)) < chance
    return active[kept], 1.0 / chance[kept]


def scatter(graph: Graph, take: Take) -> FloatArray:
    """Return sum_ij weight_ij (x_i - x_j)(x_i - x_j)' over all pairs; time O(r d^2) and memory O(r d) for r rows."""
    match graph:
        case Bipartite():
            return _bipartite_scatter(graph, take)
        case Clique():
            return _clique_scatter(graph, take)
        case Star():
            return _star_scatter(graph, take)


def _bipartite_scatter(graph: Bipartite, take: Take) -> FloatArray:
    left = dense(take(graph.left))
    right = dense(take(graph.right))
    if len(right):
        centre = right.mean(axis=0)  # differences are all that counts: columns far from 0 cost no digits
        left -= centre
        right -= centre
    of_left, of_right = graph.degrees()
    # Sums of the right side over each run, from sums over all that comes before a row.
    sums = np.zeros((len(right) + 1, right.shape[1]))
    np.cumsum(graph.right_weight[:, None] * right, axis=0, out=sums[1:])
    across = graph.left_weight[:, None] * (sums[graph.last] - sums[graph.first])
    half: FloatArray = left.T @ ((0.5 * of_left)[:, None] * left - across)
    half += right.T @ ((0.5 * of_right)[:, None] * right)
    return half + half.T


def _clique_scatter(graph: Clique, take: Take) -> FloatArray:
    rows = dense(take(graph.rows))
    if len(rows):
        rows -= rows.mean(axis=0)  # before the weighted mean, which is then small: no digits are lost
        rows -= graph.weight @ rows / graph.weight.sum()
    return (graph.weight[:, None] * rows).T @ rows


def _star_scatter(graph: Star, take: Take) -> FloatArray:
    rows = dense(take(graph.members))
    if len(rows):
        others = dense(take(graph.others))
        centre = others.mean(axis=0)
        rows -= centre + graph.others_weight @ (others - centre) / graph.others_weight.sum()
    return (graph.weight[:, None] * rows).T @ rows


def laplacian(graphs: Sequence[Graph]) -> tuple[IndexArray, FloatArray]:
    """Return the rows in play and the matrix L of all graphs together; memory O(r^2) for r rows."""
    used = np.unique(np.concatenate([graph.rows for graph in graphs]))
    total = np.zeros((len(used), len(used)))
    for graph in graphs:
        match graph:
            case Bipartite():
                _add_bipartite(graph, total, used)
            case Clique():
                _add_clique(graph, total, used)
            case Star():
                _add_star(graph, total, used)
    return used, total


def _add_bipartite(graph: Bipartite, total: FloatArray, used: IndexArray) -> None:
    rank = np.arange(len(graph.right))
    joined = (graph.first[:, None] <= rank) & (rank < graph.last[:, None])
    weight = np.where(joined, graph.left_weight[:, None] * graph.right_weight, 0.0)
    left = np.searchsorted(used, graph.left)
    right = np.searchsorted(used, graph.right)
    total[np.ix_(left, right)] -= weight
    total[np.ix_(right, left)] -= weight.T
    total[left, left] += weight.sum(axis=1)
    total[right, right] += weight.sum(axis=0)


def _add_clique(graph: Clique, total: FloatArray, used: IndexArray) -> None:
    if len(graph.rows):
        at = np.searchsorted(used, graph.rows)
        total[np.ix_(at, at)] -= np.outer(graph.weight, graph.weight / graph.weight.sum())
        total[at, at] += graph.weight


def _add_star(graph: Star, total: FloatArray, used: IndexArray) -> None:
    if len(graph.members):
        members = np.searchsorted(used, graph.members)
        others = np.searchsorted(used, graph.others)
        share = graph.others_weight / graph.others_weight.sum()
        across = np.outer(graph.weight, share)
        total[members, members] += graph.weight
        total[np.ix_(members, others)] -= across
        total[np.ix_(others, members)] -= across.T
        total[np.ix_(others, others)] += graph.weight.sum() * np.outer(share, share)
