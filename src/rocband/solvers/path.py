"""One problem at one C, or along a grid of C: the surrogate decides which solver serves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rocband.risks.band import FloatArray
from rocband.risks.smoothed import SmoothedRisk
from rocband.solvers import certified
from rocband.solvers.certified import Settings, Status, Step
from rocband.solvers.dc import minimize_hinge, minimize_ramp, ramp_objective
from rocband.solvers.problem import Problem, Scores

__all__ = ["Fit", "is_convex", "solve", "solve_path"]

# Before the ramp is descended on its band, it is descended roughly on one this much wider, from which it is less
# likely to end in a poor local minimum.
_WIDER = 2.0
_ROUGH = 1e-3


@dataclass(frozen=True, slots=True)
class Fit:
    """A model for one C; ``certified`` holds its certificate where the surrogate is convex."""

    C: float
    w: FloatArray
    scores: Scores
    objective: float
    status: Status
    history: list[Step]
    certified: certified.Result | None

    @property
    def lower_bound(self) -> float:
        """What no model's objective can be below; nan where nothing is proved."""
        return np.nan if self.certified is None else self.certified.lower_bound


def is_convex(surrogate: str, problem: Problem) -> bool:
    """Whether a surrogate is convex for the problem's band."""
    return surrogate in ("tight", "naive") or (surrogate == "hinge" and problem.band.start == 0)


def solve(
    problem: Problem,
    surrogate: str,
    C: float,
    origin: FloatArray,
    settings: Settings,
    start: FloatArray,
    warm: certified.Result | None = None,
) -> Fit:
    """Minimise 1/2 |w - origin|^2 + C * surrogate(w), from ``start`` or, if convex, from an earlier result."""
    if is_convex(surrogate, problem):
        risk = SmoothedRisk(problem.band, tail=surrogate == "naive")
        result = certified.minimize(problem, risk, C, origin, settings, start=start, warm=warm)
        return Fit(C, result.w, result.scores, result.objective, result.status, result.history, result)
    if surrogate == "hinge":
        local = minimize_hinge(problem, C, origin, settings, start)
    else:
        local = minimize_ramp(problem, C, origin, settings, _from_wider_band(problem, C, origin, settings, start))
        if local.objective > ramp_objective(start, problem, C, origin):
            local = minimize_ramp(problem, C, origin, settings, start)
    return Fit(C, local.w, local.scores, local.objective, local.status, local.history, None)


def _from_wider_band(
    problem: Problem, C: float, origin: FloatArray, settings: Settings, start: FloatArray
) -> FloatArray:
    n, band = problem.band.n_negatives, problem.band
    if band.stop == n:
        return start
    wider = problem.with_range((band.start / n, min(_WIDER * band.stop / n, 1.0)))
    rough = replace(settings.quiet(), tol=max(_ROUGH, settings.tol), max_passes=max(settings.max_passes // 4, 1))
    return minimize_ramp(wider, C, origin, rough, start).w


def solve_path(
    problem: Problem,
    surrogate: str,
    Cs: Sequence[float],
    origin: FloatArray,
    settings: Settings,
    start: FloatArray,
) -> list[Fit]:
    """Solve for every C of a grid, ascending; each starts where the last one ended.

    Planes of a convex risk lie below it whatever C is, so that all of them are kept along the path and each C has its
    own certificate at little cost.
    """
    fits: list[Fit] = []
    for C in Cs:
        warm = fits[-1].certified if fits else None
        fits.append(solve(problem, surrogate, C, origin, settings, start, warm))
        start = fits[-1].w
    return fits
