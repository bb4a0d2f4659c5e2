"""What a solver needs of the data: scores of all rows, weighted sums of some, and a few of them as they are."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rocband.risks.band import FloatArray, IndexArray

__all__ = ["Matrix", "Rows", "double"]

Matrix = FloatArray | sparse.csr_array


class Rows(Protocol):
    """Rows of features; the only thing that a solver may ask for.

    Attributes
    ----------
    shape : (int, int)
        Number of rows and of features.
    """

    shape: tuple[int, int]

    def scores(self, w: FloatArray) -> FloatArray:
        """Return the product of every row with ``w``, at the precision of the data."""

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * row[index[k]], summed in double precision."""

    def take(self, index: IndexArray) -> Matrix:
        """Return some rows in double precision; dense or sparse as the data are."""

    def norms(self) -> FloatArray:
        """Return the squared lengths of all rows; one pass."""


def double(block: npt.NDArray[Any]) -> FloatArray:
    """Return a block in double precision; no copy when it is."""
    return block.astype(np.float64, copy=False)
