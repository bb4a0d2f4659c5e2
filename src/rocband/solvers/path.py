"""One problem along a grid of C."""

from __future__ import annotations

from collections.abc import Sequence

from rocband._types import FloatArray
from rocband.problems.base import Problem
from rocband.risks import Risk
from rocband.solvers.bounded import RoughStage
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result, Settings
from rocband.solvers.solve import solve

__all__ = ["solve_path"]


def solve_path(
    problem: Problem, risk: Risk, Cs: Sequence[float], origin: FloatArray, settings: Settings, start: FloatArray
) -> list[Result]:
    """Solve for every C of a grid, ascending; each starts where the last one ended.

    Planes of a convex risk lie below it whatever C is, so that all of them are kept along the path and each C has its
    own certificate at little cost.
    """
    stage = None
    if not risk.convex and risk.difference is None:
        stage = RoughStage.of(problem, risk, settings.random)
    results: list[Result] = []
    for C in Cs:
        previous = results[-1] if results else None
        results.append(solve(Objective(problem, risk, C, origin), settings, start, previous, stage))
    return results
