"""Rows of an array larger than memory, read block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocband.risks.band import FloatArray, IndexArray
from rocband.rows.base import double
from rocband.rows.dense import DenseRows

__all__ = ["ChunkedRows"]

_BLOCK_BYTES = 64 << 20


class ChunkedRows:
    """Rows of a memory map, or of anything with a shape whose slices are arrays.

    Parameters
    ----------
    X : memory map or array-like with ``shape`` and slicing
    block_bytes : int
        How much is in memory at a time.
    """

    def __init__(self, X: Any, block_bytes: int = _BLOCK_BYTES) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._rows = max(block_bytes // (8 * max(self.shape[1], 1)), 1)

    def _slices(self) -> list[slice]:
        n = self.shape[0]
        return [slice(start, min(start + self._rows, n)) for start in range(0, n, self._rows)]

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        result = np.empty(self.shape[0])
        for part in self._slices():
            block = np.asarray(self.X[part])
            result[part] = block @ w.astype(block.dtype, copy=False)
        return result

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the weighted sum of the rows in ``index``, reading only the blocks that hold some of them."""
        order = np.argsort(index, kind="stable")
        index, weights = index[order], weights[order]
        total = np.zeros(self.shape[1])
        for part in self._slices():
            low, high = np.searchsorted(index, (part.start, part.stop))
            if high > low:
                total += weights[low:high] @ self._take(part, index[low:high] - part.start)
        return total

    def _take(self, part: slice, local: IndexArray) -> FloatArray:
        return double(np.asarray(self.X[part])[local])

    def take(self, index: IndexArray) -> FloatArray:
        """Return the rows ``index`` in double precision, reading only the blocks that hold some of them."""
        wanted, position = np.unique(index, return_inverse=True)
        rows = np.empty((len(wanted), self.shape[1]))
        for part in self._slices():
            low, high = np.searchsorted(wanted, (part.start, part.stop))
            if high > low:
                rows[low:high] = self._take(part, wanted[low:high] - part.start)
        return rows[position]

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""
        blocks = (np.asarray(self.X[part]) for part in self._slices())
        return np.concatenate([DenseRows(block).norms() for block in blocks])
