"""Rows of an array in memory, float32 or float64, in either order, never copied whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.risks.band import FloatArray, IndexArray
from rocband.rows.base import double

__all__ = ["DenseRows"]

# Blocks of this many numbers stay in the cache while they are gathered, widened and multiplied.
_BLOCK = 1 << 17
# Above this share of the rows, one product with a vector full of zeros beats gathering.
_GATHER_SHARE = 0.3


class DenseRows:
    """Rows of a two-dimensional array."""

    def __init__(self, X: npt.NDArray[Any]) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._block = max(_BLOCK // max(self.shape[1], 1), 1)

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        scores: FloatArray = self.X @ w.astype(self.X.dtype, copy=False)
        return scores

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return ``weights @ X[index]``, gathering rows only where few have weight."""
        if len(index) > _GATHER_SHARE * self.shape[0]:
            spread: FloatArray = np.bincount(index, weights, minlength=self.shape[0]).astype(np.float64, copy=False)
            return self._sum(spread, None)
        return self._sum(weights, index)

    def _sum(self, weights: FloatArray, index: IndexArray | None) -> FloatArray:
        if index is None and self.X.dtype == np.float64:
            product: FloatArray = weights @ self.X
            return product
        total = np.zeros(self.shape[1])
        for start in range(0, len(weights), self._block):
            part = slice(start, start + self._block)
            rows = self.X[part] if index is None else self.X[index[part]]
            total += weights[part] @ double(rows)
        return total

    def take(self, index: IndexArray) -> FloatArray:
        """Return the rows ``index`` in double precision."""
        return double(self.X[index])

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""
        lengths: FloatArray = np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64)
        return lengths
