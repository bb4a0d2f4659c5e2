"""Rows of a sparse matrix in CSR form, never densified."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rocband._types import FloatArray, IndexArray
from rocband.rows.base import batches

__all__ = ["SparseRows"]

# So many rows of some hundred numbers are 30 MB in double precision, little beside the data that ask for blocks.
_BLOCK_ROWS = 1 << 15


class SparseRows:
    """Rows of a CSR matrix, as given."""

    def __init__(self, X: Any) -> None:
        self.X = sparse.csr_array(X)
        self.shape: tuple[int, int] = self.X.shape

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average."""
        return float(self.X.nnz / max(self.shape[0], 1))

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        scores: FloatArray = self.X @ w.astype(self.X.dtype, copy=False)
        return scores

    def exact_scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w`` in double precision; one pass, block by block where rows must be widened."""
        if self.X.dtype == np.float64:
            return self.scores(w)
        scores = np.empty(self.shape[0])
        for part in batches(self.shape[0], _BLOCK_ROWS):
            scores[part] = self.X[part].astype(np.float64) @ w
        return scores

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the weighted sum of the rows in ``index``; products are taken in double precision."""
        return np.bincount(index, weights, minlength=self.shape[0]) @ self.X

    def take(self, index: IndexArray) -> sparse.csr_array:
        """Return the rows ``index``, sparse, in double precision."""
        return self.X[index].astype(np.float64)

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""
        # scikit-learn's row_norms sums float32 in float32, where 1e20 squared is infinite.
        filled = np.flatnonzero(np.diff(self.X.indptr))
        squares = np.square(self.X.data, dtype=np.float64)
        lengths = np.zeros(self.shape[0])
        lengths[filled] = np.add.reduceat(squares, self.X.indptr[filled])
        return lengths
