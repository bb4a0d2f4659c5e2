"""Real data sets for the benchmarks, read from the folder that ROCBAND_DATA names; standardised, split honestly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.preprocessing import StandardScaler

Array = npt.NDArray[Any]

# Name of a set -> file, and the class that is positive where there are several.
FILES: dict[str, tuple[str, int | None]] = {
    "a9a": ("a9a", None),
    "cod-rna": ("codrna_train_test", None),
    "covtype 5": ("covtype", 5),
    "hiv": ("hiv_morgan1024", None),
    "hiva": ("hiva", None),
    "ijcnn1": ("ijcnn1", None),
    "letter G": ("letter", 6),
    "letter Q": ("letter", 16),
    "mammography": ("mammography", None),
    "protein": ("protein_homology", None),
    "reuters": ("reuters_lasvm", None),
    "spambase": ("spambase", None),
    "w8a": ("w8a", None),
}
# These many columns of 0 and 1 stay sparse and unscaled.
SPARSE = ("hiv", "reuters", "w8a")


@dataclass(frozen=True)
class Data:
    """One data set; rows of one group belong together."""

    X: Any
    y: Array
    groups: Array | None

    def splits(self, count: int, limit: int | None = None) -> Iterator[tuple[Any, Array, Any, Array]]:
        """Yield random two-thirds splits, by group where there are groups, with the scale of the training part."""
        splitter = ShuffleSplit if self.groups is None else GroupShuffleSplit
        folds = splitter(n_splits=count, test_size=1 / 3, random_state=0).split(self.X, self.y, self.groups)
        for train, test in folds:
            yield self._scaled(train if limit is None else np.random.default_rng(0).permutation(train)[:limit], test)

    def _scaled(self, train: Array, test: Array) -> tuple[Any, Array, Any, Array]:
        A, B = self.X[train], self.X[test]
        if not sparse.issparse(A):
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
        return A, self.y[train], B, self.y[test]


def load(name: str) -> Data:
    """Read a set, dense and float32 unless it is one of the sparse ones."""
    folder = os.environ.get("ROCBAND_DATA")
    if not folder:
        sys.exit("Set ROCBAND_DATA to the folder with the data sets (npz files) to run this benchmark.")
    file, positive = FILES[name]
    with np.load(Path(folder) / f"{file}.npz", allow_pickle=False) as parts:
        if "X" in parts:
            X: Any = parts["X"].astype(np.float32)
        else:
            pieces = (parts["data"].astype(np.float32), parts["indices"], parts["indptr"])
            X = sparse.csr_array(pieces, shape=tuple(parts["shape"]))
        y = parts["y"] == 1 if positive is None else parts["y_multi"] == positive
        groups = parts.get("groups")
    return Data(X if name in SPARSE or not sparse.issparse(X) else X.toarray(), y, groups)


def standardized(name: str) -> tuple[Array, Array]:
    """All rows of a set, dense, float64, each column with mean 0 and variance 1."""
    data = load(name)
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    return StandardScaler().fit_transform(X.astype(np.float64)), data.y
