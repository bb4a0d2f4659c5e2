"""Rows of an array larger than memory, read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rocband._types import FloatArray, IndexArray
from rocband.rows.base import batches, double
from rocband.rows.dense import DenseRows

__all__ = ["ChunkedRows"]

# Large enough that a disk reads at full speed, small beside any memory (make bench ARGS=boards.scale).
_BLOCK_BYTES = 64 << 20
_NUMBER_BYTES = 8


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
        row_bytes = _NUMBER_BYTES * max(self.shape[1], 1)
        self._block = max(block_bytes // row_bytes, 1)

    def _slices(self) -> Iterator[slice]:
        return batches(self.shape[0], self._block)

    @property
    def row_size(self) -> float:
        """Numbers stored for a row: all of them."""
        return float(self.shape[1])

    def scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w``; one pass."""
        result = np.empty(self.shape[0])
        for part in self._slices():
            block = np.asarray(self.X[part])
            result[part] = block @ w.astype(block.dtype, copy=False)
        return result

    def exact_scores(self, w: FloatArray) -> FloatArray:
        """Return ``X @ w`` in double precision; one pass."""
        result = np.empty(self.shape[0])
        for part in self._slices():
            result[part] = double(np.asarray(self.X[part])) @ w
        return result

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the weighted sum of the rows in ``index``, reading only the blocks that hold some of them."""
        order = np.argsort(index, kind="stable")
        index = index[order]
        weights = weights[order]
        total = np.zeros(self.shape[1])
        for part, own in self._holding(index):
            total += weights[own] @ self._take(part, index[own])
        return total

    def take(self, index: IndexArray) -> FloatArray:
        """Return the rows ``index`` in double precision, reading only the blocks that hold some of them."""
        wanted, position = np.unique(index, return_inverse=True)
        rows = np.empty((len(wanted), self.shape[1]))
        for part, own in self._holding(wanted):
            rows[own] = self._take(part, wanted[own])
        return rows[position]

    def _holding(self, index: IndexArray) -> Iterator[tuple[slice, slice]]:
        """For each block with any of the rows ``index``, which are ascending: the block, and which of them."""
        for part in self._slices():
            low, high = np.searchsorted(index, (part.start, part.stop))
            if high > low:
                yield part, slice(low, high)

    def _take(self, part: slice, index: IndexArray) -> FloatArray:
        block = np.asarray(self.X[part])
        return double(block[index - part.start])

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""
        blocks = (np.asarray(self.X[part]) for part in self._slices())
        return np.concatenate([DenseRows(block).norms() for block in blocks])
