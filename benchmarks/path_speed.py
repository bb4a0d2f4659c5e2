"""A path of C against its largest C alone, and PartialAUCSVCCV against GridSearchCV and LogisticRegressionCV."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV

from benchmarks.sets import standardized
from rocband import PartialAUCSVC, PartialAUCSVCCV
from rocband.metrics import partial_auc_scorer
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, risk_for
from rocband.rows import as_rows
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Settings
from rocband.solvers.solve import solve

BAND = (0.0, 0.1)
FOLDS = 5
PATH = np.logspace(-5, 4, 10)
GRID = np.logspace(-1, 4, 10)


def passes() -> dict[str, Any]:
    """Data passes of the whole path and of its last C, and how far the objectives are from independent fits."""
    X, y = standardized("ijcnn1")
    problem = RowsProblem(as_rows(X), y)
    risk = risk_for("tight", Band.from_range(BAND, problem.n_negatives))
    origin = np.zeros(X.shape[1])
    fits = solve_path(problem, risk, PATH.tolist(), origin, Settings(), origin)
    path = problem.passes
    alone = [solve(Objective(problem, risk, C, origin), Settings(), origin) for C in PATH.tolist()]
    last = alone[-1].history[-1].passes
    away = max(abs(a.objective - b.objective) / a.C for a, b in zip(fits, alone, strict=True))
    return {"path": path, "largest_C_alone": last, "ratio": path / last, "largest_difference_over_C": away}


def seconds(model: Any, X: Any, y: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began, model


def searches(name: str, surrogate: str) -> dict[str, float]:
    """Seconds of the searches over the same grid and folds, and the mean score of the choices."""
    X, y = standardized(name)
    scorer = partial_auc_scorer(BAND)
    single = PartialAUCSVC(BAND, surrogate=surrogate)
    own, model = seconds(PartialAUCSVCCV(BAND, surrogate=surrogate, Cs=GRID, cv=FOLDS), X, y)
    grid, search = seconds(GridSearchCV(single, {"C": GRID}, scoring=scorer, cv=FOLDS), X, y)
    peer, _ = seconds(LogisticRegressionCV(Cs=GRID, cv=FOLDS, scoring=scorer, max_iter=1000), X, y)
    scores = search.cv_results_["mean_test_score"]
    return {
        "PartialAUCSVCCV": own,
        "GridSearchCV": grid,
        "LogisticRegressionCV": peer,
        "times_faster_than_GridSearchCV": grid / own,
        "times_faster_than_LogisticRegressionCV": peer / own,
        "C_": model.C_,
        "C_of_GridSearchCV": float(search.best_params_["C"]),
        "score_lost_by_the_choice": float(scores.max() - scores[list(GRID).index(model.C_)]),
    }


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    figures: dict[str, Any] = {"passes": passes()}
    for name in ("ijcnn1", "covtype 5"):
        for surrogate in ("tight", "ramp"):
            figures[f"{name}, {surrogate}"] = searches(name, surrogate)
            print(f"  {name}, {surrogate}: {figures[f'{name}, {surrogate}']}", flush=True)
    return figures
