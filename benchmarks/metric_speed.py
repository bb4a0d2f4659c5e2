"""``partial_auc_score`` against ``roc_auc_score(max_fpr=...)``: 10 million scores, 1% positives, band [0, 0.05]."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.timing import interleaved, peak_bytes, ratios, summary
from rocband.metrics import partial_auc_score

SIZE, PREVALENCE, HIGH = 10_000_000, 0.01, 0.05
TARGETS = {"times_faster": 10.0, "peak_per_input": 2.0}


def run() -> dict[str, object]:
    rng = np.random.default_rng(0)
    y = (rng.random(SIZE) < PREVALENCE).astype(np.int64)
    scores = rng.normal(size=SIZE) + y
    calls = {
        "rocband": lambda: partial_auc_score(y, scores, fpr_range=(0.0, HIGH), normalize="mcclish"),
        "scikit-learn": lambda: roc_auc_score(y, scores, max_fpr=HIGH),
    }
    difference = abs(calls["rocband"]() - calls["scikit-learn"]())
    seconds = interleaved(calls, repeats=3)
    input_bytes = y.nbytes + scores.nbytes
    return {
        "times_faster": ratios(seconds["scikit-learn"], seconds["rocband"]),
        "seconds": {name: summary(values) for name, values in seconds.items()},
        "peak_per_input": {name: peak_bytes(call) / input_bytes for name, call in calls.items()},
        "difference": difference,
        "targets": TARGETS,
    }
