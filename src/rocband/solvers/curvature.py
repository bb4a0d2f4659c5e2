"""The Newton system: the identity plus the weighted scatter of the differences of rows.

Pairs of rows are the edges of a graph, and the scatter is X' L X with its weighted Laplacian L. Where features are few,
a sample of the pairs is written out as differences. Where they are many, the Laplacian takes far more pairs at no cost,
and the system is solved with one unknown for each row in play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from rocband.risks.band import FloatArray, IndexArray
from rocband.risks.smoothed import Pairs
from rocband.rows.base import Matrix

__all__ = ["GRAPH_PAIRS", "MOST_ROWS", "graph_laplacian", "solve_curvature", "solve_graph", "solve_rows"]

# Pairs to sample for a graph, and rows it may have: the system of the rows is as large.
GRAPH_PAIRS = 200_000
MOST_ROWS = 2000


def solve_curvature(differences: Matrix, weight: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve (I + D' diag(weight) D) x = gradient, in whichever of the two dimensions of D is smaller."""
    root = np.sqrt(weight)
    scaled: Any = (
        sparse.diags_array(root) @ differences if sparse.issparse(differences) else differences * root[:, None]
    )
    if scaled.shape[1] <= scaled.shape[0]:
        with np.errstate(over="ignore", invalid="ignore"):
            curvature = scaled.T @ scaled
        return _solve_shifted(curvature, gradient)
    inner: FloatArray = gradient - scaled.T @ _solve_shifted(scaled @ scaled.T, scaled @ gradient)
    return inner


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


def graph_laplacian(pairs: Pairs, weight: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Return the rows in play and the Laplacian of their weighted graph, thinned when they are many."""
    kept = weight > 0
    left, right, weight = pairs.left[kept], pairs.right[kept], weight[kept]
    used = np.unique(np.concatenate([left, right]))
    if len(used) > MOST_ROWS:
        some = _thinned(used, left, right)
        total, left, right, weight = weight.sum(), left[some], right[some], weight[some]
        weight *= total / weight.sum()
        used = np.unique(np.concatenate([left, right]))
    size = len(used)
    cells = np.searchsorted(used, left) * size + np.searchsorted(used, right)
    laplacian = -np.bincount(cells, weight, minlength=size * size).astype(np.float64, copy=False).reshape(size, size)
    laplacian += laplacian.T.copy()
    laplacian[np.diag_indices(size)] -= laplacian.sum(axis=1)
    return used, laplacian


def _thinned(used: IndexArray, left: IndexArray, right: IndexArray) -> IndexArray:
    """Pairs that leave at most MOST_ROWS rows: all among every k-th row, or every k-th pair where those are few."""
    rows = used[:: -(-len(used) // MOST_ROWS)]
    among = np.flatnonzero(np.isin(left, rows) & np.isin(right, rows))
    some = np.arange(0, len(left), -(-2 * len(left) // MOST_ROWS))
    return among if len(among) > len(some) else some


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
