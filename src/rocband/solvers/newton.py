"""Newton directions: solve (I + C * scatter) x = -gradient for the curvature of a smoothed risk.

The scatter is X' L X with the Laplacian L of the graphs whose edges are the pairs. Where features are few, it is summed
over the rows in play; where they are many, or are those of a kernel, the system has one unknown for each of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from rocband._types import FloatArray
from rocband.problems.base import Problem
from rocband.risks.graphs import Graph
from rocband.rows import Matrix
from rocband.rows.base import dense
from rocband.solvers.scatter import Norms, Take, laplacian, scatter, thinned

__all__ = ["MOST_UNKNOWNS", "direction", "row_limit", "solve_features", "solve_rows", "solve_system", "within"]

# Unknowns of a system: features, or rows where features are more. Solving for 2,000 takes as long as a few passes over
# data of that width (make bench ARGS=solver).
MOST_UNKNOWNS = 2000
# Rows for each feature that show the curvature well enough: with fewer, steps get shorter (make bench ARGS=solver).
_ROWS_PER_FEATURE = 40
# Even with few features so many rows cost nothing beside a pass.
_FEWEST_ROWS = 1000
# Multiplications for one scatter: about a second of one core.
_MOST_PRODUCTS = 1e9
# Rows of several graphs together may be so much more than the limit before all are thinned further.
_SLACK = 1.1
# What is added to the diagonal, scaled to 1, when rounding left the matrix indefinite; the first that helps.
_RIDGES = (0.0, 1e-12, 1e-8)
# A residual above this part of the right side means that rows on very different scales cost the digits.
_RESIDUAL = 1e-6
_OVERFLOW = "The curvature overflows; scale the features, for instance with StandardScaler, or lower C."


def direction(
    problem: Problem,
    graphs: Sequence[Graph],
    C: float,
    gradient: FloatArray,
    random: np.random.Generator,
    effort: float = 1.0,
) -> FloatArray:
    """Solve (I + C * scatter of the graphs) x = -gradient, from a random part of the rows where they are many.

    With more effort, that part is larger by this factor. Time O(r d min(r, d)) for r rows in play of d features; for a
    kernel O(r^3), with r at most about 2,000 whatever the effort.
    """
    features = problem.features
    if features is None:
        return _kernel_direction(problem, within(graphs, MOST_UNKNOWNS, problem.norms, random), C, gradient)
    if problem.n_features > MOST_UNKNOWNS:
        some = within(graphs, MOST_UNKNOWNS, problem.norms, random)
    else:
        limit = row_limit(problem.n_features, effort)
        some = [thinned(graph, limit, problem.norms, random) for graph in graphs]
    return -solve_system(some, C, gradient, features.take)


def row_limit(n_features: int, effort: float = 1.0) -> int:
    """How many rows of each side of a graph show the curvature in that many dimensions at a bearable cost.

    These are 40 for each feature, or more with more effort; from some 300 features on the cost is what limits them.
    """
    wanted = effort * max(_ROWS_PER_FEATURE * n_features, _FEWEST_ROWS)
    bearable = max(_MOST_PRODUCTS / n_features**2, _FEWEST_ROWS)
    return int(min(wanted, bearable))


def within(graphs: Sequence[Graph], limit: int, norms: Norms, random: np.random.Generator) -> list[Graph]:
    """Return the graphs, or random parts of them, with about ``limit`` rows in play at most."""
    some = [thinned(graph, limit, norms, random) for graph in graphs]
    in_play = np.unique(np.concatenate([graph.rows for graph in some]))
    if len(in_play) <= _SLACK * limit:
        return some
    each = limit // (2 * len(graphs))  # a graph has two sides
    return [thinned(graph, each, norms, random) for graph in graphs]


def _kernel_direction(problem: Problem, graphs: Sequence[Graph], C: float, gradient: FloatArray) -> FloatArray:
    """Solve with one unknown for each row in play: x = X' z - gradient with (I + C L K) z = C L X gradient."""
    used, total = laplacian(graphs)
    weights = solve_rows(C * total, problem.products(used), problem.scores_of(gradient, used))
    return problem.combine(weights, used) - gradient


def solve_system(graphs: Sequence[Graph], C: float, gradient: FloatArray, take: Take) -> FloatArray:
    """Solve (I + C * scatter) x = gradient; time O(r d min(r, d)) for r rows in play, of d features."""
    n_features = len(gradient)
    n_rows = sum(len(graph.rows) for graph in graphs)
    if n_features > min(n_rows, MOST_UNKNOWNS):
        used, total = laplacian(graphs)
        return solve_features(take(used), C * total, gradient)
    curvature = np.zeros((n_features, n_features))
    with np.errstate(over="ignore", invalid="ignore"):
        for graph in graphs:
            curvature += scatter(graph, take)
        curvature *= C
    return _solve_shifted(curvature, gradient)


def solve_features(rows: Matrix, laplacian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve (I + X' L X) x = gradient for the rows X, in whichever of their two dimensions is smaller.

    Differences of rows are all that counts, so that their mean is taken away first: columns far from 0 cost no digits.
    Columns on very different scales may, where the rows are few; features are then used after all, if not too many.
    """
    n_rows, n_features = rows.shape
    if not n_rows:
        return gradient
    if isinstance(rows, np.ndarray):
        rows = rows - rows.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        if n_features >= n_rows:
            products = dense(rows @ rows.T)
            weights = solve_rows(laplacian, products, rows @ gradient)
            solved: FloatArray = gradient - rows.T @ weights
            residual = solved + rows.T @ (laplacian @ (rows @ solved)) - gradient
            small = np.linalg.norm(residual) <= _RESIDUAL * np.linalg.norm(gradient)
            if n_features > MOST_UNKNOWNS or small:
                return solved
        curvature = dense(rows.T @ (laplacian @ rows))
    return _solve_shifted(curvature, gradient)


def solve_rows(laplacian: FloatArray, products: FloatArray, along: FloatArray) -> FloatArray:
    """Solve (I + L K) z = L X gradient, so that x = gradient - X' z; K holds the products of the rows.

    Where the system is singular to rounding, z is 0: the direction is that of the gradient.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        system = laplacian @ products
        right = laplacian @ along
    system[np.diag_indices(len(system))] += 1.0
    _check_finite(system, right)
    try:
        return np.linalg.solve(system, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.zeros(len(right))


def _solve_shifted(curvature: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (I + curvature) x = right for a positive semi-definite matrix, about when rounding left it indefinite.

    Columns on very different scales cost no digits: the system is scaled to a diagonal of ones.
    """
    diagonal = np.diag_indices(len(curvature))
    curvature[diagonal] += 1.0
    _check_finite(curvature, right)
    scale = 1.0 / np.sqrt(np.maximum(curvature[diagonal], 1.0))  # below 1 by rounding alone
    curvature *= scale
    curvature *= scale[:, None]
    for ridge in _RIDGES:
        curvature[diagonal] += ridge
        try:
            factor = linalg.cho_factor(curvature, lower=True)
        except np.linalg.LinAlgError:
            continue
        solution: FloatArray = scale * linalg.cho_solve(factor, scale * right)
        return solution
    return right


def _check_finite(system: FloatArray, right: FloatArray) -> None:
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        raise ValueError(_OVERFLOW)
