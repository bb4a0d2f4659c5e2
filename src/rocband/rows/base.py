"""What a problem needs of the data: scores of all rows, weighted sums of some, and a few of them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from rocband._types import AnyArray, FloatArray, IndexArray

__all__ = ["Matrix", "Rows", "batches", "dense", "double"]

Matrix = FloatArray | sparse.csr_array


class Rows(Protocol):
    """Rows of features; they know nothing of classes.

    Attributes
    ----------
    shape : (int, int)
        Number of rows and of features.
    """

    shape: tuple[int, int]

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average."""

    def scores(self, w: FloatArray) -> FloatArray:
        """Return the product of every row with ``w``, at the precision of the data."""

    def exact_scores(self, w: FloatArray) -> FloatArray:
        """Return the product of every row with ``w`` in double precision, without a copy of the data as a whole."""

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * row[index[k]], summed in double precision."""

    def take(self, index: IndexArray) -> Matrix:
        """Return some rows in double precision; dense or sparse as the data are."""

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""


def double(block: AnyArray) -> FloatArray:
    """Return a block in double precision; no copy when it is."""
    return block.astype(np.float64, copy=False)


def batches(n: int, size: int) -> Iterator[slice]:
    """Cut ``n`` rows into runs of ``size``; none where there are no rows, which `gen_batches` refuses."""
    return gen_batches(n, size) if n else iter(())


def dense(matrix: Any) -> FloatArray:
    """Return a matrix, which may be sparse, as an array."""
    array: FloatArray = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return array
