"""From Dask arrays and data frames to blocks of rows on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from rocband.dask.cluster import gather, keep, memory, task
from rocband.dask.rows import Block, DaskRows, Groups

__all__ = ["Table", "block_features", "blocks_of", "feature_dtype", "is_collection", "label_blocks", "template"]

# Features are kept on the workers when they fill at most this share of their memory, and else read in every pass.
_SHARE_OF_MEMORY = 0.4
# Kinds of array whose entries are real numbers: floating point, integers with and without a sign, and booleans.
_REAL_KINDS = "fiub"
# So many columns that are not numbers are named.
_SHOWN = 3


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array, data frame or series."""
    return isinstance(X, da.Array | dd.DataFrame | dd.Series)


def template(X: Any) -> Any:
    """Return something small with the columns of X and no rows, or say what is wrong with X."""
    if isinstance(X, dd.DataFrame):
        _check_columns(X.dtypes)
        return X._meta
    if getattr(X, "ndim", None) != 2:
        raise ValueError(f"X must be a Dask array or data frame of rows and columns, got {type(X).__name__}.")
    if X.dtype.kind not in _REAL_KINDS:
        raise ValueError(f"X must hold real numbers, got an array of dtype {X.dtype}.")
    return np.empty((0, X.shape[1]))


def _check_columns(dtypes: pd.Series) -> None:
    wrong = [f"{name!r} ({dtype})" for name, dtype in dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    if wrong:
        others = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise ValueError(
            f"X has columns that are not numbers: {', '.join(wrong[:_SHOWN])}{others}; encode or drop them."
        )


def feature_dtype(X: Any) -> np.dtype[Any]:
    """Precision of the features: that of X if it is float32 throughout, and else float64."""
    dtypes = X.dtypes if isinstance(X, dd.DataFrame) else [X.dtype]
    single = all(str(dtype).lower() == "float32" for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def block_features(block: Any, dtype: np.dtype[Any]) -> Any:
    """Turn a block into an array or a CSR matrix of the given precision, without a copy where it is one."""
    if sparse.issparse(block):
        matrix: Any = block
        return sparse.csr_array(matrix).astype(dtype, copy=False)
    if isinstance(block, pd.DataFrame):
        return block.to_numpy(dtype=dtype, na_value=np.nan)
    return np.asarray(block, dtype=dtype)


@dataclass(frozen=True, slots=True)
class _Described:
    """What is known of a block once it has been read."""

    n_rows: int
    n_labels: int
    n_stored: int
    n_bytes: int
    finite: bool
    labels: npt.NDArray[Any]


class Table:
    """Features and labels in blocks, read once to check them.

    Parameters
    ----------
    X : Dask array or data frame
    y : Dask array or series, or anything one-dimensional that NumPy takes
    """

    def __init__(self, X: Any, y: Any) -> None:
        self.n_features = X.shape[1]
        self.dtype = feature_dtype(X)
        self._features = [task(block_features, block, self.dtype) for block in blocks_of(X)]
        self._labels = label_blocks(y, X, self._features, ("y", "X"))
        described: list[_Described] = gather(
            [task(_describe, *pair) for pair in zip(self._features, self._labels, strict=True)]
        )
        for number, block in enumerate(described):
            if block.n_rows != block.n_labels:
                raise ValueError(f"Block {number} of X has {block.n_rows} rows, but that of y has {block.n_labels}.")
            if not block.finite:
                raise ValueError(f"Block {number} of X holds NaN or infinity; remove or replace it.")
        self._n_rows = [block.n_rows for block in described]
        self._n_stored = sum(block.n_stored for block in described)
        if not sum(self._n_rows):
            raise ValueError("X has no rows.")
        self.labels = np.unique(np.concatenate([block.labels for block in described if block.n_rows]))
        if sum(block.n_bytes for block in described) <= _SHARE_OF_MEMORY * memory():
            self._features = keep(self._features)

    def rows(self, positive: Any) -> DaskRows:
        """Part the rows into those with the label ``positive`` and the others."""
        groups = keep([task(_groups, labels, positive) for labels in self._labels])
        counts = gather([task(len, task(_first, group)) for group in groups])
        blocks = [
            Block(features, group, count, size - count, size)
            for features, group, count, size in zip(self._features, groups, counts, self._n_rows, strict=True)
        ]
        return DaskRows(blocks, self.n_features, self._n_stored / sum(self._n_rows))


def blocks_of(collection: Any) -> list[Any]:
    """Blocks of rows, each with all columns, as calls that are not made yet."""
    if isinstance(collection, da.Array) and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    if isinstance(collection, dd.DataFrame | dd.Series):
        # All that Dask knows to do would join files that it reads few columns of, and X and y would no longer match.
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(collection.to_delayed()))


def label_blocks(y: Any, X: Any, features: Sequence[Any], names: tuple[str, str]) -> list[Any]:
    """Labels in blocks that match those of X; ``names`` are what the user calls the two."""
    known = isinstance(X, da.Array) and not np.isnan(X.shape[0])
    if not is_collection(y):
        sizes = X.chunks[0] if known else gather([task(_n_rows, block) for block in features])
        y = np.asarray(y)
        _check_sizes(sum(sizes), y, names)
        return [task(np.asarray, part) for part in np.split(y, np.cumsum(sizes)[:-1])]
    if y.ndim != 1:
        raise ValueError(f"{names[0]} must be one-dimensional, got {y.ndim} dimensions.")
    if known and isinstance(y, da.Array) and not np.isnan(y.shape[0]):
        _check_sizes(X.shape[0], y, names)
        y = y.rechunk((X.chunks[0],))
    labels = blocks_of(y)
    if len(labels) != len(features):
        raise ValueError(
            f"{names[1]} has {len(features)} blocks and {names[0]} has {len(labels)}; give both the same partitions."
        )
    return [task(np.asarray, block) for block in labels]


def _check_sizes(n_rows: int, y: Any, names: tuple[str, str]) -> None:
    if y.ndim != 1 or len(y) != n_rows:
        raise ValueError(
            f"{names[0]} must hold one label for each of the {n_rows} rows of {names[1]}, got the shape {y.shape}."
        )


# What runs on the workers


def _n_rows(features: Any) -> int:
    return int(features.shape[0])


def _describe(features: Any, labels: npt.NDArray[Any]) -> _Described:
    stored = [features]
    if sparse.issparse(features):
        matrix: Any = features
        stored = [matrix.data, matrix.indices, matrix.indptr]
    values = stored[0]
    size = sum(array.nbytes for array in stored)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())
    return _Described(_n_rows(features), len(labels), values.size, size, finite, np.unique(labels))


def _groups(labels: npt.NDArray[Any], positive: Any) -> Groups:
    chosen = labels == positive
    return np.flatnonzero(chosen).astype(np.int32), np.flatnonzero(~chosen).astype(np.int32)


def _first(groups: Groups) -> npt.NDArray[np.int32]:
    return groups[0]
