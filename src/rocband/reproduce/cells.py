"""One cell of an experiment: what to compute, the computation, and its file on disk."""

from __future__ import annotations

import json
import os
import re
import warnings
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rocband.metrics import partial_auc_score, tpr_at_fpr_score
from rocband.reproduce import sets
from rocband.reproduce.cutting_plane import cutting_plane_steps
from rocband.reproduce.methods import METHODS, Metric, Task
from rocband.risks.smoothed import SmoothedRisk
from rocband.rows import as_rows
from rocband.solvers.certified import Settings, Status, minimize
from rocband.solvers.problem import Problem

__all__ = ["Cell", "compute", "read", "write"]

Range = tuple[float, float]

# Rows of the training part that the counts of steps and collapses are made on.
LIMIT = 10_000
MOST_STEPS = 1000
# A lower bound this near, relatively, to the objective of the constant scorer is called a collapse.
FLAT = 1e-3


@dataclass(frozen=True, order=True)
class Cell:
    """One number of an experiment, for one random split.

    ``kind`` is "score" (test figure of a method), "steps" (how many a solver takes) or "collapse" (whether a convex
    surrogate's minimum is the constant scorer); ``method`` names the method, the solver or the surrogate.
    """

    experiment: str
    kind: str
    data: str
    method: str
    band: Range
    split: int
    fraction: float = 1.0
    C: float | None = None
    tpr_at: float | None = None

    @property
    def file(self) -> Path:
        """Where its result is kept, relative to the folder of the run."""
        words = [self.method, f"{self.band[0]:g}-{self.band[1]:g}"]
        words += [f"C{self.C:g}"] if self.C is not None else []
        words += [f"part{self.fraction:g}"] if self.fraction < 1 else []
        name = re.sub(r"[^\w.^-]+", "_", " ".join([*words, f"split{self.split}"]))
        return Path("cells") / self.experiment / self.data.replace(" ", "_") / f"{name}.json"


def compute(cell: Cell) -> dict[str, Any]:
    """Compute a cell: ``result`` is the same every time, ``seconds`` is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {"score": _score, "steps": _steps, "collapse": _collapse}
        return {"cell": asdict(cell), **kinds[cell.kind](cell)}


def _score(cell: Cell) -> dict[str, Any]:
    split = sets.load(cell.data).split(cell.split, cell.fraction)
    metric: Metric = partial(partial_auc_score, fpr_range=cell.band)
    if cell.tpr_at is not None:
        metric = partial(tpr_at_fpr_score, fpr=cell.tpr_at)
    fitted = METHODS[cell.method](Task(split.X, split.y, split.groups, cell.band, metric, cell.split))
    score = float(metric(split.y_test, fitted.score(split.X_test)))
    seconds = {"tuning": fitted.tuning_seconds, "fit": fitted.fit_seconds}
    return {"result": {"score": score, "chosen": fitted.chosen}, "seconds": seconds}


def _problem(cell: Cell) -> Problem:
    split = sets.load(cell.data).split(cell.split)
    chosen = np.random.default_rng(cell.split).permutation(len(split.y))[:LIMIT]
    return Problem(as_rows(split.X[chosen]), split.y[chosen], cell.band)


def _steps(cell: Cell) -> dict[str, Any]:
    """Count steps to the paper's tolerance, 1e-4 in the risk: of the textbook's cutting planes, or passes of ours."""
    problem, C = _problem(cell), float(cell.C or 1.0)
    if cell.method == "cutting planes":
        steps = cutting_plane_steps(problem, C, Settings().tol, MOST_STEPS)
        return {"result": {"steps": steps, "enough": steps < MOST_STEPS}, "seconds": {}}
    origin = np.zeros(problem.n_features)
    settings = replace(Settings(), max_passes=MOST_STEPS)
    result = minimize(problem, SmoothedRisk(problem.band), C, origin, settings)
    return {"result": {"steps": problem.passes, "enough": result.status.value == "converged"}, "seconds": {}}


def _collapse(cell: Cell) -> dict[str, Any]:
    """Whether no model beats the constant scorer, whatever C up to the given one is; None where passes run out.

    What is proved for `tight` holds for `naive`, which lies above it and has the same value for the constant scorer.
    """
    C = float(cell.C or 1.0)
    for kind in ("tight", "naive"):
        problem = _problem(cell)
        risk = SmoothedRisk(problem.band, tail=kind == "naive")
        result = minimize(problem, risk, C, np.zeros(problem.n_features), Settings(FLAT / 2))
        proved = bool(result.lower_bound >= C * (1 - FLAT))
        if proved or kind == cell.method:
            break
    decided = proved or result.objective < C * (1 - FLAT) or result.status is Status.CONVERGED
    return {"result": {"collapsed": proved if decided else None}, "seconds": {}}


def write(folder: Path, cell: Cell, outcome: dict[str, Any]) -> None:
    """Keep an outcome; an interruption leaves the old file or none, never half of one."""
    path = folder / cell.file
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text(json.dumps(outcome, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    unfinished.replace(path)


def read(folder: Path, cell: Cell) -> dict[str, Any] | None:
    """Return a kept outcome of the same cell, or None."""
    try:
        outcome: dict[str, Any] = json.loads((folder / cell.file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = json.loads(json.dumps(asdict(cell)))
    return outcome if isinstance(outcome, dict) and outcome.get("cell") == same else None
