"""Archives of arrays (``.npz``): the one place that reads them.

An archive holds ``X``, or ``data``, ``indices``, ``indptr`` and ``shape`` of a CSR matrix, and columns of the same
length beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TypeAlias

import numpy as np
from scipy import sparse

from rocband._types import AnyArray

__all__ = ["CSR_PARTS", "Archive", "Features", "read_archive"]

Features: TypeAlias = "AnyArray | sparse.csr_array"

# The arrays that make a CSR matrix.
CSR_PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive holds: the features, None where there are none, and the columns by their names."""

    X: Features | None
    columns: dict[str, AnyArray]


def read_archive(stream: IO[bytes]) -> Archive:
    """Read all arrays of an archive, never a pickled object.

    Raises
    ------
    ValueError
        If the file is no archive, or its CSR matrix does not fit together.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> stream = io.BytesIO()
    >>> np.savez(stream, X=np.eye(2), y=np.array([0, 1]))
    >>> _ = stream.seek(0)
    >>> read_archive(stream).columns
    {'y': array([0, 1])}
    """
    loaded = np.load(stream, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise ValueError("it is a single array; an archive with the arrays X and y is expected.")
    with loaded:
        columns = {name: loaded[name] for name in loaded.files}
    if set(CSR_PARTS) <= set(columns):
        data, indices, indptr, shape = (columns.pop(part) for part in CSR_PARTS)
        X = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
        # Indices that point outside would read foreign memory in the first product.
        X.check_format(full_check=True)
        return Archive(X, columns)
    return Archive(columns.pop("X", None), columns)
