"""Scale: seconds and memory of one fit as rows and columns grow, up to what the machine holds.

Data lie in arrays, and for rocband in memory maps too, which may be larger than the memory.
``python -m benchmarks.boards.scale LABEL ROWS COLUMNS array|map`` measures one fit in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks import competitors
from benchmarks.boards import scale_page as page
from benchmarks.cells import Cell, fill, kept_in
from benchmarks.sets import made, made_on_disk
from benchmarks.timing import watched

Storage = Literal["array", "map"]

BAND = (0.0, 0.05)
# Label of a recipe -> the competitor's file.
MODELS = {
    "rocband": "ours",
    "LogisticRegression": "scikit_learn",
    "LinearSVC": "scikit_learn",
    "dlib svm_rank (full AUC)": "dlib",
    "LibAUC SOPAs": "libauc",
    "HistGradientBoosting": "scikit_learn",
    "XGBoost": "xgboost",
    "LightGBM": "lightgbm",
    "rocband, kernel": "ours",
}
# Only rocband reads a memory map block by block; the others copy it.
MAPPED = ("rocband",)
SETTINGS: dict[str, Any] = {
    "rows": tuple((rows, 20) for rows in (10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000)),
    "columns": tuple((50_000, columns) for columns in (10, 100, 1_000, 10_000)),
    "maps": ((10_000_000, 50), (30_000_000, 50)),  # 2 GB and 6 GB
    "limit": 120.0,
    "map_limit": 900.0,  # a disk is slower than memory, and is filled first
    "models": tuple(MODELS),
}
QUICK: dict[str, Any] = {
    "rows": ((2_000, 20), (20_000, 20)),
    "columns": ((2_000, 10), (2_000, 100)),
    "maps": ((20_000, 20),),
    "limit": 10.0,
    "map_limit": 10.0,
    "models": ("rocband", "LogisticRegression", "LightGBM"),
}
# Share of the free memory that may be used: the rest is for the system and for what grows faster than in proportion.
SPARE = 0.6
# Times the limit, the making of the data included.
PATIENCE = 1.25
# Rows of the first fit, which loads libraries and starts threads, and is not counted.
WARM_UP = 2_000


def free_megabytes() -> float:
    """Return what the system says can be taken without swapping."""
    text = Path("/proc/meminfo").read_text()
    return int(text.split("MemAvailable:")[1].split()[0]) / 1024


def one_fit(label: str, rows: int, columns: int, storage: Storage) -> dict[str, float]:
    """Fit once to a small part to warm up, then to all, with the memory watched."""
    recipe = competitors.load(MODELS[label]).recipes()[label]
    with tempfile.TemporaryDirectory() as folder:
        X, y = made(rows, columns) if storage == "array" else made_on_disk(rows, columns, folder)
        some = slice(0, min(rows, WARM_UP))
        recipe.fit(np.asarray(X[some]), y[some], BAND, **recipe.default)
        _, cost = watched(lambda: recipe.fit(X, y, BAND, **recipe.default))
        return cost | {"data_megabytes": X.nbytes / 2**20}


def alone(label: str, rows: int, columns: int, storage: Storage, limit: float) -> dict[str, float]:
    """Measure in a process of its own, which is ended when it takes longer than the limit by far.

    All threads are one, for a fair share of the machine.
    """
    words = [sys.executable, "-m", "benchmarks.boards.scale", label, str(rows), str(columns), storage]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    patience = PATIENCE * limit
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, env=os.environ | threads, timeout=patience
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"was ended after {patience:.0f} s") from None
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def reason_to_stop(last: dict[str, float] | None, growth: float, size: float, limit: float) -> str | None:
    """Tell from the fit to fewer data, if there was one, why the next is too large; everything is taken as linear."""
    needed = size + (growth * last["added_megabytes"] if last else 0)
    if needed > SPARE * free_megabytes():
        return f"would need {needed / 1024:.1f} GB"
    if last and growth * last["seconds"] > limit:
        return f"would take {growth * last['seconds']:.0f} s"
    return None


def climb(
    label: str, sizes: tuple[tuple[int, int], ...], storage: Storage, limit: float, path: Path
) -> list[dict[str, Any]]:
    """Fit to larger and larger data until the next would take too long or too much memory."""
    found: list[dict[str, Any]] = []
    last = None
    before = 0
    for rows, columns in sizes:
        growth = rows * columns / before if before else 1.0
        # Data on disk take no memory; float32 takes 4 bytes.
        held = rows * columns * 4 / 2**20 if storage == "array" else 0.0
        size = {"model": label, "rows": rows, "columns": columns}
        stop = reason_to_stop(last, growth, held, limit)
        if stop is None:
            last, stop = measured(size, storage, limit, path)
        if stop is not None:
            return [*found, size | {"stopped": stop}]
        found.append(size | last)
        before = rows * columns
    return found


def measured(
    size: dict[str, Any], storage: Storage, limit: float, path: Path
) -> tuple[dict[str, float] | None, str | None]:
    """Return the figures of one fit, kept or new, or else the reason why there are none."""
    # Cells of arrays were kept before there were others, and are still valid.
    key = size | {"band": BAND} | ({"storage": storage} if storage != "array" else {})
    label, rows, columns = size.values()
    cell = Cell(
        f"{label}, {rows:,} x {columns:,}, {storage}", key, partial(alone, label, rows, columns, storage, limit)
    )
    (figures,), failed = fill(path, [cell])
    reasons = [reason.removeprefix("RuntimeError: ") for reason in failed.values()]
    return figures, reasons[0] if reasons else None


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    settings = QUICK if quick else SETTINGS
    path = kept_in("scale", quick)
    skipped = {name: reason for name in sorted(set(MODELS.values())) if (reason := competitors.why_not(name))}
    models = [label for label in settings["models"] if MODELS[label] not in skipped]
    records: dict[str, list[dict[str, Any]]] = {"rows": [], "columns": [], "maps": []}
    for label in models:
        records["rows"] += climb(label, settings["rows"], "array", settings["limit"], path)
    for label in models:
        records["columns"] += climb(label, settings["columns"], "array", settings["limit"], path)
    for label in MAPPED:
        records["maps"] += climb(label, settings["maps"], "map", settings["map_limit"], path)
    page.write(records, settings["limit"], skipped, quick)
    return {"most_rows": most_rows(records["rows"], models), "skipped": skipped, "records": records}


def most_rows(records: list[dict[str, Any]], models: list[str]) -> dict[str, int]:
    """Return the most rows that each model was fitted to."""
    largest = dict.fromkeys(models, 0)
    for record in records:
        if "seconds" in record:
            largest[record["model"]] = max(largest[record["model"]], record["rows"])
    return largest


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    label, rows, columns, storage = sys.argv[1:]
    print(json.dumps(one_fit(label, int(rows), int(columns), storage)))
