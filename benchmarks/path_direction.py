"""Objectives of `ramp` and `hinge` along an ascending path of C, a descending one and in independent fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.sets import standardized
from rocband.anchor import logistic_coefficients
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, Surrogate, risk_for
from rocband.rows import as_rows
from rocband.solvers.bounded import RoughStage
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Result, Settings
from rocband.solvers.solve import solve

SETS = ("letter Q", "mammography", "ijcnn1", "spambase")
BANDS = ((0.0, 0.05), (0.02, 0.05))
GRID = np.logspace(-1, 4, 6).tolist()
TOL = Settings().tol


def paths(surrogate: Surrogate, name: str, band: tuple[float, float]) -> dict[str, list[float]]:
    """Objectives over C of every way to go through the grid."""
    X, y = standardized(name)
    problem = RowsProblem(as_rows(X), y)
    risk = risk_for(surrogate, Band.from_range(band, problem.n_negatives))
    anchor = logistic_coefficients(problem, np.random.default_rng(0))
    ascending = solve_path(problem, risk, GRID, anchor, Settings(), anchor)
    stage = RoughStage.of(problem, risk, np.random.default_rng(0))
    descending: list[Result] = []
    for C in reversed(GRID):
        previous = descending[-1] if descending else None
        descending.append(solve(Objective(problem, risk, C, anchor), Settings(), anchor, previous, stage))
    alone = [solve(Objective(problem, risk, C, anchor), Settings(), anchor, stage=stage) for C in GRID]
    return {
        "ascending": [fit.objective / fit.C for fit in ascending],
        "descending": [fit.objective / fit.C for fit in reversed(descending)],
        "independent": [fit.objective / fit.C for fit in alone],
    }


def compared(surrogate: Surrogate) -> dict[str, Any]:
    """How often, and by how much, the ascending path ends lower or higher than the others."""
    bands = [band for band in BANDS if surrogate == "ramp" or band[0] > 0]  # hinge is convex in a band from 0
    cases = {f"{name} {band}": paths(surrogate, name, band) for name in SETS for band in bands}
    ascending = np.concatenate([case["ascending"] for case in cases.values()])
    figures: dict[str, Any] = {}
    for other in ("descending", "independent"):
        gain = np.concatenate([case[other] for case in cases.values()]) - ascending
        figures[f"against {other}"] = {
            "cases": len(gain),
            "lower": int((gain > TOL).sum()),
            "higher": int((gain < -TOL).sum()),
            "largest_gain_over_C": float(gain.max()),
            "largest_loss_over_C": float(-gain.min()),
        }
    return figures | cases


def run() -> dict[str, Any]:
    return {surrogate: compared(surrogate) for surrogate in ("ramp", "hinge")}
