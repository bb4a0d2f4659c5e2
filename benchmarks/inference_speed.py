"""Intervals from 2,000 draws: 10,000 and 100,000 scores, half of them positive, in a band and for the AUC."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.timing import peak_bytes
from rocband.inference import partial_auc_interval

SIZES = (10_000, 100_000)
BANDS = ((0.0, 0.05), (0.0, 1.0))
METHODS = ("spacings", "bootstrap", "analytic")
TARGETS = {"seconds_of_100000_scores": 10.0}


def run() -> dict[str, object]:
    figures = {
        f"{size} scores, FPR {band[0]:g} to {band[1]:g}, {method}": measured(size, band, method)
        for size in SIZES
        for band in BANDS
        for method in METHODS
    }
    return figures | {"targets": TARGETS}


def measured(size: int, band: tuple[float, float], method: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    y = (rng.random(size) < 0.5).astype(np.int64)
    scores = rng.normal(size=size) + y
    options = {"fpr_range": band, "method": method, "random_state": 0}
    start = time.perf_counter()
    cpu = time.process_time()
    partial_auc_interval(y, scores, verbose=int(size == SIZES[-1]), **options)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "peak_megabytes": peak_bytes(lambda: partial_auc_interval(y, scores, n_draws=100, **options)) / 1e6,
    }
