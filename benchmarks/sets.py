"""Data sets for the benchmarks: the letters, npz files in the folder that ROCBAND_DATA names, made ones of any size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
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
from rocband.datasets.archive import read_archive

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
# Rows of a class that a fraction has at least: with fewer no quarter can be held out.
LEAST = 3


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
        parts = []
        for rows in (train[self.y[train]], train[~self.y[train]]):
            size = max(round(fraction * len(rows)), LEAST)
            parts.append(random.permutation(rows)[:size])
        return np.sort(np.concatenate(parts))

    def _scaled(self, train: Array, test: Array) -> Split:
        A = self.X[train]
        B = self.X[test]
        if not sparse.issparse(A):
            scaler = StandardScaler().fit(A)
            A = scaler.transform(A)
            B = scaler.transform(B)
        groups = None if self.groups is None else self.groups[train]
        return Split(A, self.y[train], groups, B, self.y[test])


def is_there(name: str) -> bool:
    """Tell whether a set can be read."""
    if name.startswith("letter"):
        return True
    folder = os.environ.get("ROCBAND_DATA")
    return bool(folder) and path_of(name).exists()


def missing(names: Iterable[str]) -> dict[str, str]:
    """Return the sets that cannot be read here, with the reason."""
    return {name: f"set ROCBAND_DATA to a folder with {FILES[name][0]}.npz" for name in names if not is_there(name)}


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
    with path_of(name).open("rb") as stream:
        archive = read_archive(stream)
    X = archive.X.astype(np.float32)
    columns = archive.columns
    y = columns["y"] == 1 if positive is None else columns["y_multi"] == positive
    return Data(X if name in SPARSE else dense(X), y, columns.get("groups"))


def path_of(name: str) -> Path:
    """Return where the file of a set is looked for."""
    return Path(os.environ.get("ROCBAND_DATA") or ".") / f"{FILES[name][0]}.npz"


def dense(X: Any) -> Any:
    """Return an array whatever came."""
    return X.toarray() if sparse.issparse(X) else X


def standardized(name: str) -> tuple[Array, Array]:
    """All rows of a set, dense, float64, each column with mean 0 and variance 1."""
    data = load(name)
    X = dense(data.X).astype(np.float64)
    return StandardScaler().fit_transform(X), data.y


# Rows filled at once: large enough for NumPy, small beside any memory.
BLOCK = 200_000
# Share of positives in the made sets, and by how much a separating column moves them for ten columns.
PREVALENCE = 0.02
SHIFT = 1.5


def fill(X: np.ndarray, y: np.ndarray) -> None:
    """Fill in blocks: one column in ten separates the classes a little."""
    random = np.random.default_rng(0)
    for start in range(0, len(X), BLOCK):
        stop = min(start + BLOCK, len(X))
        part = slice(start, stop)
        y[part] = random.random(stop - start) < PREVALENCE
        X[part] = random.standard_normal((stop - start, X.shape[1]), dtype=np.float32)
        X[part, ::10] += SHIFT * y[part, None] / np.sqrt(X.shape[1] / 10)


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Make a set of any size in memory."""
    X = np.empty((rows, columns), dtype=np.float32)
    y = np.empty(rows, dtype=bool)
    fill(X, y)
    return X, y


def made_on_disk(rows: int, columns: int, folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Make a set of any size in a file, and return a memory map of it."""
    file = f"{folder}/X.npy"
    X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(rows, columns))
    y = np.empty(rows, dtype=bool)
    fill(X, y)
    X.flush()
    return np.load(file, mmap_mode="r"), y
