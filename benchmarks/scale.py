"""Cost grows linearly in rows and columns; memory beyond X stays small, for arrays and for memory maps."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

from benchmarks.sets import fill, made
from benchmarks.timing import watched
from rocband import PartialAUCSVC

BAND, C = (0.0, 0.05), 100.0
ROWS, COLUMNS = (10_000, 100_000, 1_000_000, 10_000_000), (10, 100, 1000)
ARRAY_ROWS, MAP_ROWS, WIDTH = 10_000_000, 30_000_000, 50  # float32: 2 GB and 6 GB


def timed_fit(rows: int, columns: int) -> dict[str, float]:
    X, y = made(rows, columns)
    w = np.ones(columns, dtype=np.float32)
    began = time.perf_counter()
    for _ in range(3):
        X @ w
    product = (time.perf_counter() - began) / 3
    began = time.perf_counter()
    model = PartialAUCSVC(BAND, surrogate="tight", C=C, anchor=None).fit(X, y)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "passes": model.n_iter_,
        "microseconds_per_row_and_pass": 1e6 * seconds / model.n_iter_ / rows,
        "seconds_over_product": seconds / product,
    }


def peak_in_subprocess(kind: str) -> dict[str, float]:
    """Run this file alone, so that the peak of the process is that of one fit."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.scale", kind], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def fit_and_watch(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Fit while a thread watches the memory."""
    model, cost = watched(lambda: PartialAUCSVC(BAND, C=C).fit(X, y))
    size = X.nbytes / 2**20
    return {
        "data_megabytes": size,
        "added_megabytes": cost["added_megabytes"],
        "added_share": cost["added_megabytes"] / size,
        "seconds": cost["seconds"],
        "passes": model.n_iter_,
    }


def main(kind: str) -> None:
    if kind == "array":
        print(json.dumps(fit_and_watch(*made(ARRAY_ROWS, WIDTH))))
        return
    with tempfile.TemporaryDirectory() as folder:
        X = np.lib.format.open_memmap(f"{folder}/X.npy", mode="w+", dtype=np.float32, shape=(MAP_ROWS, WIDTH))
        y = np.empty(MAP_ROWS, dtype=bool)
        fill(X, y)
        X.flush()
        print(json.dumps(fit_and_watch(np.load(f"{folder}/X.npy", mmap_mode="r"), y)))


def run() -> dict[str, object]:
    warnings.simplefilter("ignore")
    figures: dict[str, object] = {"rows": {}, "columns": {}}
    for rows in ROWS:
        figures["rows"][f"{rows:,} x 10"] = timed_fit(rows, 10)
    for columns in COLUMNS:
        figures["columns"][f"50,000 x {columns}"] = timed_fit(50_000, columns)
    figures["float32 array of 2 GB"] = peak_in_subprocess("array")
    figures["float32 memory map of 6 GB"] = peak_in_subprocess("map")
    return figures


if __name__ == "__main__":
    main(sys.argv[1])
