"""``partial_auc_score`` beside scikit-learn's ``roc_auc_score(max_fpr=...)`` and PyPI's pauc: 10 million scores.

One per cent are positives, the band is [0, 0.05]; pauc is measured on [0.02, 0.05], which scikit-learn has not.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import competitors
from benchmarks.timing import interleaved, peak_bytes, ratios, summary
from rocband.metrics import partial_auc_score

SIZE = 10_000_000
PREVALENCE = 0.01
HIGH = 0.05
INNER = (0.02, 0.05)
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
        "pauc": beside_pauc(y, scores),
        "targets": TARGETS,
    }


def beside_pauc(y: np.ndarray, scores: np.ndarray) -> dict[str, object]:
    """Time both, and compare the values also where all scores tie with others."""
    reason = competitors.why_not("pauc")
    if reason is not None:
        return {"skipped": reason}
    theirs = competitors.load("pauc").partial_auc
    calls = {
        "rocband": lambda: partial_auc_score(y, scores, fpr_range=INNER),
        "pauc": lambda: theirs(y, scores, INNER),
    }
    seconds = interleaved(calls, repeats=3)
    some = y[:10_000]
    tied = np.round(scores[:10_000], 1)
    return {
        "times_faster": ratios(seconds["pauc"], seconds["rocband"]),
        "seconds": {name: summary(values) for name, values in seconds.items()},
        "difference": calls["pauc"]() - calls["rocband"](),
        "difference_with_ties": theirs(some, tied, INNER) - partial_auc_score(some, tied, fpr_range=INNER),
    }
