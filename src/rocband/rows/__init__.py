"""Rows: the only code that touches X."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rocband.rows.base import Matrix, Rows
from rocband.rows.chunked import ChunkedRows
from rocband.rows.dense import DenseRows
from rocband.rows.sparse import SparseRows

__all__ = ["ChunkedRows", "DenseRows", "Matrix", "Rows", "SparseRows", "as_rows"]


def as_rows(X: Any) -> Rows:
    """Wrap an array, a CSR matrix or a memory map as `Rows`, without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> rows = as_rows(np.eye(3))
    >>> rows.scores(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    if issparse(X):
        return SparseRows(X)
    if isinstance(X, np.memmap):
        return ChunkedRows(X)
    if isinstance(X, np.ndarray):
        return DenseRows(X)
    return ChunkedRows(X)
