"""Rows: the only code that touches X."""

from rocband.rows.base import Matrix, Rows, as_rows
from rocband.rows.chunked import ChunkedRows
from rocband.rows.dense import DenseRows
from rocband.rows.sparse import SparseRows

__all__ = ["ChunkedRows", "DenseRows", "Matrix", "Rows", "SparseRows", "as_rows"]
