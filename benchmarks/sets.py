"""Data sets for the benchmarks: those of the experiments, and made ones of any size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rocband.reproduce.sets import FILES, SPARSE, Data, Split, is_there, load, standardized

__all__ = ["FILES", "SPARSE", "Data", "Split", "fill", "load", "made", "missing", "standardized"]


def missing(names: Iterable[str]) -> dict[str, str]:
    """Return the sets that cannot be read here, with the reason."""
    return {name: f"set ROCBAND_DATA to a folder with {FILES[name][0]}.npz" for name in names if not is_there(name)}


def fill(X: np.ndarray, y: np.ndarray, block: int = 200_000) -> None:
    """Fill in blocks: one column in ten separates the classes a little."""
    rng = np.random.default_rng(0)
    for start in range(0, len(X), block):
        part = slice(start, min(start + block, len(X)))
        y[part] = rng.random(part.stop - start) < 0.02
        X[part] = rng.standard_normal((part.stop - start, X.shape[1]), dtype=np.float32)
        X[part, ::10] += 1.5 * y[part, None] / np.sqrt(X.shape[1] / 10)


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = np.empty((rows, columns), dtype=np.float32), np.empty(rows, dtype=bool)
    fill(X, y)
    return X, y
