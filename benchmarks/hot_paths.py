"""The hot paths on small made data: what a change to them is checked with, see ``benchmarks.regression``."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.timing import interleaved, summary
from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV
from rocband.inference import partial_auc_interval
from rocband.metrics import partial_auc_score
from rocband.risks import Band, tight

BAND, INNER = (0.0, 0.05), (0.02, 0.05)
REPEATS = 5


def cases() -> dict[str, Callable[[], Any]]:
    """Return calls that take a fraction of a second each."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 20), dtype=np.float32)
    y = random.random(len(X)) < 0.05
    X[y, :4] += 1.0
    thin = sparse.csr_array((random.random((5_000, 50)) < 0.05 + 0.05 * y[:5_000, None]).astype(np.float64))
    scores = random.normal(size=1_000_000) + (labels := random.random(1_000_000) < 0.02)
    ranks = Band.from_range(BAND, int((~labels).sum()))
    some = slice(0, 3_000)
    components = {"n_components": 50, "C": 10.0, "tol": 1e-3}
    certified = {"surrogate": "tight", "anchor": None}
    return {
        "certified, full AUC": lambda: PartialAUCSVC((0.0, 1.0), **certified).fit(X, y),
        "certified, [0, 0.05]": lambda: PartialAUCSVC(BAND, **certified).fit(X, y),
        "certified, [0.02, 0.05]": lambda: PartialAUCSVC(INNER, **certified).fit(X, y),
        "default, [0, 0.05]": lambda: PartialAUCSVC(BAND).fit(X, y),
        "default, [0.02, 0.05], double precision": lambda: PartialAUCSVC(INNER).fit(X.astype(np.float64), y),
        "sparse rows": lambda: PartialAUCSVC(BAND, C=10.0, **certified).fit(thin, y[:5_000]),
        "path of C": lambda: PartialAUCSVCCV(BAND, Cs=4, cv=2).fit(X[:6_000], y[:6_000]),
        "kernel, exact": lambda: KernelPartialAUCSVC(BAND, C=10.0, tol=1e-3).fit(X[:800], y[:800]),
        "kernel, 50 components": lambda: KernelPartialAUCSVC(BAND, **components).fit(X[some], y[some]),
        "risk of a million scores": lambda: tight(scores[labels], scores[~labels], ranks),
        "metric of a million scores": lambda: partial_auc_score(labels, scores, fpr_range=BAND),
        "interval": lambda: partial_auc_interval(y[some], X[some, 0], fpr_range=BAND),
    }


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    return {name: summary(seconds) for name, seconds in interleaved(cases(), 2 if quick else REPEATS).items()}


def serve() -> None:
    """Print the names of the cases, then the seconds of one call for each name that is read."""
    warnings.simplefilter("ignore")
    calls = cases()
    print(json.dumps(list(calls)), flush=True)
    for line in sys.stdin:
        call = calls[line.strip()]
        began = time.perf_counter()
        call()
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    serve()
