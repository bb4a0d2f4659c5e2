"""Scale: seconds and memory of one fit as rows and columns grow, up to what the machine holds.

``python -m benchmarks.boards.scale LABEL ROWS COLUMNS`` measures one fit in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import competitors
from benchmarks.boards import scale_page as page
from benchmarks.cells import Cell, fill, kept_in
from benchmarks.sets import made
from benchmarks.timing import watched

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
SETTINGS = {
    "rows": tuple((rows, 20) for rows in (10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000)),
    "columns": tuple((50_000, columns) for columns in (10, 100, 1_000, 10_000)),
    "limit": 120.0,
    "models": tuple(MODELS),
}
QUICK = {
    "rows": ((2_000, 20), (20_000, 20)),
    "columns": ((2_000, 10), (2_000, 100)),
    "limit": 10.0,
    "models": ("rocband", "LogisticRegression", "LightGBM"),
}
SPARE = 0.6  # of the memory that is free may be used
PATIENCE = 1.25  # times the limit, the making of the data included


def free_megabytes() -> float:
    """Return what the system says can be taken without swapping."""
    text = Path("/proc/meminfo").read_text()
    return int(text.split("MemAvailable:")[1].split()[0]) / 1024


def one_fit(label: str, rows: int, columns: int) -> dict[str, float]:
    """Fit once to a small part to warm up, then to all, with the memory watched."""
    recipe = competitors.load(MODELS[label]).recipes()[label]
    X, y = made(rows, columns)
    some = slice(0, min(rows, 2_000))
    recipe.fit(X[some], y[some], BAND, **recipe.default)
    _, cost = watched(lambda: recipe.fit(X, y, BAND, **recipe.default))
    return cost | {"data_megabytes": X.nbytes / 2**20}


def alone(label: str, rows: int, columns: int, limit: float) -> dict[str, float]:
    """Measure in a process of its own, which is ended when it takes longer than the limit by far.

    All threads are one, for a fair share of the machine.
    """
    words = [sys.executable, "-m", "benchmarks.boards.scale", label, str(rows), str(columns)]
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


def climb(label: str, sizes: tuple[tuple[int, int], ...], limit: float, path: Path) -> list[dict[str, Any]]:
    """Fit to larger and larger data until the next would take too long or too much memory."""
    found: list[dict[str, Any]] = []
    last, before = None, 0
    for rows, columns in sizes:
        growth = rows * columns / before if before else 1.0
        stop = reason_to_stop(last, growth, rows * columns * 4 / 2**20, limit)
        if stop is None:
            key = {"model": label, "rows": rows, "columns": columns, "band": BAND}
            text = f"{label}, {rows:,} x {columns:,}"
            (last,), failed = fill(path, [Cell(text, key, partial(alone, label, rows, columns, limit))])
            stop = next((reason.removeprefix("RuntimeError: ") for reason in failed.values()), None)
        size = {"model": label, "rows": rows, "columns": columns}
        if stop is not None:
            return [*found, size | {"stopped": stop}]
        found.append(size | last)
        before = rows * columns
    return found


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    settings, path = QUICK if quick else SETTINGS, kept_in("scale", quick)
    skipped = {name: reason for name in sorted(set(MODELS.values())) if (reason := competitors.why_not(name))}
    records: dict[str, list[dict[str, Any]]] = {
        what: [
            record
            for label in settings["models"]
            if MODELS[label] not in skipped
            for record in climb(label, settings[what], settings["limit"], path)
        ]
        for what in ("rows", "columns")
    }
    page.write(records, settings["limit"], skipped, quick)
    largest = {
        label: max((r["rows"] for r in records["rows"] if r["model"] == label and "seconds" in r), default=0)
        for label in settings["models"]
    }
    return {"most_rows": largest, "skipped": skipped, "records": records}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(one_fit(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
