"""Data sets of the experiments: the embedded letters, and npz files in the folder that ROCBAND_DATA names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.preprocessing import StandardScaler

from rocband.datasets import load_letter

__all__ = ["FILES", "SPARSE", "Data", "Split", "dense", "is_there", "load", "standardized"]

Array = npt.NDArray[Any]

# Name of a set -> file, and the class that is positive where there are several.
FILES: dict[str, tuple[str, int | None]] = {
    "a9a": ("a9a", None),
    "cod-rna": ("codrna_train_test", None),
    "covtype 5": ("covtype", 5),
    "hiv": ("hiv_morgan1024", None),
    "hiva": ("hiva", None),
    "ijcnn1": ("ijcnn1", None),
    "kddcup06": ("kddcup06_pe_test1391", None),
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
class Split:
    """One random split: what to learn from, with its groups if there are any, and what to test on."""

    X: Any
    y: Array
    groups: Array | None
    X_test: Any
    y_test: Array


@dataclass(frozen=True)
class Data:
    """One data set; rows of one group belong together."""

    X: Any
    y: Array
    groups: Array | None

    def split(self, number: int, fraction: float = 1.0) -> Split:
        """Return one random two-thirds split, or a fraction of its training part, scaled by the latter."""
        splitter = ShuffleSplit if self.groups is None else GroupShuffleSplit
        whole = splitter(n_splits=1, test_size=1 / 3, random_state=number).split(self.X, self.y, self.groups)
        train, test = next(whole)
        if fraction < 1:
            train = self._part(train, fraction, number)
        return self._scaled(train, test)

    def splits(self, count: int, limit: int | None = None) -> Iterator[tuple[Any, Array, Any, Array]]:
        """Yield random two-thirds splits, by group where there are groups, with the scale of the training part."""
        splitter = ShuffleSplit if self.groups is None else GroupShuffleSplit
        folds = splitter(n_splits=count, test_size=1 / 3, random_state=0).split(self.X, self.y, self.groups)
        for train, test in folds:
            chosen = train if limit is None else np.random.default_rng(0).permutation(train)[:limit]
            split = self._scaled(chosen, test)
            yield split.X, split.y, split.X_test, split.y_test

    def _part(self, train: Array, fraction: float, seed: int) -> Array:
        """Draw a fraction of each class."""
        random = np.random.default_rng(seed)
        classes = (train[self.y[train]], train[~self.y[train]])
        parts = [random.permutation(rows)[: max(round(fraction * len(rows)), 3)] for rows in classes]
        return np.sort(np.concatenate(parts))

    def _scaled(self, train: Array, test: Array) -> Split:
        A, B = self.X[train], self.X[test]
        if not sparse.issparse(A):
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
        groups = None if self.groups is None else self.groups[train]
        return Split(A, self.y[train], groups, B, self.y[test])


def is_there(name: str) -> bool:
    """Tell whether a set can be read."""
    return name.startswith("letter") or (_folder() is not None and _path(name).exists())


@lru_cache(maxsize=1)
def load(name: str) -> Data:
    """Read a set, dense and float32 unless it is one of the sparse ones."""
    file, positive = FILES[name]
    if file == "letter":
        X, y = load_letter(name[-1], return_X_y=True)
        return Data(X.astype(np.float32), y == 1, None)
    if not is_there(name):
        raise ValueError(
            f"The set {name!r} is not there: set ROCBAND_DATA to the folder that holds {file}.npz, or leave it out."
        )
    with np.load(_path(name), allow_pickle=False) as parts:
        if "X" in parts:
            X = parts["X"].astype(np.float32)
        else:
            pieces = (parts["data"].astype(np.float32), parts["indices"], parts["indptr"])
            X = sparse.csr_array(pieces, shape=tuple(parts["shape"]))
        y = parts["y"] == 1 if positive is None else parts["y_multi"] == positive
        groups = parts.get("groups")
    return Data(X if name in SPARSE else dense(X), y, groups)


def dense(X: Any) -> Any:
    """Return an array whatever came."""
    return X.toarray() if isinstance(X, sparse.csr_array) else X


def standardized(name: str) -> tuple[Array, Array]:
    """All rows of a set, dense, float64, each column with mean 0 and variance 1."""
    data = load(name)
    X = dense(data.X)
    return StandardScaler().fit_transform(X.astype(np.float64)), data.y


def _folder() -> str | None:
    return os.environ.get("ROCBAND_DATA") or None


def _path(name: str) -> Path:
    return Path(_folder() or ".") / f"{FILES[name][0]}.npz"
