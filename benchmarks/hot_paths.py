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

from benchmarks.tangent import tight_tangent
from benchmarks.timing import interleaved, summary
from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV
from rocband.inference import partial_auc_interval
from rocband.metrics import partial_auc_score

BAND = (0.0, 0.05)
INNER = (0.02, 0.05)
# Rounds of a run that only shows times; `benchmarks.regression`, which judges them, has more.
REPEATS = 5
# Risks and metrics of a million scores are sums; another order of summing moves them by less.
ROUNDING = 1e-9

Call = Callable[[], Any]


def cases() -> dict[str, Call]:
    """Return calls that take a fraction of a second each."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 20), dtype=np.float32)
    y = random.random(len(X)) < 0.05
    X[y, :4] += 1.0
    thin = sparse.csr_array((random.random((5_000, 50)) < 0.05 + 0.05 * y[:5_000, None]).astype(np.float64))
    labels = random.random(1_000_000) < 0.02
    scores = random.normal(size=1_000_000) + labels
    positives = scores[labels]
    negatives = scores[~labels]
    tangent = tight_tangent(BAND, len(negatives))
    some = slice(0, 3_000)
    components = {"n_components": 50, "C": 10.0, "tol": 1e-3}
    certified = {"surrogate": "tight", "anchor": None}
    # Spelt out, so that a revision with other defaults has the same to do.
    anchored = {"surrogate": "ramp", "anchor": "logistic", "C": 100.0}
    return {
        "certified, full AUC": lambda: PartialAUCSVC((0.0, 1.0), **certified).fit(X, y),
        "certified, [0, 0.05]": lambda: PartialAUCSVC(BAND, **certified).fit(X, y),
        "certified, [0.02, 0.05]": lambda: PartialAUCSVC(INNER, **certified).fit(X, y),
        "ramp, [0, 0.05]": lambda: PartialAUCSVC(BAND, **anchored).fit(X, y),
        "ramp, [0.02, 0.05], double precision": lambda: PartialAUCSVC(INNER, **anchored).fit(X.astype(np.float64), y),
        "hinge, [0.02, 0.05]": lambda: PartialAUCSVC(INNER, surrogate="hinge", anchor="logistic", C=10.0).fit(X, y),
        "sparse rows": lambda: PartialAUCSVC(BAND, C=10.0, **certified).fit(thin, y[:5_000]),
        "path of C": lambda: PartialAUCSVCCV(BAND, Cs=4, cv=2).fit(X[:6_000], y[:6_000]),
        "kernel, exact": lambda: KernelPartialAUCSVC(BAND, C=10.0, tol=1e-3).fit(X[:800], y[:800]),
        "kernel, 50 components": lambda: KernelPartialAUCSVC(BAND, **components).fit(X[some], y[some]),
        "risk of a million scores": lambda: tangent(positives, negatives),
        "metric of a million scores": lambda: partial_auc_score(labels, scores, fpr_range=BAND),
        "interval": lambda: partial_auc_interval(y[some], X[some, 0], fpr_range=BAND),
    }


def figure_of(result: Any) -> dict[str, float] | None:
    """Return the figure that must not change between revisions, and the difference that is allowed, if there is one.

    A fit may end anywhere within C * tol of the minimum. A search over C is left out: its choice may differ between
    revisions, and so may the objective with it.
    """
    if hasattr(result, "scores_"):
        return None
    if hasattr(result, "objective_"):
        C = getattr(result, "C_", result.C)
        return {"figure": float(result.objective_), "allowed": float(C * result.tol)}
    for name in ("value", "estimate"):
        result = getattr(result, name, result)
    return {"figure": float(result), "allowed": ROUNDING}


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    seconds = interleaved(cases(), 2 if quick else REPEATS)
    return {name: summary(values) for name, values in seconds.items()}


def serve() -> None:
    """Print the names of the cases, then, for each name that is read, the seconds of one call and its figure.

    Seconds are those of the processor, which other work on the machine moves less than the clock's.
    """
    warnings.simplefilter("ignore")
    calls = cases()
    print(json.dumps(list(calls)), flush=True)
    for line in sys.stdin:
        call = calls[line.strip()]
        began = time.process_time()
        result = call()
        seconds = time.process_time() - began
        print(json.dumps({"seconds": seconds, "figure": figure_of(result)}), flush=True)


if __name__ == "__main__":
    serve()
