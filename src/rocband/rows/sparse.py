"""Rows of a sparse matrix in CSR form, never densified."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rocband.risks.band import FloatArray, IndexArray

__all__ = ["SparseRows"]


class SparseRows:
    """Rows of a CSR matrix, as given."""

    def __init__(self, X: sparse.csr_array | sparse.csr_matrix) -> None:
        self.X = sparse.csr_array(X)
        self.shape: tuple[int, int] = self.X.shape

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        return self.X @ w.astype(self.X.dtype, copy=False)

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the weighted sum of the rows in ``index``; products are taken in double precision."""
        return np.bincount(index, weights, minlength=self.shape[0]) @ self.X

    def differences(self, left: IndexArray, right: IndexArray) -> sparse.csr_array:
        """Return ``X[left] - X[right]``, sparse."""
        return self.X[left].astype(np.float64) - self.X[right].astype(np.float64)
