"""The Newton system: the identity plus the weighted scatter of the differences of rows.

The scatter is X' L X with the Laplacian L of the graphs whose edges are the pairs. Where features are few, it is summed
over the rows in play; where they are many, the system is solved with one unknown for each of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from rocband.risks.band import FloatArray
from rocband.risks.curvature import Graph, Norms, Take, laplacian
from rocband.rows.base import Matrix

__all__ = ["MOST_ROWS", "row_limit", "solve_graph", "solve_newton", "solve_rows", "within"]

# Unknowns of a system: features, or rows where features are more.
MOST_ROWS = 2000
_ROWS_PER_FEATURE = 40
_MOST_PRODUCTS = 1e9


def row_limit(n_features: int, effort: float = 1.0) -> int:
    """How many rows of each side of a graph show the curvature in that many dimensions at a bearable cost.

    These are 40 for each feature, or more with more effort; from some 300 features on the cost is what limits them.
    """
    wanted = effort * max(_ROWS_PER_FEATURE * n_features, 1000)
    return int(min(wanted, max(_MOST_PRODUCTS / n_features**2, 1000)))


def within(graphs: Sequence[Graph], limit: int, norms: Norms, random: np.random.Generator) -> list[Graph]:
    """Return the graphs, or random parts of them, with about ``limit`` rows in play at most."""
    some = [graph.thinned(limit, norms, random) for graph in graphs]
    if len(np.unique(np.concatenate([graph.rows for graph in some]))) <= 1.1 * limit:
        return some
    return [graph.thinned(limit // (2 * len(graphs)), norms, random) for graph in graphs]


def solve_newton(graphs: Sequence[Graph], C: float, gradient: FloatArray, take: Take) -> FloatArray:
    """Solve (I + C * scatter) x = gradient; time O(r d min(r, d)) for r rows in play, of d features."""
    if len(gradient) <= min(sum(len(graph.rows) for graph in graphs), MOST_ROWS):
        with np.errstate(over="ignore", invalid="ignore"):
            scatter = sum((graph.scatter(take) for graph in graphs), np.zeros((len(gradient), len(gradient))))
            scatter *= C
        return _solve_shifted(scatter, gradient)
    used, total = laplacian(graphs)
    return solve_graph(take(used), C * total, gradient)


def _solve_shifted(gram: Any, right: FloatArray) -> FloatArray:
    """Solve (I + gram) x = right for a positive semi-definite gram, about when rounding leaves it indefinite.

    Columns on very different scales cost no digits: the system is scaled to a diagonal of ones.
    """
    shifted: FloatArray = gram if isinstance(gram, np.ndarray) else gram.toarray()
    diagonal = np.diag_indices(len(shifted))
    shifted[diagonal] += 1.0
    if not (np.isfinite(shifted).all() and np.isfinite(right).all()):
        raise ValueError("The curvature overflows; scale the features, for instance with StandardScaler, or lower C.")
    scale = 1.0 / np.sqrt(np.maximum(shifted[diagonal], 1.0))  # below 1 by rounding alone
    shifted *= scale
    shifted *= scale[:, None]
    for ridge in (0.0, 1e-12, 1e-8):
        shifted[diagonal] += ridge
        try:
            factor = linalg.cho_factor(shifted, lower=True)
        except np.linalg.LinAlgError:
            continue
        solution: FloatArray = scale * linalg.cho_solve(factor, scale * right)
        return solution
    return right


def solve_graph(rows: Matrix, laplacian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve (I + X' L X) x = gradient for the rows X, in whichever of their two dimensions is smaller.

    Differences of rows are all that counts, so that their mean is taken away first: columns far from 0 cost no digits.
    Columns on very different scales may, where the rows are few; features are then used after all, if not too many.
    """
    if not rows.shape[0]:
        return gradient
    if isinstance(rows, np.ndarray):
        rows = rows - rows.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        if rows.shape[1] >= rows.shape[0]:
            products: Any = rows @ rows.T
            products = products if isinstance(products, np.ndarray) else products.toarray()
            solved: FloatArray = gradient - rows.T @ solve_rows(laplacian, products, rows @ gradient)
            left = solved + rows.T @ (laplacian @ (rows @ solved)) - gradient
            if rows.shape[1] > MOST_ROWS or np.linalg.norm(left) <= 1e-6 * np.linalg.norm(gradient):
                return solved
        curvature = rows.T @ (laplacian @ rows)
    return _solve_shifted(curvature, gradient)


def solve_rows(laplacian: FloatArray, products: FloatArray, along: FloatArray) -> FloatArray:
    """Solve (I + L K) z = L X gradient, so that x = gradient - X' z; K holds the products of the rows.

    Where the system is singular to rounding, z is 0: the direction is that of the gradient.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        system = laplacian @ products
        right = laplacian @ along
    system[np.diag_indices(len(system))] += 1.0
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        raise ValueError("The curvature overflows; scale the features, for instance with StandardScaler, or lower C.")
    try:
        return np.linalg.solve(system, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.zeros(len(right))
