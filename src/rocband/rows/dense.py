"""Rows of an array in memory, float32 or float64, in either order, never copied whole."""

from __future__ import annotations

import numpy as np

from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.rows.base import batches, double

__all__ = ["DenseRows"]

# Blocks of this many numbers, 1 MB in double precision, stay in the second-level cache while they are gathered,
# widened and multiplied (make bench ARGS=linearize_speed).
_BLOCK = 1 << 17
# Above this share of the rows, one product with a vector full of zeros beats gathering
# (make bench ARGS=linearize_speed).
_GATHER_SHARE = 0.3


class DenseRows:
    """Rows of a two-dimensional array."""

    def __init__(self, X: AnyArray) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._block = max(_BLOCK // max(self.shape[1], 1), 1)

    @property
    def row_size(self) -> float:
        """Numbers stored for a row: all of them."""
        return float(self.shape[1])

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        scores: FloatArray = self.X @ w.astype(self.X.dtype, copy=False)
        return scores

    def exact_scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w`` in double precision; one pass, block by block where rows must be widened."""
        if self.X.dtype == np.float64:
            return self.scores(w)
        scores = np.empty(self.shape[0])
        for part in batches(self.shape[0], self._block):
            scores[part] = double(self.X[part]) @ w
        return scores

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return ``weights @ X[index]``, gathering rows only where few have weight."""
        if len(index) <= _GATHER_SHARE * self.shape[0]:
            return self._gathered(weights, index)
        spread = np.bincount(index, weights, minlength=self.shape[0])
        return self._weighted(spread.astype(np.float64, copy=False))

    def _gathered(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        total = np.zeros(self.shape[1])
        for part in batches(len(weights), self._block):
            total += weights[part] @ double(self.X[index[part]])
        return total

    def _weighted(self, weights: FloatArray) -> FloatArray:
        """Sum all rows with weights, block by block where they must be widened."""
        if self.X.dtype == np.float64:
            product: FloatArray = weights @ self.X
            return product
        total = np.zeros(self.shape[1])
        for part in batches(len(weights), self._block):
            total += weights[part] @ double(self.X[part])
        return total

    def take(self, index: IndexArray) -> FloatArray:
        """Return the rows ``index`` in double precision."""
        return double(self.X[index])

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""
        # scikit-learn's row_norms sums float32 in float32, where 1e20 squared is infinite.
        lengths: FloatArray = np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64)
        return lengths
