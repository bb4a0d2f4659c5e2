"""The Gram matrix of a kernel: products of all rows with each other, kept or computed when needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lsqr

from rocband._errors import ParameterError
from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.kernels.function import TILE, Kernel, kernel_scores, tiles
from rocband.rows.base import double
from rocband.rows.dense import DenseRows

__all__ = ["Gram", "lowest_eigenvalue"]

# Beyond this many times the budget, computing the products again and again takes hours.
_MOST_BUDGETS = 64
# A negative eigenvalue of at most this part of the largest is rounding.
_EIGENVALUE_NOISE = 1e-7
# How exactly eigenvalues are found, relative to the largest; what is missing is added to the shift.
_EIGENVALUE_TOLERANCE = 1e-4
# A linear model is written as a combination of rows to rounding, in some times as many steps as it has coefficients:
# exact arithmetic would need one for each.
_ROUNDING = 1e-15
_STEPS_PER_COEFFICIENT = 10
# Up to this many rows all eigenvalues are found: ARPACK needs fewer vectors than rows.
_FEW_ROWS = 32


class Gram:
    """Products of all rows of X in the space of a kernel.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n_rows, n_features), or of shape (n_rows, n_rows) for a precomputed kernel
        Not copied.
    budget : float
        Bytes for the Gram matrix. It is kept in double precision if that fits, else in single precision if that fits,
        and else not at all: the values in need are then computed in each pass. A precomputed matrix stays as it is.

    Notes
    -----
    A kernel that is not positive semi-definite leaves the objective without a minimum. As much of the identity is added
    to the Gram matrix as makes up for its smallest eigenvalue, `shift`. ``rank`` is the largest rank it can have.

    The weights of a gradient sum to 0, so that moving the origin of the features adds a constant to all scores and
    changes no product of models. For a linear kernel of dense rows it is moved to their mean, which saves digits.
    """

    def __init__(self, kernel: Kernel, X: Any, budget: float) -> None:
        self.kernel = kernel
        self.X = X
        self.n_rows: int = X.shape[0]
        linear = kernel.function == "linear"
        self.rank: int = min(X.shape) if linear else self.n_rows
        self._centre = X.mean(axis=0) if linear and isinstance(X, np.ndarray) else None
        self._kept = self._keep(budget)
        self.shift = 0.0
        if not kernel.definite:
            self.shift = max(-lowest_eigenvalue(self), 0.0)

    def _keep(self, budget: float) -> AnyArray | None:
        """Compute the whole matrix, if it fits into the budget."""
        if self.kernel.given:
            given: AnyArray = self.X
            return given
        n = self.n_rows
        if 4 * n * n > _MOST_BUDGETS * budget:
            raise _too_large(n, budget)
        if 4 * n * n > budget:
            return None
        try:
            gram = np.empty((n, n), dtype=np.float64 if 8 * n * n <= budget else np.float32)
        except MemoryError:
            raise _too_large(n, budget) from None
        side = int(np.sqrt(TILE))
        for rows in tiles(n, side):
            for columns in tiles(n, side):
                # The matrix is symmetric: one half is computed, the other copied.
                if columns.start >= rows.start:
                    block = self._values(rows, columns)
                    gram[rows, columns] = block
                    gram[columns, rows] = block.T
        return gram

    def _values(self, rows: slice | IndexArray, columns: slice | IndexArray) -> FloatArray:
        return self.kernel(self._features(rows), self._features(columns))

    def _features(self, rows: slice | IndexArray) -> Any:
        return self.X[rows] if self._centre is None else self.X[rows] - self._centre

    def products(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * kernel(row, row[index[k]]) for every row, in double precision, without shift."""
        if self._kept is not None:
            return DenseRows(self._kept).accumulate(weights, index)
        chosen = self._features(index)
        parts = [self.kernel(self._features(part), chosen) @ weights for part in tiles(self.n_rows, len(index))]
        return np.concatenate(parts)

    def exact_products(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the same from the kernel function itself, whatever precision the Gram matrix is kept in."""
        vectors = None if self.kernel.given else self.X[index]
        return kernel_scores(self.kernel, self.X, vectors, index, weights)

    def between(self, index: IndexArray) -> FloatArray:
        """Return the products of the rows in ``index`` with each other, in double precision, the shift included."""
        kept = self._kept
        values = self._values(index, index) if kept is None else double(kept[np.ix_(index, index)])
        values[np.diag_indices(len(index))] += self.shift
        return values

    def coefficients_of(self, w: FloatArray) -> FloatArray:
        """Return coefficients of the rows that make up the coefficients ``w`` of the features of a linear kernel."""
        features = self._features(slice(None))
        most_steps = _STEPS_PER_COEFFICIENT * len(w)
        solved: FloatArray = lsqr(features.T, w, atol=_ROUNDING, btol=_ROUNDING, iter_lim=most_steps)[0]
        return solved


def lowest_eigenvalue(gram: Gram) -> float:
    """Bound the smallest eigenvalue of a Gram matrix from below; 0 where it is but rounding."""
    n = gram.n_rows
    everything = np.arange(n)
    if n <= _FEW_ROWS:
        values = np.linalg.eigvalsh(gram.between(everything))
        return float(values[0]) if values[0] < -_EIGENVALUE_NOISE * np.abs(values).max() else 0.0
    matrix = LinearOperator((n, n), matvec=lambda v: gram.products(np.ravel(v), everything), dtype=np.float64)
    largest, _ = _extreme_eigenvalue(matrix, 0.0)
    size = abs(largest)
    # Less the largest one, all eigenvalues are at most 0, and the smallest is largest in size: ARPACK finds it fast.
    smallest, residual = _extreme_eigenvalue(matrix, size)
    return smallest - residual if smallest < -_EIGENVALUE_NOISE * size else 0.0


def _extreme_eigenvalue(matrix: LinearOperator, shift: float) -> tuple[float, float]:
    """Find the eigenvalue of a matrix that is furthest from ``shift``, and how far off it may be."""
    n = matrix.shape[0]
    moved = LinearOperator((n, n), matvec=lambda v: matrix.matvec(v) - shift * v, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)  # always the same, so that a fit is repeatable
    try:
        values, vectors = eigsh(moved, k=1, which="LM", v0=start, tol=_EIGENVALUE_TOLERANCE)
    except ArpackNoConvergence:
        # Not seen on kernels; one vector and its residual still bound an eigenvalue.
        vectors = (start / np.linalg.norm(start))[:, None]
        values = vectors.T @ moved.matvec(vectors[:, 0])
    vector = vectors[:, 0]
    residual = moved.matvec(vector) - values[0] * vector
    return float(values[0] + shift), float(np.linalg.norm(residual))


def _too_large(n: int, budget: float) -> ParameterError:
    return ParameterError(
        "cache_size",
        f"{budget / 2**20:g} is far too little for the Gram matrix of {n:,} rows, which takes "
        f"{4 * n * n / 2**20:,.0f} MB with an exact kernel: set n_components, for instance to 1000, or raise it.",
    )
