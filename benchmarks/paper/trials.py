"""One number of an experiment: what it depends on, and its computation."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from benchmarks import sets
from benchmarks.cells import Cell
from benchmarks.paper.cutting_plane import cutting_plane_steps
from benchmarks.paper.methods import METHODS, Metric, Task
from rocband import PartialAUCSVC
from rocband.metrics import partial_auc_score, tpr_at_fpr_score

Range = tuple[float, float]

# Rows of the training part that the counts of steps and collapses are made on: cutting planes take hundreds of passes.
LIMIT = 10_000
# The paper's tolerance in the risk.
TOL = 1e-4
# Well above the 366 that the slowest published case of cutting planes takes (docs/results).
MOST_STEPS = 1000
# A lower bound this near, relatively, to the objective of the constant scorer is called a collapse.
FLAT = 1e-3


@dataclass(frozen=True, order=True)
class Trial:
    """One number of an experiment, for one random split.

    ``kind`` is "score" (test figure of a method), "steps" (how many a solver takes) or "collapse" (whether a convex
    surrogate's minimum is the constant scorer); ``method`` names the method, the solver or the surrogate.
    """

    experiment: str
    kind: Literal["score", "steps", "collapse"]
    data: str
    method: str
    band: Range
    split: int
    fraction: float = 1.0
    C: float | None = None
    tpr_at: float | None = None

    def cell(self) -> Cell:
        """Return it as the runner takes it."""
        band = f"[{self.band[0]:.3g}, {self.band[1]:.3g}]"
        text = f"{self.experiment}, {self.data}, {self.method}, {band}, split {self.split}"
        return Cell(text, asdict(self), partial(compute, self))


def compute(trial: Trial) -> dict[str, Any]:
    """Compute a number: ``result`` is the same every time, ``seconds`` is not."""
    kinds = {"score": score, "steps": steps, "collapse": collapse}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kinds[trial.kind](trial)


def score(trial: Trial) -> dict[str, Any]:
    """Fit a method to the training part and measure it on the test part."""
    split = sets.load(trial.data).split(trial.split, trial.fraction)
    metric: Metric = partial(partial_auc_score, fpr_range=trial.band)
    if trial.tpr_at is not None:
        metric = partial(tpr_at_fpr_score, fpr=trial.tpr_at)
    task = Task(split.X, split.y, split.groups, trial.band, metric, trial.split)
    fitted = METHODS[trial.method](task)
    value = float(metric(split.y_test, fitted.score(split.X_test)))
    seconds = {"tuning": fitted.tuning_seconds, "fit": fitted.fit_seconds}
    return {"result": {"score": value, "chosen": fitted.chosen}, "seconds": seconds}


def training_part(trial: Trial) -> tuple[Any, np.ndarray]:
    """Return rows and classes of the training part, at most ``LIMIT`` of them."""
    split = sets.load(trial.data).split(trial.split)
    chosen = np.random.default_rng(trial.split).permutation(len(split.y))[:LIMIT]
    return split.X[chosen], split.y[chosen]


def steps(trial: Trial) -> dict[str, Any]:
    """Count steps to the paper's tolerance: of the textbook's cutting planes, or passes of ours."""
    X, y = training_part(trial)
    C = float(trial.C or 1.0)
    if trial.method == "cutting planes":
        count = cutting_plane_steps(X, y, trial.band, C, TOL, MOST_STEPS)
        enough = count < MOST_STEPS
    else:
        model = PartialAUCSVC(trial.band, surrogate="tight", C=C, anchor=None, tol=TOL, max_iter=MOST_STEPS)
        model.fit(X, y)
        count = int(model.n_iter_)
        enough = bool(model.converged_)
    return {"result": {"steps": count, "enough": enough}, "seconds": {}}


def collapse(trial: Trial) -> dict[str, Any]:
    """Whether no model beats the constant scorer, whatever C up to the given one is; None where passes run out.

    What is proved for `tight` holds for `naive`, which lies above it and has the same value for the constant scorer.
    """
    X, y = training_part(trial)
    C = float(trial.C or 1.0)
    # The risk of the constant scorer is 1, so that C is its objective.
    bar = C * (1 - FLAT)
    for surrogate in ("tight", "naive"):
        # Half of what is called flat: the gap that is left must not decide.
        model = PartialAUCSVC(trial.band, surrogate=surrogate, C=C, anchor=None, tol=FLAT / 2).fit(X, y)
        proved = bool(model.lower_bound_ >= bar)
        if proved or surrogate == trial.method:
            break
    decided = proved or model.objective_ < bar or model.converged_
    return {"result": {"collapsed": proved if decided else None}, "seconds": {}}
