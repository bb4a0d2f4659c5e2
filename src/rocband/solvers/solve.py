"""One objective, minimised: what its risk is decides which solver serves it."""

from __future__ import annotations

from rocband._types import FloatArray
from rocband.solvers import certified
from rocband.solvers.bounded import RoughStage, minimize_bounded, minimize_difference
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result, Settings

__all__ = ["solve"]


def solve(
    objective: Objective,
    settings: Settings,
    start: FloatArray,
    previous: Result | None = None,
    stage: RoughStage | None = None,
) -> Result:
    """Minimise the objective, from ``start`` or from the result for another C.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    start : array of shape (n_features,)
    previous : Result, optional
        Of the same problem and risk with another C; it is started from.
    stage : RoughStage, optional
        Of the same problem and risk; made anew where it is needed.
    """
    risk = objective.risk
    begin = start if previous is None else previous.w
    if risk.convex:
        return certified.minimize(objective, settings, start=begin, warm=previous)
    if risk.difference is not None:
        return minimize_difference(objective, risk.difference, settings, begin)
    return minimize_bounded(objective, settings, begin, previous, stage)
