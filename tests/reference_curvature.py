"""The scatter of graphs of rows pair by pair: slow, and plainly right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rocband.risks.graphs import Bipartite, Clique, Graph, Star

FloatArray = npt.NDArray[np.float64]


def scatter(graph: Graph, X: FloatArray) -> FloatArray:
    """Sum weight (x_i - x_j)(x_i - x_j)' over the pairs of a graph, or for a star over its members and their mean."""
    total = np.zeros((X.shape[1], X.shape[1]))
    if isinstance(graph, Bipartite):
        for i, row in enumerate(graph.left):
            for j in range(graph.first[i], graph.last[i]):
                total += graph.left_weight[i] * graph.right_weight[j] * squared(X[row] - X[graph.right[j]])
    elif isinstance(graph, Clique):
        for i, row in enumerate(graph.rows):
            for j in range(i):
                weight = graph.weight[i] * graph.weight[j] / graph.weight.sum()
                total += weight * squared(X[row] - X[graph.rows[j]])
    elif isinstance(graph, Star):
        for row, weight in zip(graph.members, graph.weight, strict=True):
            total += weight * squared(X[row] - np.average(X[graph.others], axis=0, weights=graph.others_weight))
    return total


def squared(difference: FloatArray) -> FloatArray:
    return np.outer(difference, difference)


def graphs(random: np.random.Generator, n_rows: int, size: int = 12) -> list[Graph]:
    """Draw one graph of each kind over rows 0 to ``n_rows``; some of their weights are 0."""
    return [bipartite(random, n_rows, size), clique(random, n_rows, size), star(random, n_rows, size)]


def bipartite(random: np.random.Generator, n_rows: int, size: int) -> Bipartite:
    rows = random.permutation(n_rows)
    cut = random.integers(0, min(size, n_rows) + 1)
    left, right = rows[:cut], rows[cut : cut + size]
    first, last = np.sort(random.integers(0, len(right) + 1, (2, len(left))), axis=0)
    return Bipartite(left, right, weights(random, len(left)), weights(random, len(right)), first, last)


def clique(random: np.random.Generator, n_rows: int, size: int) -> Clique:
    return Clique(random.permutation(n_rows)[:size], 0.1 + random.random(min(size, n_rows)))


def star(random: np.random.Generator, n_rows: int, size: int) -> Star:
    rows = random.permutation(n_rows)
    members, others = rows[: size // 2], rows[size // 2 : size]
    return Star(members, weights(random, len(members)), others, 0.1 + random.random(len(others)))


def weights(random: np.random.Generator, size: int) -> FloatArray:
    return random.random(size) * (random.random(size) < 0.8)
